//! Idempotency keys: the same submission again gets the same receipt, and nothing is done twice.

use sessiond_protocol::{Content, ErrorCode, IdempotencyKey, Keyed, TurnId, WireError};

use super::{Stepping, digest::digest};

/// What is submitted under a key. How busy the session was is no part of it.
pub(super) fn keyed(key: IdempotencyKey, input: &[Content]) -> Keyed {
    let content = digest(&input);
    Keyed { key, content }
}

impl Stepping<'_> {
    /// What the first submission under the key got, if there was one.
    pub(super) fn known(&self, keyed: &Keyed) -> Option<Result<TurnId, WireError>> {
        let mut keys = self.core.standing.keys.iter();
        let first = keys.find(|known| known.keyed.key == keyed.key)?;
        if first.keyed.content == keyed.content {
            return Some(Ok(first.turn));
        }
        let message = "this idempotency key came with other input before";
        let mut error = WireError::new(ErrorCode::KeyReused, message);
        error.turn = Some(first.turn);
        Some(Err(error))
    }
}

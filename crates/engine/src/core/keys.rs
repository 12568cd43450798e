//! Idempotency keys: the same submission again gets the same receipt, and nothing is done twice.
//!
//! Of what was submitted only a digest is kept with the key, so that one is keyed per store (LOG-8):
//! `blake3-keyed-1.<id of the store's key>.<32 hexadecimal digits>`. Programs before that wrote the
//! digits of a plain BLAKE3 alone; those are still understood.

use std::collections::HashMap;

use sessiond_log::{DigestKey, LogError, Store};
use sessiond_protocol::{
    Content, ErrorCode, IdempotencyKey, Keyed, TurnId, TurnStage, WaitingTurn, WireError,
};

use super::{
    Core, Stepping,
    digest::{canonical, digest},
};

/// Names how digests are made: keyed BLAKE3, 128 bits of it, over the canonical JSON of the input.
const ALGORITHM: &str = "blake3-keyed-1";

/// The store's keys for digests of input.
#[derive(Debug, Clone)]
pub(crate) struct Digests {
    current: DigestKey,
    /// By their ids, those that digests of this session were made with.
    retained: HashMap<String, DigestKey>,
}

impl Digests {
    /// Reads the current key, and those of these ids as far as the store has them.
    pub(crate) fn read(store: &Store, ids: &[String]) -> Result<Self, LogError> {
        let mut retained = HashMap::new();
        for id in ids {
            if let Some(key) = store.digest_key_of(id)? {
                retained.insert(id.clone(), key);
            }
        }
        let current = store.digest_key()?;
        Ok(Self { current, retained })
    }

    fn key(&self, id: &str) -> Option<&DigestKey> {
        let current = (self.current.id() == id).then_some(&self.current);
        current.or_else(|| self.retained.get(id))
    }

    /// What is kept of input with its key.
    fn of(&self, input: &[Content]) -> String {
        let (id, digest) = (
            self.current.id(),
            self.current.digest(canonical(&input).as_bytes()),
        );
        format!("{ALGORITHM}.{id}.{digest}")
    }

    /// Whether what was kept is of this input; none where nobody can tell.
    fn is_of(&self, kept: &str, input: &[Content]) -> Option<bool> {
        let mut parts = kept.split('.');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(plain), None, ..) => Some(plain == digest(&input)),
            (Some(ALGORITHM), Some(id), Some(kept), None) => {
                let key = self.key(id)?;
                Some(key.digest(canonical(&input).as_bytes()) == kept)
            }
            _ => None,
        }
    }
}

impl Core {
    /// The ids of the keys that are needed to compare digests, where the core has none yet.
    pub(crate) fn digest_keys_wanted(&self) -> Option<Vec<String>> {
        if self.digests.is_some() {
            return None;
        }
        let kept = self.standing.keys.iter();
        let ids = kept.filter_map(|known| known.keyed.content.split('.').nth(1));
        let mut ids: Vec<String> = ids.map(str::to_owned).collect();
        ids.sort_unstable();
        ids.dedup();
        Some(ids)
    }

    /// Makes and compares digests with these keys from now on.
    pub(crate) fn learn(&mut self, digests: Digests) {
        self.digests = Some(digests);
    }
}

impl Stepping<'_> {
    /// What is submitted under a key. How busy the session was is no part of it.
    pub(super) fn keyed(&self, key: IdempotencyKey, input: &[Content]) -> Result<Keyed, WireError> {
        let unreadable = || {
            let message = "the store's keys cannot be read, so an idempotency key cannot be kept";
            WireError::new(ErrorCode::Storage, message)
        };
        let digests = self.core.digests.as_ref().ok_or_else(unreadable)?;
        let content = digests.of(input);
        Ok(Keyed { key, content })
    }

    /// What the first submission under the key got, if there was one.
    pub(super) fn known(
        &self,
        key: &IdempotencyKey,
        input: &[Content],
    ) -> Option<Result<TurnId, WireError>> {
        let mut keys = self.core.standing.keys.iter();
        let first = keys.find(|known| known.keyed.key == *key)?;
        let digests = self.core.digests.as_ref();
        let same = digests.and_then(|digests| digests.is_of(&first.keyed.content, input));
        let message = match same {
            Some(true) => return Some(Ok(first.turn)),
            Some(false) => "this idempotency key came with other input before",
            // It may have been this input; whoever cannot tell does nothing twice.
            None => "this idempotency key came before, with input that cannot be compared any more",
        };
        let mut error = WireError::new(ErrorCode::KeyReused, message);
        error.turn = Some(first.turn);
        Some(Err(error))
    }

    /// How far a turn is that began, or waits.
    pub(super) fn stage(&self, turn: TurnId) -> TurnStage {
        let waits = |waiting: &WaitingTurn| waiting.id == turn;
        if self.core.standing.waiting.iter().any(waits) {
            TurnStage::Waiting
        } else {
            TurnStage::Begun
        }
    }
}

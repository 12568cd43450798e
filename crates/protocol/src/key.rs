//! Idempotency keys: a submission that is sent again is not done again.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::TurnId;

/// A text is no idempotency key. Carries nothing of it (SEC-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an idempotency key has 1 to 255 characters")]
pub struct InvalidKey;

/// The client's name for what it wants done once, unique in the session. 1 to 255 characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("minLength" = 1, "maxLength" = 255))]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Longest key in characters.
    pub const MAX: usize = 255;

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for IdempotencyKey {
    type Error = InvalidKey;

    fn try_from(text: String) -> Result<Self, InvalidKey> {
        if (1..=Self::MAX).contains(&text.chars().count()) {
            Ok(Self(text))
        } else {
            Err(InvalidKey)
        }
    }
}

impl From<IdempotencyKey> for String {
    fn from(key: IdempotencyKey) -> String {
        key.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A key and what was submitted under it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Keyed {
    /// The key.
    pub key: IdempotencyKey,
    /// Digest of the input: `blake3-keyed-1.<id of the store's key>.<32 hexadecimal digits>`. Digits
    /// alone are of a plain BLAKE3, as programs before that wrote it.
    pub content: String,
}

/// The turn that the submission under a key got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyedTurn {
    /// The key and the content.
    pub keyed: Keyed,
    /// The turn that its receipt named.
    pub turn: TurnId,
}

//! Identifiers: newtypes over UUIDs and client-chosen strings, validated where they are made.

use std::{fmt, str::FromStr, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Why a text is not an identifier. Carries the kind of id, never the text (SEC-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a {kind} id: expected {expected}")]
pub struct InvalidId {
    /// Which kind of id was expected.
    pub kind: &'static str,
    /// The grammar in words.
    pub expected: &'static str,
}

const UUID_GRAMMAR: &str = "a UUID in canonical lower case";

/// The same as a schema says it.
const UUID_PATTERN: &str = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
        #[serde(transparent)]
        #[schemars(extend("pattern" = UUID_PATTERN))]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID that the caller minted.
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID itself.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                parse_canonical(text).map(Self).ok_or(InvalidId { kind: $kind, expected: UUID_GRAMMAR })
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

uuid_id! {
    /// A session. Any UUID, minted here (v7) or chosen by the client (ADAPT-7: one id on all faces).
    SessionId, "session"
}
uuid_id! {
    /// A turn: the foreground work that one submission began (SQEQ-11).
    TurnId, "turn"
}
uuid_id! {
    /// An item of a conversation; also the message id and tool call id that faces show.
    ItemId, "item"
}
uuid_id! {
    /// A request from the agent's side to the controlling client.
    RequestId, "request"
}

/// Accepts only what `Display` writes: 36 characters, hyphenated, lower case (LOG-13).
fn parse_canonical(text: &str) -> Option<Uuid> {
    let canonical = text.len() == 36 && !text.bytes().any(|b| b.is_ascii_uppercase());
    canonical.then(|| Uuid::try_parse(text).ok()).flatten()
}

/// The client's name for a submission, unique per connection (SQEQ-1). 1 to 255 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("minLength" = 1, "maxLength" = 255))]
pub struct SubmissionId(
    // Shared: every event of a turn carries the id of what caused it.
    Arc<str>,
);

impl SubmissionId {
    /// Longest id in bytes.
    pub const MAX: usize = 255;

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SubmissionId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        if (1..=Self::MAX).contains(&text.len()) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidId {
                kind: "submission",
                expected: "1 to 255 bytes",
            })
        }
    }
}

impl From<SubmissionId> for String {
    fn from(id: SubmissionId) -> String {
        id.as_str().to_owned()
    }
}

impl fmt::Display for SubmissionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A durable event's position: the sequence number of its record in the session's log, from 1, dense.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Cursor(pub u64);

impl Cursor {
    /// The position before the first record.
    pub const START: Cursor = Cursor(0);

    /// The position after this one.
    #[must_use]
    pub const fn next(self) -> Cursor {
        Cursor(self.0 + 1)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

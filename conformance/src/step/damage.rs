//! Steps about the log of a session, where the target's profile says where that lies.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::this_session;

/// Waits for a record in a session's log.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stored {
    #[serde(default = "this_session")]
    pub(crate) session: Value,
    /// What the record holds, beside the target's `record_mark`.
    pub(crate) text: String,
    /// Milliseconds, after which the case goes on all the same.
    #[serde(default = "written_by_then")]
    pub(crate) within: u64,
}

/// Damages the newest file of a session's log.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Damage {
    #[serde(default = "this_session")]
    pub(crate) session: Value,
    #[serde(default)]
    pub(crate) how: Option<Harm>,
    /// The same, by the name in a variable.
    #[serde(default)]
    pub(crate) how_from: Option<String>,
    /// The last record that holds this text; the last record when absent.
    #[serde(default)]
    pub(crate) record: Option<String>,
}

/// What is done to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Harm {
    /// The file ends in the middle of it.
    Cut,
    /// 512 NULs stand in its place, without an LF.
    Zeros,
    /// One bit of it is another.
    Flip,
    /// A line that is nothing follows it.
    Garbage,
    /// It stands twice.
    Twice,
    /// It is gone.
    Drop,
    /// 512 NULs follow it, without an LF.
    ZerosAfter,
    /// Its first half stands in its place, with the LF.
    Half,
    /// 512 NULs follow the end of the file.
    ZeroTail,
}

/// A runtime that writes after it has answered does so in some hundred ms.
fn written_by_then() -> u64 {
    3000
}

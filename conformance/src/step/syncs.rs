//! Steps about what a target makes durable.

use schemars::JsonSchema;
use serde::Deserialize;

/// Calls of a target that are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Watching {
    /// Those that make files durable, of its whole tree.
    Syncs,
}

/// Looks for a text in the target's files.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Holders {
    /// The text, which is also what checks call it.
    pub(crate) mark: String,
}

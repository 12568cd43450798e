//! Steps about transcripts.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::this_session;

/// Asks a target for the transcript of a session.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    #[serde(default = "this_session")]
    pub(crate) session: Value,
    pub(crate) shape: ShapeName,
    /// What it is called in checks, which take it for a file; `LABEL.name` is the variable of its name.
    #[serde(rename = "as")]
    pub(crate) label: String,
}

/// Has a target take in what it did not write.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Take {
    /// The transcript.
    pub(crate) file: String,
    pub(crate) shape: ShapeName,
    /// Whose it is, under which the target then has it.
    pub(crate) session: String,
}

/// Makes a transcript out of another one.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Convert {
    /// The file that is read.
    pub(crate) file: String,
    pub(crate) to: ShapeName,
    /// What the made one is called in checks, which take it for a file; `LABEL.said` is what the command
    /// said of it.
    #[serde(rename = "as")]
    pub(crate) label: String,
}

/// Whose transcripts a file is one of.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ShapeName {
    /// A transcript of Claude.
    Claude,
    /// A rollout of Codex.
    Codex,
}

impl ShapeName {
    /// As it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

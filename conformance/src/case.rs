//! A case: what is done to a target, and what is checked in the recording of it. Data, in
//! `cases/<area>/<case>.toml`; its schema is `schemas/case.json`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::check::Check;
use crate::step::Step;

/// One file of `cases/`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// `suite.area.case`, never used for anything else again.
    pub(crate) id: String,
    /// What it is about, in one sentence.
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) level: Level,
    /// What stands before the first step.
    #[serde(default)]
    pub(crate) begin: Begin,
    /// Further words of the command line of the process with which the case begins.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// What the client offers in `initialize`.
    #[serde(default = "no_capabilities")]
    pub(crate) capabilities: Value,
    /// Pointer into the result of `initialize`: the case is skipped where nothing stands there.
    #[serde(default)]
    pub(crate) advertised: Option<String>,
    /// Prompts that the target's profile must know; otherwise the case is skipped.
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    /// What of the target's state the case needs to know.
    #[serde(default)]
    pub(crate) state: StateNeed,
    /// The target's HOME and state folder lie on a disk of their own of this many KiB, which `fill` fills.
    #[serde(default)]
    pub(crate) disk_kib: Option<u64>,
    /// Checks that must have passed; otherwise this case cannot be tested.
    #[serde(default)]
    pub(crate) requires: Vec<String>,
    /// Whether its checks look at one case or at all of them.
    #[serde(default)]
    pub(crate) scope: Scope,
    /// Variants: the case is run once for each, with these variables, as `id-variant`.
    #[serde(default)]
    pub(crate) vary: BTreeMap<String, BTreeMap<String, Value>>,
    #[serde(default)]
    pub(crate) steps: Vec<Step>,
    pub(crate) checks: Vec<Check>,
}

/// What the checks of a case look at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    /// The recording of its own steps.
    #[default]
    Case,
    /// The recordings of all other cases; it has no steps.
    Every,
}

/// What a case needs to know of the target's files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StateNeed {
    #[default]
    Nothing,
    /// Where the log of a session lies.
    Files,
    /// Which command prints a session.
    Export,
    /// Where its transcripts of Claude's shape are.
    Claude,
    /// Where its rollouts of Codex's shape are.
    Codex,
    /// Which command makes one transcript of another.
    Convert,
}

/// How much of a runtime a case is about. A level includes those before it.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Deserialize,
    JsonSchema,
    clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    /// The protocol, within one process.
    #[default]
    Core,
    /// Sessions that are left and found again.
    Session,
    /// Kills, damage, two processes.
    Durable,
}

/// What is done before the first step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Begin {
    /// Nothing is started.
    Nothing,
    /// The process is started.
    Process,
    /// `initialize` is answered.
    Initialized,
    /// `session/new` is answered; `$session` is its id. Claude's is given on the command line.
    #[default]
    Session,
}

/// How the client answers permission questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Permission {
    Allow,
    Always,
    Reject,
    /// The outcome `cancelled`.
    Cancelled,
    /// An option that was not offered.
    NotOffered,
    /// An answer that is none.
    Malformed,
    Never,
}

/// How the client answers elicitations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Elicitation {
    Accept,
    Decline,
    Never,
}

fn no_capabilities() -> Value {
    Value::Object(serde_json::Map::new())
}

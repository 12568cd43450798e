//! What a resume found, and what it did about it (RESUME-5, RESUME-16).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentId, Cursor, Grant, ModePolicy, Workspace};

/// What a resumed run attests: a marker, the first record that the run writes. Before that the
/// receipt of `session.resume` shows it; a load alone writes nothing (RESUME-3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attestation {
    /// The way that led here.
    pub path: ResumePath,
    /// How the client came by the session's id, as it says; a hint.
    pub found_by: FoundBy,
    /// How the agent's context starts.
    pub start: ContextStart,
    /// What was read of the log; none where the session was open in this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Loaded>,
    /// What was found open and is closed by the records that follow this one.
    pub closed: Closed,
    /// The agent.
    pub agent: AgentId,
    /// The model, where known.
    pub model: Option<String>,
    /// The mode in force.
    pub mode: Option<String>,
    /// What that does with permission questions.
    pub policy: ModePolicy,
    /// The grants in force, oldest first (RESUME-8).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Grant>,
    /// How many grants did not survive the resume.
    #[serde(default)]
    pub revoked: u64,
    /// Where the run works, and for whom.
    pub surroundings: Surroundings,
    /// What differs from what was recorded. What needs an acceptance has it, or there would be no
    /// attestation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<Drift>,
}

/// The way that led to a resumed session (RESUME-16).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResumePath {
    /// Its id was named.
    Id,
    /// Its title was.
    Title,
    /// It was picked from a list, or as the newest one.
    Picker,
    /// It was open in this process, without a controller or under this client's control.
    ReAttach,
    /// Another process passed the client on to the one that holds it.
    Relay,
    /// Another place of the same repository (RESUME-7).
    Relocation,
    /// Another repository or an unrelated directory, as the client accepted (RESUME-7).
    CrossProject,
    /// The log failed under the run, and was read anew (LOG-6).
    Recovery,
}

/// How a client came by a session's id. Names and lists are hints only (RESUME-14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// It was given the id.
    #[default]
    Id,
    /// By the exact title.
    Title,
    /// From a list, or as the newest one.
    Picker,
    /// It relays for another process's client.
    Relay,
}

/// How an agent's context starts (RESUME-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextStart {
    /// Empty: no turn has begun.
    New,
    /// Empty: the conversation was cleared and no turn has ended since.
    Cleared,
    /// With the turns of this session.
    Resumed,
    /// With the turns of the session it was forked from, and none of its own.
    Forked,
}

/// What was read of a log: its generation (RESUME-14), and where the reading began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Loaded {
    /// The highest lease epoch in it.
    pub epoch: u64,
    /// Its newest event.
    pub cursor: Cursor,
    /// The checkpoint from which the session was folded; none where all of it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Cursor>,
    /// Number of damaged places in what was read.
    #[serde(default)]
    pub damage: u64,
    /// Bytes of an unfinished end, which the next append cuts off.
    #[serde(default)]
    pub torn: u64,
}

/// What a dead process, or the parent of a fork, had left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Closed {
    /// Items, tool calls among them: these have an unknown outcome.
    pub items: u64,
    /// Requests.
    pub requests: u64,
    /// Turns that ran, at most one.
    pub turns: u64,
    /// Turns that waited and are not run.
    pub waiting: u64,
}

/// Where a run works, and for whom.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Surroundings {
    /// The working directory, absolute.
    pub cwd: String,
    /// The host's name; none where it is not known.
    pub host: Option<String>,
    /// Whose session it is; none is explicit.
    pub principal: Option<String>,
    /// What is at the working directory.
    pub workspace: Workspace,
}

/// Something that is not as it was recorded (RESUME-16).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// What.
    pub field: DriftField,
    /// As what the client has to accept it; none where it is only attested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<DriftClass>,
    /// What was recorded; none is unknown.
    pub recorded: Option<String>,
    /// What was found; none is unknown.
    pub found: Option<String>,
}

/// What a resume compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriftField {
    /// The working directory, as it was given.
    Cwd,
    /// The host.
    Host,
    /// Whose session it is.
    Principal,
    /// The canonical working directory.
    Root,
    /// One of the roots beside the working directory, canonical (CKPT-4).
    AdditionalRoot,
    /// The repository.
    Repository,
    /// The worktree.
    Worktree,
    /// The branch.
    Branch,
    /// The agent's version.
    Version,
    /// The mode, which the agent has no more.
    Mode,
    /// What the mode does with permission questions.
    Policy,
}

/// Drift that refuses a resume until the client says that it accepts it (`accept`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriftClass {
    /// The root reaches further than before, or elsewhere.
    Roots,
    /// The mode asks or refuses less than before.
    Policy,
    /// The session is another user's.
    Principal,
    /// Another repository.
    Repository,
}

impl DriftClass {
    /// All classes.
    pub const ALL: [DriftClass; 4] = [
        DriftClass::Roots,
        DriftClass::Policy,
        DriftClass::Principal,
        DriftClass::Repository,
    ];

    /// Its name on every face.
    pub fn name(self) -> &'static str {
        match self {
            DriftClass::Roots => "roots",
            DriftClass::Policy => "policy",
            DriftClass::Principal => "principal",
            DriftClass::Repository => "repository",
        }
    }

    /// The class of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// Some of the classes, each once; written as a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<DriftClass>", into = "Vec<DriftClass>")]
pub struct DriftClasses {
    /// One bit a class: errors are returned by value, and stay small.
    bits: u8,
}

impl DriftClasses {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bits == 0
    }

    /// Whether it is among them.
    pub fn contains(self, class: DriftClass) -> bool {
        self.bits & (1 << class as u8) != 0
    }

    /// All of them, in the order of [`DriftClass::ALL`].
    pub fn iter(self) -> impl Iterator<Item = DriftClass> {
        DriftClass::ALL
            .into_iter()
            .filter(move |class| self.contains(*class))
    }
}

impl FromIterator<DriftClass> for DriftClasses {
    fn from_iter<T: IntoIterator<Item = DriftClass>>(classes: T) -> Self {
        let bits = classes
            .into_iter()
            .fold(0, |bits, class| bits | 1 << class as u8);
        Self { bits }
    }
}

impl From<Vec<DriftClass>> for DriftClasses {
    fn from(classes: Vec<DriftClass>) -> Self {
        classes.into_iter().collect()
    }
}

impl From<DriftClasses> for Vec<DriftClass> {
    fn from(classes: DriftClasses) -> Self {
        classes.iter().collect()
    }
}

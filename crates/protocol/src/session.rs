//! What is known of a session beside its conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgentOption, Attestation, Cursor, Item, ItemId, OptionSetting, SessionId, TurnId, Usage,
};

/// The session header: the first record of every log (LOG-2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionOpened {
    /// How the run started (RESUME-1).
    pub start: Start,
    /// The session's id.
    pub id: SessionId,
    /// Version of the record format.
    pub format: u32,
    /// Program and version that made it.
    pub program: String,
    /// Which face made it: acp, exec, sqeq …
    pub source: String,
    /// The working directory, absolute, as the client gave it.
    pub cwd: String,
    /// Roots beside `cwd`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// The agent behind it.
    pub agent: AgentId,
    /// The model, where known.
    pub model: Option<String>,
    /// Digest of the base instructions, where there are any.
    pub instructions: Option<String>,
    /// The mode it began in.
    pub mode: Option<String>,
    /// Whose session it is; none is explicit.
    pub principal: Option<String>,
    /// The host it was made on; none where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Where it works.
    pub workspace: Workspace,
    /// The session it was forked from.
    pub parent: Option<ForkPoint>,
}

/// How a run of a session started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Empty.
    New,
    /// From another session's history.
    Forked,
    /// From a foreign transcript.
    Imported,
}

/// Where a fork left its parent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForkPoint {
    /// The parent.
    pub session: SessionId,
    /// The last event they share.
    pub at: Cursor,
}

/// Which agent, which version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentId {
    /// The configured name.
    pub name: String,
    /// Its version, where known.
    pub version: Option<String>,
}

/// The place a session works in, as it was found when the session was made.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Workspace {
    /// `cwd` with all links resolved; none when it does not exist.
    pub root: Option<String>,
    /// Identity of the repository: the canonical path of its common git directory.
    pub repository: Option<String>,
    /// The worktree's top.
    pub worktree: Option<String>,
    /// The branch that is checked out.
    pub branch: Option<String>,
}

/// A mode of an agent, and what it means for policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mode {
    /// Its id.
    pub id: String,
    /// What people read.
    pub name: String,
    /// One line about it.
    pub description: String,
    /// What happens to a tool call that asks for permission.
    pub policy: ModePolicy,
}

/// What a mode does with permission questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModePolicy {
    /// Ask the user.
    Ask,
    /// Allow without asking.
    Allow,
    /// Refuse without asking.
    Deny,
}

impl ModePolicy {
    /// Whether it lets more happen without the user than the other one does.
    pub fn is_looser_than(self, other: ModePolicy) -> bool {
        let latitude = |policy| match policy {
            ModePolicy::Deny => 0,
            ModePolicy::Ask => 1,
            ModePolicy::Allow => 2,
        };
        latitude(self) > latitude(other)
    }

    /// Its name, as it stands in records.
    pub fn name(self) -> &'static str {
        match self {
            ModePolicy::Ask => "ask",
            ModePolicy::Allow => "allow",
            ModePolicy::Deny => "deny",
        }
    }
}

/// A slash command an agent understands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Command {
    /// Its name, without the slash.
    pub name: String,
    /// One line about it.
    pub description: String,
    /// What follows the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Command {
    /// How a user has the conversation summed up: an agent offers exactly this one where the engine
    /// can ask it to (`session.compact`). A face that finds it makes that operation of a prompt which
    /// is nothing but the command; the agent never gets it.
    pub fn compaction() -> Self {
        Self {
            name: "compact".to_owned(),
            description: "Sum up the conversation and go on from the summary".to_owned(),
            hint: None,
        }
    }
}

/// What an agent offers; known before a session is opened on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentInfo {
    /// Which agent.
    pub id: AgentId,
    /// Its modes; the first is the default.
    pub modes: Vec<Mode>,
    /// Its options, with the values in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<AgentOption>,
    /// Its slash commands.
    pub commands: Vec<Command>,
}

impl AgentInfo {
    /// Puts options in force, as far as the agent has them and takes their values.
    pub fn set_options(&mut self, settings: &[OptionSetting]) {
        for setting in settings {
            let option = self
                .options
                .iter_mut()
                .find(|option| option.id == setting.id);
            if let Some(option) = option.filter(|option| option.takes(&setting.value)) {
                option.value.clone_from(&setting.value);
            }
        }
    }

    /// What is known of an agent that is not configured here.
    #[must_use]
    pub fn unknown(id: AgentId) -> Self {
        Self {
            id,
            modes: Vec::new(),
            options: Vec::new(),
            commands: Vec::new(),
        }
    }

    /// What a mode does with permission questions; a mode that the agent does not have asks.
    pub fn policy(&self, mode: Option<&str>) -> ModePolicy {
        let known = self.modes.iter().find(|known| Some(&*known.id) == mode);
        known.map_or(ModePolicy::Ask, |known| known.policy)
    }
}

/// A session as a client sees it at attach: what is not conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionView {
    /// The session.
    pub session: SessionId,
    /// Its working directory.
    pub cwd: String,
    /// Its title, once it has one.
    pub title: Option<String>,
    /// The agent with its modes and commands.
    pub agent: AgentInfo,
    /// The mode in force.
    pub mode: Option<String>,
    /// The roots beside the working directory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// The newest durable event.
    pub cursor: Cursor,
    /// The turn that is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// What was used in all its turns that have ended, as far as their agents told (RESUME-4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Usage>,
    /// resume: what the run attests with its first record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attestation: Option<Box<Attestation>>,
}

/// A session as a list shows it: the fold that an index stores (LOG-1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The session.
    pub session: SessionId,
    /// Its working directory.
    pub cwd: String,
    /// Its title, once it has one.
    pub title: Option<String>,
    /// The agent.
    pub agent: String,
    /// When it was made, RFC 3339; a fork: when its log says that it is one.
    pub created_at: String,
    /// Time of its newest message, RFC 3339 (LOG-14). A fork's messages are those of its parent
    /// too, up to the fork point.
    pub updated_at: String,
    /// Whether that is the time in the log.
    #[serde(default, skip_serializing_if = "Recency::is_logged")]
    pub recency: Recency,
    /// Number of turns that began; those that a fork has from its parent count.
    pub turns: u64,
    /// Number of damaged places in its log.
    #[serde(default)]
    pub damage: u64,
    /// The roots beside its working directory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// Where it is kept.
    #[serde(default, skip_serializing_if = "Kept::is_in_store")]
    pub kept: Kept,
}

/// Where a session is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// In the store, to be resumed.
    #[default]
    Store,
    /// In the archive.
    Archive,
}

impl Kept {
    /// Whether it is in the store.
    pub fn is_in_store(&self) -> bool {
        *self == Kept::Store
    }
}

/// A title is a line: the first one that is not blank, cut at [`crate::limits::TITLE_CHARS`]. Empty
/// where there is none.
pub fn title_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().take(crate::limits::TITLE_CHARS).collect()
}

/// Whether the time that a session is sorted by is the one in its log (LOG-14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recency {
    /// It is.
    #[default]
    Logged,
    /// The log's lay in the future when it was read; the time of reading stands for it.
    Clamped,
}

impl Recency {
    /// Whether there is nothing to say about the time.
    pub fn is_logged(&self) -> bool {
        *self == Recency::Logged
    }
}

/// A grant: what a session's user allowed or refused for good (policy = mode + grants).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grant {
    /// The tool.
    pub tool: String,
    /// Exactly what it may or may not touch.
    pub pattern: String,
    /// The decision.
    pub effect: GrantEffect,
}

/// What a grant decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantEffect {
    /// It may run.
    Allow,
    /// It may not.
    Deny,
}

/// A part of a conversation as an agent gets it when it is opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryItem {
    /// The item's id.
    pub id: ItemId,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// The item, closed.
    pub item: Item,
    /// Who put it there.
    #[serde(default, skip_serializing_if = "Origin::is_conversation")]
    pub origin: Origin,
}

/// Who put something into a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// User and agent.
    #[default]
    Conversation,
    /// A hook of the controlling client told the agent so, and no item of the session says it.
    Hook,
    /// Words of ours that stand for a block which is no text (`item.content`).
    Content,
}

impl Origin {
    fn is_conversation(&self) -> bool {
        *self == Origin::Conversation
    }
}

/// Whether a session is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// A process has it open, this one or another.
    Open,
    /// It rests, and can be resumed.
    Saved,
    /// It is in the archive; bring it back to resume it.
    Archived,
}

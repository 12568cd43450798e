//! Items: what a conversation consists of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Stretch;

/// One block of content, shaped as ACP and MCP shape it. Unknown members survive in `extra` (WIRE-2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Plain text or Markdown.
    Text {
        /// The text.
        text: String,
        /// Members this version does not name.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// A reference to something the agent may read.
    ResourceLink {
        /// Where it is.
        uri: String,
        /// What to call it.
        #[serde(default)]
        name: String,
        /// Members this version does not name (title, size …).
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// An embedded resource.
    Resource {
        /// The resource with its text or blob.
        resource: Value,
        /// Members this version does not name.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// A picture, base64.
    Image {
        /// Base64 data.
        data: String,
        /// Its MIME type.
        #[serde(rename = "mimeType")]
        mime_type: String,
        /// Members this version does not name.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// A sound, base64.
    Audio {
        /// Base64 data.
        data: String,
        /// Its MIME type.
        #[serde(rename = "mimeType")]
        mime_type: String,
        /// Members this version does not name.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
}

impl Content {
    /// A plain text block.
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text {
            text: text.into(),
            extra: Map::new(),
        }
    }

    /// The text of a text block, the address of a link, nothing for the rest.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text { text, .. } => Some(text),
            Content::ResourceLink { uri, .. } => Some(uri),
            _ => None,
        }
    }

    /// What stands for it where there is nothing but text.
    pub fn in_words(&self) -> String {
        let media = |what: &str, mime_type: &str, data: &str| {
            format!("[{what}, {mime_type}, {} bytes]", data.len() / 4 * 3)
        };
        match self {
            Content::Text { text, .. } => text.clone(),
            Content::ResourceLink { uri, name, .. } => format!("[{name}]({uri})"),
            Content::Resource { resource, .. } => {
                let member = |name| resource.get(name).and_then(Value::as_str);
                let uri = member("uri").unwrap_or_default();
                member("text").map_or_else(|| format!("[resource {uri}]"), str::to_owned)
            }
            Content::Image {
                data, mime_type, ..
            } => media("picture", mime_type, data),
            Content::Audio {
                data, mime_type, ..
            } => media("sound", mime_type, data),
        }
    }
}

/// What kind of item, without its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// What the user said.
    UserMessage,
    /// What the agent said.
    AgentMessage,
    /// What the agent thought.
    Thought,
    /// A tool call with its result.
    ToolCall,
    /// The agent's plan, whole each time.
    Plan,
    /// A summary of what was said before.
    Compaction,
}

/// An item, whole. Text before and after a tool call are two messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Item {
    /// What the user said.
    UserMessage {
        /// Its blocks.
        content: Vec<Content>,
    },
    /// What the agent said.
    AgentMessage {
        /// The text.
        text: String,
        /// Whether it was said to its end.
        #[serde(default, skip_serializing_if = "Finish::is_whole")]
        finish: Finish,
    },
    /// What the agent thought.
    Thought {
        /// The text.
        text: String,
        /// Whether it was thought to its end.
        #[serde(default, skip_serializing_if = "Finish::is_whole")]
        finish: Finish,
    },
    /// A tool call.
    ToolCall(Box<ToolCall>),
    /// The agent's plan.
    Plan {
        /// The entries, in order.
        entries: Vec<PlanEntry>,
    },
    /// A summary of what was said before. Nobody said it: it never is a user's message (CTX-2).
    Compaction(Box<Compaction>),
}

impl Item {
    /// The kind of this item.
    pub fn kind(&self) -> ItemKind {
        match self {
            Item::UserMessage { .. } => ItemKind::UserMessage,
            Item::AgentMessage { .. } => ItemKind::AgentMessage,
            Item::Thought { .. } => ItemKind::Thought,
            Item::ToolCall(_) => ItemKind::ToolCall,
            Item::Plan { .. } => ItemKind::Plan,
            Item::Compaction(_) => ItemKind::Compaction,
        }
    }
}

/// What an agent has from now on in place of what was said before (CTX-2). The originals stay in
/// the log and are shown as before (CTX-8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compaction {
    /// The summary; at most [`crate::limits::SUMMARY_BYTES`].
    pub summary: String,
    /// What it stands for: of these events those that were in force.
    pub covers: Stretch,
    /// Which context window of the log begins with it; the one before the first compaction is 0.
    pub window: u64,
    /// 128 bits of BLAKE3 in hex over the JSON of `covers`, `summary` and `window`: one object, its
    /// members in order at every depth, without blanks.
    pub digest: String,
}

/// Whether a streamed text is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// All of it.
    #[default]
    Whole,
    /// The turn was cancelled, or failed, while it streamed.
    Cut,
    /// The process died while it streamed; what follows was never stored (LOG-17).
    Interrupted,
}

impl Finish {
    /// Whether nothing is missing.
    pub fn is_whole(&self) -> bool {
        *self == Finish::Whole
    }
}

/// What a tool does, for icons and policy; the kinds are ACP's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Reads files or data.
    Read,
    /// Changes files.
    Edit,
    /// Removes files or data.
    Delete,
    /// Moves or renames.
    Move,
    /// Searches.
    Search,
    /// Runs a command.
    Execute,
    /// Thinks or plans.
    Think,
    /// Gets something from outside.
    Fetch,
    /// Anything else, and kinds that later versions add.
    #[default]
    #[serde(other)]
    Other,
}

/// Where a tool call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// Announced, not running: waits for permission or for its turn.
    #[default]
    Pending,
    /// Running.
    Running,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// Not run, or stopped, because someone said so.
    Cancelled,
    /// It had begun and nothing tells how it ended; never run again by itself (RESUME-6).
    Unknown,
}

impl ToolStatus {
    /// Whether nothing more comes.
    pub fn is_final(self) -> bool {
        !matches!(self, ToolStatus::Pending | ToolStatus::Running)
    }
}

/// A tool call with all that is known of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// What it does.
    #[serde(default)]
    pub kind: ToolKind,
    /// Where it stands.
    #[serde(default)]
    pub status: ToolStatus,
    /// The arguments as the agent gave them.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// The result as structured data, if the tool has one.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output: Value,
    /// What to show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<ToolContent>,
    /// Files it touches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
    /// The id that the downstream agent gave it, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<String>,
    /// Whether it can be stopped by itself (`call.cancel`).
    #[serde(default, skip_serializing_if = "Stoppable::is_not")]
    pub stoppable: Stoppable,
}

/// Whether a tool call can be stopped while its turn goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stoppable {
    /// It cannot.
    #[default]
    No,
    /// It can.
    Yes,
}

impl Stoppable {
    /// Whether it cannot.
    pub fn is_not(&self) -> bool {
        *self == Stoppable::No
    }
}

/// Something a tool call shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolContent {
    /// A block of content.
    Content {
        /// The block.
        content: Content,
    },
    /// A change to a file.
    Diff {
        /// The file, absolute.
        path: String,
        /// What it held; none for a new file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_text: Option<String>,
        /// What it holds now.
        new_text: String,
    },
    /// A terminal of the controlling client; live only, never in a stored end (its text is).
    Terminal {
        /// The client's id for it.
        terminal: String,
    },
}

impl ToolContent {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        ToolContent::Content {
            content: Content::text(text),
        }
    }
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    /// The file, absolute.
    pub path: String,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// How much it matters.
    #[serde(default)]
    pub priority: PlanPriority,
    /// How far it is.
    #[serde(default)]
    pub status: PlanStatus,
}

/// How much a plan entry matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanPriority {
    /// Much.
    High,
    /// As usual.
    #[default]
    Medium,
    /// Little.
    Low,
}

/// How far a plan entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
}

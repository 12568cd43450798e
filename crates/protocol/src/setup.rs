//! What a client gives a session to work with, beside its directory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a client gives a session at attach, whole each time: what it leaves out is not restored
/// from before, but for the instructions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Setup {
    /// Roots beside the working directory, absolute (CKPT-4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// MCP servers for the agent. They may hold secrets: only their names are ever recorded (SEC-2).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp_servers: Vec<McpServer>,
    /// Instructions for the agent; those that are recorded otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Instructions>,
    /// The mode to begin in. One that the agent does not have is passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Options of the agent to set, in this order. One that the agent does not have, or a value that
    /// it does not take, is passed over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<OptionSetting>,
}

impl Setup {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        *self == Setup::default()
    }
}

/// A server of the Model Context Protocol that the agent may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum McpServer {
    /// A program that speaks MCP on its stdin and stdout.
    Stdio {
        /// What the client calls it.
        name: String,
        /// The program, absolute.
        command: String,
        /// Its arguments.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        args: Vec<String>,
        /// Variables that it alone gets.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        env: Vec<NameValue>,
    },
    /// An address that speaks MCP over streamable HTTP.
    Http {
        /// What the client calls it.
        name: String,
        /// The address.
        url: String,
        /// Headers of each request.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        headers: Vec<NameValue>,
    },
    /// An address that speaks MCP over server-sent events.
    Sse {
        /// What the client calls it.
        name: String,
        /// The address.
        url: String,
        /// Headers of each request.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        headers: Vec<NameValue>,
    },
    /// It lives in the client: reached by requests of kind `mcp`.
    Client {
        /// What the client calls it.
        name: String,
        /// Its tools, as `tools/list` has them: agents that connect servers themselves look before
        /// the first turn, when the client cannot be asked. Without any, such agents do without it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<Value>,
    },
}

impl McpServer {
    /// What the client calls it.
    pub fn name(&self) -> &str {
        match self {
            McpServer::Stdio { name, .. }
            | McpServer::Http { name, .. }
            | McpServer::Sse { name, .. }
            | McpServer::Client { name, .. } => name,
        }
    }
}

/// A variable or a header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NameValue {
    /// Its name.
    pub name: String,
    /// Its value; may be a secret.
    pub value: String,
}

/// Instructions that the agent gets before the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Instructions {
    /// What becomes of the agent's own.
    #[serde(default)]
    pub mode: InstructionsMode,
    /// The text.
    pub text: String,
}

/// What becomes of an agent's own instructions when a client gives others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InstructionsMode {
    /// They stay, these come after them.
    #[default]
    Append,
    /// These stand in their place.
    Override,
}

/// An option of an agent, and the value it shall have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OptionSetting {
    /// The option's id.
    pub id: String,
    /// The value.
    pub value: OptionValue,
}

/// The value of an option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OptionValue {
    /// On or off.
    Boolean(bool),
    /// The id of one of the choices.
    Choice(String),
}

/// Something that a user may choose about an agent: its model, how much it thinks …
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentOption {
    /// Its id.
    pub id: String,
    /// What people read.
    pub name: String,
    /// One line about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is about: `model`, `thought_level` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The value in force.
    pub value: OptionValue,
    /// The choices, where it is not on or off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
}

impl AgentOption {
    /// The value in force, as a setting.
    pub fn setting(&self) -> OptionSetting {
        OptionSetting {
            id: self.id.clone(),
            value: self.value.clone(),
        }
    }

    /// Whether it takes this value.
    pub fn takes(&self, value: &OptionValue) -> bool {
        match (value, &self.value) {
            (OptionValue::Boolean(_), OptionValue::Boolean(_)) => true,
            (OptionValue::Choice(id), OptionValue::Choice(_)) => {
                self.choices.iter().any(|choice| choice.id == *id)
            }
            _ => false,
        }
    }
}

/// One value of an option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// Its id.
    pub id: String,
    /// What people read.
    pub name: String,
    /// One line about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The heading it stands under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// What is in force of what a user may choose about an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// The mode.
    pub mode: Option<String>,
    /// The options that were set, each once.
    pub options: Vec<OptionSetting>,
}

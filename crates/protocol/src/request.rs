//! Requests: what an agent asks of the controlling client, and the answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Hook, NameValue};

/// The kinds of request. A client says at attach which it answers; the rest fall back (contract.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum RequestKind {
    /// May a tool run?
    #[serde(rename = "permission")]
    Permission,
    /// A question to the user.
    #[serde(rename = "elicitation")]
    Elicitation,
    /// A question to the user that is answered at an address, not here.
    #[serde(rename = "elicitation.url")]
    ElicitationUrl,
    /// Read a text file as the client sees it (unsaved buffers included).
    #[serde(rename = "fs.read")]
    FsRead,
    /// Write a text file through the client.
    #[serde(rename = "fs.write")]
    FsWrite,
    /// Run a command in a terminal of the client.
    #[serde(rename = "terminal")]
    Terminal,
    /// A message to an MCP server that lives in the client.
    #[serde(rename = "mcp")]
    Mcp,
    /// A point of a turn at which the client may have a say.
    #[serde(rename = "hook")]
    Hook,
    /// Something of an agent's protocol that the waist does not know.
    #[serde(rename = "extension")]
    Extension,
}

/// A request with its payload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "payload")]
pub enum RequestBody {
    /// May the tool call that the request names run?
    #[serde(rename = "permission")]
    Permission(Permission),
    /// A question to the user.
    #[serde(rename = "elicitation")]
    Elicitation {
        /// The question.
        message: String,
        /// The shape of the answer: a JSON Schema of type object.
        schema: Value,
    },
    /// Have the user go to an address: what is asked there never passes through here.
    #[serde(rename = "elicitation.url")]
    ElicitationUrl {
        /// What for.
        message: String,
        /// The address.
        url: String,
        /// The agent's own name for it, by which it says later that the user is done there.
        elicitation: String,
    },
    /// Read a text file.
    #[serde(rename = "fs.read")]
    FsRead {
        /// The file, absolute.
        path: String,
        /// First line, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        /// Number of lines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Write a text file.
    #[serde(rename = "fs.write")]
    FsWrite {
        /// The file, absolute.
        path: String,
        /// All it shall hold.
        content: String,
    },
    /// Something about a terminal of the client.
    #[serde(rename = "terminal")]
    Terminal(TerminalOp),
    /// A request of the Model Context Protocol.
    #[serde(rename = "mcp")]
    Mcp {
        /// The server, as the client named it.
        server: String,
        /// The method: `tools/call` or another.
        method: String,
        /// Its params.
        params: Value,
    },
    /// May this happen, and as it is?
    #[serde(rename = "hook")]
    Hook(Hook),
    /// Something that the waist does not know, as the agent sent it; never recorded.
    #[serde(rename = "extension")]
    Extension {
        /// Its name in the agent's protocol.
        method: String,
        /// Its params.
        params: Value,
    },
}

impl RequestBody {
    /// The kind of this request.
    pub fn kind(&self) -> RequestKind {
        match self {
            RequestBody::Permission(_) => RequestKind::Permission,
            RequestBody::Elicitation { .. } => RequestKind::Elicitation,
            RequestBody::ElicitationUrl { .. } => RequestKind::ElicitationUrl,
            RequestBody::FsRead { .. } => RequestKind::FsRead,
            RequestBody::FsWrite { .. } => RequestKind::FsWrite,
            RequestBody::Terminal(_) => RequestKind::Terminal,
            RequestBody::Mcp { .. } => RequestKind::Mcp,
            RequestBody::Hook(_) => RequestKind::Hook,
            RequestBody::Extension { .. } => RequestKind::Extension,
        }
    }

    /// Whether opening it is recorded. What only looks, or tidies up, leaves no record of its own:
    /// its tool call is durable already and its outcome is part of that call's end.
    pub fn is_durable(&self) -> bool {
        match self {
            RequestBody::Permission(_)
            | RequestBody::Elicitation { .. }
            | RequestBody::ElicitationUrl { .. }
            | RequestBody::FsWrite { .. }
            | RequestBody::Mcp { .. }
            | RequestBody::Hook(_)
            | RequestBody::Terminal(TerminalOp::Create { .. }) => true,
            RequestBody::FsRead { .. }
            | RequestBody::Terminal(_)
            | RequestBody::Extension { .. } => false,
        }
    }

    /// Whether it may still be asked while its turn is being cancelled: only what tidies up.
    pub fn is_cleanup(&self) -> bool {
        matches!(
            self,
            RequestBody::Terminal(
                TerminalOp::Output { .. } | TerminalOp::Kill { .. } | TerminalOp::Release { .. }
            )
        )
    }
}

/// A question whether a tool may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Permission {
    /// One line for people.
    pub title: String,
    /// The tool, as policy names it.
    pub tool: String,
    /// What exactly it would touch, as grants name it (a path, a command).
    pub pattern: String,
    /// What may be chosen.
    pub options: Vec<PermissionOption>,
}

/// One choice of a permission question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionOption {
    /// Its id, unique in the question.
    pub id: String,
    /// What people read.
    pub name: String,
    /// What it means.
    pub kind: PermissionKind,
}

/// What choosing a permission option means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PermissionKind {
    /// This call may run.
    AllowOnce,
    /// This and every like call of this session may run.
    AllowAlways,
    /// This call may not run.
    RejectOnce,
    /// This and every like call of this session may not run.
    RejectAlways,
}

impl PermissionKind {
    /// All kinds, in the order they are offered.
    pub const ALL: [PermissionKind; 4] = [
        PermissionKind::AllowOnce,
        PermissionKind::AllowAlways,
        PermissionKind::RejectOnce,
        PermissionKind::RejectAlways,
    ];

    /// The id that the script agent's options carry: the kind's own name.
    pub fn id(self) -> &'static str {
        match self {
            PermissionKind::AllowOnce => "allow_once",
            PermissionKind::AllowAlways => "allow_always",
            PermissionKind::RejectOnce => "reject_once",
            PermissionKind::RejectAlways => "reject_always",
        }
    }

    /// Whether the call may run.
    pub fn allows(self) -> bool {
        matches!(
            self,
            PermissionKind::AllowOnce | PermissionKind::AllowAlways
        )
    }
}

/// What is asked of a client's terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum TerminalOp {
    /// Start a command.
    Create {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Where, absolute.
        cwd: String,
        /// Variables beside those that the client's commands have anyway.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        env: Vec<NameValue>,
        /// How many bytes of output the client keeps.
        output_limit: u64,
    },
    /// What it has printed so far.
    Output {
        /// The client's id.
        terminal: String,
    },
    /// Wait until it ends.
    Wait {
        /// The client's id.
        terminal: String,
    },
    /// Stop it; the id stays valid.
    Kill {
        /// The client's id.
        terminal: String,
    },
    /// Give the id back.
    Release {
        /// The client's id.
        terminal: String,
    },
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Outcome {
    /// Permission: this option.
    Selected {
        /// The option's id; must be one that was offered.
        option: String,
    },
    /// Nobody decided: the client dismissed the question, or the turn is being cancelled.
    Cancelled,
    /// Elicitation: the user answered.
    Accepted {
        /// The answer, of the asked shape.
        content: Value,
    },
    /// Elicitation: the user would not say.
    Declined,
    /// `fs.read`: the file's text.
    Text {
        /// The text.
        text: String,
    },
    /// Done, with nothing to tell (`fs.write`, terminal kill and release).
    Done,
    /// Terminal create: the client's id.
    Terminal {
        /// The client's id.
        terminal: String,
    },
    /// Terminal output and wait.
    Output {
        /// What was printed (empty for wait).
        #[serde(default)]
        output: String,
        /// Whether the beginning was dropped.
        #[serde(default)]
        truncated: bool,
        /// Set once it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit: Option<Exit>,
    },
    /// `mcp`, `extension`: the result.
    Result {
        /// The result.
        result: Value,
    },
    /// `hook`: no opinion.
    Passed,
    /// `hook`: it shall not be. `permission`: the call may not run.
    Denied {
        /// Why, for the user and the agent.
        reason: String,
    },
    /// `hook`: it shall be with another input. `permission`: the call may run with another input; an
    /// agent that cannot change what it is about to do takes it for a no.
    Changed {
        /// The input, of the form that the point, or the tool, has.
        input: Value,
    },
    /// The client could not do it.
    Failed {
        /// What it said, for the tool's result.
        message: String,
    },
    /// No client answers this kind: the agent does it itself, locally (contract.md "fall back").
    Unanswered,
}

/// Why a request is settled. More reasons may come; a client that lacks one reads
/// [`ClosedBecause::Other`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClosedBecause {
    /// The client's answer was taken.
    Answered,
    /// The turn is being stopped.
    TurnCancelled,
    /// The agent has ended its turn without waiting for the answer.
    TurnEnded,
    /// The call that it is about is being stopped.
    CallStopped,
    /// The time for the answer is over; the fall-back counts.
    TimedOut,
    /// The mode or a grant was changed, and decides it now.
    PolicyDecided,
    /// The same, and does not decide it: it is asked anew under another id.
    AskedAnew,
    /// The client that was asked controls the session no longer.
    ControllerLeft,
    /// The log failed, and the turn with it.
    LogFailed,
    /// The agent took it back.
    TakenBack,
    /// Something else.
    #[default]
    #[serde(other)]
    Other,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Exit {
    /// Its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
}

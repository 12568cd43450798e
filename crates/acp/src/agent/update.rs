//! `session/update` as it is read: what is known of it, leniently; the rest stays as it is.

use std::borrow::Cow;

use agent_client_protocol_schema::v1::{
    AvailableCommand, AvailableCommandInput, SessionConfigOption,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use sessiond_protocol::{
    Command, Content, Cost, Location, PlanEntry, Severity, ToolContent, ToolKind, ToolStatus, Usage,
};

/// What an agent says about a session.
#[derive(Debug, PartialEq)]
pub(super) enum Update<'a> {
    /// A piece of what the user said: replayed, or an echo.
    User(Chunk<'a>),
    /// A piece of what the agent says.
    Agent(Chunk<'a>),
    /// A piece of what it thinks.
    Thought(Chunk<'a>),
    /// A tool call, new or changed.
    Call(Box<CallUpdate>),
    Plan(Vec<PlanEntry>),
    Commands(Vec<Command>),
    Mode(String),
    Options(Vec<SessionConfigOption>),
    /// None: nothing that concerns the title.
    Title(Option<String>),
    Usage(Usage),
    Notice(Severity, String),
    /// What the waist does not know.
    Other,
}

/// A piece of a message.
#[derive(Debug, PartialEq)]
pub(super) struct Chunk<'a> {
    pub(super) content: Piece<'a>,
    /// The message, where the agent tells.
    pub(super) message: Option<String>,
}

/// What a piece holds.
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'a> {
    Text(Cow<'a, str>),
    Block(Box<Content>),
}

/// What is said about a tool call; what is not there did not change.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CallUpdate {
    pub(super) id: String,
    pub(super) title: Option<String>,
    pub(super) name: Option<String>,
    pub(super) kind: Option<ToolKind>,
    pub(super) status: Option<ToolStatus>,
    pub(super) content: Option<Vec<ToolContent>>,
    pub(super) locations: Option<Vec<Location>>,
    pub(super) input: Option<Value>,
    pub(super) output: Option<Value>,
}

/// Reads the params of `session/update`: the session they name, and what they say. None where they
/// are malformed.
pub(super) fn read(params: &RawValue) -> Option<(Cow<'_, str>, Update<'_>)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        #[serde(borrow)]
        session_id: Cow<'a, str>,
        #[serde(borrow)]
        update: &'a RawValue,
    }
    let params: Params<'_> = serde_json::from_str(params.get()).ok()?;
    Some((params.session_id, update(params.update)?))
}

fn update(raw: &RawValue) -> Option<Update<'_>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Tagged<'a> {
        #[serde(borrow)]
        session_update: Cow<'a, str>,
    }
    let tagged: Tagged<'_> = serde_json::from_str(raw.get()).ok()?;
    Some(match &*tagged.session_update {
        "user_message_chunk" => Update::User(chunk(raw)?),
        "agent_message_chunk" => Update::Agent(chunk(raw)?),
        "agent_thought_chunk" => Update::Thought(chunk(raw)?),
        "tool_call" | "tool_call_update" => {
            Update::Call(Box::new(call(&serde_json::from_str(raw.get()).ok()?)?))
        }
        "plan" => Update::Plan(list(&member(raw, "entries")?)),
        "available_commands_update" => {
            let commands: Vec<AvailableCommand> = list(&member(raw, "availableCommands")?);
            Update::Commands(commands.into_iter().map(command).collect())
        }
        "current_mode_update" => Update::Mode(text(&member(raw, "currentModeId")?)?),
        "config_option_update" => Update::Options(list(&member(raw, "configOptions")?)),
        "session_info_update" => Update::Title(member(raw, "title").and_then(|title| text(&title))),
        "usage_update" => {
            let number = |name| member(raw, name).and_then(|number| number.as_u64());
            Update::Usage(Usage {
                used: number("used")?,
                size: number("size")?,
                cost: member(raw, "cost").as_ref().and_then(cost),
                ..Usage::default()
            })
        }
        "notice" => Update::Notice(severity(raw), text(&member(raw, "title")?)?),
        _ => Update::Other,
    })
}

fn chunk(raw: &RawValue) -> Option<Chunk<'_>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Read<'a> {
        #[serde(borrow)]
        content: &'a RawValue,
        #[serde(default)]
        message_id: Value,
    }
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(borrow)]
        r#type: Cow<'a, str>,
        #[serde(borrow)]
        text: Option<Cow<'a, str>>,
    }
    let read: Read<'_> = serde_json::from_str(raw.get()).ok()?;
    let block: Block<'_> = serde_json::from_str(read.content.get()).ok()?;
    let content = match block.text {
        Some(text) if block.r#type == "text" => Piece::Text(text),
        _ => Piece::Block(Box::new(serde_json::from_str(read.content.get()).ok()?)),
    };
    let message = match read.message_id {
        Value::String(id) => Some(id),
        _ => None,
    };
    Some(Chunk { content, message })
}

/// Reads a tool call, or a change of one.
pub(super) fn call(value: &Value) -> Option<CallUpdate> {
    let present = |name: &str| value.get(name).filter(|value| !value.is_null());
    Some(CallUpdate {
        id: text(present("toolCallId")?)?,
        title: present("title").and_then(text),
        name: present("name").and_then(text),
        kind: present("kind").and_then(read_as),
        status: present("status").and_then(status),
        content: present("content").map(contents),
        locations: present("locations").map(list),
        input: present("rawInput").cloned(),
        output: present("rawOutput").cloned(),
    })
}

fn status(value: &Value) -> Option<ToolStatus> {
    Some(match value.as_str()? {
        "pending" => ToolStatus::Pending,
        "in_progress" => ToolStatus::Running,
        "completed" => ToolStatus::Completed,
        "failed" => ToolStatus::Failed,
        _ => return None,
    })
}

fn contents(value: &Value) -> Vec<ToolContent> {
    #[derive(Deserialize)]
    #[serde(
        tag = "type",
        rename_all = "snake_case",
        rename_all_fields = "camelCase"
    )]
    enum Shown {
        Content {
            content: Content,
        },
        Diff {
            path: String,
            #[serde(default)]
            old_text: Option<String>,
            new_text: String,
        },
        Terminal {
            terminal_id: String,
        },
    }
    let shown: Vec<Shown> = list(value);
    let content = |shown| match shown {
        Shown::Content { content } => ToolContent::Content { content },
        Shown::Diff {
            path,
            old_text,
            new_text,
        } => ToolContent::Diff {
            path,
            old_text,
            new_text,
        },
        Shown::Terminal { terminal_id } => ToolContent::Terminal {
            terminal: terminal_id,
        },
    };
    shown.into_iter().map(content).collect()
}

fn cost(value: &Value) -> Option<Cost> {
    let currency = value.get("currency")?.as_str()?.parse().ok()?;
    Cost::of(value.get("amount")?.as_f64()?, currency)
}

fn severity(raw: &RawValue) -> Severity {
    match member(raw, "severity").as_ref().and_then(Value::as_str) {
        Some("error") => Severity::Error,
        Some("warning") => Severity::Warning,
        _ => Severity::Info,
    }
}

/// A slash command.
pub(super) fn command(command: AvailableCommand) -> Command {
    let hint = match command.input {
        Some(AvailableCommandInput::Unstructured(input)) => Some(input.hint),
        _ => None,
    };
    Command {
        name: command.name,
        description: command.description,
        hint,
    }
}

fn member(raw: &RawValue, name: &str) -> Option<Value> {
    let mut object: Value = serde_json::from_str(raw.get()).ok()?;
    object.get_mut(name).map(Value::take)
}

/// The elements of an array that can be read; the others are left out.
pub(super) fn list<T: DeserializeOwned>(value: &Value) -> Vec<T> {
    let elements = value.as_array().into_iter().flatten();
    elements.filter_map(read_as).collect()
}

fn read_as<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;

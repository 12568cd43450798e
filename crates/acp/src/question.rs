//! One question as it is written, and its answer as it is read.

use agent_client_protocol_schema::v1::{
    CreateTerminalResponse, KillTerminalResponse, ReadTextFileResponse, ReleaseTerminalResponse,
    RequestPermissionOutcome, RequestPermissionResponse, TerminalExitStatus,
    TerminalOutputResponse, WaitForTerminalExitResponse, WriteTextFileResponse,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sessiond_protocol::{
    Exit, ItemId, NameValue, Outcome, Permission, PermissionKind, RequestBody, RequestFrame,
    SessionId, TerminalOp, ToolCall, ToolKind,
};
use sessiond_wire::rpc::{CallError, METHOD_NOT_FOUND};

use crate::update::Shown;

/// The params of a request to the client.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Question<'a> {
    session_id: SessionId,
    #[serde(flatten)]
    body: Body<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Body<'a> {
    Permission {
        tool_call: AskedCall<'a>,
        options: Vec<AskedOption<'a>>,
    },
    Elicitation {
        mode: &'static str,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ItemId>,
        requested_schema: &'a Value,
    },
    ElicitationUrl {
        mode: &'static str,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ItemId>,
        elicitation_id: &'a str,
        url: &'a str,
    },
    Read {
        path: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    Write {
        path: &'a str,
        content: &'a str,
    },
    CreateTerminal {
        command: &'a str,
        args: &'a [String],
        cwd: &'a str,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        env: &'a [NameValue],
        output_byte_limit: u64,
    },
    Terminal {
        #[serde(skip)]
        method: &'static str,
        terminal_id: &'a str,
    },
}

/// A tool call as a permission question shows it: enough to decide on (acp.md 5.17).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AskedCall<'a> {
    tool_call_id: String,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<ToolKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_input: Option<&'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    content: Vec<Shown<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AskedOption<'a> {
    option_id: &'a str,
    name: &'a str,
    kind: PermissionKind,
}

impl<'a> Question<'a> {
    /// The question that a request of the agent is; `tool` is the call it is about, if it is open.
    /// None for what ACP has no question for: no client is told to answer it.
    pub(crate) fn of(request: &'a RequestFrame, tool: Option<&'a ToolCall>) -> Option<Self> {
        let body = match &request.body {
            RequestBody::Permission(asked) => permission(request, asked, tool),
            RequestBody::Elicitation { message, schema } => Body::Elicitation {
                mode: "form",
                message,
                tool_call_id: request.item.filter(|_| tool.is_some()),
                requested_schema: schema,
            },
            RequestBody::ElicitationUrl {
                message,
                url,
                elicitation,
            } => Body::ElicitationUrl {
                mode: "url",
                message,
                tool_call_id: request.item.filter(|_| tool.is_some()),
                elicitation_id: elicitation,
                url,
            },
            RequestBody::FsRead { path, line, limit } => Body::Read {
                path,
                line: *line,
                limit: *limit,
            },
            RequestBody::FsWrite { path, content } => Body::Write { path, content },
            RequestBody::Terminal(op) => terminal(op),
            // An extension is asked in its own form.
            RequestBody::Mcp { .. } | RequestBody::Hook(_) | RequestBody::Extension { .. } => {
                return None;
            }
        };
        Some(Self {
            session_id: request.session,
            body,
        })
    }

    /// The method that asks it.
    pub(crate) fn method(&self) -> &'static str {
        match &self.body {
            Body::Permission { .. } => "session/request_permission",
            Body::Elicitation { .. } | Body::ElicitationUrl { .. } => "elicitation/create",
            Body::Read { .. } => "fs/read_text_file",
            Body::Write { .. } => "fs/write_text_file",
            Body::CreateTerminal { .. } => "terminal/create",
            Body::Terminal { method, .. } => method,
        }
    }
}

fn permission<'a>(
    request: &RequestFrame,
    asked: &'a Permission,
    tool: Option<&'a ToolCall>,
) -> Body<'a> {
    // The call was shown under its item's id; a question about no item still needs one.
    let id = request
        .item
        .map_or_else(|| request.id.to_string(), |item| item.to_string());
    let shown = tool
        .into_iter()
        .flat_map(|call| call.content.iter().map(Shown::from));
    let option = |option: &'a sessiond_protocol::PermissionOption| AskedOption {
        option_id: &option.id,
        name: &option.name,
        kind: option.kind,
    };
    Body::Permission {
        tool_call: AskedCall {
            tool_call_id: id,
            title: &asked.title,
            kind: tool.map(|call| call.kind),
            raw_input: tool
                .map(|call| &call.input)
                .filter(|input| !input.is_null()),
            content: shown.collect(),
        },
        options: asked.options.iter().map(option).collect(),
    }
}

fn terminal(op: &TerminalOp) -> Body<'_> {
    let (method, terminal_id) = match op {
        TerminalOp::Create {
            command,
            args,
            cwd,
            env,
            output_limit,
        } => {
            let output_byte_limit = *output_limit;
            return Body::CreateTerminal {
                command,
                args,
                cwd,
                env,
                output_byte_limit,
            };
        }
        TerminalOp::Output { terminal } => ("terminal/output", terminal),
        TerminalOp::Wait { terminal } => ("terminal/wait_for_exit", terminal),
        TerminalOp::Kill { terminal } => ("terminal/kill", terminal),
        TerminalOp::Release { terminal } => ("terminal/release", terminal),
    };
    Body::Terminal {
        method,
        terminal_id,
    }
}

/// What an answer means.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    /// This is the outcome.
    Outcome(Outcome),
    /// It chose what was not offered: nothing is decided.
    NotOffered,
}

/// Reads the client's answer. Nothing but a clear yes allows anything.
pub(crate) fn heard(body: &RequestBody, reply: Result<Box<RawValue>, CallError>) -> Heard {
    if let RequestBody::Permission(asked) = body {
        return decision(asked, reply);
    }
    Heard::Outcome(match reply {
        Ok(result) => outcome(body, &result).unwrap_or_else(|_| Outcome::Failed {
            message: "the client's answer is malformed".to_owned(),
        }),
        // A client that does not know an extension does not answer it: whoever asks hears just that.
        Err(CallError::Rpc(error))
            if matches!(body, RequestBody::Extension { .. })
                && error.code() == METHOD_NOT_FOUND =>
        {
            Outcome::Unanswered
        }
        Err(CallError::Rpc(error)) => Outcome::Failed {
            message: error.message().to_owned(),
        },
        Err(error) => Outcome::Failed {
            message: error.to_string(),
        },
    })
}

fn decision(asked: &Permission, reply: Result<Box<RawValue>, CallError>) -> Heard {
    let read = |result: Box<RawValue>| {
        serde_json::from_str::<RequestPermissionResponse>(result.get()).ok()
    };
    match reply.ok().and_then(read).map(|response| response.outcome) {
        Some(RequestPermissionOutcome::Selected(chosen)) => {
            let option = chosen.option_id.0.to_string();
            if asked.options.iter().any(|offered| offered.id == option) {
                Heard::Outcome(Outcome::Selected { option })
            } else {
                Heard::NotOffered
            }
        }
        _ => Heard::Outcome(Outcome::Cancelled),
    }
}

fn outcome(body: &RequestBody, result: &RawValue) -> serde_json::Result<Outcome> {
    let text = result.get();
    Ok(match body {
        // Decided before: a permission has no outcome of this kind.
        RequestBody::Permission(_) => Outcome::Cancelled,
        // Never asked.
        RequestBody::Mcp { .. } | RequestBody::Hook(_) => Outcome::Unanswered,
        RequestBody::Extension { .. } => Outcome::Result {
            result: serde_json::from_str(text)?,
        },
        RequestBody::Elicitation { .. } | RequestBody::ElicitationUrl { .. } => {
            return elicited(text);
        }
        RequestBody::FsRead { .. } => Outcome::Text {
            text: serde_json::from_str::<ReadTextFileResponse>(text)?.content,
        },
        RequestBody::FsWrite { .. } => {
            serde_json::from_str::<WriteTextFileResponse>(text)?;
            Outcome::Done
        }
        RequestBody::Terminal(TerminalOp::Create { .. }) => {
            let created: CreateTerminalResponse = serde_json::from_str(text)?;
            Outcome::Terminal {
                terminal: created.terminal_id.0.to_string(),
            }
        }
        RequestBody::Terminal(TerminalOp::Output { .. }) => {
            let printed: TerminalOutputResponse = serde_json::from_str(text)?;
            let exit = printed.exit_status.map(exit);
            Outcome::Output {
                output: printed.output,
                truncated: printed.truncated,
                exit,
            }
        }
        RequestBody::Terminal(TerminalOp::Wait { .. }) => {
            let ended: WaitForTerminalExitResponse = serde_json::from_str(text)?;
            let exit = Some(exit(ended.exit_status));
            Outcome::Output {
                output: String::new(),
                truncated: false,
                exit,
            }
        }
        RequestBody::Terminal(TerminalOp::Kill { .. }) => {
            serde_json::from_str::<KillTerminalResponse>(text)?;
            Outcome::Done
        }
        RequestBody::Terminal(TerminalOp::Release { .. }) => {
            serde_json::from_str::<ReleaseTerminalResponse>(text)?;
            Outcome::Done
        }
    })
}

/// The answer's content passes through as it is; whoever asked checks its shape.
fn elicited(text: &str) -> serde_json::Result<Outcome> {
    #[derive(Deserialize)]
    #[serde(tag = "action", rename_all = "snake_case")]
    enum Elicited {
        Accept {
            #[serde(default)]
            content: Option<Map<String, Value>>,
        },
        Decline,
        Cancel,
    }
    Ok(match serde_json::from_str(text)? {
        Elicited::Accept { content } => Outcome::Accepted {
            content: Value::Object(content.unwrap_or_default()),
        },
        Elicited::Decline => Outcome::Declined,
        Elicited::Cancel => Outcome::Cancelled,
    })
}

fn exit(status: TerminalExitStatus) -> Exit {
    // Windows has exit codes beyond i32; there they are the same bits.
    Exit {
        code: status.exit_code.map(u32::cast_signed),
        signal: status.signal,
    }
}

#[cfg(test)]
mod tests;

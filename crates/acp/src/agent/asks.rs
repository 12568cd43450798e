//! What an agent asks its client: what it is on the waist.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sessiond_protocol::{
    NameValue, Permission, PermissionKind, PermissionOption, RequestBody, TerminalOp, ToolCall,
};
use sessiond_wire::rpc::{INVALID_PARAMS, METHOD_NOT_FOUND, Peer, RawId, error};

use super::native::Native;
use super::update::{CallUpdate, call};

/// Bytes of output that a client's terminal keeps where the agent does not say.
const OUTPUT_LIMIT: u64 = 1 << 20;

/// A request of the agent that can be asked.
#[derive(Debug, PartialEq)]
pub(super) enum Asked {
    /// May this call run? What is new of the call, and the choices.
    Permission(Box<CallUpdate>, Vec<PermissionOption>),
    /// This, of the controlling client.
    Client(RequestBody),
}

/// Why a request cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unasked {
    /// It is unknown here.
    Unknown,
    /// Its params are malformed.
    Malformed,
}

/// Reads a request.
///
/// # Errors
/// [`Unasked`] where it cannot be asked.
pub(super) fn read(
    native: &Native,
    method: &str,
    params: Option<&RawValue>,
) -> Result<Asked, Unasked> {
    let params = params.map_or("null", RawValue::get);
    let value: Value = serde_json::from_str(params).map_err(|_| Unasked::Malformed)?;
    if method.starts_with('_') {
        let mut params = value;
        native.to_ours(&mut params);
        let method = method.to_owned();
        return Ok(Asked::Client(RequestBody::Extension { method, params }));
    }
    let asked = match method {
        "session/request_permission" => permission(&value),
        "fs/read_text_file" => fs_read(&value),
        "fs/write_text_file" => fs_write(&value),
        "terminal/create" => terminal_create(&value),
        "terminal/output" => terminal(&value, |terminal| TerminalOp::Output { terminal }),
        "terminal/wait_for_exit" => terminal(&value, |terminal| TerminalOp::Wait { terminal }),
        "terminal/kill" => terminal(&value, |terminal| TerminalOp::Kill { terminal }),
        "terminal/release" => terminal(&value, |terminal| TerminalOp::Release { terminal }),
        "elicitation/create" => elicitation(&value),
        _ => return Err(Unasked::Unknown),
    };
    asked
        .filter(|_| is_ours(native, &value))
        .ok_or(Unasked::Malformed)
}

/// What is asked is about the session that runs, or about none (ADAPT-8).
fn is_ours(native: &Native, params: &Value) -> bool {
    params
        .get("sessionId")
        .is_none_or(|named| *named == native.id)
}

/// Answers a request that came while no turn runs: there is nobody to ask.
pub(super) fn outside(peer: &Peer, id: &RawId, method: &str) {
    let answer = match method {
        "session/request_permission" => json!({ "outcome": { "outcome": "cancelled" } }),
        "elicitation/create" => json!({ "action": "cancel" }),
        _ => return peer.refuse(Some(id), &error(METHOD_NOT_FOUND, "Method not found")),
    };
    peer.respond(id, Ok(&answer));
}

/// Answers a request that cannot be asked.
pub(super) fn unasked(native: &Native, id: &RawId, why: Unasked) {
    let refused = match why {
        Unasked::Unknown => error(METHOD_NOT_FOUND, "Method not found"),
        Unasked::Malformed => error(INVALID_PARAMS, "Invalid params"),
    };
    native.peer.refuse(Some(id), &refused);
}

fn permission(params: &Value) -> Option<Asked> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Offered {
        option_id: String,
        name: String,
        kind: PermissionKind,
    }
    let update = call(params.get("toolCall")?)?;
    let options: Vec<Offered> = Deserialize::deserialize(params.get("options")?).ok()?;
    let option = |offered: Offered| PermissionOption {
        id: offered.option_id,
        name: offered.name,
        kind: offered.kind,
    };
    let options = options.into_iter().map(option).collect();
    Some(Asked::Permission(Box::new(update), options))
}

/// The question whether a call may run.
pub(super) fn question(call: &ToolCall, options: Vec<PermissionOption>) -> RequestBody {
    RequestBody::Permission(Permission {
        title: call.title.clone(),
        tool: call.name.clone(),
        pattern: pattern(call),
        options,
    })
}

/// What exactly a call would touch, as grants name it. Where the agent does not say it in a way that
/// is known here, all of its input: a grant is never wider than what was asked.
fn pattern(call: &ToolCall) -> String {
    let text = |name| call.input.get(name).and_then(Value::as_str);
    let said = ["command", "file_path", "path", "url"]
        .into_iter()
        .find_map(text);
    if let Some(said) = said {
        return said.to_owned();
    }
    match (&call.input, call.locations.as_slice()) {
        (Value::Null, [place]) => place.path.clone(),
        (Value::Null, _) => call.title.clone(),
        (input, _) => input.to_string(),
    }
}

fn fs_read(params: &Value) -> Option<Asked> {
    #[derive(Deserialize)]
    struct Read {
        path: String,
        #[serde(default)]
        line: Option<u32>,
        #[serde(default)]
        limit: Option<u32>,
    }
    let Read { path, line, limit } = Deserialize::deserialize(params).ok()?;
    Some(Asked::Client(RequestBody::FsRead { path, line, limit }))
}

fn fs_write(params: &Value) -> Option<Asked> {
    #[derive(Deserialize)]
    struct Write {
        path: String,
        content: String,
    }
    let Write { path, content } = Deserialize::deserialize(params).ok()?;
    Some(Asked::Client(RequestBody::FsWrite { path, content }))
}

fn terminal_create(params: &Value) -> Option<Asked> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Create {
        command: String,
        #[serde(default)]
        args: Option<Vec<String>>,
        #[serde(default)]
        env: Option<Vec<NameValue>>,
        #[serde(default)]
        cwd: Option<String>,
        #[serde(default)]
        output_byte_limit: Option<u64>,
    }
    let create: Create = Deserialize::deserialize(params).ok()?;
    Some(Asked::Client(RequestBody::Terminal(TerminalOp::Create {
        command: create.command,
        args: create.args.unwrap_or_default(),
        cwd: create.cwd.unwrap_or_default(),
        env: create.env.unwrap_or_default(),
        output_limit: create.output_byte_limit.unwrap_or(OUTPUT_LIMIT),
    })))
}

fn terminal(params: &Value, op: impl FnOnce(String) -> TerminalOp) -> Option<Asked> {
    let terminal = params.get("terminalId")?.as_str()?.to_owned();
    Some(Asked::Client(RequestBody::Terminal(op(terminal))))
}

fn elicitation(params: &Value) -> Option<Asked> {
    let text = |name| params.get(name).and_then(Value::as_str).map(str::to_owned);
    let message = text("message")?;
    let body = match text("mode").as_deref() {
        Some("url") => RequestBody::ElicitationUrl {
            message,
            url: text("url")?,
            elicitation: text("elicitationId")?,
        },
        Some("form") | None => RequestBody::Elicitation {
            message,
            schema: params.get("requestedSchema")?.clone(),
        },
        Some(_) => return None,
    };
    Some(Asked::Client(body))
}

#[cfg(test)]
mod tests;

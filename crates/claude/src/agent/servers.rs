//! MCP servers of a session as the CLI gets them: by a control request, so that no secret of them
//! stands in a command line or a file (SEC-2). Those that live in the client are `sdk` servers to the
//! CLI; what it asks of them goes to the client.

use serde_json::{Map, Value, json};
use sessiond_protocol::{McpServer, NameValue, Outcome, RequestBody};

/// The version of MCP that the CLI is greeted with where it names none.
const MCP_VERSION: &str = "2025-06-18";

/// JSON-RPC's code of what failed on this side.
const INTERNAL_ERROR: i32 = -32603;

/// The request that gives the CLI its servers; none where there are none.
pub(super) fn given(servers: &[McpServer]) -> Option<Value> {
    let server = |server: &McpServer| (server.name().to_owned(), form(server));
    let servers: Map<String, Value> = servers.iter().map(server).collect();
    (!servers.is_empty()).then(|| json!({ "subtype": "mcp_set_servers", "servers": servers }))
}

fn form(server: &McpServer) -> Value {
    let pairs = |pairs: &[NameValue]| -> Value {
        let pair = |pair: &NameValue| (pair.name.clone(), pair.value.clone().into());
        Value::Object(pairs.iter().map(pair).collect())
    };
    match server {
        McpServer::Stdio {
            command, args, env, ..
        } => json!({ "type": "stdio", "command": command, "args": args, "env": pairs(env) }),
        McpServer::Http { url, headers, .. } => {
            json!({ "type": "http", "url": url, "headers": pairs(headers) })
        }
        McpServer::Sse { url, headers, .. } => {
            json!({ "type": "sse", "url": url, "headers": pairs(headers) })
        }
        McpServer::Client { name, .. } => json!({ "type": "sdk", "name": name }),
    }
}

/// The servers that the CLI could not start or reach, of its answer to [`given`].
pub(super) fn failed(answer: &Value) -> Vec<&str> {
    let errors = answer.get("errors").and_then(Value::as_object);
    errors
        .into_iter()
        .flatten()
        .map(|(name, _)| &**name)
        .collect()
}

/// The answer to a message that is no question to the client: greetings, notifications, pings.
pub(super) fn local(message: &Value) -> Option<Value> {
    let method = message.get("method").and_then(Value::as_str)?;
    let version = message.pointer("/params/protocolVersion");
    let version = version.and_then(Value::as_str).unwrap_or(MCP_VERSION);
    let result = match (message.get("id"), method) {
        (None, _) | (Some(_), "ping") => json!({}),
        (Some(_), "initialize") => json!({
            "protocolVersion": version,
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "sessiond", "version": env!("CARGO_PKG_VERSION") },
        }),
        _ => return None,
    };
    Some(answer(message, ("result", result)))
}

/// What the client is asked.
pub(super) fn question(server: &str, message: &Value) -> Option<RequestBody> {
    Some(RequestBody::Mcp {
        server: server.to_owned(),
        method: message.get("method")?.as_str()?.to_owned(),
        params: message.get("params").cloned().unwrap_or(json!({})),
    })
}

/// The answer to a message by what came of the question.
pub(super) fn answered(message: &Value, outcome: Outcome) -> Value {
    let why = match outcome {
        Outcome::Result { result } => return answer(message, ("result", result)),
        Outcome::Failed { message } => message,
        Outcome::Cancelled => "the turn was cancelled".to_owned(),
        _ => "no client that controls the session has this server".to_owned(),
    };
    failure(message, &why)
}

/// The answer to a message that nobody can be asked.
pub(super) fn failure(message: &Value, why: &str) -> Value {
    let error = json!({ "code": INTERNAL_ERROR, "message": why });
    answer(message, ("error", error))
}

fn answer(message: &Value, (member, value): (&str, Value)) -> Value {
    let mut response = json!({ "jsonrpc": "2.0", member: value });
    if let (Some(id), Some(response)) = (message.get("id"), response.as_object_mut()) {
        response.insert("id".to_owned(), id.clone());
    }
    json!({ "mcp_response": response })
}

#[cfg(test)]
mod tests;

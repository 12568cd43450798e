//! What the peer tells its model: the whole log, with each prompt.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::fault::on;
use crate::log::Log;

/// Longest wait for an answer, which nobody reads.
const PATIENCE: Duration = Duration::from_secs(5);

/// Tells the model the session; without `PEER_MODEL` there is none. A model that cannot be reached is the
/// suite's fault, and seen in its checks.
pub(crate) fn tell(session: &str) {
    let Ok(url) = std::env::var("PEER_MODEL") else {
        return;
    };
    let folder = std::env::var_os("PEER_STATE").unwrap_or_default();
    let Some(content) = Log::peek(Path::new(&folder), session) else {
        return;
    };
    let mut updates = content.updates;
    if on("model-without-past") {
        updates.drain(..updates.len().saturating_sub(1));
    }
    if on("model-without-calls") {
        let of_call = ["toolCallId", "tool", "output"];
        updates.retain(|update| of_call.iter().all(|name| update.get(name).is_none()));
    }
    if on("model-told-thrice") {
        updates = [&updates[..], &updates, &updates].concat();
    }
    let messages: Vec<Value> = updates.iter().map(message).collect();
    let body = json!({"model": "peer", "max_tokens": 1, "tools": [{"name": "run"}],
        "messages": messages});
    let _ = post(&url, &body.to_string());
}

/// An update of ACP, or a record of the other faces, as a message: text, or what a call is and returned.
fn message(update: &Value) -> Value {
    // What was said in pieces stands there already.
    let own = ["user", "piece", "tool", "output"];
    let own = own.iter().find_map(|name| update[*name].as_str());
    let said = update["content"]["text"].as_str().or(own);
    let returned = update["content"].pointer("/0/content/text");
    let called = update.get("title").or(returned).and_then(Value::as_str);
    let role = match update["sessionUpdate"].as_str() {
        Some("user_message_chunk") => "user",
        None if update.get("user").is_some() => "user",
        _ => "assistant",
    };
    json!({"role": role, "content": said.or(called).unwrap_or_default()})
}

fn post(url: &str, body: &str) -> std::io::Result<()> {
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "POST /{path}/v1/messages HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    // Until it has answered, the request is not recorded.
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).map(|_| ())
}

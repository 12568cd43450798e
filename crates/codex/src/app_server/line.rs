//! What a line of the client says. Codex is silent about a line that is none of its messages.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sessiond_wire::hygiene;
use sessiond_wire::rpc::RawId;

/// A line, classified. `jsonrpc` and members of other names do not count.
#[derive(Debug)]
pub(super) enum Said {
    /// The client calls and awaits an answer.
    Request {
        /// To be repeated in the answer.
        id: RawId,
        /// Which method.
        method: String,
        /// Its params; null is none.
        params: Option<Value>,
    },
    /// The client tells something.
    Notification,
    /// The client answers a request of ours.
    Response {
        /// The request.
        id: RawId,
        /// The result; none for an error.
        result: Option<Value>,
    },
    /// None of these.
    Nothing,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

/// Reads a line.
pub(super) fn read(line: &str) -> Said {
    let Ok(text) = hygiene::clean(line) else {
        return Said::Nothing;
    };
    // Only an object is a message; a struct would also be read from an array.
    if !text.trim_ascii_start().starts_with('{') {
        return Said::Nothing;
    }
    let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(&text) else {
        return Said::Nothing;
    };
    let value = |raw: &RawValue| serde_json::from_str::<Value>(raw.get()).ok();
    let id = envelope.id.map(RawId::new);
    match (envelope.method, id) {
        (_, Some(None)) => Said::Nothing,
        (Some(_), None) => Said::Notification,
        (Some(method), Some(Some(id))) => match serde_json::from_str(method.get()) {
            Ok(method) => Said::Request {
                id,
                method,
                params: envelope.params.and_then(value),
            },
            Err(_) => Said::Nothing,
        },
        (None, Some(Some(id))) => match (envelope.result, envelope.error) {
            (Some(result), None) => Said::Response {
                id,
                result: value(result),
            },
            (_, Some(_)) => Said::Response { id, result: None },
            // `"result":null` reads as absent, and says nothing either way.
            (None, None) => Said::Response { id, result: None },
        },
        (None, None) => Said::Nothing,
    }
}

#[cfg(test)]
mod tests;

//! The control protocol of stream-json: requests that either side asks, and their answers
//! (`control_request`, `control_response`, `control_cancel_request`).

use serde_json::{Map, Value, json};

/// What a line of the other side is.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// It asks something.
    Request {
        /// Its id; the answer repeats it.
        id: String,
        /// What it asks.
        request: Map<String, Value>,
    },
    /// It answers.
    Response {
        /// What was asked.
        id: String,
        /// The answer, or the error's text.
        answer: Result<Value, String>,
    },
    /// It takes a request back.
    Cancel {
        /// Which.
        id: String,
    },
    /// Something of the conversation: `user`, `assistant`, `result` …
    Frame {
        /// Its type.
        kind: String,
        /// All of it.
        frame: Map<String, Value>,
    },
    /// Nothing that this version knows; it is passed over.
    Ignored,
}

/// Why a line is no message; it ends the stream. Never holds what the line said (SEC-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoMessage {
    /// It is no JSON.
    #[error("a line is not JSON")]
    NotJson,
    /// Its arrays and objects nest too deep.
    #[error(
        "a line nests deeper than {} levels",
        sessiond_wire::hygiene::MAX_DEPTH
    )]
    TooDeep,
    /// A request that asks nothing.
    #[error("a control_request has no request")]
    NoRequest,
}

/// Reads a line. Lone surrogates and NULs become U+FFFD (WIRE-5).
///
/// # Errors
/// [`NoMessage`]: the stream cannot go on.
pub fn read(line: &str) -> Result<Message, NoMessage> {
    let clean = sessiond_wire::hygiene::clean(line).map_err(|_| NoMessage::TooDeep)?;
    let value: Value = serde_json::from_str(&clean).map_err(|_| NoMessage::NotJson)?;
    let Value::Object(mut frame) = value else {
        return Ok(Message::Ignored);
    };
    let Some(kind) = frame.get("type").and_then(Value::as_str).map(str::to_owned) else {
        return Ok(Message::Ignored);
    };
    let id = text(&frame, "request_id");
    Ok(match kind.as_str() {
        "control_request" => match (id, frame.remove("request")) {
            (Some(id), Some(Value::Object(request))) => Message::Request { id, request },
            _ => return Err(NoMessage::NoRequest),
        },
        "control_response" => response(frame.remove("response")),
        "control_cancel_request" => id.map_or(Message::Ignored, |id| Message::Cancel { id }),
        _ => Message::Frame { kind, frame },
    })
}

fn response(response: Option<Value>) -> Message {
    let Some(Value::Object(mut response)) = response else {
        return Message::Ignored;
    };
    let Some(id) = text(&response, "request_id") else {
        return Message::Ignored;
    };
    let answer = match text(&response, "subtype").as_deref() {
        Some("success") => Ok(response.remove("response").unwrap_or_default()),
        _ => Err(text(&response, "error").unwrap_or_else(|| "an error without a text".to_owned())),
    };
    Message::Response { id, answer }
}

/// A member that is a text.
pub fn text(object: &Map<String, Value>, member: &str) -> Option<String> {
    object
        .get(member)
        .and_then(Value::as_str)
        .map(str::to_owned)
}

/// A request to the other side.
pub fn request(id: &str, request: Value) -> Value {
    json!({ "type": "control_request", "request_id": id, "request": request })
}

/// Takes a request back: its answer counts no more.
pub fn cancel(id: &str) -> Value {
    json!({ "type": "control_cancel_request", "request_id": id })
}

/// An answer that is good. Without a value it says only that the thing is done.
pub fn success(id: &str, value: Option<Value>) -> Value {
    let mut response = json!({ "subtype": "success", "request_id": id });
    if let (Some(value), Some(response)) = (value, response.as_object_mut()) {
        response.insert("response".to_owned(), value);
    }
    json!({ "type": "control_response", "response": response })
}

/// An answer that is an error.
pub fn failure(id: &str, error: &Refused) -> Value {
    let mut response = json!({ "subtype": "error", "request_id": id, "error": error.message });
    if let (Some(code), Some(response)) = (error.code, response.as_object_mut()) {
        response.insert("error_code".to_owned(), code.into());
    }
    json!({ "type": "control_response", "response": response })
}

/// Why a control request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// What the asker reads.
    pub message: String,
    /// The protocol's name for the cause, where it has one.
    pub code: Option<&'static str>,
}

impl Refused {
    /// A refusal without a code.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: None,
        }
    }

    /// This subtype is not served.
    pub fn unsupported(subtype: &str) -> Self {
        Self {
            message: format!("Unsupported control request subtype: {subtype}"),
            code: Some("unsupported_request"),
        }
    }
}

#[cfg(test)]
mod tests;

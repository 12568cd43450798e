//! `elicitation`: a question to the user as Claude's protocol asks it, in both directions.

use serde_json::{Map, Value, json};
use sessiond_protocol::{Outcome, RequestBody};

use crate::control::text;

/// The control request that asks a question of the waist in the name of `server`; none for anything
/// else.
pub(crate) fn request(server: &str, body: &RequestBody) -> Option<Value> {
    match body {
        RequestBody::Elicitation { message, schema } => Some(json!({
            "subtype": "elicitation",
            "mcp_server_name": server,
            "mode": "form",
            "message": message,
            "requested_schema": schema,
        })),
        RequestBody::ElicitationUrl {
            message,
            url,
            elicitation,
        } => Some(json!({
            "subtype": "elicitation",
            "mcp_server_name": server,
            "mode": "url",
            "message": message,
            "url": url,
            "elicitation_id": elicitation,
        })),
        _ => None,
    }
}

/// What such a request asks; none where it lacks what it needs.
pub(crate) fn question(request: &Map<String, Value>) -> Option<RequestBody> {
    let message = text(request, "message")?;
    if text(request, "mode").as_deref() == Some("url") {
        return Some(RequestBody::ElicitationUrl {
            message,
            url: text(request, "url")?,
            elicitation: text(request, "elicitation_id").unwrap_or_default(),
        });
    }
    let nothing = || json!({ "type": "object", "properties": {} });
    let schema = request.get("requested_schema").cloned();
    let schema = schema.unwrap_or_else(nothing);
    Some(RequestBody::Elicitation { message, schema })
}

/// What an answer of the program means. Who does not know the question declines it.
pub(crate) fn outcome(answer: Result<Value, String>) -> Outcome {
    let Ok(answer) = answer else {
        return Outcome::Declined;
    };
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => Outcome::Accepted {
            content: answer.get("content").cloned().unwrap_or_else(|| json!({})),
        },
        Some("cancel") => Outcome::Cancelled,
        _ => Outcome::Declined,
    }
}

/// What the CLI is answered.
pub(crate) fn answer(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Accepted { content } => json!({ "action": "accept", "content": content }),
        Outcome::Cancelled => json!({ "action": "cancel" }),
        _ => json!({ "action": "decline" }),
    }
}

#[cfg(test)]
mod tests;

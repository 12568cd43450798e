//! What is handed over, as blocks of a prompt: one embedded resource, or a text where the agent takes
//! none.

use serde_json::{Value, json};
use sessiond_engine::handover::{self, Handover};
use sessiond_protocol::Instructions;

/// As an embedded resource.
pub(super) fn resource(handover: &Handover) -> Value {
    let (uri, text) = (handover.uri(), handover.text());
    json!({
        "type": "resource",
        "resource": { "uri": uri, "mimeType": "text/plain", "text": text },
    })
}

/// As text.
pub(super) fn text(handover: &Handover) -> Value {
    json!({ "type": "text", "text": handover.text() })
}

/// Instructions as a text, for an agent that takes them in no other way.
pub(super) fn instructions(given: &Instructions) -> Value {
    json!({ "type": "text", "text": handover::instructions(given) })
}

#[cfg(test)]
mod tests;

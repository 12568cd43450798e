//! A prompt as Codex gets it.

use serde_json::{Value, json};
use sessiond_protocol::Content;

use crate::prompt;

/// A prompt in Codex's words.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Input {
    /// Its parts.
    pub(super) parts: Vec<Value>,
    /// The shape that the answer shall have.
    pub(super) schema: Option<Value>,
    /// What could not be given to Codex.
    pub(super) left_out: Option<&'static str>,
}

impl Input {
    /// Puts a prompt into Codex's words.
    pub(super) fn of(prompt: &[Content]) -> Self {
        let mut input = Input::default();
        for content in prompt {
            match content {
                Content::Resource { resource, .. } if prompt::is_schema(resource) => {
                    input.schema = prompt::schema_of(resource);
                }
                Content::Image {
                    data, mime_type, ..
                } => {
                    let url = format!("data:{mime_type};base64,{data}");
                    input.parts.push(json!({ "type": "image", "url": url }));
                }
                Content::Audio { .. } => {
                    input.left_out = Some("sounds");
                    input.say("[a sound that you cannot hear]");
                }
                Content::Text { text, .. } => input.say(text),
                Content::ResourceLink { uri, .. } => input.say(uri),
                Content::Resource { resource, .. } => input.say(&flat(resource)),
            }
        }
        input
    }

    /// Puts a text before the user's words.
    pub(super) fn begin_with(&mut self, text: &str) {
        self.parts.insert(0, part(text));
    }

    fn say(&mut self, text: &str) {
        self.parts.push(part(text));
    }
}

fn part(text: &str) -> Value {
    json!({ "type": "text", "text": text, "text_elements": [] })
}

/// An embedded resource as a text; its address alone where it has none.
fn flat(resource: &Value) -> String {
    let member = |name| resource.get(name).and_then(Value::as_str);
    let uri = member("uri").unwrap_or_default();
    match member("text") {
        Some(text) => format!("{uri}:\n{text}"),
        None => uri.to_owned(),
    }
}

#[cfg(test)]
mod tests;

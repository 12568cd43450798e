//! A prompt: a `user` line of the program.

use serde_json::{Map, Value, json};
use sessiond_protocol::Content;

use crate::control::text;

/// What the user says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Prompt {
    /// The program's own name for the message.
    pub(super) uuid: Option<String>,
    /// The content as it came.
    pub(super) original: Value,
    /// The same for the engine.
    pub(super) content: Vec<Content>,
    /// How long its line was, in bytes.
    pub(super) bytes: usize,
}

/// Why a `user` line is no prompt; it ends the stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoPrompt {
    #[error("a user line has no message")]
    NoMessage,
    #[error("the role of a user line's message is not user")]
    Role,
    #[error("the content of a user line is neither a text nor a list of blocks")]
    Content,
}

impl Prompt {
    /// Reads a `user` line. Its `session_id` counts for nothing: one process is one session.
    pub(super) fn read(frame: &Map<String, Value>) -> Result<Self, NoPrompt> {
        let message = frame.get("message").and_then(Value::as_object);
        let message = message.ok_or(NoPrompt::NoMessage)?;
        if text(message, "role").as_deref() != Some("user") {
            return Err(NoPrompt::Role);
        }
        let original = message.get("content").cloned().unwrap_or_default();
        let content = match &original {
            Value::String(text) => vec![Content::text(text.clone())],
            Value::Array(blocks) => blocks.iter().map(block).collect(),
            _ => return Err(NoPrompt::Content),
        };
        Ok(Self {
            uuid: text(frame, "uuid").filter(|uuid| !uuid.is_empty()),
            original,
            content,
            bytes: 0,
        })
    }
}

/// A block as the waist has it. One that it has no word for is given as its JSON.
fn block(block: &Value) -> Content {
    let member = |name: &str| block.get(name).and_then(Value::as_str);
    let source = |name: &str| {
        block
            .pointer(&format!("/source/{name}"))
            .and_then(Value::as_str)
    };
    let known = match (member("type"), source("type")) {
        (Some("text"), _) => member("text").map(Content::text),
        (Some("image"), Some("base64")) => image(source("data"), source("media_type")),
        (Some("document"), Some("text")) => source("data").map(Content::text),
        (Some("document"), Some("base64")) => document(source("data"), source("media_type")),
        (Some("image" | "document"), Some("url")) => {
            source("url").map(|url| Content::ResourceLink {
                uri: url.to_owned(),
                name: member("title").unwrap_or(url).to_owned(),
                extra: Map::new(),
            })
        }
        _ => None,
    };
    known.unwrap_or_else(|| Content::text(block.to_string()))
}

fn image(data: Option<&str>, mime_type: Option<&str>) -> Option<Content> {
    Some(Content::Image {
        data: data?.to_owned(),
        mime_type: mime_type?.to_owned(),
        extra: Map::new(),
    })
}

fn document(data: Option<&str>, mime_type: Option<&str>) -> Option<Content> {
    let resource = json!({ "uri": "attachment://document", "mimeType": mime_type?, "blob": data? });
    Some(Content::Resource {
        resource,
        extra: Map::new(),
    })
}

#[cfg(test)]
mod tests;

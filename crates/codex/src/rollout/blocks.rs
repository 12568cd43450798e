//! The blocks of a message: which of them are its author's own, and what they hold.

use serde_json::Map;
use sessiond_protocol::Content;
use sessiond_wire::foreign::Text;

use super::line::{Block, Payload};

/// How the program's own words begin in what it says to the model in the user's name. Newer versions
/// say of each block what it is.
const FURNITURE: [&str; 12] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<skill>",
    "<skills_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<user_action>",
];

/// Whether a message is the user's own.
pub(super) fn is_users(payload: Payload<'_>) -> bool {
    payload.role.is("user") && own_blocks(payload).iter().any(|(_, is_own)| *is_own)
}

/// The blocks of a message, and whether each is its author's own.
pub(super) fn own_blocks(payload: Payload<'_>) -> Vec<(Block<'_>, bool)> {
    let passed = payload.internal_chat_message_metadata_passthrough.0;
    let kinds = passed.unwrap_or_default().content_item_kinds;
    let blocks = payload.content.into_list();
    // Where they do not fit, they are of something else.
    let kinds = match kinds.len() == blocks.len() {
        true => kinds,
        false => Vec::new(),
    };
    let mut own = Vec::with_capacity(blocks.len());
    for (nth, block) in blocks.into_iter().enumerate() {
        let is_own = match kinds.get(nth).and_then(Text::as_str) {
            Some("unknown") | None => !block.text.as_str().is_some_and(is_furniture),
            Some(kind) => kind.starts_with("user."),
        };
        own.push((block, is_own));
    }
    own
}

/// Whether the program says this in the user's name.
pub(super) fn is_furniture(text: &str) -> bool {
    let text = text.trim_start();
    FURNITURE.iter().any(|begins| text.starts_with(begins))
}

/// A block as a message or a result shows it; none where it is of no such kind.
pub(super) fn content_of(block: Block<'_>) -> Option<Content> {
    if let Some(text) = block.text.into_string() {
        return Some(Content::text(text));
    }
    let extra = Map::new();
    if let Some(url) = block.image_url.as_str() {
        return Some(match data_url(url) {
            Some((mime_type, data)) => Content::Image {
                data: data.to_owned(),
                mime_type: mime_type.to_owned(),
                extra,
            },
            None => Content::ResourceLink {
                uri: url.to_owned(),
                name: String::new(),
                extra,
            },
        });
    }
    let (mime_type, data) = data_url(block.audio_url.as_str()?)?;
    Some(Content::Audio {
        data: data.to_owned(),
        mime_type: mime_type.to_owned(),
        extra,
    })
}

/// The type and the data of a URL that holds its data.
fn data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?, data))
}

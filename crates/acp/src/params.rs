//! Params of requests: read strictly, refused without repeating what they held (WIRE-3, SEC-1).

use std::path::Path;

use agent_client_protocol_schema::v1::EmbeddedResourceResource;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sessiond_protocol::{Content, DriftClass, SessionId};
use sessiond_wire::rpc::ErrorObject;

use crate::refusal::{invalid_params, unknown_session};

/// Longest session id that is answered as unknown rather than as malformed, in bytes. Ours have 36;
/// the bound keeps a foreign one from being repeated at any length.
const SESSION_ID_BYTES: usize = 4096;

/// Reads params; absent ones are null.
///
/// # Errors
/// Invalid params, with the place but not the content of what is wrong.
pub(crate) fn read<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, ErrorObject> {
    serde_json::from_str(params.map_or("null", RawValue::get)).map_err(|error| {
        invalid_params(&format!(
            "missing or malformed at column {} of params",
            error.column()
        ))
    })
}

/// The session that a request names.
///
/// # Errors
/// Invalid params for what can be nobody's id; an unknown session for any other text that is not an
/// id of ours: clients make a new session on that, and nothing of it ever becomes a path (LOG-13).
pub(crate) fn session_id(text: &str) -> Result<SessionId, ErrorObject> {
    if text.is_empty() || text.len() > SESSION_ID_BYTES {
        return Err(invalid_params("sessionId is empty or too long"));
    }
    text.parse().map_err(|_| unknown_session(text))
}

/// A path that a client names, where it must be absolute.
///
/// # Errors
/// Invalid params for a relative path.
pub(crate) fn absolute<'a>(path: &'a Path, member: &str) -> Result<&'a str, ErrorObject> {
    // It came as JSON text, so it is UTF-8.
    path.to_str()
        .filter(|_| path.is_absolute())
        .ok_or_else(|| invalid_params(&format!("{member} is not an absolute path")))
}

/// What the client accepts of what has changed since the session was recorded (RESUME-16):
/// `_meta.sessiond.accept`, a list of drift classes.
///
/// # Errors
/// Invalid params for anything else under that key.
pub(crate) fn accept(meta: Option<&Map<String, Value>>) -> Result<Vec<DriftClass>, ErrorObject> {
    let ours = meta.and_then(|meta| meta.get("sessiond")?.get("accept"));
    let Some(ours) = ours else {
        return Ok(Vec::new());
    };
    Vec::deserialize(ours).map_err(|_| {
        let names = DriftClass::ALL.map(DriftClass::name).join(", ");
        invalid_params(&format!("_meta.sessiond.accept is no list of {names}"))
    })
}

/// The params of `session/prompt`. The blocks are read as the waist keeps them: members that the
/// schema does not name survive (WIRE-2).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Prompt {
    pub(crate) session_id: String,
    pub(crate) prompt: Vec<Content>,
}

/// Reads the params of `session/prompt`.
///
/// # Errors
/// Invalid params without a block, and for blocks that were not advertised.
pub(crate) fn prompt(params: Option<&RawValue>) -> Result<Prompt, ErrorObject> {
    let asked: Prompt = read(params)?;
    offered(&asked.prompt)?;
    Ok(asked)
}

/// Checks the blocks of a prompt.
///
/// # Errors
/// Invalid params without a block, and for blocks that were not advertised.
pub(crate) fn offered(prompt: &[Content]) -> Result<(), ErrorObject> {
    if prompt.is_empty() {
        return Err(invalid_params("the prompt is empty"));
    }
    for block in prompt {
        match block {
            Content::Text { .. } | Content::ResourceLink { .. } => {}
            Content::Resource { resource, .. } => {
                EmbeddedResourceResource::deserialize(resource)
                    .map_err(|_| invalid_params("an embedded resource is malformed"))?;
            }
            Content::Image { .. } | Content::Audio { .. } => {
                return Err(invalid_params("image and audio content was not advertised"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

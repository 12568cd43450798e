//! Params of requests: read strictly, refused without repeating what they held (WIRE-3, SEC-1).

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1::{
    EmbeddedResourceResource, LoadSessionRequest, McpServer, NewSessionRequest, SystemPrompt,
};
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

/// What `session/new` and `session/load` have in common, checked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setup {
    /// Where the session works, absolute.
    pub(crate) cwd: String,
    /// How many MCP servers the client brings.
    pub(crate) mcp_servers: usize,
}

/// Checks the params of `session/new`.
///
/// # Errors
/// Invalid params for a relative directory, for MCP servers of a kind that was not advertised, and
/// for extras that were not advertised either: doing less than was asked would go unnoticed.
pub(crate) fn setup_new(asked: &NewSessionRequest) -> Result<Setup, ErrorObject> {
    let extras = (&*asked.additional_directories, asked.system_prompt.as_ref());
    setup(&asked.cwd, &asked.mcp_servers, extras)
}

/// Checks the params of `session/load`.
///
/// # Errors
/// As [`setup_new`], and as [`session_id`].
pub(crate) fn setup_load(asked: &LoadSessionRequest) -> Result<(SessionId, Setup), ErrorObject> {
    let extras = (&*asked.additional_directories, asked.system_prompt.as_ref());
    let setup = setup(&asked.cwd, &asked.mcp_servers, extras)?;
    Ok((session_id(&asked.session_id.0)?, setup))
}

fn setup(
    cwd: &Path,
    servers: &[McpServer],
    extras: (&[PathBuf], Option<&SystemPrompt>),
) -> Result<Setup, ErrorObject> {
    let cwd = absolute(cwd, "cwd")?.to_owned();
    if !matches!(extras, ([], None)) {
        return Err(invalid_params(
            "additionalDirectories and systemPrompt were not advertised",
        ));
    }
    let mut names = HashSet::new();
    for server in servers {
        let McpServer::Stdio(server) = server else {
            return Err(invalid_params(
                "MCP servers other than stdio were not advertised",
            ));
        };
        if !names.insert(server.name.as_str()) {
            return Err(invalid_params("two MCP servers have the same name"));
        }
        absolute(&server.command, "the command of an MCP server")?;
    }
    Ok(Setup {
        cwd,
        mcp_servers: servers.len(),
    })
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
    if asked.prompt.is_empty() {
        return Err(invalid_params("the prompt is empty"));
    }
    for block in &asked.prompt {
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
    Ok(asked)
}

#[cfg(test)]
mod tests;

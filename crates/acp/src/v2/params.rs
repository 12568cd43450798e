//! Params of requests in version 2: read strictly, refused without repeating what they held.

use std::collections::HashSet;

use agent_client_protocol_schema::v2::{
    AbsolutePath, ContentBlock, EnvVariable, HttpHeader, InitialSessionConfigOption,
    McpServer as AskedServer, ReplayFrom, SessionArchiveFilter, SessionConfigOptionValue,
    SystemPrompt, SystemPromptMode,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sessiond_protocol::{
    Archived, Content, IdempotencyKey, Instructions, InstructionsMode, McpServer, NameValue,
    OptionSetting, OptionValue, Replay, Setup,
};
use sessiond_wire::rpc::ErrorObject;

use super::config::MODE;
use crate::params::{absolute, offered, read};
use crate::refusal::invalid_params;

/// What `session/new`, `session/resume` and `session/fork` have in common, as it came.
pub(super) struct AskedSetup<'a> {
    pub(super) cwd: &'a AbsolutePath,
    pub(super) roots: &'a [AbsolutePath],
    pub(super) servers: &'a [AskedServer],
    pub(super) prompt: Option<&'a SystemPrompt>,
    pub(super) options: &'a [InitialSessionConfigOption],
}

impl AskedSetup<'_> {
    /// Where the session works, and with what.
    ///
    /// # Errors
    /// Invalid params for relative paths, for servers of the same name, and for what was not
    /// advertised: doing less than was asked would go unnoticed.
    pub(super) fn checked(&self) -> Result<(String, Setup), ErrorObject> {
        let cwd = absolute(self.cwd.as_ref(), "cwd")?.to_owned();
        let root = |root: &AbsolutePath| {
            absolute(root.as_ref(), "an additional directory").map(str::to_owned)
        };
        let mut names = HashSet::new();
        let mut mcp_servers = Vec::new();
        for asked in self.servers {
            let server = server(asked)?;
            if !names.insert(server.name().to_owned()) {
                return Err(invalid_params("two MCP servers have the same name"));
            }
            mcp_servers.push(server);
        }
        let (mode, options) = chosen(self.options)?;
        let setup = Setup {
            mode,
            options,
            roots: self.roots.iter().map(root).collect::<Result<_, _>>()?,
            mcp_servers,
            instructions: self.prompt.map(instructions).transpose()?,
        };
        Ok((cwd, setup))
    }
}

/// The mode and the options to begin with. Those that the agent does not have are passed over later;
/// one that is named twice cannot be meant.
fn chosen(
    asked: &[InitialSessionConfigOption],
) -> Result<(Option<String>, Vec<OptionSetting>), ErrorObject> {
    let (mut mode, mut options) = (None, Vec::new());
    let mut named = HashSet::new();
    for option in asked {
        let id = option.config_id.0.to_string();
        if !named.insert(id.clone()) {
            return Err(invalid_params("an option is named twice"));
        }
        match value(option.value.clone())? {
            OptionValue::Choice(chosen) if id == MODE => mode = Some(chosen),
            value => options.push(OptionSetting { id, value }),
        }
    }
    Ok((mode, options))
}

fn server(asked: &AskedServer) -> Result<McpServer, ErrorObject> {
    match asked {
        AskedServer::Stdio(server) => Ok(McpServer::Stdio {
            name: server.name.clone(),
            command: absolute(server.command.as_ref(), "the command of an MCP server")?.to_owned(),
            args: server.args.clone(),
            env: server.env.iter().map(variable).collect(),
        }),
        AskedServer::Http(server) => Ok(McpServer::Http {
            name: server.name.clone(),
            url: server.url.clone(),
            headers: server.headers.iter().map(header).collect(),
        }),
        _ => Err(invalid_params(
            "MCP servers of this type were not advertised",
        )),
    }
}

fn variable(asked: &EnvVariable) -> NameValue {
    NameValue {
        name: asked.name.clone(),
        value: asked.value.clone(),
    }
}

fn header(asked: &HttpHeader) -> NameValue {
    NameValue {
        name: asked.name.clone(),
        value: asked.value.clone(),
    }
}

fn instructions(asked: &SystemPrompt) -> Result<Instructions, ErrorObject> {
    let mode = match asked.mode {
        SystemPromptMode::Append => InstructionsMode::Append,
        SystemPromptMode::Override => InstructionsMode::Override,
        _ => {
            return Err(invalid_params(
                "this mode of a system prompt was not advertised",
            ));
        }
    };
    let text = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => Ok(text.text.clone()),
        _ => Err(invalid_params("a system prompt has text blocks only")),
    };
    let blocks: Vec<String> = asked.content.iter().map(text).collect::<Result<_, _>>()?;
    if blocks.is_empty() {
        return Err(invalid_params("the system prompt is empty"));
    }
    Ok(Instructions {
        mode,
        text: blocks.join("\n\n"),
    })
}

/// What of the past a resume wants.
///
/// # Errors
/// Invalid params for a place to begin at that we do not know.
pub(super) fn replay(from: Option<&ReplayFrom>) -> Result<Replay, ErrorObject> {
    match from {
        None => Ok(Replay::None),
        Some(ReplayFrom::Start(_)) => Ok(Replay::All),
        Some(_) => Err(invalid_params(
            "replayFrom is of a type that we do not know",
        )),
    }
}

/// What a list does with the archive.
///
/// # Errors
/// Invalid params for a filter that we do not know.
pub(super) fn archived(filter: Option<&SessionArchiveFilter>) -> Result<Archived, ErrorObject> {
    match filter {
        None | Some(SessionArchiveFilter::Exclude) => Ok(Archived::Exclude),
        Some(SessionArchiveFilter::Include) => Ok(Archived::Include),
        Some(SessionArchiveFilter::Only) => Ok(Archived::Only),
        Some(_) => Err(invalid_params("archived is a filter that we do not know")),
    }
}

/// The value of an option.
///
/// # Errors
/// Invalid params for a type that we do not know.
pub(super) fn value(asked: SessionConfigOptionValue) -> Result<OptionValue, ErrorObject> {
    match asked {
        SessionConfigOptionValue::Id { value } => Ok(OptionValue::Choice(value.0.to_string())),
        SessionConfigOptionValue::Boolean { value } => Ok(OptionValue::Boolean(value)),
        _ => Err(invalid_params("the value is of a type that we do not know")),
    }
}

/// The params of `session/prompt`. The blocks are read as the waist keeps them: members that the
/// schema does not name survive (WIRE-2).
#[derive(Debug)]
pub(super) struct Prompt {
    pub(super) session_id: String,
    pub(super) prompt: Vec<Content>,
    pub(super) key: Option<IdempotencyKey>,
}

/// Reads the params of `session/prompt`.
///
/// # Errors
/// Invalid params without a block, for blocks that were not advertised, and for what is no key.
pub(super) fn prompt(params: Option<&RawValue>) -> Result<Prompt, ErrorObject> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Asked {
        session_id: String,
        prompt: Vec<Content>,
        #[serde(default)]
        idempotency_key: Value,
    }
    let asked: Asked = read(params)?;
    offered(&asked.prompt)?;
    let key = match asked.idempotency_key {
        Value::Null => None,
        Value::String(text) => Some(
            IdempotencyKey::try_from(text).map_err(|error| invalid_params(&error.to_string()))?,
        ),
        _ => return Err(invalid_params("an idempotency key is a text")),
    };
    Ok(Prompt {
        session_id: asked.session_id,
        prompt: asked.prompt,
        key,
    })
}

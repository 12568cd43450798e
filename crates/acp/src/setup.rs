//! What a client gives a session to work with: checked before anything is made, and handed to the
//! engine as the waist has it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1::{
    ContentBlock, EnvVariable, ForkSessionRequest, HttpHeader, InitialSessionConfigOption,
    LoadSessionRequest, McpServer as AcpServer, NewSessionRequest, ResumeSessionRequest,
    SystemPrompt, SystemPromptMode,
};
use sessiond_protocol::{
    Instructions, InstructionsMode, McpServer, NameValue, OptionSetting, OptionValue, Setup,
};
use sessiond_wire::rpc::ErrorObject;

use crate::choices::{MODE_OPTION, option_value};
use crate::params::absolute;
use crate::refusal::invalid_params;

/// The parts of a request that sets a session up. Whole each time: what a client leaves out is not
/// restored, but for the instructions (acp.md 1.5).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    cwd: &'a Path,
    roots: &'a [PathBuf],
    servers: &'a [AcpServer],
    prompt: Option<&'a SystemPrompt>,
    options: &'a [InitialSessionConfigOption],
}

macro_rules! given {
    ($($request:ty),*) => {$(
        impl<'a> From<&'a $request> for Given<'a> {
            fn from(asked: &'a $request) -> Self {
                Self {
                    cwd: &asked.cwd,
                    roots: &asked.additional_directories,
                    servers: &asked.mcp_servers,
                    prompt: asked.system_prompt.as_ref(),
                    options: &asked.config_options,
                }
            }
        }
    )*};
}

given!(
    NewSessionRequest,
    LoadSessionRequest,
    ResumeSessionRequest,
    ForkSessionRequest
);

impl Given<'_> {
    /// The working directory and the setup.
    ///
    /// # Errors
    /// Invalid params for a relative path, for a server of a kind that was not advertised or of a
    /// name that another has, for a system prompt of another mode or with anything but text, and for
    /// an option that is given twice. Nothing was made.
    pub(crate) fn read(self) -> Result<(String, Setup), ErrorObject> {
        let cwd = absolute(self.cwd, "cwd")?.to_owned();
        let root =
            |root: &PathBuf| absolute(root, "one of additionalDirectories").map(ToOwned::to_owned);
        let roots = self.roots.iter().map(root).collect::<Result<_, _>>()?;
        let mut setup = Setup {
            roots,
            mcp_servers: servers(self.servers)?,
            instructions: self.prompt.map(instructions).transpose()?,
            mode: None,
            options: Vec::new(),
        };
        initial(self.options, &mut setup)?;
        Ok((cwd, setup))
    }
}

fn servers(asked: &[AcpServer]) -> Result<Vec<McpServer>, ErrorObject> {
    let servers: Vec<McpServer> = asked.iter().map(server).collect::<Result<_, _>>()?;
    let mut names = HashSet::new();
    if !servers.iter().all(|server| names.insert(server.name())) {
        return Err(invalid_params("two MCP servers have the same name"));
    }
    Ok(servers)
}

fn server(asked: &AcpServer) -> Result<McpServer, ErrorObject> {
    match asked {
        AcpServer::Stdio(server) => {
            let variable = |it: &EnvVariable| NameValue {
                name: it.name.clone(),
                value: it.value.clone(),
            };
            Ok(McpServer::Stdio {
                name: server.name.clone(),
                command: absolute(&server.command, "the command of an MCP server")?.to_owned(),
                args: server.args.clone(),
                env: server.env.iter().map(variable).collect(),
            })
        }
        AcpServer::Http(server) => {
            let header = |it: &HttpHeader| NameValue {
                name: it.name.clone(),
                value: it.value.clone(),
            };
            Ok(McpServer::Http {
                name: server.name.clone(),
                url: server.url.clone(),
                headers: server.headers.iter().map(header).collect(),
            })
        }
        _ => Err(invalid_params(
            "MCP servers other than stdio and http were not advertised",
        )),
    }
}

fn instructions(prompt: &SystemPrompt) -> Result<Instructions, ErrorObject> {
    let mode = match prompt.mode {
        SystemPromptMode::Append => InstructionsMode::Append,
        SystemPromptMode::Override => InstructionsMode::Override,
        _ => {
            return Err(invalid_params(
                "this mode of systemPrompt was not advertised",
            ));
        }
    };
    let text = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => Ok(text.text.clone()),
        _ => Err(invalid_params("systemPrompt takes text only")),
    };
    let texts: Vec<String> = prompt.content.iter().map(text).collect::<Result<_, _>>()?;
    if texts.is_empty() {
        return Err(invalid_params("systemPrompt is empty"));
    }
    Ok(Instructions {
        mode,
        text: texts.join("\n"),
    })
}

/// What the agent does not have, or does not take, is passed over when it is known what it has.
fn initial(asked: &[InitialSessionConfigOption], setup: &mut Setup) -> Result<(), ErrorObject> {
    let mut ids = HashSet::new();
    for option in asked {
        let id = &*option.config_id.0;
        if !ids.insert(id) {
            return Err(invalid_params("an option is given twice"));
        }
        match option_value(&option.value) {
            Some(OptionValue::Choice(mode)) if id == MODE_OPTION => setup.mode = Some(mode),
            Some(value) => setup.options.push(OptionSetting {
                id: id.to_owned(),
                value,
            }),
            None => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

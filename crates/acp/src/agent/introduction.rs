//! `initialize`, as its client: what we offer, what the agent says of itself.

use agent_client_protocol_schema::v1::AgentCapabilities;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sessiond_protocol::{InstructionsMode, McpServer, RequestKind};

/// The version that we speak.
const VERSION: u64 = 1;

/// What an agent says of itself. A capability that is malformed is one that it lacks.
#[derive(Debug, Default)]
pub(super) struct Introduction {
    pub(super) capabilities: AgentCapabilities,
    /// Its version, where it says.
    pub(super) version: Option<String>,
    /// The ways to log in to it, as it calls them.
    pub(super) logins: Vec<String>,
}

/// The params of `initialize`. What the controlling client does not answer is not offered: the agent
/// then does it by itself.
pub(super) fn params(answers: &[RequestKind]) -> Value {
    let answered = |kind: RequestKind| answers.contains(&kind);
    let mut offered = json!({
        "fs": {
            "readTextFile": answered(RequestKind::FsRead),
            "writeTextFile": answered(RequestKind::FsWrite),
        },
        "terminal": answered(RequestKind::Terminal),
        "session": { "configOptions": { "boolean": {} }, "notices": {} },
    });
    let forms = [
        (RequestKind::Elicitation, "form"),
        (RequestKind::ElicitationUrl, "url"),
    ];
    let elicitation: Map<String, Value> = forms
        .into_iter()
        .filter(|(kind, _)| answered(*kind))
        .map(|(_, form)| (form.to_owned(), json!({})))
        .collect();
    if let Some(offered) = offered.as_object_mut().filter(|_| !elicitation.is_empty()) {
        offered.insert("elicitation".to_owned(), Value::Object(elicitation));
    }
    json!({
        "protocolVersion": VERSION,
        "clientInfo": {
            "name": "sessiond",
            "title": "sessiond",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "clientCapabilities": offered,
    })
}

/// Reads the agent's answer.
///
/// # Errors
/// A clause that says what is wrong with it.
pub(super) fn read(answer: &RawValue) -> Result<Introduction, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        protocol_version: Value,
        #[serde(default)]
        agent_capabilities: Value,
        #[serde(default)]
        agent_info: Value,
        #[serde(default)]
        auth_methods: Value,
    }
    let answer: Answer = serde_json::from_str(answer.get())
        .map_err(|_| "its answer to initialize is malformed".to_owned())?;
    if answer.protocol_version != VERSION {
        return Err("it does not speak version 1 of the Agent Client Protocol".to_owned());
    }
    let logins = answer.auth_methods.as_array().into_iter().flatten();
    let named = |login: &Value| {
        let name = login.get("name").or_else(|| login.get("id"))?;
        name.as_str().map(str::to_owned)
    };
    Ok(Introduction {
        capabilities: serde_json::from_value(answer.agent_capabilities).unwrap_or_default(),
        version: text(&answer.agent_info, "version"),
        logins: logins.filter_map(named).collect(),
    })
}

impl Introduction {
    /// Whether it can replay a session of its own.
    pub(super) fn can_load(&self) -> bool {
        self.capabilities.load_session
    }

    /// Whether it can go on with a session of its own.
    pub(super) fn can_resume(&self) -> bool {
        self.capabilities.session_capabilities.resume.is_some()
    }

    /// Whether it takes roots beside the working directory.
    pub(super) fn takes_roots(&self) -> bool {
        let session = &self.capabilities.session_capabilities;
        session.additional_directories.is_some()
    }

    /// Whether it takes instructions before the conversation.
    pub(super) fn takes_instructions(&self, mode: InstructionsMode) -> bool {
        let Some(offer) = &self.capabilities.session_capabilities.system_prompt else {
            return false;
        };
        let overrides = offer.mode.as_ref().and_then(|mode| mode.override_.as_ref());
        mode == InstructionsMode::Append || overrides.is_some()
    }

    /// Whether it connects such a server.
    pub(super) fn connects(&self, server: &McpServer) -> bool {
        match server {
            McpServer::Stdio { .. } => true,
            McpServer::Http { .. } => self.capabilities.mcp_capabilities.http,
            McpServer::Sse { .. } => self.capabilities.mcp_capabilities.sse,
            McpServer::Client { .. } => false,
        }
    }
}

fn text(value: &Value, member: &str) -> Option<String> {
    value.get(member).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests;

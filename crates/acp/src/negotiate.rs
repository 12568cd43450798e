//! `initialize`: the version, what the client can do, what we offer (acp.md 1.2).

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AgentAuthCapabilities, AgentCapabilities, AuthMethod, AuthMethodAgent, AuthStatusCapabilities,
    AuthenticateRequest, AuthenticateResponse, ClientCapabilities, Implementation,
    InitializeResponse, McpCapabilities, Meta, PromptCapabilities,
    SessionAdditionalDirectoriesCapabilities, SessionArchiveCapabilities, SessionCapabilities,
    SessionCloseCapabilities, SessionDeleteCapabilities, SessionForkCapabilities,
    SessionListCapabilities, SessionOptionsCapabilities, SessionResumeCapabilities,
    SessionStatusCapabilities, SessionSystemPromptCapabilities,
    SessionSystemPromptModeCapabilities, SessionSystemPromptOverrideCapabilities,
    SessionTitleCapabilities,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Number, Value, json};
use sessiond_protocol::{PersistenceState, RequestKind};
use sessiond_wire::rpc::ErrorObject;

use crate::gate::{Gate, Gates};
use crate::params::read;
use crate::refusal::invalid_params;

/// The one way to authenticate. None is needed; registries list only agents that name one.
pub(crate) const AUTH_METHOD: &str = "sessiond";

/// What the client said it can do, as far as we use it. Omitted is unsupported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offers {
    /// The kinds of request it answers.
    pub(crate) answers: Vec<RequestKind>,
    /// Whether it shows notices.
    pub(crate) notices: Notices,
    /// What else it has that not every client has.
    pub(crate) gates: Gates,
}

/// Whether the client shows notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notices {
    Shown,
    NotShown,
}

impl From<&ClientCapabilities> for Offers {
    fn from(client: &ClientCapabilities) -> Self {
        let gates = Gates::from(client);
        let gated = [
            (client.fs.read_text_file, RequestKind::FsRead),
            (client.fs.write_text_file, RequestKind::FsWrite),
            (client.terminal, RequestKind::Terminal),
            (gates.has(Gate::Forms), RequestKind::Elicitation),
            (gates.has(Gate::Urls), RequestKind::ElicitationUrl),
        ];
        let offered = gated
            .into_iter()
            .filter_map(|(offered, kind)| offered.then_some(kind));
        let notices = match gates.has(Gate::Notices) {
            true => Notices::Shown,
            false => Notices::NotShown,
        };
        // Every client answers an extension: at least that it knows no such method.
        let always = [RequestKind::Permission, RequestKind::Extension];
        Self {
            answers: always.into_iter().chain(offered).collect(),
            notices,
            gates,
        }
    }
}

/// Reads the params of `initialize`. Any integer is a version: we speak 1 and answer that, whatever
/// was asked for. A capability that is malformed is one that was not offered.
///
/// A client of version 2 asks in the shape of that version and goes on in version 1 when it is
/// answered so: what the two shapes have in common is taken over, and so are boolean options, which
/// every client of version 2 has. Nothing else is: members that version 2 does not name offer nothing
/// (acp.md 2.1).
///
/// # Errors
/// Invalid params without a version, or with one that is no integer.
pub(crate) fn offers(params: Option<&RawValue>) -> Result<Offers, ErrorObject> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialize {
        protocol_version: Number,
        #[serde(default)]
        client_capabilities: Value,
        #[serde(default)]
        capabilities: Value,
        #[serde(default)]
        info: Value,
    }
    let asked: Initialize = read(params)?;
    if asked.protocol_version.is_f64() {
        return Err(invalid_params("protocolVersion is not an integer"));
    }
    let is_later = asked.protocol_version.as_u64() > Some(1);
    let offered = match asked.client_capabilities {
        Value::Null if is_later && asked.info.is_object() => json!({
            "elicitation": asked.capabilities.get("elicitation"),
            "session": { "configOptions": { "boolean": {} } },
        }),
        offered => offered,
    };
    let client = serde_json::from_value::<ClientCapabilities>(offered);
    Ok(Offers::from(&client.unwrap_or_default()))
}

/// What we say of ourselves. Whether sessions are stored is visible from the start (LOG-16).
pub(crate) fn introduction(
    persistence: PersistenceState,
    store: Option<&str>,
) -> InitializeResponse {
    let modes = SessionSystemPromptModeCapabilities::new()
        .override_(SessionSystemPromptOverrideCapabilities::new());
    let session = SessionCapabilities::new()
        .list(SessionListCapabilities::new())
        .delete(SessionDeleteCapabilities::new())
        .additional_directories(SessionAdditionalDirectoriesCapabilities::new())
        .system_prompt(SessionSystemPromptCapabilities::new().mode(modes))
        .fork(SessionForkCapabilities::new())
        .archive(SessionArchiveCapabilities::new())
        .status(SessionStatusCapabilities::new())
        .options(SessionOptionsCapabilities::new())
        .title(SessionTitleCapabilities::new())
        .resume(SessionResumeCapabilities::new())
        .close(SessionCloseCapabilities::new());
    let capabilities = AgentCapabilities::new()
        .load_session(true)
        .auth(AgentAuthCapabilities::new().status(AuthStatusCapabilities::new()))
        .mcp_capabilities(McpCapabilities::new().http(true))
        .prompt_capabilities(PromptCapabilities::new().embedded_context(true))
        .session_capabilities(session);
    let method = AuthMethodAgent::new(AUTH_METHOD, "No sign-in needed").description(
        "Sessions belong to the user that runs sessiond; agents sign in by themselves.".to_owned(),
    );
    let ourselves =
        Implementation::new("sessiond", env!("CARGO_PKG_VERSION")).title("sessiond".to_owned());
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .auth_methods(vec![AuthMethod::Agent(method)])
        .agent_info(ourselves)
        .meta(remarks(persistence, store))
}

/// What we say of the store, under our own key.
pub(crate) fn remarks(persistence: PersistenceState, store: Option<&str>) -> Meta {
    let mut said = Meta::new();
    said.insert("persistence".into(), json!(persistence));
    if let Some(store) = store {
        said.insert("store".into(), json!(store));
    }
    Meta::from_iter([("sessiond".into(), Value::Object(said))])
}

/// Answers `authenticate`.
///
/// # Errors
/// Invalid params for a method that was not offered.
pub(crate) fn authenticate(params: Option<&RawValue>) -> Result<AuthenticateResponse, ErrorObject> {
    let asked: AuthenticateRequest = read(params)?;
    if &*asked.method_id.0 == AUTH_METHOD {
        Ok(AuthenticateResponse::new())
    } else {
        Err(invalid_params("this authentication method was not offered"))
    }
}

//! `initialize` in version 2: what the client can do, what we offer (acp.md 2.1, 2.3).

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v2::{
    AgentAuthCapabilities, AgentCapabilities, AuthMethod, AuthMethodAgent, AuthState,
    AuthStatusCapabilities, AuthStatusResponse, ClientCapabilities, Implementation,
    InitializeRequest, InitializeResponse, LoginAuthRequest, McpCapabilities, McpHttpCapabilities,
    McpStdioCapabilities, PromptCapabilities, PromptEmbeddedContextCapabilities,
    SessionAdditionalDirectoriesCapabilities, SessionArchiveCapabilities, SessionCapabilities,
    SessionDeleteCapabilities, SessionForkCapabilities, SessionOptionsCapabilities,
    SessionStatusCapabilities, SessionSystemPromptCapabilities,
    SessionSystemPromptModeCapabilities, SessionSystemPromptOverrideCapabilities,
    SessionTitleCapabilities,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Number, Value};
use sessiond_protocol::{PersistenceState, RequestKind};
use sessiond_wire::rpc::ErrorObject;

use crate::negotiate::{AUTH_METHOD, remarks};
use crate::params::read;
use crate::refusal::invalid_params;

/// What the client said it can do, as far as we use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offers {
    /// The kinds of request it answers.
    pub(crate) answers: Vec<RequestKind>,
}

impl From<&ClientCapabilities> for Offers {
    fn from(client: &ClientCapabilities) -> Self {
        let elicitation = client.elicitation.as_ref();
        let form = elicitation.and_then(|offer| offer.form.as_ref());
        let url = elicitation.and_then(|offer| offer.url.as_ref());
        let offered = [
            // Whoever does not know one answers that.
            Some(RequestKind::Extension),
            form.map(|_| RequestKind::Elicitation),
            url.map(|_| RequestKind::ElicitationUrl),
        ];
        let answers = [RequestKind::Permission].into_iter();
        Self {
            answers: answers.chain(offered.into_iter().flatten()).collect(),
        }
    }
}

/// Reads the params of an `initialize` for version 2 or a later one. Those for version 2 itself are
/// read strictly; of a later one's, whose shape we cannot know, what cannot be read was not offered.
///
/// # Errors
/// Invalid params.
pub(crate) fn offers(params: Option<&RawValue>) -> Result<Offers, ErrorObject> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Later {
        protocol_version: Number,
        #[serde(default)]
        capabilities: Value,
    }
    let asked: Later = read(params)?;
    let ours = u64::from(ProtocolVersion::V2.as_u16());
    if asked.protocol_version.as_u64() == Some(ours) {
        let asked: InitializeRequest = read(params)?;
        return Ok(Offers::from(&asked.capabilities));
    }
    let client = serde_json::from_value::<ClientCapabilities>(asked.capabilities);
    Ok(Offers::from(&client.unwrap_or_default()))
}

/// What we say of ourselves.
pub(super) fn introduction(
    persistence: PersistenceState,
    store: Option<&str>,
) -> InitializeResponse {
    let prompt =
        PromptCapabilities::new().embedded_context(PromptEmbeddedContextCapabilities::new());
    let modes = SessionSystemPromptModeCapabilities::new()
        .override_(SessionSystemPromptOverrideCapabilities::new());
    let session = SessionCapabilities::new()
        .prompt(prompt)
        .mcp(
            McpCapabilities::new()
                .stdio(McpStdioCapabilities::new())
                .http(McpHttpCapabilities::new()),
        )
        .additional_directories(SessionAdditionalDirectoriesCapabilities::new())
        .system_prompt(SessionSystemPromptCapabilities::new().mode(modes))
        .delete(SessionDeleteCapabilities::new())
        .fork(SessionForkCapabilities::new())
        .archive(SessionArchiveCapabilities::new())
        .status(SessionStatusCapabilities::new())
        .options(SessionOptionsCapabilities::new())
        .title(SessionTitleCapabilities::new());
    let auth = AgentAuthCapabilities::new().status(AuthStatusCapabilities::new());
    let method = AuthMethodAgent::new(AUTH_METHOD, "No sign-in needed").description(
        "Sessions belong to the user that runs sessiond; agents sign in by themselves.".to_owned(),
    );
    let ourselves =
        Implementation::new("sessiond", env!("CARGO_PKG_VERSION")).title("sessiond".to_owned());
    InitializeResponse::new(ProtocolVersion::V2, ourselves)
        .capabilities(AgentCapabilities::new().session(session).auth(auth))
        .auth_methods(vec![AuthMethod::Agent(method)])
        .meta(remarks(persistence, store))
}

/// Checks an `auth/login`: there is nothing to do.
///
/// # Errors
/// Invalid params for a method that was not offered.
pub(super) fn login(params: Option<&RawValue>) -> Result<(), ErrorObject> {
    let asked: LoginAuthRequest = read(params)?;
    match &*asked.method_id.0 == AUTH_METHOD {
        true => Ok(()),
        false => Err(invalid_params("this authentication method was not offered")),
    }
}

/// What `auth/status` is answered.
pub(super) fn auth_status() -> AuthStatusResponse {
    AuthStatusResponse::new(AuthState::NotRequired)
}

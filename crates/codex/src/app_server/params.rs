//! The params of the methods that are served. Members that nothing here uses are passed over; what
//! is used is as strict as the original, whose words for a mistake these names are part of.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sessiond_protocol::SessionId;
use sessiond_wire::rpc::{ErrorObject, INVALID_REQUEST, error};
use uuid::Uuid;

/// Reads params.
///
/// # Errors
/// What Codex answers where they do not fit.
pub(super) fn read<P: DeserializeOwned>(params: &Value) -> Result<P, ErrorObject> {
    serde_json::from_value(params.clone())
        .map_err(|mistake| error(INVALID_REQUEST, format!("Invalid request: {mistake}")))
}

/// The thread that a text names.
///
/// # Errors
/// What Codex answers where it is no id; `what` is what it calls the id there.
pub(super) fn thread_id(text: &str, what: &str) -> Result<SessionId, ErrorObject> {
    let uuid = Uuid::try_parse(text).map_err(|_| {
        let mistake = mistake(text);
        error(INVALID_REQUEST, format!("invalid {what} id: {mistake}"))
    })?;
    Ok(SessionId::new(uuid))
}

/// What is wrong with an id, in the words of the original.
fn mistake(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_hexdigit() || c == '-';
    if let Some((at, found)) = text.char_indices().find(|(_, c)| !is_part(*c)) {
        return format!(
            "invalid character: expected an optional prefix of `urn:uuid:` followed by \
             [0-9a-fA-F-], found `{found}` at {}",
            at + 1
        );
    }
    match text.split('-').count() {
        1 => format!(
            "invalid length: expected length 32 for simple format, found {}",
            text.len()
        ),
        5 => "invalid group length".to_owned(),
        groups => format!("invalid group count: expected 5, found {groups}"),
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeParams {
    pub(super) client_info: ClientInfo,
    #[serde(default)]
    pub(super) capabilities: Option<InitializeCapabilities>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ClientInfo {
    pub(super) name: String,
    pub(super) version: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct InitializeCapabilities {
    pub(super) experimental_api: bool,
    pub(super) opt_out_notification_methods: Option<Vec<String>>,
}

/// What thread/start, /resume and /fork take alike.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ThreadStartParams {
    pub(super) cwd: Option<String>,
    pub(super) model: Option<String>,
    pub(super) approval_policy: Option<AskForApproval>,
    pub(super) approvals_reviewer: Option<ApprovalsReviewer>,
    pub(super) sandbox: Option<SandboxMode>,
    pub(super) config: Option<BTreeMap<String, Value>>,
    pub(super) base_instructions: Option<String>,
    pub(super) developer_instructions: Option<String>,
    pub(super) ephemeral: Option<bool>,
    pub(super) runtime_workspace_roots: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadResumeParams {
    pub(super) thread_id: String,
    #[serde(default)]
    pub(super) exclude_turns: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadForkParams {
    pub(super) thread_id: String,
    #[serde(default)]
    pub(super) exclude_turns: bool,
    #[serde(default)]
    pub(super) last_turn_id: Option<String>,
    #[serde(default)]
    pub(super) before_turn_id: Option<String>,
}

/// A method about one thread.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadParams {
    pub(super) thread_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadReadParams {
    pub(super) thread_id: String,
    #[serde(default)]
    pub(super) include_turns: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadSetNameParams {
    pub(super) thread_id: String,
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadRevertParams {
    pub(super) thread_id: String,
    pub(super) before_turn_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadInjectItemsParams {
    pub(super) thread_id: String,
    pub(super) items: Vec<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ThreadListParams {
    pub(super) cursor: Option<String>,
    pub(super) limit: Option<u32>,
    pub(super) cwd: Option<OneOrMany>,
    pub(super) archived: Option<bool>,
    pub(super) search_term: Option<String>,
    pub(super) sort_key: Option<ThreadSortKey>,
    pub(super) sort_direction: Option<SortDirection>,
    pub(super) model_providers: Option<Vec<String>>,
    pub(super) included_thread_ids: Option<Vec<String>>,
    pub(super) excluded_thread_ids: Option<Vec<String>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ThreadSortKey {
    CreatedAt,
    UpdatedAt,
    RecencyAt,
    SectionPosition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SortDirection {
    Asc,
    Desc,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadTurnsListParams {
    pub(super) thread_id: String,
    #[serde(default)]
    pub(super) turn_id: Option<String>,
    #[serde(default)]
    pub(super) cursor: Option<String>,
    #[serde(default)]
    pub(super) limit: Option<u32>,
    #[serde(default)]
    pub(super) sort_direction: Option<SortDirection>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnStartParams {
    pub(super) thread_id: String,
    pub(super) input: Vec<UserInput>,
    #[serde(default)]
    pub(super) client_user_message_id: Option<String>,
    #[serde(default)]
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) effort: Option<String>,
    #[serde(default)]
    pub(super) approval_policy: Option<AskForApproval>,
    #[serde(default)]
    pub(super) approvals_reviewer: Option<ApprovalsReviewer>,
    #[serde(default)]
    pub(super) sandbox_policy: Option<SandboxPolicy>,
    #[serde(default)]
    pub(super) output_schema: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnSteerParams {
    pub(super) thread_id: String,
    pub(super) expected_turn_id: String,
    pub(super) input: Vec<UserInput>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnInterruptParams {
    pub(super) thread_id: String,
    pub(super) turn_id: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum UserInput {
    Text {
        text: String,
    },
    Image {
        #[serde(default)]
        url: Option<String>,
    },
    LocalImage {
        path: String,
    },
    Audio {},
    LocalAudio {
        path: String,
    },
    Skill {
        name: String,
        path: String,
    },
    Mention {
        name: String,
        path: String,
    },
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AskForApproval {
    Untrusted,
    OnRequest,
    Granular(Value),
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ApprovalsReviewer {
    User,
    AutoReview,
    GuardianSubagent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SandboxMode {
    ReadOnly,
    WorkspaceWrite,
    DangerFullAccess,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum SandboxPolicy {
    DangerFullAccess {},
    ReadOnly {},
    ExternalSandbox {},
    #[serde(rename_all = "camelCase")]
    WorkspaceWrite {
        #[serde(default)]
        writable_roots: Vec<String>,
    },
}

#[cfg(test)]
mod tests;

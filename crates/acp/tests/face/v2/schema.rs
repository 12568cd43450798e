//! What the client gets, read as the schema of version 2 reads it, and as strictly: its open
//! variants, which take anything, count as unread.

use agent_client_protocol_schema::v2;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::reading;

/// Checks a frame; `asked` is the method of the request that it answers.
pub(crate) fn check(frame: &Value, asked: Option<&String>) {
    let params = &frame["params"];
    match frame["method"].as_str() {
        Some("session/update") => reads_as::<v2::UpdateSessionNotification>(params),
        Some("session/request_permission") => reads_as::<v2::RequestPermissionRequest>(params),
        Some("elicitation/create") => reads_as::<v2::CreateElicitationRequest>(params),
        Some("elicitation/complete") => reads_as::<v2::CompleteElicitationNotification>(params),
        Some("$/cancel_request") => reads_as::<v2::CancelRequestNotification>(params),
        Some(other) => assert!(other.starts_with('_'), "the client knows no {other}"),
        None => answer(frame, asked),
    }
}

fn answer(frame: &Value, asked: Option<&String>) {
    let is_one = frame.get("result").is_some() != frame.get("error").is_some();
    assert!(is_one, "{frame}");
    if let Some(error) = frame.get("error") {
        return reading::reads_as::<v2::Error>(error);
    }
    let result = &frame["result"];
    match asked.map(String::as_str) {
        Some("initialize") => reads_as::<v2::InitializeResponse>(result),
        Some("auth/login") => reads_as::<v2::LoginAuthResponse>(result),
        Some("auth/logout") => reads_as::<v2::LogoutAuthResponse>(result),
        Some("auth/status") => reads_as::<v2::AuthStatusResponse>(result),
        Some("session/new") => reads_as::<v2::NewSessionResponse>(result),
        Some("session/resume") => reads_as::<v2::ResumeSessionResponse>(result),
        Some("session/fork") => reads_as::<v2::ForkSessionResponse>(result),
        Some("session/list") => reads_as::<v2::ListSessionsResponse>(result),
        Some("session/close") => reads_as::<v2::CloseSessionResponse>(result),
        Some("session/delete") => reads_as::<v2::DeleteSessionResponse>(result),
        Some("session/archive") => reads_as::<v2::ArchiveSessionResponse>(result),
        Some("session/unarchive") => reads_as::<v2::UnarchiveSessionResponse>(result),
        Some("session/status") => reads_as::<v2::SessionStatusResponse>(result),
        Some("session/options") => reads_as::<v2::SessionOptionsResponse>(result),
        Some("session/set_title") => reads_as::<v2::SetSessionTitleResponse>(result),
        Some("session/prompt") => reads_as::<v2::PromptResponse>(result),
        Some("session/set_config_option") => {
            reads_as::<v2::SetSessionConfigOptionResponse>(result);
        }
        Some("tool_call/cancel") => reads_as::<v2::CancelToolCallResponse>(result),
        Some("terminal/cancel") => reads_as::<v2::CancelTerminalResponse>(result),
        Some(extension) if extension.starts_with('_') => {}
        other => panic!("{other:?} was answered with {frame}"),
    }
}

fn reads_as<T: DeserializeOwned + Serialize + std::fmt::Debug>(value: &Value) {
    let read: T = serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{e}: {value}"));
    let read = format!("{read:?}");
    let is_known = !read.contains("Other(") && !read.contains("Unknown(");
    assert!(is_known, "this is no variant of the schema's: {value}");
    reading::reads_as::<T>(value);
}

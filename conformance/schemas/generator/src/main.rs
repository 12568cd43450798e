//! Prints the JSON Schemas of what agent and client send in ACP, stable features only, for the
//! version named by the first argument:
//! `cargo run --locked --manifest-path conformance/schemas/generator/Cargo.toml v1 > conformance/schemas/acp-v1.json`

use std::io::{self, Write as _};

use agent_client_protocol_schema::{v1, v2};
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// What a method of either side carries: its name, and the definition of it.
macro_rules! table {
    ($generator:ident, $($method:literal => $type:ty),* $(,)?) => {{
        let mut table = Map::new();
        $(table.insert($method.to_owned(), json!($generator.subschema_for::<$type>()));)*
        Value::Object(table)
    }};
}

fn main() -> io::Result<()> {
    let schema = match std::env::args().nth(1).as_deref() {
        Some("v1") => first(),
        Some("v2") => second(),
        _ => return Err(io::Error::other("say v1 or v2")),
    };
    writeln!(io::stdout(), "{schema:#}")
}

/// Version 1.
fn first() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let results = table!(generator,
        "initialize" => v1::InitializeResponse,
        "authenticate" => v1::AuthenticateResponse,
        "logout" => v1::LogoutResponse,
        "session/new" => v1::NewSessionResponse,
        "session/load" => v1::LoadSessionResponse,
        "session/resume" => v1::ResumeSessionResponse,
        "session/list" => v1::ListSessionsResponse,
        "session/delete" => v1::DeleteSessionResponse,
        "session/close" => v1::CloseSessionResponse,
        "session/prompt" => v1::PromptResponse,
        "session/set_mode" => v1::SetSessionModeResponse,
        "session/set_config_option" => v1::SetSessionConfigOptionResponse,
    );
    let calls = table!(generator,
        "session/update" => v1::SessionNotification,
        "session/request_permission" => v1::RequestPermissionRequest,
        "fs/read_text_file" => v1::ReadTextFileRequest,
        "fs/write_text_file" => v1::WriteTextFileRequest,
        "terminal/create" => v1::CreateTerminalRequest,
        "terminal/output" => v1::TerminalOutputRequest,
        "terminal/wait_for_exit" => v1::WaitForTerminalExitRequest,
        "terminal/kill" => v1::KillTerminalRequest,
        "terminal/release" => v1::ReleaseTerminalRequest,
        "elicitation/create" => v1::CreateElicitationRequest,
        "elicitation/complete" => v1::CompleteElicitationNotification,
    );
    let requests = table!(generator,
        "initialize" => v1::InitializeRequest,
        "session/new" => v1::NewSessionRequest,
        "session/load" => v1::LoadSessionRequest,
        "session/resume" => v1::ResumeSessionRequest,
        "session/list" => v1::ListSessionsRequest,
        "session/close" => v1::CloseSessionRequest,
        "session/prompt" => v1::PromptRequest,
        "session/cancel" => v1::CancelNotification,
        "session/set_mode" => v1::SetSessionModeRequest,
    );
    let answers = table!(generator,
        "session/request_permission" => v1::RequestPermissionResponse,
        "fs/read_text_file" => v1::ReadTextFileResponse,
        "fs/write_text_file" => v1::WriteTextFileResponse,
        "terminal/create" => v1::CreateTerminalResponse,
        "terminal/output" => v1::TerminalOutputResponse,
        "terminal/wait_for_exit" => v1::WaitForTerminalExitResponse,
        "terminal/kill" => v1::KillTerminalResponse,
        "terminal/release" => v1::ReleaseTerminalResponse,
        "elicitation/create" => v1::CreateElicitationResponse,
    );
    json!({
        "$comment": "agent-client-protocol-schema 1.20.0, v1, stable features; made by generator/",
        "results": results,
        "calls": calls,
        "requests": requests,
        "answers": answers,
        "$defs": generator.take_definitions(true),
    })
}

/// Version 2, a preview.
fn second() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let results = table!(generator,
        "initialize" => v2::InitializeResponse,
        "auth/login" => v2::LoginAuthResponse,
        "auth/logout" => v2::LogoutAuthResponse,
        "session/new" => v2::NewSessionResponse,
        "session/resume" => v2::ResumeSessionResponse,
        "session/list" => v2::ListSessionsResponse,
        "session/delete" => v2::DeleteSessionResponse,
        "session/close" => v2::CloseSessionResponse,
        "session/prompt" => v2::PromptResponse,
        "session/set_config_option" => v2::SetSessionConfigOptionResponse,
        "tool_call/cancel" => v2::CancelToolCallResponse,
        "terminal/cancel" => v2::CancelTerminalResponse,
    );
    let calls = table!(generator,
        "session/update" => v2::UpdateSessionNotification,
        "session/request_permission" => v2::RequestPermissionRequest,
        "elicitation/create" => v2::CreateElicitationRequest,
        "elicitation/complete" => v2::CompleteElicitationNotification,
    );
    let requests = table!(generator,
        "initialize" => v2::InitializeRequest,
        "session/new" => v2::NewSessionRequest,
        "session/resume" => v2::ResumeSessionRequest,
        "session/list" => v2::ListSessionsRequest,
        "session/close" => v2::CloseSessionRequest,
        "session/prompt" => v2::PromptRequest,
        "session/cancel" => v2::CancelSessionNotification,
        "tool_call/cancel" => v2::CancelToolCallRequest,
        "terminal/cancel" => v2::CancelTerminalRequest,
    );
    let answers = table!(generator,
        "session/request_permission" => v2::RequestPermissionResponse,
        "elicitation/create" => v2::CreateElicitationResponse,
    );
    json!({
        "$comment": "agent-client-protocol-schema 1.20.0, v2 (preview), stable features; made by generator/",
        "results": results,
        "calls": calls,
        "requests": requests,
        "answers": answers,
        "$defs": generator.take_definitions(true),
    })
}

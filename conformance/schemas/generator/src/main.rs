//! Prints the JSON Schemas of what an agent sends in ACP v1, stable features only:
//! `cargo run --locked --manifest-path conformance/schemas/generator/Cargo.toml > conformance/schemas/acp-v1.json`

use std::io::{self, Write as _};

use agent_client_protocol_schema::v1;
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
    let schema = json!({
        "$comment": "agent-client-protocol-schema 1.20.0, v1, stable features; made by generator/",
        "results": results,
        "calls": calls,
        "$defs": generator.take_definitions(true),
    });
    writeln!(io::stdout(), "{schema:#}")
}

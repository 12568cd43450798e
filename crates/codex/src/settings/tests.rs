use serde_json::json;
use sessiond_protocol::{InstructionsMode, McpServer, OptionValue};

use super::Settings;
use crate::SandboxMode;

fn settings(pairs: &[(&str, serde_json::Value)]) -> Settings {
    let mut settings = Settings::default();
    for (path, value) in pairs {
        settings.set(path, value.clone());
    }
    settings
}

#[test]
fn later_values_stand_over_earlier_ones_and_tables_join() {
    let settings = settings(&[
        ("model", json!("a")),
        ("model", json!("b")),
        ("x", json!(1)),
        ("x.y", json!("deep")),
        ("sandbox_mode", json!("workspace-write")),
        ("sandbox_workspace_write", json!({"writable_roots": ["/a"]})),
        ("sandbox_workspace_write.network_access", json!(true)),
        ("", json!(1)),
    ]);
    assert_eq!(settings.text("model"), Some("b"));
    assert_eq!(settings.text("x.y"), Some("deep"));
    assert_eq!(settings.sandbox(), Some(SandboxMode::WorkspaceWrite));
    assert_eq!(settings.writable_roots(), ["/a"]);
}

#[test]
fn an_agent_gets_model_effort_instructions_and_servers() {
    let setup = settings(&[
        ("model", json!("m")),
        ("model_reasoning_effort", json!("high")),
        ("developer_instructions", json!("be brief")),
        ("mcp_servers.a.command", json!("/bin/a")),
        ("mcp_servers.a.args", json!(["-x"])),
        ("mcp_servers.a.env.K", json!("v")),
        ("mcp_servers.b", json!({"url": "http://127.0.0.1:1"})),
        (
            "mcp_servers.off",
            json!({"command": "/bin/c", "enabled": false}),
        ),
        ("mcp_servers.odd", json!({})),
    ])
    .setup(vec!["/r".into()]);
    let chosen = |id: &str| setup.options.iter().find(|option| option.id == id);
    assert_eq!(
        chosen("model").map(|option| &option.value),
        Some(&OptionValue::Choice("m".into()))
    );
    assert!(chosen("reasoning_effort").is_some());
    let told = setup.instructions.map(|told| (told.mode, told.text));
    assert_eq!(told, Some((InstructionsMode::Append, "be brief".into())));
    let names: Vec<_> = setup.mcp_servers.iter().map(McpServer::name).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(setup.roots, ["/r"]);
}

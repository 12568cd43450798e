use serde_json::{Value, json};
use sessiond_protocol::{ToolCall, ToolKind};

use super::{Shape, exit_code};

fn call(kind: ToolKind, name: &str, input: Value) -> ToolCall {
    ToolCall {
        name: name.into(),
        title: "The title".into(),
        kind,
        input,
        ..ToolCall::default()
    }
}

fn command(text: &str) -> Shape {
    Shape::Command {
        command: text.into(),
        cwd: None,
    }
}

fn tool(server: &str, tool: &str, arguments: Value) -> Shape {
    Shape::Tool {
        server: server.into(),
        tool: tool.into(),
        arguments,
    }
}

/// ADAPT-6
#[test]
fn every_kind_of_call_has_a_shape() {
    let mcp = json!({"server": "s", "tool": "t", "arguments": {"a": 1}});
    let table = [
        (
            ToolKind::Execute,
            "run",
            json!({"command": "echo hi"}),
            command("echo hi"),
        ),
        (
            ToolKind::Execute,
            "run",
            json!({"command": ["ls", "-l"]}),
            command("ls -l"),
        ),
        (
            ToolKind::Execute,
            "run",
            json!({"command": []}),
            command("The title"),
        ),
        (ToolKind::Execute, "run", json!(null), command("The title")),
        (ToolKind::Other, "mcp", mcp, tool("s", "t", json!({"a": 1}))),
        (
            ToolKind::Other,
            "mcp__git__log",
            json!({"n": 2}),
            tool("git", "log", json!({"n": 2})),
        ),
        (
            ToolKind::Fetch,
            "fetch",
            json!({"url": "u"}),
            tool("agent", "fetch", json!({"url": "u"})),
        ),
        (ToolKind::Edit, "edit", json!({}), Shape::Change(Vec::new())),
        (ToolKind::Delete, "rm", json!({}), Shape::Change(Vec::new())),
    ];
    for (kind, name, input, shape) in table {
        assert_eq!(
            Shape::of(&call(kind, name, input)),
            shape,
            "{kind:?} {name}"
        );
    }
}

#[test]
fn an_exit_code_is_told_and_not_guessed() {
    let table = [
        (json!({"exit_code": 3}), Some(3)),
        (json!({"exitCode": 0}), Some(0)),
        (json!({"exit_code": null}), None),
        (json!({"signal": "SIGKILL"}), None),
        (json!(null), None),
    ];
    for (output, code) in table {
        let call = ToolCall {
            output: output.clone(),
            ..ToolCall::default()
        };
        assert_eq!(exit_code(&call), code, "{output}");
    }
}

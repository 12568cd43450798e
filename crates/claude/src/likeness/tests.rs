use serde_json::{Value, json};
use sessiond_protocol::{ToolCall, ToolKind};

use super::{as_known, back};

fn call(name: &str, kind: ToolKind, input: Value) -> ToolCall {
    ToolCall {
        name: name.to_owned(),
        kind,
        input,
        ..ToolCall::default()
    }
}

/// ADAPT-6: what an agent's tools are called here; and an input that a program has changed is given
/// to the agent in the agent's own words.
#[test]
fn tools_are_shown_under_the_names_that_programs_know() {
    let table = [
        (
            call(
                "run",
                ToolKind::Execute,
                json!({"command": "ls", "cwd": "/w"}),
            ),
            "Bash",
            json!({"command": "ls", "cwd": "/w"}),
        ),
        (
            call("read", ToolKind::Read, json!({"path": "/f"})),
            "Read",
            json!({"file_path": "/f"}),
        ),
        (
            call(
                "write",
                ToolKind::Edit,
                json!({"path": "/f", "content": "x"}),
            ),
            "Write",
            json!({"file_path": "/f", "content": "x"}),
        ),
        (
            call(
                "edit",
                ToolKind::Edit,
                json!({"path": "/f", "old": "a", "new": "b"}),
            ),
            "Edit",
            json!({"file_path": "/f", "old_string": "a", "new_string": "b"}),
        ),
        (
            call(
                "mcp",
                ToolKind::Other,
                json!({"server": "s", "tool": "t", "arguments": {"a": 1}}),
            ),
            "mcp__s__t",
            json!({"a": 1}),
        ),
        (
            call("Bash", ToolKind::Execute, json!({"command": "ls"})),
            "Bash",
            json!({"command": "ls"}),
        ),
        (
            call("mcp__s__t", ToolKind::Other, json!({"a": 1})),
            "mcp__s__t",
            json!({"a": 1}),
        ),
        (
            call("lookup", ToolKind::Other, Value::Null),
            "lookup",
            json!({}),
        ),
        (
            call("", ToolKind::Execute, json!("ls")),
            "Bash",
            json!({"input": "ls"}),
        ),
    ];
    for (call, name, input) in table {
        let known = as_known(&call);
        assert_eq!((&*known.0, &known.1), (name, &input));
        if call.input.is_object() {
            assert_eq!(back(&call, &known.1), call.input, "{name}");
        }
    }
}

#[test]
fn a_changed_input_reaches_the_agent_in_its_own_words() {
    let write = call(
        "write",
        ToolKind::Edit,
        json!({"path": "/f", "content": "x"}),
    );
    assert_eq!(
        back(&write, &json!({"file_path": "/g"})),
        json!({"path": "/g"})
    );
    let mcp = call(
        "mcp",
        ToolKind::Other,
        json!({"server": "s", "tool": "t", "arguments": {}}),
    );
    assert_eq!(
        back(&mcp, &json!({"b": 2})),
        json!({"server": "s", "tool": "t", "arguments": {"b": 2}})
    );
}

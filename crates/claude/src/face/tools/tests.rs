use serde_json::{Value, json};
use sessiond_protocol::{ItemId, ToolCall, ToolContent, ToolKind, ToolStatus};
use uuid::Uuid;

use super::{back, call_id, outcome, shown};
use crate::message::Failed;

fn call(name: &str, kind: ToolKind, input: Value) -> ToolCall {
    ToolCall {
        name: name.to_owned(),
        kind,
        input,
        ..ToolCall::default()
    }
}

fn item() -> ItemId {
    ItemId::new(Uuid::from_u128(7))
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
        let shown = shown(item(), &call, true);
        assert_eq!((&*shown.name, &shown.input), (name, &input));
        if call.input.is_object() {
            assert_eq!(back(&call, &shown.input), call.input, "{name}");
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

#[test]
fn a_call_keeps_its_own_id_where_that_names_it_alone() {
    let mut call = call("run", ToolKind::Execute, Value::Null);
    assert_eq!(shown(item(), &call, true).id, call_id(item()));
    call.native = Some("toolu_1".to_owned());
    assert_eq!(shown(item(), &call, true).id, "toolu_1");
    assert_eq!(shown(item(), &call, false).id, call_id(item()));
}

/// RESUME-6: a call whose end is not known says so.
#[test]
fn results_are_what_the_call_came_to() {
    let ended = |status, content: &str| ToolCall {
        status,
        content: match content {
            "" => Vec::new(),
            text => vec![ToolContent::text(text)],
        },
        ..call("run", ToolKind::Execute, Value::Null)
    };
    let table = [
        (ToolStatus::Completed, "hi\n", Failed::No, "hi\n"),
        (ToolStatus::Failed, "no", Failed::Yes, "no"),
        (
            ToolStatus::Unknown,
            "",
            Failed::Yes,
            "how it ended is not known",
        ),
        (ToolStatus::Cancelled, "", Failed::Yes, "it was interrupted"),
    ];
    for (status, content, failed, text) in table {
        let outcome = outcome("Bash", &ended(status, content));
        assert_eq!((outcome.failed, &*outcome.text), (failed, text));
        assert_eq!(outcome.result["stdout"], text);
    }
}

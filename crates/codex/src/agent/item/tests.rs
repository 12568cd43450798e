use serde_json::{Value, json};
use sessiond_protocol::{ToolCall, ToolContent, ToolKind, ToolStatus};

use super::{Native, read};
use crate::call::{Shape, exit_code, shown};

fn call(item: &Value) -> ToolCall {
    match read(item) {
        Some((_, Native::Call(call))) => *call,
        other => panic!("{item} is {other:?}"),
    }
}

/// ADAPT-6: what every item of a thread becomes.
#[test]
fn an_item_is_what_the_table_says() {
    let call = |name: &str, kind| Some((name.to_owned(), kind));
    let cases = [
        (
            json!({ "type": "userMessage", "id": "i", "content": [] }),
            "user",
            None,
        ),
        (
            json!({ "type": "agentMessage", "id": "i", "text": "hi" }),
            "message",
            None,
        ),
        (
            json!({ "type": "plan", "id": "i", "text": "first" }),
            "message",
            None,
        ),
        (
            json!({ "type": "exitedReviewMode", "id": "i", "review": "good" }),
            "message",
            None,
        ),
        (
            json!({ "type": "reasoning", "id": "i", "summary": ["a"], "content": ["b"] }),
            "thought",
            None,
        ),
        (
            json!({ "type": "contextCompaction", "id": "i" }),
            "compaction",
            None,
        ),
        (json!({ "type": "hookPrompt", "id": "i" }), "other", None),
        (
            json!({ "type": "commandExecution", "id": "i", "command": "ls" }),
            "call",
            call("shell", ToolKind::Execute),
        ),
        (
            json!({ "type": "fileChange", "id": "i", "changes": [] }),
            "call",
            call("apply_patch", ToolKind::Edit),
        ),
        (
            json!({ "type": "mcpToolCall", "id": "i", "server": "s", "tool": "t" }),
            "call",
            call("mcp__s__t", ToolKind::Other),
        ),
        (
            json!({ "type": "webSearch", "id": "i", "query": "rust" }),
            "call",
            call("web_search", ToolKind::Fetch),
        ),
        (
            json!({ "type": "imageView", "id": "i", "path": "/p" }),
            "call",
            call("view_image", ToolKind::Read),
        ),
        (
            json!({ "type": "dynamicToolCall", "id": "i", "tool": "t" }),
            "call",
            call("t", ToolKind::Other),
        ),
        (
            json!({ "type": "ofTomorrow", "id": "i" }),
            "call",
            call("ofTomorrow", ToolKind::Other),
        ),
    ];
    for (item, expected, tool) in cases {
        let (id, native) = read(&item).expect("an item");
        assert_eq!(id, "i");
        let (name, found) = match native {
            Native::User => ("user", None),
            Native::Message(_) => ("message", None),
            Native::Thought(_) => ("thought", None),
            Native::Compaction => ("compaction", None),
            Native::Other => ("other", None),
            Native::Call(call) => ("call", Some((call.name, call.kind))),
        };
        assert_eq!((name, found), (expected, tool), "{item}");
    }
    assert_eq!(
        read(&json!({ "type": "agentMessage", "text": "no id" })),
        None
    );
}

#[test]
fn a_call_stands_as_codex_says() {
    let cases = [
        (json!("inProgress"), json!(null), ToolStatus::Running),
        (json!("completed"), json!(1), ToolStatus::Completed),
        (json!("failed"), json!(1), ToolStatus::Failed),
        (json!("declined"), json!(1), ToolStatus::Failed),
        (json!(null), json!(null), ToolStatus::Running),
        (json!(null), json!(1), ToolStatus::Completed),
    ];
    for (status, completed, expected) in cases {
        let item = json!({ "type": "commandExecution", "id": "i", "command": "ls",
            "status": status, "completedAtMs": completed });
        assert_eq!(call(&item).status, expected, "{item}");
    }
}

/// A command of the real one is a command of our Codex face, with its output and exit code.
#[test]
fn a_command_comes_back_as_a_command() {
    let call = call(&json!({
        "type": "commandExecution", "id": "call_2", "command": "/bin/bash -lc 'echo hi'",
        "cwd": "/w", "status": "completed", "aggregatedOutput": "hi\n", "exitCode": 3,
    }));
    assert_eq!(call.native.as_deref(), Some("call_2"));
    assert_eq!((shown(&call).as_str(), exit_code(&call)), ("hi\n", Some(3)));
    let expected = Shape::Command {
        command: "/bin/bash -lc 'echo hi'".to_owned(),
        cwd: Some("/w".to_owned()),
    };
    assert_eq!(Shape::of(&call), expected);
}

#[test]
fn a_failed_call_of_a_server_shows_why() {
    let call = call(&json!({
        "type": "mcpToolCall", "id": "i", "server": "s", "tool": "t", "status": "failed",
        "arguments": { "a": 1 }, "result": null, "error": { "message": "no such tool" },
    }));
    assert_eq!(call.content, [ToolContent::text("no such tool")]);
    assert_eq!(call.input, json!({ "a": 1 }));
}

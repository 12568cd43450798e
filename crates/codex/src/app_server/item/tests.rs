use serde_json::{Value, json};
use sessiond_protocol::{
    Content, Finish, Item as Said, ItemId, ToolCall, ToolContent, ToolKind, ToolStatus,
};
use uuid::Uuid;

use super::{Place, Verdict, item};
use crate::prompt;

const ID: &str = "00000000-0000-0000-0000-000000000007";

fn shown(said: &Said, verdict: Verdict) -> Value {
    let place = Place {
        id: ItemId::new(Uuid::from_u128(7)),
        cwd: "/w",
        verdict,
        started: Some(1000),
        completed: Some(1250),
    };
    json!(item(said, place))
}

fn call(kind: ToolKind, status: ToolStatus) -> Said {
    Said::ToolCall(Box::new(ToolCall {
        name: "run".into(),
        title: "Run".into(),
        kind,
        status,
        input: json!({"command": "echo hi"}),
        output: json!({"exit_code": 0}),
        content: vec![ToolContent::text("hi\n")],
        ..ToolCall::default()
    }))
}

/// ADAPT-6: the table of docs/codex.md, `app-server`.
#[test]
fn each_item_has_its_form() {
    let times = |mut value: Value| {
        value["startedAtMs"] = json!(1000);
        value["completedAtMs"] = json!(1250);
        value
    };
    let user = Said::UserMessage {
        content: vec![Content::text("q"), prompt::schema(&json!({}))],
    };
    let agent = Said::AgentMessage {
        text: "a".into(),
        finish: Finish::Whole,
    };
    let thought = Said::Thought {
        text: "hm".into(),
        finish: Finish::Whole,
    };
    let table = [
        (
            user,
            json!({"type": "userMessage", "id": ID, "clientId": null,
            "content": [{"type": "text", "text": "q", "text_elements": []}]}),
        ),
        (
            agent,
            json!({"type": "agentMessage", "id": ID, "text": "a", "phase": null}),
        ),
        (
            thought,
            json!({"type": "reasoning", "id": ID, "summary": ["hm"], "content": []}),
        ),
        (
            call(ToolKind::Execute, ToolStatus::Completed),
            json!({"type": "commandExecution",
            "id": ID, "command": "echo hi", "cwd": "/w", "source": "agent", "status": "completed",
            "commandActions": [{"type": "unknown", "command": "echo hi"}],
            "aggregatedOutput": "hi\n", "exitCode": 0, "durationMs": 250}),
        ),
        (
            call(ToolKind::Edit, ToolStatus::Failed),
            json!({"type": "fileChange", "id": ID,
            "changes": [], "status": "failed"}),
        ),
        (
            call(ToolKind::Other, ToolStatus::Unknown),
            json!({"type": "mcpToolCall", "id": ID,
            "server": "agent", "tool": "run", "status": "failed",
            "arguments": {"command": "echo hi"}, "result": null, "error": {"message": "hi\n"},
            "durationMs": 250}),
        ),
    ];
    for (said, wanted) in table {
        assert_eq!(shown(&said, Verdict::Open), times(wanted), "{said:?}");
    }
    let plan = Said::Plan {
        entries: Vec::new(),
    };
    assert_eq!(shown(&plan, Verdict::Open), Value::Null);
}

#[test]
fn what_was_declined_says_so() {
    let table = [
        (ToolStatus::Failed, Verdict::Declined, "declined"),
        (ToolStatus::Cancelled, Verdict::Declined, "declined"),
        (ToolStatus::Cancelled, Verdict::Open, "failed"),
        (ToolStatus::Completed, Verdict::Declined, "completed"),
        (ToolStatus::Running, Verdict::Open, "inProgress"),
    ];
    for (status, verdict, wanted) in table {
        let shown = shown(&call(ToolKind::Execute, status), verdict);
        assert_eq!(shown["status"], wanted, "{status:?} {verdict:?}");
    }
}

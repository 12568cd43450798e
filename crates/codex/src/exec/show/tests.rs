use serde_json::{Value, json};
use sessiond_protocol::{
    Event, EventFrame, Finish, Item, ItemId, PlanEntry, PlanStatus, SessionId, Severity, ToolCall,
    ToolContent, ToolKind, ToolStatus,
};
use uuid::Uuid;

use super::Show;

fn frame(item: Option<u128>, event: Event) -> EventFrame {
    EventFrame {
        item: item.map(|id| ItemId::new(Uuid::from_u128(id))),
        ..EventFrame::new(SessionId::new(Uuid::from_u128(1)), event)
    }
}

fn call(kind: ToolKind, status: ToolStatus) -> ToolCall {
    let is_over = status.is_final();
    ToolCall {
        name: "run".into(),
        title: "Run".into(),
        kind,
        status,
        input: json!({"command": "echo hi"}),
        output: if is_over {
            json!({"exit_code": 0})
        } else {
            Value::Null
        },
        content: is_over
            .then(|| ToolContent::text("hi\n"))
            .into_iter()
            .collect(),
        ..ToolCall::default()
    }
}

fn started(kind: ToolKind) -> Event {
    Event::ItemStarted {
        item: Item::ToolCall(Box::new(call(kind, ToolStatus::Pending))),
    }
}

fn ended(kind: ToolKind, status: ToolStatus) -> Event {
    Event::ItemEnded {
        item: Item::ToolCall(Box::new(call(kind, status))),
    }
}

fn said(text: &str) -> Event {
    Event::ItemEnded {
        item: Item::AgentMessage {
            text: text.into(),
            finish: Finish::Whole,
        },
    }
}

fn plan(status: PlanStatus) -> Event {
    let entry = PlanEntry {
        content: "step".into(),
        priority: Default::default(),
        status,
    };
    Event::ItemEnded {
        item: Item::Plan {
            entries: vec![entry],
        },
    }
}

fn lines(events: &[(Option<u128>, Event)]) -> Vec<Value> {
    let mut show = Show::default();
    let mut lines: Vec<_> = events
        .iter()
        .filter_map(|(item, event)| show.event(&frame(*item, event.clone())))
        .collect();
    lines.extend(show.finish());
    lines.iter().map(|line| json!(line)).collect()
}

/// ADAPT-6: the table of docs/codex.md, `exec`.
#[test]
fn each_item_has_its_line() {
    let notice = |severity| Event::Notice {
        severity,
        title: "mind".into(),
        description: Some("more".into()),
    };
    let thought = Event::ItemEnded {
        item: Item::Thought {
            text: "hm".into(),
            finish: Finish::Whole,
        },
    };
    let damage = Event::Damage {
        segment: "s".into(),
        offset: 1,
        length: 2,
    };
    let table = [
        (
            said("hi"),
            json!([{"type": "item.completed", "item":
            {"id": "item_0", "type": "agent_message", "text": "hi"}}]),
        ),
        (
            thought,
            json!([{"type": "item.completed", "item":
            {"id": "item_0", "type": "reasoning", "text": "hm"}}]),
        ),
        (
            started(ToolKind::Execute),
            json!([{"type": "item.started", "item":
            {"id": "item_0", "type": "command_execution", "command": "echo hi",
             "aggregated_output": "", "exit_code": null, "status": "in_progress"}}]),
        ),
        (
            ended(ToolKind::Execute, ToolStatus::Completed),
            json!([{"type": "item.completed", "item":
            {"id": "item_0", "type": "command_execution", "command": "echo hi",
             "aggregated_output": "hi\n", "exit_code": 0, "status": "completed"}}]),
        ),
        (
            started(ToolKind::Edit),
            json!([{"type": "item.started", "item":
            {"id": "item_0", "type": "file_change", "changes": [], "status": "in_progress"}}]),
        ),
        (
            ended(ToolKind::Other, ToolStatus::Unknown),
            json!([{"type": "item.completed", "item":
            {"id": "item_0", "type": "mcp_tool_call", "server": "agent", "tool": "run",
             "arguments": {"command": "echo hi"}, "result": null, "error": {"message": "hi\n"},
             "status": "failed"}}]),
        ),
        (notice(Severity::Info), json!([])),
        (
            notice(Severity::Warning),
            json!([{"type": "item.completed", "item":
            {"id": "item_0", "type": "error", "message": "mind\nmore"}}]),
        ),
        (
            damage,
            json!([{"type": "item.completed", "item": {"id": "item_0", "type": "error",
            "message": "the thread's log is damaged: 2 bytes at 1 of s cannot be read"}}]),
        ),
        (Event::SessionClosed {}, json!([])),
    ];
    for (event, wanted) in table {
        assert_eq!(
            json!(lines(&[(Some(7), event.clone())])),
            wanted,
            "{event:?}"
        );
    }
}

#[test]
fn an_item_keeps_its_id_and_a_plan_is_one_item_to_the_end_of_the_turn() {
    let seen = lines(&[
        (Some(1), started(ToolKind::Execute)),
        (Some(2), plan(PlanStatus::Pending)),
        (Some(1), ended(ToolKind::Execute, ToolStatus::Cancelled)),
        (Some(3), plan(PlanStatus::Completed)),
        (Some(4), said("done")),
    ]);
    let short: Vec<_> = seen
        .iter()
        .map(|line| (line["type"].as_str(), line["item"]["id"].as_str()))
        .collect();
    assert_eq!(
        short,
        [
            (Some("item.started"), Some("item_0")),
            (Some("item.started"), Some("item_1")),
            (Some("item.completed"), Some("item_0")),
            (Some("item.updated"), Some("item_1")),
            (Some("item.completed"), Some("item_2")),
            (Some("item.completed"), Some("item_1")),
        ]
    );
    assert_eq!(seen[2]["item"]["status"], "failed");
    assert_eq!(
        seen[5]["item"]["items"],
        json!([{"text": "step", "completed": true}])
    );
}

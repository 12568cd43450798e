//! Loading: everything once, in order, the same each time.

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, Content, Cursor, Event, Finish, Item, ItemKind, PlanEntry, SessionChanged, Stream,
    Submission, ToolCall, ToolContent, ToolStatus, TurnOutcome,
};

use crate::events::{changed, chunk, delta, ended_item, message, started, thinking, tool, user};
use crate::harness::{S, Stage, commands_shown, ended, item, turn, view};

pub(crate) async fn load(stage: &mut Stage) -> Submission {
    let params = json!({"sessionId": S, "cwd": "/w", "mcpServers": []});
    stage.request("load", "session/load", params).await;
    stage.rewind();
    stage.submitted().await
}

/// The rest of a load: its answer comes after all of the replay, then the commands.
pub(crate) async fn loaded(stage: &mut Stage, load: &Submission) {
    stage.accept(load, Accepted::Session(Box::new(view())));
}

/// All updates up to the answer of the load.
pub(crate) async fn replayed(stage: &mut Stage) -> Vec<Value> {
    let mut updates = Vec::new();
    loop {
        let mut told = stage.told().await;
        if told["id"] == "load" {
            assert!(told.get("error").is_none(), "{told}");
            assert_eq!(stage.update().await, commands_shown());
            return updates;
        }
        updates.push(told["params"]["update"].take());
    }
}

fn partial(kind: ItemKind, offset: u64, text: &str) -> Event {
    Event::ItemPartial {
        kind,
        offset,
        text: text.into(),
    }
}

fn output(offset: u64, text: &str) -> Event {
    let (stream, text) = (Stream::Output, text.into());
    Event::ItemDelta {
        stream,
        offset,
        text,
    }
}

fn titled(title: &str) -> Event {
    Event::SessionChanged(SessionChanged {
        title: Some(title.into()),
        ..Default::default()
    })
}

fn call(status: ToolStatus, content: Vec<ToolContent>) -> ToolCall {
    let input = json!({"command": "ls"});
    ToolCall {
        name: "run".into(),
        title: "ls".into(),
        status,
        content,
        input,
        ..Default::default()
    }
}

fn call_shown(id: u8, status: &str, text: &str) -> Value {
    json!({
        "sessionUpdate": "tool_call", "toolCallId": item(id).to_string(), "title": "ls",
        "name": "run", "kind": "other", "status": status, "rawInput": {"command": "ls"},
        "content": [{"type": "content", "content": {"type": "text", "text": text}}],
    })
}

fn mark(marker: &str, text: &str) -> Value {
    json!({
        "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text},
        "_meta": {"sessiond": {"marker": marker}},
    })
}

/// A conversation with everything in it, one turn finished.
fn conversation(stage: &mut Stage) {
    let link = Content::ResourceLink {
        uri: "file:///a".into(),
        name: "a".into(),
        extra: json!({"size": 3}).as_object().unwrap().clone(),
    };
    let asked = Item::UserMessage {
        content: vec![Content::text("do it"), link],
    };
    let entry = PlanEntry {
        content: "step".into(),
        priority: Default::default(),
        status: Default::default(),
    };
    let terminal = ToolContent::Terminal {
        terminal: "dead".into(),
    };
    let shown = vec![terminal, ToolContent::text("a b")];
    stage.happen(None, titled("Do it"));
    stage.happen(Some(item(1)), ended_item(asked));
    stage.happen(Some(item(2)), ended_item(thinking("Hm")));
    stage.happen(Some(item(3)), partial(ItemKind::AgentMessage, 0, "I "));
    stage.happen(Some(item(3)), partial(ItemKind::AgentMessage, 2, "will"));
    stage.happen(Some(item(3)), ended_item(message("I will.")));
    stage.happen(
        Some(item(4)),
        started(tool(&call(ToolStatus::Pending, vec![]))),
    );
    stage.happen(Some(item(4)), changed(&call(ToolStatus::Running, vec![])));
    stage.happen(Some(item(5)), ended_item(message("Meanwhile.")));
    stage.happen(
        Some(item(4)),
        ended_item(tool(&call(ToolStatus::Completed, shown))),
    );
    stage.happen(
        Some(item(6)),
        ended_item(Item::Plan {
            entries: vec![entry],
        }),
    );
    stage.happen(None, ended(TurnOutcome::Completed, None, None));
}

fn conversation_shown() -> Vec<Value> {
    vec![
        json!({"sessionUpdate": "session_info_update", "title": "Do it"}),
        chunk("user_message", item(1), "do it"),
        json!({
            "sessionUpdate": "user_message_chunk", "messageId": item(1).to_string(),
            "content": {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3},
        }),
        chunk("agent_thought", item(2), "Hm"),
        chunk("agent_message", item(3), "I will."),
        call_shown(4, "completed", "a b"),
        chunk("agent_message", item(5), "Meanwhile."),
        json!({"sessionUpdate": "plan", "entries": [
            {"content": "step", "priority": "medium", "status": "pending"},
        ]}),
    ]
}

/// SQEQ-7, LOG-1
#[tokio::test]
async fn every_item_is_replayed_once_in_the_order_it_was_first_shown_then_the_load_is_answered() {
    let mut stage = Stage::initialized(json!({})).await;
    let load = load(&mut stage).await;
    conversation(&mut stage);
    loaded(&mut stage, &load).await;
    assert_eq!(replayed(&mut stage).await, conversation_shown());
    stage.quiet().await;
}

/// LOG-17, RESUME-6
#[tokio::test]
async fn what_a_dead_process_left_open_is_shown_once_and_marked() {
    let mut stage = Stage::initialized(json!({})).await;
    let load = load(&mut stage).await;
    stage.happen(Some(item(1)), ended_item(user("go")));
    stage.happen(
        Some(item(2)),
        started(tool(&call(ToolStatus::Running, vec![]))),
    );
    stage.happen(Some(item(3)), partial(ItemKind::AgentMessage, 0, "half"));
    // Provisional: what the next append will record.
    let unknown = call(
        ToolStatus::Unknown,
        vec![ToolContent::text("Outcome unknown: …")],
    );
    stage.passing(Some(item(2)), ended_item(tool(&unknown)));
    let half = Item::AgentMessage {
        text: "half".into(),
        finish: Finish::Interrupted,
    };
    stage.passing(Some(item(3)), ended_item(half));
    stage.passing(None, ended(TurnOutcome::Interrupted, None, None));
    stage.passing(Some(item(4)), ended_item(user("and then")));
    stage.passing(None, ended(TurnOutcome::NotRun, None, None));
    loaded(&mut stage, &load).await;
    let mut interrupted = chunk("agent_message", item(3), "half");
    interrupted["_meta"] = json!({"sessiond": {"finish": "interrupted"}});
    let expected = [
        chunk("user_message", item(1), "go"),
        call_shown(2, "failed", "Outcome unknown: …"),
        interrupted,
        mark(
            "interrupted",
            "[Interrupted: the session ended in the middle of this turn.]",
        ),
        chunk("user_message", item(4), "and then"),
        mark(
            "not_run",
            "[Not run: the session ended before this prompt's turn came.]",
        ),
    ];
    assert_eq!(replayed(&mut stage).await, expected);
}

/// LOG-4
#[tokio::test]
async fn damage_is_a_notice_where_the_client_shows_such_and_a_mark_elsewhere() {
    let said = "42 bytes of this session's history cannot be read; the rest is shown.";
    let cases = [
        (json!({}), mark("damage", &format!("[Damaged: {said}]"))),
        (
            json!({"session": {"notices": {}}}),
            json!({"sessionUpdate": "notice", "severity": "warning", "title": said}),
        ),
    ];
    for (capabilities, expected) in cases {
        let mut stage = Stage::initialized(capabilities).await;
        let load = load(&mut stage).await;
        stage.happen(Some(item(1)), ended_item(user("before")));
        stage.happen(
            None,
            Event::Damage {
                segment: "s".into(),
                offset: 7,
                length: 42,
            },
        );
        stage.happen(Some(item(2)), ended_item(user("after")));
        loaded(&mut stage, &load).await;
        let expected = [
            chunk("user_message", item(1), "before"),
            expected,
            chunk("user_message", item(2), "after"),
        ];
        assert_eq!(replayed(&mut stage).await, expected);
    }
}

/// RESUME-10
#[tokio::test]
async fn two_loads_on_one_connection_are_equal() {
    let mut stage = Stage::initialized(json!({})).await;
    for _ in 0..2 {
        let load = load(&mut stage).await;
        conversation(&mut stage);
        let mut standing = view();
        standing.cursor = Cursor(12);
        stage.accept(&load, Accepted::Session(Box::new(standing)));
        assert_eq!(replayed(&mut stage).await, conversation_shown());
    }
}

/// SQEQ-6
#[tokio::test]
async fn a_session_that_is_loaded_while_its_turn_runs_goes_on_where_the_replay_ended() {
    let mut stage = Stage::with_turn(json!({})).await;
    stage.happen(Some(item(1)), ended_item(user("hi")));
    let running = call(ToolStatus::Running, vec![ToolContent::text("…")]);
    stage.happen(Some(item(2)), started(tool(&running)));
    stage.update().await;
    stage.passing(Some(item(3)), started(message("")));
    stage.passing(Some(item(3)), delta(0, "Hel"));
    assert_eq!(stage.update().await, chunk("agent_message", item(3), "Hel"));
    stage.happen(Some(item(3)), partial(ItemKind::AgentMessage, 0, "Hel"));

    let load = load(&mut stage).await;
    // Still live: it came before the replay began.
    stage.passing(Some(item(3)), delta(3, "lo"));
    assert_eq!(stage.update().await, chunk("agent_message", item(3), "lo"));
    stage.happen(Some(item(1)), ended_item(user("hi")));
    stage.happen(Some(item(2)), started(tool(&running)));
    stage.happen(Some(item(3)), partial(ItemKind::AgentMessage, 0, "Hel"));
    stage.happen(Some(item(2)), partial(ItemKind::ToolCall, 0, "one "));
    // Then what is in flight and not stored.
    stage.passing(Some(item(2)), output(4, "two"));
    stage.passing(Some(item(3)), started(message("")));
    stage.passing(Some(item(3)), delta(3, "lo"));
    loaded(&mut stage, &load).await;
    let expected = [
        chunk("user_message", item(1), "hi"),
        call_shown(2, "in_progress", "…"),
        chunk("agent_message", item(3), "Hello"),
    ];
    assert_eq!(replayed(&mut stage).await, expected);

    // The output up to now is shown again, after the load.
    let shown = stage.update().await;
    assert_eq!(shown["toolCallId"], item(2).to_string());
    assert_eq!(shown["content"][1]["content"]["text"], "one two");
    stage.passing(Some(item(3)), delta(5, ", "));
    assert_eq!(stage.update().await, chunk("agent_message", item(3), ", "));
    stage.happen(Some(item(3)), ended_item(message("Hello, you")));
    let done = call(ToolStatus::Completed, vec![ToolContent::text("…")]);
    stage.happen(Some(item(2)), ended_item(tool(&done)));
    stage.end(turn(1), TurnOutcome::Completed);
    assert_eq!(stage.update().await, chunk("agent_message", item(3), "you"));
    let ended = stage.update().await;
    assert_eq!(
        (&ended["sessionUpdate"], &ended["status"]),
        (&json!("tool_call_update"), &json!("completed"))
    );
    assert_eq!(stage.result_of_prompt(2).await, "end_turn");
}

/// WIRE-4
#[tokio::test]
async fn a_long_message_is_replayed_in_frames_below_1_mib() {
    let mut stage = Stage::initialized(json!({})).await;
    let load = load(&mut stage).await;
    let text = "漢\u{1}".repeat(1 << 17);
    let extra = json!({"annotations": {"priority": 1.0}})
        .as_object()
        .unwrap()
        .clone();
    let annotated = Content::Text {
        text: text.clone(),
        extra,
    };
    stage.happen(
        Some(item(1)),
        ended_item(Item::UserMessage {
            content: vec![annotated],
        }),
    );
    stage.happen(Some(item(2)), ended_item(message(&text)));
    loaded(&mut stage, &load).await;
    let updates = replayed(&mut stage).await;
    let of = |kind: &str| -> String {
        let of_kind = updates
            .iter()
            .filter(|update| update["sessionUpdate"] == kind);
        of_kind
            .map(|update| update["content"]["text"].as_str().unwrap())
            .collect()
    };
    assert!(updates.len() > 6);
    assert!(of("user_message_chunk") == text && of("agent_message_chunk") == text);
    let first = updates.first().unwrap();
    assert_eq!(first["content"]["annotations"], json!({"priority": 1.0}));
}

#[tokio::test]
async fn what_a_client_has_no_use_for_is_not_replayed() {
    let mut stage = Stage::initialized(json!({"session": {"notices": {}}})).await;
    let load = load(&mut stage).await;
    let mode = SessionChanged {
        mode: Some("auto".into()),
        ..Default::default()
    };
    let notice = sessiond_protocol::Severity::Info;
    stage.happen(None, Event::SessionChanged(mode));
    stage.happen(
        None,
        Event::Notice {
            severity: notice,
            title: "past".into(),
            description: None,
        },
    );
    stage.happen(
        None,
        Event::TurnQueued {
            input: vec![Content::text("hi")],
            place: Default::default(),
            keyed: None,
        },
    );
    stage.happen(Some(item(1)), ended_item(message("")));
    stage.happen(Some(item(2)), partial(ItemKind::ToolCall, 0, "output"));
    stage.happen(None, Event::Unknown(json!({"type": "of.later"})));
    stage.happen(None, ended(TurnOutcome::Failed, None, None));
    stage.happen(None, Event::SessionClosed {});
    loaded(&mut stage, &load).await;
    assert_eq!(replayed(&mut stage).await, Vec::<Value>::new());
}

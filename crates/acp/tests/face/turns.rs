//! Turns: updates, then the one answer.

use serde_json::{Value, json};
use sessiond_protocol::{
    ErrorCode, Event, IfBusy, Item, ItemKind, Location, Op, PlanEntry, PlanPriority, PlanStatus,
    Queued, SessionChanged, Severity, Stop, Stream, ToolCall, ToolContent, ToolKind, ToolStatus,
    TurnOutcome, Usage, WireError,
};

use crate::events::{changed, chunk, delta, ended_item, message, started, thinking, tool, user};
use crate::harness::{OTHER, S, Stage, ended, item, session, turn};

/// SQEQ-3
#[tokio::test]
async fn each_end_of_a_turn_is_the_one_answer_to_its_prompt() {
    let failed = |code| Some(WireError::new(code, "why"));
    let stopped = |reason: &str| Ok(json!({"stopReason": reason}));
    let completed = TurnOutcome::Completed;
    let cases = [
        (ended(completed, None, None), stopped("end_turn")),
        (
            ended(completed, Some(Stop::EndTurn), None),
            stopped("end_turn"),
        ),
        (
            ended(completed, Some(Stop::MaxTokens), None),
            stopped("max_tokens"),
        ),
        (
            ended(completed, Some(Stop::MaxRequests), None),
            stopped("max_turn_requests"),
        ),
        (
            ended(completed, Some(Stop::Refusal), None),
            stopped("refusal"),
        ),
        (
            ended(TurnOutcome::Cancelled, None, None),
            stopped("cancelled"),
        ),
        (
            ended(
                TurnOutcome::Cancelled,
                Some(Stop::EndTurn),
                failed(ErrorCode::AgentFailed),
            ),
            stopped("cancelled"),
        ),
        (
            ended(TurnOutcome::Failed, None, failed(ErrorCode::AgentFailed)),
            Err(-32603),
        ),
        (
            ended(
                TurnOutcome::Failed,
                None,
                failed(ErrorCode::AgentUnavailable),
            ),
            Err(4008),
        ),
        (
            ended(TurnOutcome::Failed, None, failed(ErrorCode::Storage)),
            Err(4005),
        ),
        (
            ended(TurnOutcome::Failed, None, failed(ErrorCode::LeaseLost)),
            Err(4007),
        ),
        (ended(TurnOutcome::Failed, None, None), Err(-32603)),
        (ended(TurnOutcome::Interrupted, None, None), Err(-32603)),
    ];
    for (end, expected) in cases {
        let name = format!("{end:?}");
        let mut stage = Stage::with_turn(json!({})).await;
        stage.happen(None, end.clone());
        stage.happen(None, end);
        match expected {
            Ok(result) => assert_eq!(stage.result(2).await, result, "{name}"),
            Err(code) => {
                let told = stage.told().await;
                assert_eq!(
                    (&told["id"], &told["error"]["code"]),
                    (&json!(2), &json!(code))
                );
            }
        }
        stage.quiet().await;
    }
}

#[tokio::test]
async fn text_streams_under_its_items_id_and_is_never_sent_again() {
    let mut stage = Stage::with_turn(json!({})).await;
    let (said, thought) = (item(1), item(2));
    let part = |offset, text: &str| Event::ItemPartial {
        kind: ItemKind::AgentMessage,
        offset,
        text: text.into(),
    };
    // The client's own prompt is not echoed.
    stage.happen(Some(item(0)), ended_item(user("hi")));
    stage.passing(Some(said), started(message("")));
    stage.passing(Some(said), delta(0, "Hello"));
    stage.happen(Some(said), part(0, "Hello"));
    stage.passing(Some(said), delta(5, ", wörld"));
    stage.happen(Some(said), ended_item(message("Hello, wörld")));
    stage.passing(Some(thought), started(thinking("")));
    stage.passing(Some(thought), delta(0, "Hm"));
    stage.happen(Some(thought), ended_item(thinking("Hm")));
    stage.end(turn(1), TurnOutcome::Completed);
    assert_eq!(stage.update().await, chunk("agent_message", said, "Hello"));
    assert_eq!(
        stage.update().await,
        chunk("agent_message", said, ", wörld")
    );
    assert_eq!(stage.update().await, chunk("agent_thought", thought, "Hm"));
    assert_eq!(stage.result_of_prompt(2).await, "end_turn");
}

/// WIRE-9
#[tokio::test]
async fn a_gap_or_overlap_of_deltas_neither_loses_nor_repeats_text() {
    type Deltas = &'static [(u64, &'static str)];
    let cases: [(Deltas, &[&str]); 6] = [
        (&[], &["abcdef"]),
        (&[(0, "ab")], &["ab", "cdef"]),
        (&[(0, "ab"), (4, "ef")], &["ab", "cdef"]),
        (&[(2, "cd")], &["abcdef"]),
        (&[(0, "abc"), (1, "bcd"), (4, "ef")], &["abc", "d", "ef"]),
        (&[(0, "abc"), (0, "abc"), (3, "def")], &["abc", "def"]),
    ];
    for (deltas, expected) in cases {
        let mut stage = Stage::with_turn(json!({})).await;
        stage.passing(Some(item(1)), started(message("")));
        for (offset, text) in deltas {
            stage.passing(Some(item(1)), delta(*offset, text));
        }
        stage.happen(Some(item(1)), ended_item(message("abcdef")));
        // Late ones of an item that ended.
        stage.passing(Some(item(1)), delta(6, "late"));
        stage.end(turn(1), TurnOutcome::Completed);
        for text in expected {
            let told = stage.update().await;
            assert_eq!(told, chunk("agent_message", item(1), text), "{deltas:?}");
        }
        assert_eq!(stage.result_of_prompt(2).await, "end_turn", "{deltas:?}");
    }
}

#[tokio::test]
async fn a_tool_call_is_told_once_and_then_only_what_changed_of_it() {
    let mut stage = Stage::with_turn(json!({})).await;
    let mut call = ToolCall {
        name: "edit".into(),
        title: "Edit /w/a".into(),
        kind: ToolKind::Edit,
        input: json!({"path": "/w/a"}),
        locations: vec![Location {
            path: "/w/a".into(),
            line: Some(3),
        }],
        ..ToolCall::default()
    };
    stage.happen(Some(item(1)), started(tool(&call)));
    call.status = ToolStatus::Running;
    stage.happen(Some(item(1)), changed(&call));
    stage.happen(Some(item(1)), changed(&call));
    let terminal = ToolContent::Terminal {
        terminal: "t1".into(),
    };
    call.content = vec![terminal];
    stage.happen(Some(item(1)), changed(&call));
    let (path, old_text) = ("/w/a".into(), Some("old".into()));
    call.content = vec![
        ToolContent::text("done"),
        ToolContent::Diff {
            path,
            old_text,
            new_text: "new".into(),
        },
    ];
    call.output = json!({"ok": true});
    call.status = ToolStatus::Completed;
    stage.happen(Some(item(1)), ended_item(tool(&call)));
    let id = item(1).to_string();
    let expected = [
        json!({
            "sessionUpdate": "tool_call", "toolCallId": id, "title": "Edit /w/a", "name": "edit",
            "kind": "edit", "status": "pending", "rawInput": {"path": "/w/a"},
            "locations": [{"path": "/w/a", "line": 3}],
        }),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress"}),
        json!({
            "sessionUpdate": "tool_call_update", "toolCallId": id,
            "content": [{"type": "terminal", "terminalId": "t1"}],
        }),
        json!({
            "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
            "content": [
                {"type": "content", "content": {"type": "text", "text": "done"}},
                {"type": "diff", "path": "/w/a", "oldText": "old", "newText": "new"},
            ],
            "rawOutput": {"ok": true},
        }),
    ];
    for expected in expected {
        assert_eq!(stage.update().await, expected);
    }
    stage.quiet().await;
}

#[tokio::test]
async fn every_way_for_a_call_to_end_badly_is_failed_in_v1() {
    for status in [
        ToolStatus::Failed,
        ToolStatus::Cancelled,
        ToolStatus::Unknown,
    ] {
        let mut stage = Stage::with_turn(json!({})).await;
        let mut call = ToolCall {
            title: "t".into(),
            status,
            ..ToolCall::default()
        };
        stage.happen(Some(item(1)), started(tool(&ToolCall::default())));
        call.content = vec![ToolContent::text("why")];
        stage.happen(Some(item(1)), ended_item(tool(&call)));
        stage.update().await;
        assert_eq!(stage.update().await["status"], "failed", "{status:?}");
    }
}

/// LOG-6
#[tokio::test]
async fn a_call_that_the_engine_could_not_end_looks_ended_when_its_turn_is() {
    let mut stage = Stage::with_turn(json!({})).await;
    let call = ToolCall {
        status: ToolStatus::Running,
        ..ToolCall::default()
    };
    stage.happen(Some(item(1)), started(tool(&call)));
    stage.update().await;
    // Another turn that waited is none of its business.
    stage.prompt(3, turn(2)).await;
    stage.happen_in(Some(turn(2)), Some(item(2)), ended_item(user("wait")));
    stage.end(turn(2), TurnOutcome::Cancelled);
    assert_eq!(stage.result_of_prompt(3).await, "cancelled");
    let failed = Some(WireError::new(ErrorCode::Storage, "no space"));
    stage.passing(None, ended(TurnOutcome::Failed, None, failed));
    let expected = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": item(1).to_string(), "status": "failed",
    });
    assert_eq!(stage.update().await, expected);
    assert_eq!(stage.error(2).await, (4005, Value::Null));
    stage.quiet().await;
}

#[tokio::test]
async fn output_of_a_running_call_is_shown_until_its_end_replaces_it() {
    let mut stage = Stage::with_turn(json!({})).await;
    let mut call = ToolCall {
        title: "t".into(),
        ..ToolCall::default()
    };
    call.status = ToolStatus::Running;
    stage.happen(Some(item(1)), started(tool(&call)));
    stage.update().await;
    let output = |offset, text: &str| Event::ItemDelta {
        stream: Stream::Output,
        offset,
        text: text.into(),
    };
    let shown = |text: &str| {
        json!({
            "sessionUpdate": "tool_call_update", "toolCallId": item(1).to_string(),
            "content": [{"type": "content", "content": {"type": "text", "text": text}}],
        })
    };
    stage.passing(Some(item(1)), output(0, "one\n"));
    assert_eq!(stage.update().await, shown("one\n"));
    stage.passing(Some(item(1)), output(4, "two\n"));
    stage.passing(Some(item(1)), output(8, "three\n"));
    // Together, when their time has come.
    assert_eq!(stage.update().await, shown("one\ntwo\nthree\n"));
    stage.passing(Some(item(1)), output(14, "four\n"));
    call.status = ToolStatus::Completed;
    stage.happen(Some(item(1)), ended_item(tool(&call)));
    stage.passing(Some(item(1)), output(19, "late"));
    let expected = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": item(1).to_string(),
        "status": "completed", "content": [],
    });
    assert_eq!(stage.update().await, expected);
    stage.quiet().await;
}

#[tokio::test]
async fn plans_are_told_within_a_turn_and_title_usage_and_notices_whenever_they_come() {
    let entry = PlanEntry {
        content: "step".into(),
        priority: PlanPriority::High,
        status: PlanStatus::InProgress,
    };
    let plan = Event::ItemEnded {
        item: Item::Plan {
            entries: vec![entry],
        },
    };
    let titled = SessionChanged {
        title: Some("Title".into()),
        ..Default::default()
    };
    let usage = Usage {
        used: 5,
        size: 100,
        ..Usage::default()
    };
    let notice = Event::Notice {
        severity: Severity::Warning,
        title: "Look".into(),
        description: Some("Here".into()),
    };
    let damage = Event::Damage {
        segment: "s".into(),
        offset: 0,
        length: 9,
    };
    let said = "9 bytes of this session's history cannot be read; the rest is shown.";
    let always = [
        json!({"sessionUpdate": "plan", "entries": [
            {"content": "step", "priority": "high", "status": "in_progress"},
        ]}),
        json!({"sessionUpdate": "session_info_update", "title": "Title"}),
        json!({"sessionUpdate": "usage_update", "used": 5, "size": 100}),
    ];
    let gated = [
        json!({"sessionUpdate": "notice", "severity": "warning", "title": "Look", "description": "Here"}),
        json!({"sessionUpdate": "notice", "severity": "warning", "title": said}),
    ];
    let events = [
        plan,
        Event::SessionChanged(titled),
        Event::Usage(usage),
        notice,
        damage,
    ];
    let cases = [
        (json!({}), &always[..], &[][..]),
        (json!({"session": {}}), &always[..], &[][..]),
        (json!({"session": {"notices": {}}}), &always[..], &gated[..]),
    ];
    for (capabilities, always, gated) in cases {
        let mut stage = Stage::with_turn(capabilities).await;
        for event in &events {
            stage.happen(Some(item(1)), event.clone());
        }
        stage.end(turn(1), TurnOutcome::Completed);
        for event in &events {
            stage.happen(Some(item(1)), event.clone());
        }
        for expected in always.iter().chain(gated) {
            assert_eq!(&stage.update().await, expected);
        }
        assert_eq!(stage.result_of_prompt(2).await, "end_turn");
        for expected in always.iter().skip(1).chain(gated) {
            assert_eq!(&stage.update().await, expected);
        }
        stage.quiet().await;
    }
}

#[tokio::test]
async fn prompts_are_submitted_to_be_queued_and_refused_as_the_engine_says() {
    let mut stage = Stage::with_turn(json!({})).await;
    let block = json!({"type": "text", "text": "hi", "annotations": {"priority": 0.5}, "x": 1});
    stage
        .request(
            3,
            "session/prompt",
            json!({"sessionId": S, "prompt": [block]}),
        )
        .await;
    let start = stage.submitted().await;
    assert_eq!(start.session, Some(session()));
    let Op::TurnStart { input, if_busy, .. } = &start.op else {
        panic!("no turn")
    };
    assert_eq!(*if_busy, IfBusy::Queue);
    assert_eq!(
        serde_json::to_value(input).unwrap(),
        json!([block]),
        "unknown members survive"
    );
    stage.refuse(
        &start,
        WireError::new(ErrorCode::QueueFull, "16 prompts wait"),
    );
    assert_eq!(stage.error(3).await, (4006, Value::Null));
    stage.end(turn(1), TurnOutcome::Completed);
    assert_eq!(stage.result_of_prompt(2).await, "end_turn");
}

/// SQEQ-4
#[tokio::test]
async fn a_cancel_at_any_moment_ends_the_prompts_once() {
    let mut stage = Stage::with_session(json!({})).await;
    let all = Op::TurnInterrupt {
        turn: None,
        queued: Queued::Cancel,
    };
    // Idle and unknown: nothing is answered.
    stage
        .notify("session/cancel", json!({"sessionId": S}))
        .await;
    assert_eq!(stage.op().await, all);
    for id in [OTHER, "nonsense", ""] {
        stage
            .notify("session/cancel", json!({"sessionId": id}))
            .await;
    }
    stage.quiet().await;
    // Straight after the prompts, twice, before the engine said anything.
    let prompt = json!({"sessionId": S, "prompt": [{"type": "text", "text": "hi"}]});
    stage.request(2, "session/prompt", prompt.clone()).await;
    stage.request(3, "session/prompt", prompt).await;
    stage
        .notify("session/cancel", json!({"sessionId": S}))
        .await;
    stage
        .notify("session/cancel", json!({"sessionId": S}))
        .await;
    let starts = [stage.submitted().await, stage.submitted().await];
    assert_eq!([stage.op().await, stage.op().await], [all.clone(), all]);
    for (start, turn) in starts.iter().zip([turn(1), turn(2)]) {
        stage.accept(start, sessiond_protocol::Accepted::Turn { turn });
    }
    assert_eq!(stage.update().await, crate::harness::commands_shown());
    stage.end(turn(1), TurnOutcome::Cancelled);
    stage.end(turn(2), TurnOutcome::Cancelled);
    assert_eq!(stage.result_of_prompt(2).await, "cancelled");
    assert_eq!(stage.result_of_prompt(3).await, "cancelled");
    stage.quiet().await;
}

#[tokio::test]
async fn cancelling_a_prompts_request_stops_its_turn_and_no_other() {
    let mut stage = Stage::with_turn(json!({})).await;
    let only = |turn| Op::TurnInterrupt {
        turn: Some(turn),
        queued: Queued::Keep,
    };
    stage
        .notify("$/cancel_request", json!({"requestId": 2}))
        .await;
    assert_eq!(stage.op().await, only(turn(1)));
    // Before the turn has a name it is remembered; "3" is another id than 3.
    let prompt = json!({"sessionId": S, "prompt": [{"type": "text", "text": "hi"}]});
    stage.request(3, "session/prompt", prompt).await;
    let start = stage.submitted().await;
    stage
        .notify("$/cancel_request", json!({"requestId": "3"}))
        .await;
    stage
        .notify("$/cancel_request", json!({"requestId": 3}))
        .await;
    stage.quiet().await;
    stage.accept(&start, sessiond_protocol::Accepted::Turn { turn: turn(2) });
    assert_eq!(stage.op().await, only(turn(2)));
    stage.end(turn(2), TurnOutcome::Cancelled);
    assert_eq!(stage.result_of_prompt(3).await, "cancelled");
    stage.end(turn(1), TurnOutcome::Cancelled);
    assert_eq!(stage.result_of_prompt(2).await, "cancelled");
}

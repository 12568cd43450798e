//! Frames on the wire, ids at their borders, and the folds over durable events.

use sessiond_protocol::{
    ClientFrame, Content, Cursor, ErrorCode, Event, EventFrame, Finish, History, Item, ItemId,
    ItemKind, Marker, Op, ServerFrame, SessionChanged, SessionId, Standing, SummaryFold, ToolCall,
    ToolContent, ToolStatus, TurnConfig, TurnId, TurnOutcome, decode, encode,
};
use uuid::Uuid;

fn session() -> SessionId {
    SessionId::new(Uuid::from_u128(1))
}

fn frame(cursor: u64, item: Option<u128>, event: Event) -> EventFrame {
    EventFrame {
        session: session(),
        cursor: Some(Cursor(cursor)),
        turn: Some(TurnId::new(Uuid::from_u128(2))),
        item: item.map(|id| ItemId::new(Uuid::from_u128(id))),
        cause: None,
        at: Some(format!("2026-01-01T00:00:0{cursor}.000Z")),
        event,
    }
}

fn partial(cursor: u64, offset: u64, text: &str) -> EventFrame {
    let kind = ItemKind::AgentMessage;
    frame(
        cursor,
        Some(3),
        Event::ItemPartial {
            kind,
            offset,
            text: text.into(),
        },
    )
}

fn started(cursor: u64) -> EventFrame {
    let config = TurnConfig {
        agent: "script".into(),
        version: None,
        model: None,
        mode: None,
        cwd: "/w".into(),
        permission: None,
        policy: 0,
    };
    frame(
        cursor,
        None,
        Event::TurnStarted {
            base: Cursor(1),
            config,
            keyed: None,
        },
    )
}

fn opened() -> serde_json::Value {
    serde_json::json!({
        "type": "session.opened", "start": "new", "id": session(), "format": 1, "program": "p",
        "source": "acp", "cwd": "/w", "agent": {"name": "script", "version": null},
        "model": null, "instructions": null, "mode": "ask", "principal": null,
        "workspace": {"root": null, "repository": null, "worktree": null, "branch": null},
        "parent": null,
    })
}

/// LOG-13
#[test]
fn only_the_canonical_text_of_a_uuid_is_an_id() {
    let good = "0199ab01-1234-7abc-8def-0123456789ab";
    assert_eq!(
        good.parse::<SessionId>()
            .map(|id| id.to_string())
            .as_deref(),
        Ok(good)
    );
    for bad in [
        "",
        "..",
        "../../x",
        "0199AB01-1234-7abc-8def-0123456789ab",
        "{0199ab01-1234-7abc-8def-0123456789ab}",
        "0199ab0112347abc8def0123456789ab",
        "urn:uuid:0199ab01-1234-7abc-8def-0123456789ab",
        "0199ab01-1234-7abc-8def-0123456789ab ",
        "0199ab01-1234-7abc-8def-0123456789a\u{0}",
        "０199ab01-1234-7abc-8def-0123456789a",
    ] {
        assert!(bad.parse::<SessionId>().is_err(), "{bad:?}");
        let json = serde_json::to_string(bad).unwrap();
        assert!(serde_json::from_str::<SessionId>(&json).is_err(), "{bad:?}");
    }
}

/// WIRE-2
#[test]
fn frames_of_the_contract_are_read_and_unknown_fields_are_ignored() {
    for (line, op) in [
        (
            r#"{"v":1,"type":"submission","id":"s2","session":"0199ab01-1234-7abc-8def-0123456789ab","op":{"type":"turn.start","input":[{"type":"text","text":"/run echo hi"}],"zz":1},"later":{}}"#,
            "turn.start",
        ),
        (
            r#"{"v":1,"type":"submission","id":"s1","op":{"type":"session.new","cwd":"/w","agent":"script","answers":["permission"]}}"#,
            "session.new",
        ),
        (
            r#"{"v":1,"type":"submission","id":"s3","op":{"type":"session.resume","session":"0199ab01-1234-7abc-8def-0123456789ab","replay":{"after":41}}}"#,
            "session.resume",
        ),
    ] {
        let ClientFrame::Submission(submission) = decode(line).unwrap() else {
            panic!("{line}")
        };
        let op_type = serde_json::to_value(&submission.op).unwrap();
        assert_eq!(op_type["type"], op);
        let again = encode(&ClientFrame::Submission(submission.clone())).unwrap();
        assert_eq!(
            decode::<ClientFrame>(&again).unwrap(),
            ClientFrame::Submission(submission)
        );
    }
}

/// WIRE-2, WIRE-3
#[test]
fn a_bad_frame_is_an_error_that_never_repeats_the_payload() {
    for line in [
        "",
        "secret",
        r#"{"type":"bye"}"#,
        r#"{"v":2,"type":"bye"}"#,
        r#"{"v":1,"type":"secret"}"#,
        r#"{"v":1,"type":"submission","id":"","op":{"type":"session.list"}}"#,
    ] {
        let error = decode::<ClientFrame>(line).unwrap_err();
        assert_eq!(error.code, ErrorCode::Protocol, "{line}");
        assert!(!error.message.contains("secret"), "{}", error.message);
    }
}

/// LOG-11
#[test]
fn an_event_of_a_later_version_is_kept_and_passed_over() {
    let line = r#"{"v":1,"type":"event","session":"0199ab01-1234-7abc-8def-0123456789ab","cursor":7,"event":{"type":"zz.new","x":1}}"#;
    let ServerFrame::Event(event) = decode(line).unwrap() else {
        panic!()
    };
    assert_eq!(event.event.kind(), "zz.new");
    assert_eq!(
        encode(&ServerFrame::Event(event.clone()))
            .unwrap()
            .trim_end(),
        line
    );
    let mut standing = Standing::default();
    standing.apply(&event);
    assert_eq!(standing.cursor, Cursor(7));
}

/// LOG-17, RESUME-6
#[test]
fn what_is_open_is_closed_in_order_and_the_same_every_time() {
    let mut call = ToolCall {
        name: "run".into(),
        ..ToolCall::default()
    };
    call.status = ToolStatus::Running;
    call.content = vec![ToolContent::Terminal {
        terminal: "t1".into(),
    }];
    let tool = Item::ToolCall(Box::new(call));
    let output = Event::ItemPartial {
        kind: ItemKind::ToolCall,
        offset: 0,
        text: "half an output".into(),
    };
    let mut standing = Standing::default();
    for event in [
        started(2),
        partial(3, 0, "shown "),
        partial(4, 6, "text"),
        frame(5, Some(4), Event::ItemStarted { item: tool }),
        frame(6, Some(4), output),
    ] {
        standing.apply(&event);
    }
    let closings = standing.closings(session());
    assert_eq!(closings, standing.closings(session()));
    let [text, call, turn] = closings.as_slice() else {
        panic!("{closings:?}")
    };
    let Event::ItemEnded { item } = &text.event else {
        panic!()
    };
    let message = ("shown text".to_owned(), Finish::Interrupted);
    assert_eq!(
        item,
        &Item::AgentMessage {
            text: message.0,
            finish: message.1
        }
    );
    let Event::ItemEnded {
        item: Item::ToolCall(call),
    } = &call.event
    else {
        panic!()
    };
    assert_eq!(call.status, ToolStatus::Unknown);
    let shown = serde_json::to_string(&call.content).unwrap();
    assert!(
        shown.contains("half an output") && shown.contains("Outcome unknown"),
        "{shown}"
    );
    assert!(
        !shown.contains("terminal\":\"t1"),
        "a dead terminal is not shown: {shown}"
    );
    let Event::TurnEnded(ended) = &turn.event else {
        panic!()
    };
    assert_eq!(ended.outcome, TurnOutcome::Interrupted);
    closings
        .into_iter()
        .zip(7..)
        .for_each(|(mut closing, cursor)| {
            closing.cursor = Some(Cursor(cursor));
            standing.apply(&closing);
        });
    assert!(standing.closings(session()).is_empty());
}

/// LOG-1, LOG-14
#[test]
fn list_and_conversation_are_folds_of_the_same_events() {
    let title = SessionChanged {
        title: Some("Fix it".into()),
        ..SessionChanged::default()
    };
    let answer = Item::AgentMessage {
        text: "Done".into(),
        finish: Finish::Whole,
    };
    let events = [
        frame(1, None, serde_json::from_value(opened()).unwrap()),
        started(2),
        frame(3, None, Event::SessionChanged(title)),
        frame(4, Some(3), Event::ItemEnded { item: answer }),
        frame(5, None, Event::SessionClosed {}),
    ];
    let (mut summary, mut history) = (SummaryFold::default(), History::default());
    for event in &events {
        summary.apply(event);
        history.apply(event.clone());
    }
    let summary = summary.finish().unwrap();
    assert_eq!(
        (summary.title.as_deref(), summary.turns),
        (Some("Fix it"), 1)
    );
    assert_eq!(
        summary.updated_at, "2026-01-01T00:00:04.000Z",
        "time of the newest message"
    );
    assert_eq!(history.last_answer(), Some("Done"));
}

/// RESUME-9: a fork was made when it was forked; its turns and messages are its parent's too.
#[test]
fn the_summary_of_a_fork_has_its_own_beginning_and_its_parents_turns() {
    let fork = |at| {
        let (parent, at) = (session(), Cursor(at));
        Event::Marker(Marker::Fork { parent, at })
    };
    let message = Item::UserMessage {
        content: vec![Content::text("hi")],
    };
    // A fork of a fork: the markers of both are in its log.
    let events = [
        frame(1, None, serde_json::from_value(opened()).unwrap()),
        started(2),
        frame(3, Some(2), Event::ItemEnded { item: message }),
        frame(4, None, fork(3)),
        started(5),
        frame(6, None, fork(5)),
        frame(7, None, Event::SessionClosed {}),
    ];
    let mut summary = SummaryFold::default();
    events.iter().for_each(|event| summary.apply(event));
    let summary = summary.finish().unwrap();
    assert_eq!(summary.created_at, "2026-01-01T00:00:06.000Z");
    assert_eq!(summary.updated_at, "2026-01-01T00:00:03.000Z");
    assert_eq!(summary.turns, 2);
}

#[test]
fn every_operation_is_read_back_as_it_was_written() {
    for op in [
        r#"{"type":"session.list"}"#,
        r#"{"type":"session.list","title":"Fix it","search":"it"}"#,
        r#"{"type":"session.read"}"#,
        r#"{"type":"session.configure","mode":"auto"}"#,
        r#"{"type":"session.close"}"#,
        r#"{"type":"turn.interrupt"}"#,
        r#"{"type":"turn.steer","input":[]}"#,
        r#"{"type":"turn.start","input":[],"if_busy":"replace","idempotency_key":"k"}"#,
    ] {
        let read: Op = serde_json::from_str(op).unwrap();
        let again: Op = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
        assert_eq!(read, again);
    }
}

/// LOG-10, LOG-11: a fold of another version need not even have the members that this one has.
#[test]
fn a_checkpoint_of_an_older_fold_is_passed_over() {
    let line = r#"{"v":1,"type":"event","session":"0199ab01-1234-7abc-8def-0123456789ab","cursor":7,"event":{"type":"marker","marker":"checkpoint","version":1,"standing":{"policy":3,"cursor":6}}}"#;
    let ServerFrame::Event(event) = decode(line).unwrap() else {
        panic!()
    };
    let mut standing = Standing::default();
    standing.apply(&event);
    assert_eq!((standing.cursor, standing.policy), (Cursor(7), 0));
    assert_eq!(encode(&ServerFrame::Event(event)).unwrap().trim_end(), line);
}

/// WIRE-3, WIRE-4
#[test]
fn a_key_has_1_to_255_characters() {
    let op = |key: &str| {
        let key = serde_json::to_string(key).unwrap();
        let op = format!(r#"{{"type":"turn.start","input":[],"idempotency_key":{key}}}"#);
        serde_json::from_str::<Op>(&op)
    };
    for good in ["k", "\u{1F600}", &"\u{1F600}".repeat(255)] {
        assert!(op(good).is_ok(), "{}", good.len());
    }
    for bad in ["", &"k".repeat(256)] {
        assert!(op(bad).is_err(), "{}", bad.len());
    }
}

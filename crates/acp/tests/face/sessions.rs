//! Sessions: new, load, list, close, modes.

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, AttachMode, ErrorCode, Event, FoundBy, Holder, OnDisconnect, Op, Recency, Replay,
    SessionChanged, SessionNew, SessionResume, Start, Summary, TurnOutcome, WireError,
};

use crate::harness::{
    OTHER, S, Stage, commands_shown, modes_shown, options_shown, session, turn, view,
};

/// SQEQ-7
#[tokio::test]
async fn a_new_session_is_answered_first_and_then_its_commands_are_told_once() {
    let mut stage = Stage::initialized(json!({})).await;
    stage
        .request(1, "session/new", json!({"cwd": "/w", "mcpServers": []}))
        .await;
    let new = stage.submitted().await;
    let expected = SessionNew {
        setup: Default::default(),
        id: None,
        cwd: "/w".into(),
        agent: Some("script".into()),
        answers: vec![
            sessiond_protocol::RequestKind::Permission,
            sessiond_protocol::RequestKind::Extension,
        ],
        on_disconnect: OnDisconnect::Cancel,
    };
    assert_eq!((&new.session, &new.op), (&None, &Op::SessionNew(expected)));
    // What the engine says before the receipt is not for a client that knows no session yet.
    stage.happen_in(None, None, opened());
    stage.happen_in(None, None, titled("early"));
    stage.accept(&new, Accepted::Session(Box::new(view())));
    let expected = json!({
        "sessionId": S, "modes": modes_shown("ask"), "configOptions": options_shown("ask"),
    });
    assert_eq!(stage.result(1).await, expected);
    assert_eq!(stage.update().await, commands_shown());
    stage.happen_in(None, None, titled("late"));
    let late = json!({"sessionUpdate": "session_info_update", "title": "late"});
    assert_eq!(stage.update().await, late);
    stage.quiet().await;
}

#[tokio::test]
async fn a_session_without_modes_shows_none() {
    let mut stage = Stage::initialized(json!({})).await;
    stage
        .request(1, "session/new", json!({"cwd": "/w", "mcpServers": []}))
        .await;
    let new = stage.submitted().await;
    let mut bare = view();
    bare.agent.modes.clear();
    bare.agent.commands.clear();
    bare.mode = None;
    stage.accept(&new, Accepted::Session(Box::new(bare)));
    assert_eq!(stage.result(1).await, json!({"sessionId": S}));
    let none = json!({"sessionUpdate": "available_commands_update", "availableCommands": []});
    assert_eq!(stage.update().await, none);
    stage
        .request(
            2,
            "session/set_mode",
            json!({"sessionId": S, "modeId": "ask"}),
        )
        .await;
    assert_eq!(stage.error(2).await.0, -32602);
}

/// RESUME-3, LOG-7
#[tokio::test]
async fn a_refused_attach_tells_why_and_leaves_no_session_behind() {
    let refused = |code| WireError::new(code, "why").about(session());
    let mut held = refused(ErrorCode::Busy);
    held.holder = Some(Holder {
        pid: 7,
        host: "here".into(),
    });
    let cases = [
        (
            refused(ErrorCode::NotFound),
            (-32002, json!({"sessionId": S})),
        ),
        (held, (4001, json!({"holder": {"pid": 7, "host": "here"}}))),
        (refused(ErrorCode::Damaged), (4002, Value::Null)),
        (refused(ErrorCode::TooNew), (4003, Value::Null)),
        (refused(ErrorCode::Storage), (4005, Value::Null)),
    ];
    let mut stage = Stage::initialized(json!({})).await;
    for (error, expected) in cases {
        let params = json!({"sessionId": S, "cwd": "/w", "mcpServers": []});
        stage.request("load", "session/load", params).await;
        let load = stage.submitted().await;
        stage.refuse(&load, error);
        assert_eq!(stage.error("load").await, expected);
        let prompt = json!({"sessionId": S, "prompt": [{"type": "text", "text": "hi"}]});
        stage.request("prompt", "session/prompt", prompt).await;
        assert_eq!(
            stage.error("prompt").await,
            (-32002, json!({"sessionId": S}))
        );
    }
}

/// RESUME-16
#[tokio::test]
async fn a_load_says_what_the_client_accepts_of_what_has_changed() {
    use sessiond_protocol::DriftClass::{Repository, Roots};
    let cases = [
        (json!({}), Ok(vec![])),
        (json!({"sessiond": {}}), Ok(vec![])),
        (
            json!({"sessiond": {"accept": ["roots", "repository"]}}),
            Ok(vec![Roots, Repository]),
        ),
        (json!({"sessiond": {"accept": ["everything"]}}), Err(-32602)),
        (json!({"sessiond": {"accept": "roots"}}), Err(-32602)),
    ];
    let mut stage = Stage::initialized(json!({})).await;
    for (meta, expected) in cases {
        let params = json!({"sessionId": S, "cwd": "/w", "mcpServers": [], "_meta": meta});
        stage.request("load", "session/load", params).await;
        match expected {
            Err(code) => assert_eq!(stage.error("load").await.0, code),
            Ok(classes) => {
                let load = stage.submitted().await;
                let Op::SessionResume(resume) = &load.op else {
                    panic!("{load:?}");
                };
                assert_eq!(resume.accept, classes);
                stage.refuse(&load, WireError::new(ErrorCode::Busy, "busy"));
                assert_eq!(stage.error("load").await.0, 4001);
            }
        }
    }
}

#[tokio::test]
async fn a_load_attaches_with_the_clients_cwd_and_asks_for_everything() {
    let mut stage = Stage::initialized(json!({"terminal": true})).await;
    let params = json!({"sessionId": S, "cwd": "/else", "mcpServers": null});
    stage.request(1, "session/load", params).await;
    let expected = SessionResume {
        setup: Some(Default::default()),
        session: session(),
        cwd: Some("/else".into()),
        found_by: FoundBy::Id,
        accept: Vec::new(),
        replay: Replay::All,
        mode: AttachMode::Control,
        answers: vec![
            sessiond_protocol::RequestKind::Permission,
            sessiond_protocol::RequestKind::Extension,
            sessiond_protocol::RequestKind::Terminal,
        ],
        on_disconnect: OnDisconnect::Cancel,
    };
    let load = stage.submitted().await;
    assert_eq!(load.op, Op::SessionResume(expected));
    // It is not active before it is loaded.
    let params = json!({"sessionId": S, "modeId": "auto"});
    stage.request(2, "session/set_mode", params).await;
    assert_eq!(stage.error(2).await.0, -32002);
    let mut auto = view();
    auto.mode = Some("auto".into());
    stage.accept(&load, Accepted::Session(Box::new(auto)));
    let expected = json!({"modes": modes_shown("auto"), "configOptions": options_shown("auto")});
    assert_eq!(stage.result(1).await, expected);
    assert_eq!(stage.update().await, commands_shown());
    stage.quiet().await;
}

/// LOG-1
#[tokio::test]
async fn a_list_shows_a_page_and_passes_cursor_and_cwd_on() {
    let mut stage = Stage::initialized(json!({})).await;
    stage
        .request(1, "session/list", json!({"cwd": "/w", "cursor": "c1"}))
        .await;
    let list = stage.submitted().await;
    let Op::SessionList(asked) = &list.op else {
        panic!("no list")
    };
    assert_eq!(
        (asked.cwd.as_deref(), asked.after.as_deref()),
        (Some("/w"), Some("c1"))
    );
    let sessions = vec![summary(S, Some("Title")), summary(OTHER, None)];
    stage.accept(
        &list,
        Accepted::Sessions {
            sessions,
            next: Some("c2".into()),
        },
    );
    let at = "2026-01-02T00:00:00Z";
    let expected = json!({"nextCursor": "c2", "sessions": [
        {"sessionId": S, "cwd": "/w", "title": "Title", "updatedAt": at},
        {"sessionId": OTHER, "cwd": "/w", "updatedAt": at},
    ]});
    assert_eq!(stage.result(1).await, expected);

    stage
        .line(r#"{"jsonrpc":"2.0","id":9,"method":"session/list"}"#)
        .await;
    let list = stage.submitted().await;
    stage.refuse(&list, WireError::new(ErrorCode::Invalid, "no such cursor"));
    assert_eq!(stage.error(9).await, (-32602, Value::Null));
}

#[tokio::test]
async fn closing_ends_the_prompts_first_and_may_be_repeated() {
    let mut stage = Stage::with_turn(json!({})).await;
    stage.prompt(3, turn(2)).await;
    stage
        .request(4, "session/close", json!({"sessionId": S}))
        .await;
    let close = stage.submitted().await;
    assert_eq!(
        (close.session, &close.op),
        (Some(session()), &Op::SessionClose {})
    );
    stage.end(turn(1), TurnOutcome::Cancelled);
    stage.accept(&close, Accepted::Done {});
    assert_eq!(stage.result_of_prompt(2).await, "cancelled");
    // The engine said nothing of the second turn; its prompt is answered all the same.
    assert_eq!(stage.result_of_prompt(3).await, "cancelled");
    assert_eq!(stage.result(4).await, json!({}));
    for id in [S, OTHER, "nonsense"] {
        stage
            .request(5, "session/close", json!({"sessionId": id}))
            .await;
        assert_eq!(stage.result(5).await, json!({}), "{id}");
    }
    let prompt = json!({"sessionId": S, "prompt": [{"type": "text", "text": "hi"}]});
    stage.request(6, "session/prompt", prompt).await;
    assert_eq!(stage.error(6).await.0, -32002);
}

#[tokio::test]
async fn closing_a_session_that_the_engine_closed_already_succeeds() {
    let mut stage = Stage::with_session(json!({})).await;
    stage
        .request(4, "session/close", json!({"sessionId": S}))
        .await;
    let close = stage.submitted().await;
    stage.refuse(&close, WireError::new(ErrorCode::NotFound, "gone"));
    assert_eq!(stage.result(4).await, json!({}));
}

#[tokio::test]
async fn both_ways_of_showing_the_mode_stay_in_step() {
    let mut stage = Stage::with_session(json!({})).await;
    stage
        .request(
            2,
            "session/set_mode",
            json!({"sessionId": S, "modeId": "auto"}),
        )
        .await;
    let set = stage.submitted().await;
    assert_eq!(set.op, Op::set_mode("auto"));
    stage.happen_in(None, None, moded("auto"));
    stage.accept(&set, Accepted::Done {});
    let shown = options_shown("auto");
    let expected = json!({"sessionUpdate": "config_option_update", "configOptions": shown});
    assert_eq!(stage.update().await, expected);
    assert_eq!(stage.result(2).await, json!({}));

    let params = json!({"sessionId": S, "configId": "mode", "value": "ask"});
    stage.request(3, "session/set_config_option", params).await;
    let set = stage.submitted().await;
    assert_eq!(set.op, Op::set_mode("ask"));
    stage.accept(&set, Accepted::Done {});
    stage.happen_in(None, None, moded("ask"));
    let expected = json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"});
    assert_eq!(stage.update().await, expected);
    assert_eq!(
        stage.result(3).await,
        json!({"configOptions": options_shown("ask")})
    );
    stage.quiet().await;

    stage
        .request(
            4,
            "session/set_mode",
            json!({"sessionId": S, "modeId": "auto"}),
        )
        .await;
    let set = stage.submitted().await;
    stage.refuse(&set, WireError::new(ErrorCode::Storage, "no space"));
    assert_eq!(stage.error(4).await.0, 4005);
}

#[tokio::test]
async fn a_mode_that_the_agent_changes_in_a_turn_is_told_both_ways() {
    let mut stage = Stage::with_turn(json!({})).await;
    let options = |current| {
        let shown = options_shown(current);
        json!({"sessionUpdate": "config_option_update", "configOptions": shown})
    };
    // The client sets the mode meanwhile: that event is told with its own answer.
    let params = json!({"sessionId": S, "modeId": "auto"});
    stage.request(3, "session/set_mode", params).await;
    let set = stage.submitted().await;
    stage.happen_in(None, None, moded("auto"));
    stage.accept(&set, Accepted::Done {});
    stage.happen_in(None, None, moded("auto"));
    assert_eq!(stage.update().await, options("auto"));
    assert_eq!(stage.result(3).await, json!({}));
    // No mode of this agent.
    stage.happen(None, moded("none"));
    stage.happen(None, moded("ask"));
    let expected = json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"});
    assert_eq!(stage.update().await, expected);
    assert_eq!(stage.update().await, options("ask"));
    stage.quiet().await;
}

pub(crate) fn summary(id: &str, title: Option<&str>) -> Summary {
    Summary {
        session: id.parse().unwrap(),
        cwd: "/w".into(),
        title: title.map(Into::into),
        agent: "script".into(),
        created_at: "2026-01-01T00:00:00Z".into(),
        updated_at: "2026-01-02T00:00:00Z".into(),
        recency: Recency::Logged,
        turns: 1,
        damage: 0,
        roots: Vec::new(),
        kept: sessiond_protocol::Kept::Store,
    }
}

fn titled(title: &str) -> Event {
    Event::SessionChanged(SessionChanged {
        title: Some(title.into()),
        ..Default::default()
    })
}

fn moded(mode: &str) -> Event {
    Event::SessionChanged(SessionChanged {
        mode: Some(mode.into()),
        ..Default::default()
    })
}

fn opened() -> Event {
    Event::SessionOpened(Box::new(sessiond_protocol::SessionOpened {
        start: Start::New,
        id: session(),
        format: 1,
        program: "sessiond".into(),
        source: "acp".into(),
        host: None,
        cwd: "/w".into(),
        roots: vec![],
        agent: sessiond_protocol::AgentId {
            name: "script".into(),
            version: None,
        },
        model: None,
        instructions: None,
        mode: None,
        principal: None,
        workspace: Default::default(),
        parent: None,
    }))
}

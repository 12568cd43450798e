//! Requests about sessions.

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, Answered, ErrorCode, Event, Holder, InstructionsMode, McpServer, Op, Replay,
    SessionChanged, Setup, Summary, WireError,
};

use super::{initialized, with_session};
use crate::harness::{OTHER, S, session, view};

fn not_found() -> WireError {
    WireError::new(ErrorCode::NotFound, "no such session")
}

/// SEC-2: what a client gives a session goes to the engine as it is, and nothing is left out.
#[tokio::test]
async fn a_setup_is_handed_on_whole() {
    let mut stage = initialized(json!({})).await;
    let params = json!({
        "cwd": "/w", "additionalDirectories": ["/a", "/b"],
        "mcpServers": [
            {"type": "stdio", "name": "one", "command": "/bin/one", "args": ["x"],
                "env": [{"name": "TOKEN", "value": "secret"}]},
            {"type": "http", "name": "two", "url": "http://127.0.0.1:1/",
                "headers": [{"name": "A", "value": "b"}]},
        ],
        "systemPrompt": {"mode": "override", "content": [
            {"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}]},
    });
    for method in ["session/new", "session/resume"] {
        let mut params = params.clone();
        params["sessionId"] = S.into();
        stage.request(1, method, params).await;
        let given = stage.submitted().await;
        let setup = serde_json::to_value(&given.op).unwrap()["setup"].take();
        let setup: Setup = serde_json::from_value(setup).unwrap();
        assert_eq!(setup.roots, ["/a", "/b"]);
        assert_eq!(setup.mcp_servers.len(), 2);
        assert!(
            matches!(&setup.mcp_servers[0], McpServer::Stdio { env, .. } if env[0].value == "secret")
        );
        let instructions = setup.instructions.unwrap();
        assert_eq!(instructions.mode, InstructionsMode::Override);
        assert_eq!(instructions.text, "Be brief.\n\nBe kind.");
        stage.refuse(&given, not_found());
        stage.error(1).await;
    }
}

#[tokio::test]
async fn a_setup_that_is_wrong_makes_nothing() {
    let stdio =
        |name: &str, command: &str| json!({"type": "stdio", "name": name, "command": command});
    let text = json!({"type": "text", "text": "x"});
    let table = [
        json!({"cwd": "w"}),
        json!({}),
        json!({"cwd": "/w", "additionalDirectories": ["a"]}),
        json!({"cwd": "/w", "mcpServers": [stdio("a", "bin")]}),
        json!({"cwd": "/w", "mcpServers": [stdio("a", "/bin/a"), stdio("a", "/bin/b")]}),
        json!({"cwd": "/w", "mcpServers": [{"type": "sse", "name": "a", "url": "http://x"}]}),
        json!({"cwd": "/w", "mcpServers": [{"type": "_mine", "name": "a"}]}),
        json!({"cwd": "/w", "systemPrompt": {"mode": "_mine", "content": [text]}}),
        json!({"cwd": "/w", "systemPrompt": {"mode": "append", "content": []}}),
        json!({"cwd": "/w", "systemPrompt": {"mode": "append", "content": [
            {"type": "image", "data": "", "mimeType": "image/png"}]}}),
    ];
    let mut stage = initialized(json!({})).await;
    for params in table {
        for method in ["session/new", "session/resume", "session/fork"] {
            let mut params = params.clone();
            params["sessionId"] = S.into();
            stage.request(1, method, params.clone()).await;
            assert_eq!(
                stage.error(1).await,
                (-32602, Value::Null),
                "{method} {params}"
            );
        }
    }
    stage.quiet().await;
}

#[tokio::test]
async fn a_fork_is_resumed_without_its_history_and_has_nothing_to_say() {
    let mut stage = initialized(json!({})).await;
    let params = json!({"sessionId": S, "cwd": "/w"});
    stage.request(1, "session/fork", params).await;
    let fork = stage.submitted().await;
    assert_eq!(
        (&fork.op, fork.session),
        (&Op::SessionFork { at: None, id: None }, Some(session()))
    );
    let mut child = view();
    child.session = OTHER.parse().unwrap();
    stage.accept(&fork, Accepted::Session(Box::new(child.clone())));
    let resume = stage.submitted().await;
    let Op::SessionResume(asked) = &resume.op else {
        panic!("{resume:?}")
    };
    assert_eq!((asked.session, asked.replay), (child.session, Replay::None));
    stage.accept(&resume, Accepted::Session(Box::new(child)));
    let state = stage.told().await;
    assert_eq!(state["params"]["update"]["state"], "idle");
    let answer = stage.result(1).await;
    assert_eq!(answer["sessionId"], OTHER);
    assert_eq!(answer["configOptions"][0]["configId"], "mode");
    assert!(answer["availableCommands"].is_array());
    stage.quiet().await;
}

#[tokio::test]
async fn what_is_not_there_has_its_error() {
    for (method, params) in [
        ("session/resume", json!({"cwd": "/w"})),
        ("session/fork", json!({"cwd": "/w"})),
        ("session/status", json!({})),
        ("session/set_title", json!({"title": "x"})),
        ("session/archive", json!({})),
        ("session/unarchive", json!({})),
    ] {
        let mut stage = initialized(json!({})).await;
        stage.ask_about(1, method, params).await;
        let asked = stage.submitted().await;
        stage.refuse(&asked, not_found());
        if method.ends_with("archive") {
            let status = stage.submitted().await;
            assert_eq!(status.op, Op::SessionStatus {});
            stage.refuse(&status, not_found());
        }
        assert_eq!(
            stage.error(1).await,
            (-32002, json!({"sessionId": S})),
            "{method}"
        );
    }
    let text = json!([{"type": "text", "text": "hi"}]);
    for (method, params) in [
        ("session/prompt", json!({"prompt": text})),
        (
            "session/set_config_option",
            json!({"configId": "mode", "type": "id", "value": "ask"}),
        ),
        ("tool_call/cancel", json!({"toolCallId": "x"})),
    ] {
        let mut stage = initialized(json!({})).await;
        stage.ask_about(1, method, params).await;
        assert_eq!(
            stage.error(1).await,
            (-32002, json!({"sessionId": S})),
            "{method}"
        );
    }
}

#[tokio::test]
async fn closing_and_deleting_are_idempotent() {
    let mut stage = initialized(json!({})).await;
    for id in [S, "nonsense"] {
        stage
            .request(1, "session/close", json!({"sessionId": id}))
            .await;
        assert_eq!(stage.result(1).await, json!({}));
    }
    stage
        .request(2, "session/delete", json!({"sessionId": "nonsense"}))
        .await;
    assert_eq!(stage.result(2).await, json!({}));
    stage.ask_about(3, "session/delete", json!({})).await;
    let delete = stage.submitted().await;
    assert_eq!(delete.op, Op::SessionDelete {});
    stage.refuse(&delete, not_found());
    assert_eq!(stage.result(3).await, json!({}));
}

#[tokio::test]
async fn an_active_session_is_closed_before_it_goes_anywhere() {
    for (method, op) in [
        ("session/delete", Op::SessionDelete {}),
        ("session/archive", Op::SessionArchive {}),
    ] {
        let mut stage = with_session(json!({})).await;
        stage.ask_about(2, method, json!({})).await;
        let close = stage.submitted().await;
        assert_eq!(close.op, Op::SessionClose {});
        stage.accept(&close, Accepted::Done {});
        let then = stage.submitted().await;
        assert_eq!(then.op, op);
        stage.accept(&then, Accepted::Done {});
        assert_eq!(stage.result(2).await, json!({}));
    }
    let mut stage = initialized(json!({})).await;
    stage.ask_about(2, "session/unarchive", json!({})).await;
    let back = stage.submitted().await;
    assert_eq!(back.op, Op::SessionUnarchive {});
    stage.accept(&back, Accepted::Done {});
    assert_eq!(stage.result(2).await, json!({}));
}

#[tokio::test]
async fn putting_a_session_where_it_is_already_succeeds() {
    use sessiond_protocol::SessionStatus::{Archived, Saved};
    for (method, status, succeeds) in [
        ("session/archive", Archived, true),
        ("session/archive", Saved, false),
        ("session/unarchive", Saved, true),
        ("session/unarchive", Archived, false),
    ] {
        let mut stage = initialized(json!({})).await;
        stage.ask_about(1, method, json!({})).await;
        let asked = stage.submitted().await;
        stage.refuse(&asked, not_found());
        let before = stage.submitted().await;
        stage.accept(&before, Accepted::Status { status });
        if succeeds {
            assert_eq!(stage.result(1).await, json!({}));
        } else {
            assert_eq!(stage.error(1).await.0, -32002);
        }
    }
}

#[tokio::test]
async fn a_session_that_is_not_active_is_visited_for_its_title() {
    let mut stage = initialized(json!({})).await;
    stage
        .ask_about(1, "session/set_title", json!({"title": "A title"}))
        .await;
    let visit = stage.submitted().await;
    assert!(matches!(&visit.op, Op::SessionResume(visit) if visit.setup.is_none()));
    stage.accept(&visit, Accepted::Session(Box::new(view())));
    let rename = stage.submitted().await;
    assert_eq!(
        rename.op,
        Op::SessionRename {
            title: "A title".into()
        }
    );
    stage.accept(&rename, Accepted::Done {});
    assert_eq!(stage.op().await, Op::SessionDetach {});
    assert_eq!(stage.result(1).await, json!({"title": "A title"}));
}

#[tokio::test]
async fn a_list_is_a_page() {
    let mut stage = initialized(json!({})).await;
    stage
        .request(
            1,
            "session/list",
            json!({"cwd": "/w", "cursor": "from here"}),
        )
        .await;
    let list = stage.submitted().await;
    let Op::SessionList(asked) = &list.op else {
        panic!("{list:?}")
    };
    assert_eq!(
        (asked.cwd.as_deref(), asked.after.as_deref()),
        (Some("/w"), Some("from here"))
    );
    let summary = json!({"session": S, "cwd": "/w", "title": "A title", "agent": "script",
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T00:00:00Z", "turns": 1});
    let summary: Summary = serde_json::from_value(summary).unwrap();
    let next = Some("to there".to_owned());
    stage.accept(
        &list,
        Accepted::Sessions {
            sessions: vec![summary],
            next,
        },
    );
    let page = json!({"sessions": [{"sessionId": S, "cwd": "/w", "title": "A title",
        "updatedAt": "2026-01-02T00:00:00Z"}], "nextCursor": "to there"});
    assert_eq!(stage.result(1).await, page);
    stage.request(2, "session/list", json!({"cwd": "w"})).await;
    assert_eq!(stage.error(2).await.0, -32602);
}

#[tokio::test]
async fn a_title_is_answered_as_it_is_stored() {
    let mut stage = with_session(json!({})).await;
    stage
        .ask_about(2, "session/set_title", json!({"title": " \n"}))
        .await;
    assert_eq!(stage.error(2).await.0, -32602);
    stage
        .ask_about(
            3,
            "session/set_title",
            json!({"title": "  A title\nand more"}),
        )
        .await;
    let rename = stage.submitted().await;
    assert_eq!(
        rename.op,
        Op::SessionRename {
            title: "A title".into()
        }
    );
    let change = SessionChanged {
        title: Some("A title".into()),
        ..SessionChanged::default()
    };
    stage.happen_in(None, None, Event::SessionChanged(change));
    stage.accept(&rename, Accepted::Done {});
    assert_eq!(stage.update().await["title"], "A title");
    assert_eq!(stage.result(3).await, json!({"title": "A title"}));
}

#[tokio::test]
async fn who_holds_a_session_is_said() {
    let mut stage = initialized(json!({})).await;
    stage
        .ask_about(1, "session/resume", json!({"cwd": "/w"}))
        .await;
    let resume = stage.submitted().await;
    let mut busy = WireError::new(ErrorCode::Busy, "held");
    busy.holder = Some(Holder {
        pid: 7,
        host: "here".into(),
    });
    stage.refuse(&resume, busy);
    assert_eq!(
        stage.error(1).await,
        (4001, json!({"holder": {"pid": 7, "host": "here"}}))
    );
    stage.quiet().await;
}

/// ADAPT-6
#[tokio::test]
async fn an_extension_goes_to_the_agent_of_the_session_that_it_names() {
    let mut stage = with_session(json!({})).await;
    stage.ask_about(2, "_vendor/do", json!({"x": 1})).await;
    let asked = stage.submitted().await;
    let (method, params) = ("_vendor/do".to_owned(), json!({"x": 1, "sessionId": S}));
    let answer = Answered::Answer;
    assert_eq!(
        asked.op,
        Op::Extension {
            method,
            params,
            answer
        }
    );
    stage.accept(
        &asked,
        Accepted::Extension {
            extension: json!({"y": 2}),
        },
    );
    assert_eq!(stage.result(2).await, json!({"y": 2}));
    stage.ask_about(3, "_vendor/do", json!({})).await;
    let asked = stage.submitted().await;
    stage.refuse(&asked, WireError::new(ErrorCode::Unsupported, "takes none"));
    assert_eq!(stage.error(3).await.0, -32601);
    stage.notify("_vendor/note", json!({"sessionId": S})).await;
    let told = stage.submitted().await;
    assert!(matches!(
        told.op,
        Op::Extension {
            answer: Answered::None,
            ..
        }
    ));
    stage.refuse(&told, WireError::new(ErrorCode::Unsupported, "takes none"));
    stage.notify("_vendor/note", json!({})).await;
    stage
        .request(4, "_vendor/do", json!({"sessionId": OTHER}))
        .await;
    assert_eq!(stage.error(4).await.0, -32601);
    stage.quiet().await;
}

#[tokio::test]
async fn a_status_says_where_a_session_is_open_and_what_it_does_here() {
    use sessiond_protocol::SessionStatus::{Archived, Open, Saved};
    for (status, shown) in [
        (Open, json!({"status": "open"})),
        (Saved, json!({"status": "saved"})),
    ] {
        let mut stage = initialized(json!({})).await;
        stage.ask_about(1, "session/status", json!({})).await;
        let asked = stage.submitted().await;
        assert_eq!(
            (&asked.op, asked.session),
            (&Op::SessionStatus {}, Some(session()))
        );
        stage.accept(&asked, Accepted::Status { status });
        assert_eq!(stage.result(1).await, shown);
    }
    let mut stage = initialized(json!({})).await;
    stage.ask_about(1, "session/status", json!({})).await;
    let asked = stage.submitted().await;
    stage.accept(&asked, Accepted::Status { status: Archived });
    assert_eq!(
        stage.heard().await["result"],
        json!({"status": "_archived"})
    );
    let mut stage = super::with_turn(json!({})).await;
    stage.ask_about(3, "session/status", json!({})).await;
    let asked = stage.submitted().await;
    stage.accept(&asked, Accepted::Status { status: Open });
    assert_eq!(
        stage.result(3).await,
        json!({"status": "open", "state": {"state": "running"}})
    );
}

#[tokio::test]
async fn a_list_says_what_it_does_with_the_archive() {
    use sessiond_protocol::Archived::{Exclude, Include, Only};
    let mut stage = initialized(json!({})).await;
    for (filter, archived) in [
        (json!(null), Exclude),
        (json!("exclude"), Exclude),
        (json!("include"), Include),
        (json!("only"), Only),
    ] {
        stage
            .request(1, "session/list", json!({"archived": filter}))
            .await;
        let list = stage.submitted().await;
        assert!(matches!(&list.op, Op::SessionList(asked) if asked.archived == archived));
        let (sessions, next) = (Vec::new(), None);
        stage.accept(&list, Accepted::Sessions { sessions, next });
        stage.result(1).await;
    }
    stage
        .request(2, "session/list", json!({"archived": "_mine"}))
        .await;
    assert_eq!(stage.error(2).await.0, -32602);
}

//! Requests about sessions that are looked at, copied, put away and named.

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, Archived, ErrorCode, Instructions, InstructionsMode, Op, Replay, RequestKind,
    SessionResume, SessionStatus, Setup, TurnOutcome, WireError,
};

use crate::events::{message, started};
use crate::harness::{
    OTHER, S, Stage, commands_shown, item, modes_shown, options_shown, other_view, session, turn,
    view,
};

fn not_found() -> WireError {
    WireError::new(ErrorCode::NotFound, "none")
}

/// RESUME-3, acp.md 5.5: a resume shows nothing of the past before its answer.
#[tokio::test]
async fn a_resume_attaches_without_the_past_and_a_prompt_runs_in_it() {
    let mut stage = Stage::initialized(json!({})).await;
    let params = json!({"sessionId": S, "cwd": "/w", "additionalDirectories": ["/x"]});
    stage.request(1, "session/resume", params).await;
    let resume = stage.submitted().await;
    let Op::SessionResume(asked) = &resume.op else {
        panic!("{resume:?}");
    };
    let setup = Setup {
        roots: vec!["/x".into()],
        ..Setup::default()
    };
    assert_eq!((asked.replay, &asked.setup), (Replay::None, &Some(setup)));
    // What is in flight comes with the attach; it is not shown either.
    stage.passing(Some(item(1)), started(message("half")));
    stage.accept(&resume, Accepted::Session(Box::new(view())));
    let expected = json!({"modes": modes_shown("ask"), "configOptions": options_shown("ask")});
    assert_eq!(stage.result(1).await, expected);
    assert_eq!(stage.update().await, commands_shown());
    stage.prompt(2, turn(1)).await;
    stage.happen(Some(item(2)), started(message("now")));
    assert_eq!(stage.update().await["content"]["text"], "now");
    stage.end(turn(1), TurnOutcome::Completed);
    assert_eq!(stage.result_of_prompt(2).await, "end_turn");
}

/// RESUME-9
#[tokio::test]
async fn a_fork_is_a_copy_that_is_attached_to_without_its_past() {
    let mut stage = Stage::with_session(json!({})).await;
    let prompt = json!({"mode": "append", "content": [{"type": "text", "text": "Be short"}]});
    let params = json!({"sessionId": S, "cwd": "/w", "systemPrompt": prompt});
    stage.request(2, "session/fork", params.clone()).await;
    let fork = stage.submitted().await;
    assert_eq!(
        (fork.session, &fork.op),
        (Some(session()), &Op::SessionFork { at: None, id: None })
    );
    stage.accept(&fork, Accepted::Session(Box::new(other_view())));
    let attach = stage.submitted().await;
    let Op::SessionResume(asked) = &attach.op else {
        panic!("{attach:?}");
    };
    let expected = SessionResume {
        session: OTHER.parse().unwrap(),
        cwd: Some("/w".into()),
        setup: Some(Setup {
            instructions: Some(Instructions {
                mode: InstructionsMode::Append,
                text: "Be short".into(),
            }),
            ..Setup::default()
        }),
        found_by: sessiond_protocol::FoundBy::Id,
        accept: Vec::new(),
        replay: Replay::None,
        mode: sessiond_protocol::AttachMode::Control,
        answers: vec![RequestKind::Permission, RequestKind::Extension],
        on_disconnect: sessiond_protocol::OnDisconnect::Cancel,
    };
    assert_eq!(*asked, expected);
    stage.accept(&attach, Accepted::Session(Box::new(other_view())));
    let answer = stage.result(2).await;
    assert_eq!(answer["sessionId"], OTHER);
    assert_eq!(answer["modes"], modes_shown("ask"));
    let told = stage.told().await;
    assert_eq!(told["params"]["sessionId"], OTHER);
    assert_eq!(told["params"]["update"], commands_shown());
    // Both are active now.
    let mode = |id: &str| json!({"sessionId": id, "modeId": "auto"});
    for id in [S, OTHER] {
        stage.request(3, "session/set_mode", mode(id)).await;
        let set = stage.submitted().await;
        assert_eq!(set.session.unwrap().to_string(), id);
        stage.refuse(&set, WireError::new(ErrorCode::Storage, "no space"));
        assert_eq!(stage.error(3).await.0, 4005);
    }

    // A parent that is not there; a copy that cannot be attached to leaves nothing behind.
    stage.request(4, "session/fork", params.clone()).await;
    let fork = stage.submitted().await;
    stage.refuse(&fork, not_found());
    assert_eq!(stage.error(4).await, (-32002, json!({"sessionId": S})));
    stage.request(5, "session/fork", params).await;
    let fork = stage.submitted().await;
    stage.accept(&fork, Accepted::Session(Box::new(other_view())));
    let attach = stage.submitted().await;
    stage.refuse(&attach, WireError::new(ErrorCode::Drifted, "elsewhere"));
    let removed = stage.submitted().await;
    assert_eq!(
        (removed.session.unwrap().to_string(), &removed.op),
        (OTHER.to_owned(), &Op::SessionDelete {})
    );
    stage.accept(&removed, Accepted::Done {});
    assert_eq!(stage.error(5).await.0, 4004);
}

/// acp.md 1.5: an active session is closed first, its prompt answered before; each of them may be
/// repeated.
#[tokio::test]
async fn putting_away_closes_first_and_succeeds_where_it_is_done_already() {
    let cases = [
        ("session/archive", Op::SessionArchive {}),
        ("session/delete", Op::SessionDelete {}),
    ];
    for (method, op) in cases {
        let mut stage = Stage::with_turn(json!({})).await;
        stage.request(3, method, json!({"sessionId": S})).await;
        let close = stage.submitted().await;
        assert_eq!(close.op, Op::SessionClose {});
        stage.end(turn(1), TurnOutcome::Cancelled);
        stage.accept(&close, Accepted::Done {});
        assert_eq!(stage.result_of_prompt(2).await, "cancelled");
        let shelve = stage.submitted().await;
        assert_eq!((shelve.session, &shelve.op), (Some(session()), &op));
        stage.accept(&shelve, Accepted::Done {});
        assert_eq!(stage.result(3).await, json!({}), "{method}");
        stage
            .request(
                4,
                "session/prompt",
                json!({"sessionId": S, "prompt": [{"type": "text", "text": "hi"}]}),
            )
            .await;
        assert_eq!(stage.error(4).await.0, -32002);
    }
    let unknown = (-32002, json!({"sessionId": S}));
    // The method, what the store says about the session then, the answer.
    let cases = [
        ("session/archive", Ok(SessionStatus::Archived), None),
        ("session/archive", Err(not_found()), Some(unknown.clone())),
        ("session/unarchive", Ok(SessionStatus::Saved), None),
        ("session/unarchive", Ok(SessionStatus::Open), None),
        ("session/unarchive", Err(not_found()), Some(unknown)),
    ];
    let mut stage = Stage::initialized(json!({})).await;
    for (method, status, refused) in cases {
        stage.request(1, method, json!({"sessionId": S})).await;
        let shelve = stage.submitted().await;
        stage.refuse(&shelve, not_found());
        let asked = stage.submitted().await;
        assert_eq!(asked.op, Op::SessionStatus {});
        match status {
            Ok(status) => stage.accept(&asked, Accepted::Status { status }),
            Err(error) => stage.refuse(&asked, error),
        }
        match refused {
            None => assert_eq!(stage.result(1).await, json!({}), "{method}"),
            Some(refused) => assert_eq!(stage.error(1).await, refused, "{method}"),
        }
    }
    for id in [S, "nonsense"] {
        stage
            .request(2, "session/delete", json!({"sessionId": id}))
            .await;
        if id == S {
            let delete = stage.submitted().await;
            stage.refuse(&delete, not_found());
        }
        assert_eq!(stage.result(2).await, json!({}), "{id}");
    }
    stage
        .request(3, "session/archive", json!({"sessionId": S}))
        .await;
    let shelve = stage.submitted().await;
    stage.refuse(&shelve, WireError::new(ErrorCode::Busy, "held"));
    assert_eq!(stage.error(3).await.0, 4001);
}

#[tokio::test]
async fn how_a_session_stands_is_asked_without_attaching() {
    let mut stage = Stage::initialized(json!({})).await;
    let cases = [
        (Ok(SessionStatus::Open), Ok("open")),
        (Ok(SessionStatus::Saved), Ok("saved")),
        (Ok(SessionStatus::Archived), Ok("_archived")),
        (Err(not_found()), Err((-32002, json!({"sessionId": S})))),
    ];
    for (status, expected) in cases {
        stage
            .request(1, "session/status", json!({"sessionId": S}))
            .await;
        let asked = stage.submitted().await;
        assert_eq!(
            (asked.session, &asked.op),
            (Some(session()), &Op::SessionStatus {})
        );
        match status {
            Ok(status) => stage.accept(&asked, Accepted::Status { status }),
            Err(error) => stage.refuse(&asked, error),
        }
        match expected {
            Ok(status) => assert_eq!(stage.result(1).await, json!({"status": status})),
            Err(error) => assert_eq!(stage.error(1).await, error),
        }
        stage.quiet().await;
    }
    stage.request(2, "auth/status", json!({})).await;
    assert_eq!(stage.result(2).await["state"], "not_required");
}

#[tokio::test]
async fn what_a_session_would_offer_is_told_without_making_one() {
    let mut stage = Stage::initialized(json!({})).await;
    let cases = [
        (json!({"cwd": "/w"}), None, Some("script".to_owned())),
        (json!({"cwd": "/w", "sessionId": S}), Some(session()), None),
    ];
    for (params, named, agent) in cases {
        stage.request(1, "session/options", params).await;
        let asked = stage.submitted().await;
        assert_eq!(
            (asked.session, &asked.op),
            (named, &Op::AgentOptions { agent })
        );
        let view = view();
        let told = Accepted::Agent {
            agent: Box::new(view.agent),
            mode: Some("auto".into()),
        };
        stage.accept(&asked, told);
        let expected =
            json!({"modes": modes_shown("auto"), "configOptions": options_shown("auto")});
        assert_eq!(stage.result(1).await, expected);
        stage.quiet().await;
    }
}

#[tokio::test]
async fn a_title_is_stored_before_it_is_answered_also_of_a_session_that_is_not_active() {
    let renamed = Op::SessionRename {
        title: "My work".into(),
    };
    let params = |id: &str| json!({"sessionId": id, "title": "  My work\nand more"});
    let mut stage = Stage::with_session(json!({})).await;
    stage.request(2, "session/set_title", params(S)).await;
    let rename = stage.submitted().await;
    assert_eq!((rename.session, &rename.op), (Some(session()), &renamed));
    stage.accept(&rename, Accepted::Done {});
    assert_eq!(stage.result(2).await, json!({"title": "My work"}));

    stage.request(3, "session/set_title", params(OTHER)).await;
    let attach = stage.submitted().await;
    let Op::SessionResume(asked) = &attach.op else {
        panic!("{attach:?}");
    };
    // As it is recorded: nothing of it changes but the title.
    assert_eq!(
        (&asked.cwd, &asked.setup, asked.replay),
        (&None, &None, Replay::None)
    );
    stage.accept(&attach, Accepted::Session(Box::new(other_view())));
    let rename = stage.submitted().await;
    assert_eq!(rename.op, renamed);
    stage.accept(&rename, Accepted::Done {});
    let left = stage.submitted().await;
    assert_eq!(left.op, Op::SessionDetach {});
    assert_eq!(stage.result(3).await, json!({"title": "My work"}));

    stage.request(4, "session/set_title", params(OTHER)).await;
    let attach = stage.submitted().await;
    stage.refuse(&attach, not_found());
    assert_eq!(stage.error(4).await, (-32002, json!({"sessionId": OTHER})));
    stage.request(5, "session/set_title", params(OTHER)).await;
    let attach = stage.submitted().await;
    stage.accept(&attach, Accepted::Session(Box::new(other_view())));
    let rename = stage.submitted().await;
    stage.refuse(&rename, WireError::new(ErrorCode::Storage, "no space"));
    assert_eq!(stage.op().await, Op::SessionDetach {});
    assert_eq!(stage.error(5).await, (4005, Value::Null));
}

/// SEC-4, LOG-10: what is in the archive is shown to who asks for it.
#[tokio::test]
async fn a_list_says_which_sessions_are_in_the_archive_and_which_roots_they_have() {
    let mut stage = Stage::initialized(json!({})).await;
    let cases = [
        (json!({}), Archived::Exclude),
        (json!({"archived": null}), Archived::Exclude),
        (json!({"archived": "exclude"}), Archived::Exclude),
        (json!({"archived": "include"}), Archived::Include),
        (json!({"archived": "only"}), Archived::Only),
    ];
    for (params, archived) in cases {
        stage.request(1, "session/list", params).await;
        let list = stage.submitted().await;
        let Op::SessionList(asked) = &list.op else {
            panic!("{list:?}");
        };
        assert_eq!(asked.archived, archived);
        let mut summary = crate::sessions::summary(S, None);
        summary.kept = sessiond_protocol::Kept::Archive;
        summary.roots = vec!["/x".into()];
        let (sessions, next) = (vec![summary], None);
        stage.accept(&list, Accepted::Sessions { sessions, next });
        let expected = json!({"sessions": [{
            "sessionId": S, "cwd": "/w", "additionalDirectories": ["/x"],
            "updatedAt": "2026-01-02T00:00:00Z", "archived": true,
        }]});
        assert_eq!(stage.result(1).await, expected);
    }
}

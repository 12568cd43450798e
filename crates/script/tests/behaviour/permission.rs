//! Permission: what is asked, and that only a yes lets a call run.

use serde_json::json;
use sessiond_protocol::{
    Outcome, Permission, PermissionKind, RequestBody, RequestKind, ToolStatus, TurnOutcome,
};

use crate::session::{Act, Seen, Session, Turn, selected};

/// Each tool that must ask, with what it would touch.
const ASKING: [(&str, &str, &str); 3] = [
    ("/write out.txt mine", "write", "out.txt"),
    ("/edit out.txt x => y", "edit", "out.txt"),
    ("/run echo mine > out.txt", "run", "echo mine > out.txt"),
];

fn questions(turn: &Turn) -> Vec<Permission> {
    let asked = turn.asked().into_iter().filter_map(|body| match body {
        RequestBody::Permission(question) => Some(question),
        _ => None,
    });
    asked.collect()
}

#[tokio::test]
async fn the_question_names_tool_and_pattern_and_has_the_four_options_by_kind() {
    for (prompt, tool, pattern) in ASKING {
        let mut session = Session::new(&[RequestKind::Permission]).await;
        let path = session.path(pattern);
        let turn = session
            .turn(prompt, selected(PermissionKind::RejectOnce))
            .await;
        let questions = questions(&turn);
        let [question] = questions.as_slice() else {
            panic!("asked {questions:?}")
        };
        assert_eq!(question.tool, tool);
        assert_eq!(
            question.pattern,
            if tool == "run" { pattern } else { &path }
        );
        let ids: Vec<_> = question
            .options
            .iter()
            .map(|one| (one.id.as_str(), one.kind))
            .collect();
        assert_eq!(ids, PermissionKind::ALL.map(|kind| (kind.id(), kind)));
    }
}

/// A client that says no may say why; the agent is told.
#[tokio::test]
async fn a_no_with_a_reason_is_the_calls_result() {
    for (prompt, ..) in ASKING {
        let mut session = Session::new(&[RequestKind::Permission]).await;
        session.put("out.txt", "x");
        let no = Outcome::Denied {
            reason: "not on a Friday".to_owned(),
        };
        let turn = session.turn(prompt, |seen| match seen {
            Seen::Asked(_) => Act::Answer(no.clone()),
            _ => Act::Watch,
        });
        let turn = turn.await;
        assert_eq!(session.get("out.txt").as_deref(), Some("x"), "{prompt}");
        assert_eq!(turn.shown(), "Not run: not on a Friday");
        assert_eq!(turn.statuses(), [ToolStatus::Pending, ToolStatus::Failed]);
    }
}

/// A client that allows a call may change what it does; the call says what it did.
#[tokio::test]
async fn a_call_runs_with_the_input_that_it_was_allowed_with() {
    let mut session = Session::new(&[RequestKind::Permission]).await;
    session.put("out.txt", "x");
    session.put("other.txt", "x");
    let table = [
        (
            "/write out.txt mine",
            json!({"path": "other.txt", "content": "yours"}),
            "yours",
        ),
        (
            "/edit out.txt x => y",
            json!({"path": "other.txt", "old": "yours", "new": "edited"}),
            "edited",
        ),
        (
            "/run echo mine > out.txt",
            json!({"command": "echo run > other.txt"}),
            "run\n",
        ),
    ];
    for (prompt, input, expected) in table {
        let yes = Outcome::Changed {
            input: input.clone(),
        };
        let turn = session.turn(prompt, |seen| match seen {
            Seen::Asked(RequestBody::Permission(_)) => Act::Answer(yes.clone()),
            _ => Act::Watch,
        });
        let turn = turn.await;
        assert_eq!(session.get("out.txt").as_deref(), Some("x"), "{prompt}");
        assert_eq!(
            session.get("other.txt").as_deref(),
            Some(expected),
            "{prompt}"
        );
        assert_eq!(turn.call().input, input);
    }
}

#[tokio::test]
async fn what_is_not_allowed_does_not_run_and_the_script_goes_on() {
    let selected = |option: &str| Outcome::Selected {
        option: option.to_owned(),
    };
    for (prompt, ..) in ASKING {
        for no in [
            selected("reject_once"),
            selected("reject_always"),
            Outcome::Cancelled,
        ] {
            let mut session = Session::new(&[RequestKind::Permission]).await;
            session.put("out.txt", "x");
            let script = format!("{prompt}\n/say on");
            let turn = session.turn(&script, |seen| match seen {
                Seen::Asked(_) => Act::Answer(no.clone()),
                _ => Act::Watch,
            });
            let turn = turn.await;
            assert_eq!(
                session.get("out.txt").as_deref(),
                Some("x"),
                "{prompt}: {no:?}"
            );
            assert_eq!(turn.shown(), "Not run: permission was rejected.");
            assert_eq!(turn.statuses(), [ToolStatus::Pending, ToolStatus::Failed]);
            assert_eq!(
                turn.call().output,
                json!({ "error": "permission_rejected" })
            );
            assert_eq!(
                (turn.text().as_str(), turn.outcome),
                ("on", TurnOutcome::Completed)
            );
        }
    }
}

#[tokio::test]
async fn what_is_allowed_runs() {
    for (prompt, ..) in ASKING {
        for yes in [PermissionKind::AllowOnce, PermissionKind::AllowAlways] {
            let mut session = Session::new(&[RequestKind::Permission]).await;
            session.put("out.txt", "x");
            let turn = session.turn(prompt, selected(yes)).await;
            assert_ne!(
                session.get("out.txt").as_deref(),
                Some("x"),
                "{prompt}: {yes:?}"
            );
            let statuses = [
                ToolStatus::Pending,
                ToolStatus::Running,
                ToolStatus::Completed,
            ];
            assert_eq!(turn.statuses(), statuses);
        }
    }
}

#[tokio::test]
async fn reading_asks_no_permission() {
    let mut session = Session::new(&[RequestKind::Permission]).await;
    session.put("in.txt", "x");
    let turn = session.turn("/read in.txt", |_| Act::Watch).await;
    assert_eq!((turn.asked(), turn.shown().as_str()), (vec![], "x"));
}

/// Contract: nothing asks in the modes `auto` and `read-only`; what the mode says is done at once.
#[tokio::test]
async fn the_modes_auto_and_read_only_decide_without_asking() {
    for (mode, status) in [
        ("auto", ToolStatus::Completed),
        ("read-only", ToolStatus::Failed),
    ] {
        for (prompt, ..) in ASKING {
            let mut session = Session::new(&[RequestKind::Permission]).await;
            session.put("out.txt", "x");
            session.configure(mode).await;
            let turn = session.turn(prompt, |_| Act::Watch).await;
            assert_eq!(
                (turn.asked(), turn.call().status),
                (vec![], status),
                "{mode}: {prompt}"
            );
            let changed = session.get("out.txt").as_deref() != Some("x");
            assert_eq!(changed, status == ToolStatus::Completed, "{mode}: {prompt}");
        }
    }
}

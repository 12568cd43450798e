//! Commands in a terminal of the client.

use serde_json::{Value, json};
use sessiond_protocol::{
    Exit, Outcome, PermissionKind, RequestBody, RequestKind, TerminalOp, ToolContent, ToolStatus,
    TurnOutcome,
};

use crate::session::{Act, Seen, Session, Turn, selected};

/// What a client does when it is asked to wait.
#[derive(Clone)]
enum Wait {
    Answer(Outcome),
    Interrupt,
}

fn exited(code: Option<i32>, signal: Option<&str>) -> Outcome {
    Outcome::Output {
        output: String::new(),
        truncated: false,
        exit: Some(Exit {
            code,
            signal: signal.map(str::to_owned),
        }),
    }
}

fn printed(output: &str) -> Outcome {
    Outcome::Output {
        output: output.to_owned(),
        truncated: true,
        exit: None,
    }
}

fn failed(message: &str) -> Outcome {
    Outcome::Failed {
        message: message.to_owned(),
    }
}

fn terminal() -> String {
    "t1".to_owned()
}

async fn run(create: Outcome, wait: Wait, output: Outcome) -> (Turn, Session) {
    let mut session = Session::new(&[RequestKind::Permission, RequestKind::Terminal]).await;
    let mut allow = selected(PermissionKind::AllowOnce);
    let turn = session.turn("/run make", |seen| {
        let Seen::Asked(RequestBody::Terminal(op)) = seen else {
            return allow(seen);
        };
        match op {
            TerminalOp::Create { .. } => Act::Answer(create.clone()),
            TerminalOp::Wait { .. } => match wait.clone() {
                Wait::Answer(outcome) => Act::Answer(outcome),
                Wait::Interrupt => Act::Interrupt,
            },
            TerminalOp::Output { .. } => Act::Answer(output.clone()),
            TerminalOp::Kill { .. } | TerminalOp::Release { .. } => Act::Answer(Outcome::Done),
        }
    });
    let turn = turn.await;
    (turn, session)
}

fn operations(turn: &Turn) -> Vec<TerminalOp> {
    let operation = |body| match body {
        RequestBody::Terminal(operation) => Some(operation),
        _ => None,
    };
    turn.asked().into_iter().filter_map(operation).collect()
}

fn made(session: &Session) -> TerminalOp {
    TerminalOp::Create {
        command: "sh".to_owned(),
        args: vec!["-c".to_owned(), "make".to_owned()],
        cwd: session.cwd().to_str().expect("UTF-8").to_owned(),
        env: Vec::new(),
        output_limit: 160 << 10,
    }
}

#[tokio::test]
async fn a_command_is_followed_to_its_end_and_its_terminal_given_back() {
    let output = |end: Value| {
        let mut output = end;
        output["truncated"] = json!(true);
        output
    };
    let completed = ToolStatus::Completed;
    let table = [
        (
            exited(Some(0), None),
            completed,
            "built",
            output(json!({ "exit_code": 0 })),
        ),
        (
            exited(Some(2), None),
            ToolStatus::Failed,
            "built\nexit code 2",
            output(json!({ "exit_code": 2 })),
        ),
        (
            exited(None, Some("SIGTERM")),
            ToolStatus::Failed,
            "built\nkilled by SIGTERM",
            output(json!({ "signal": "SIGTERM" })),
        ),
        (
            exited(None, None),
            ToolStatus::Failed,
            "built\nexit code unknown",
            output(json!({ "exit_code": null })),
        ),
    ];
    for (wait, status, shown, result) in table {
        let create = Outcome::Terminal {
            terminal: terminal(),
        };
        let (turn, session) = run(create, Wait::Answer(wait), printed("built")).await;
        let operations = operations(&turn);
        let expected = [
            made(&session),
            TerminalOp::Wait {
                terminal: terminal(),
            },
            TerminalOp::Output {
                terminal: terminal(),
            },
            TerminalOp::Release {
                terminal: terminal(),
            },
        ];
        assert_eq!(operations, expected);
        assert_eq!(
            (turn.shown().as_str(), &turn.call().output),
            (shown, &result)
        );
        assert_eq!(
            turn.statuses(),
            [ToolStatus::Pending, ToolStatus::Running, status]
        );
    }
}

#[tokio::test]
async fn while_the_command_runs_its_terminal_is_shown_and_after_it_its_text() {
    let create = Outcome::Terminal {
        terminal: terminal(),
    };
    let (turn, _session) = run(
        create,
        Wait::Answer(exited(Some(0), None)),
        printed("built"),
    )
    .await;
    let running = turn.seen.iter().find_map(|seen| match seen {
        Seen::Changed(call) => Some(call.content.as_slice()),
        _ => None,
    });
    let shows = ToolContent::Terminal {
        terminal: terminal(),
    };
    assert_eq!(running, Some([shows].as_slice()));
    assert_eq!(turn.call().content, [ToolContent::text("built")]);
}

/// SQEQ-3: what was begun is ended, and what the client lent is given back.
#[tokio::test]
async fn a_cancelled_command_is_killed_and_its_terminal_given_back() {
    let create = Outcome::Terminal {
        terminal: terminal(),
    };
    let (turn, session) = run(create, Wait::Interrupt, printed("half")).await;
    let expected = [
        made(&session),
        TerminalOp::Wait {
            terminal: terminal(),
        },
        TerminalOp::Kill {
            terminal: terminal(),
        },
        TerminalOp::Output {
            terminal: terminal(),
        },
        TerminalOp::Release {
            terminal: terminal(),
        },
    ];
    assert_eq!(operations(&turn), expected);
    assert_eq!(
        (turn.call().status, turn.shown().as_str()),
        (ToolStatus::Cancelled, "half")
    );
    assert_eq!(turn.outcome, TurnOutcome::Cancelled);
}

#[tokio::test]
async fn a_cancelled_command_whose_output_is_lost_is_cancelled_all_the_same() {
    let create = Outcome::Terminal {
        terminal: terminal(),
    };
    let (turn, _session) = run(create, Wait::Interrupt, failed("gone")).await;
    assert_eq!(turn.call().status, ToolStatus::Cancelled);
    assert_eq!(
        (&turn.call().output, turn.call().content.len()),
        (&json!({ "truncated": true }), 0)
    );
}

#[tokio::test]
async fn what_the_client_cannot_do_fails_the_call_and_the_terminal_is_given_back() {
    let create = || Outcome::Terminal {
        terminal: terminal(),
    };
    let release = Some(TerminalOp::Release {
        terminal: terminal(),
    });
    let wait = || Wait::Answer(exited(Some(0), None));
    let (turn, session) = run(failed("no terminals left"), wait(), printed("")).await;
    assert_eq!(turn.shown(), "no terminals left");
    assert_eq!(operations(&turn), [made(&session)]);

    let lost = Wait::Answer(failed("lost it"));
    let (turn, _session) = run(create(), lost, printed("half")).await;
    assert_eq!(turn.shown(), "lost it");
    assert!(operations(&turn).contains(&TerminalOp::Kill {
        terminal: terminal()
    }));
    assert_eq!(operations(&turn).pop(), release);

    let (turn, _session) = run(create(), wait(), failed("no output")).await;
    assert_eq!(
        (turn.call().status, turn.shown().as_str()),
        (ToolStatus::Failed, "no output")
    );
    assert_eq!(operations(&turn).pop(), release);
}

//! What the agent asks of the client, and what its answers do.

use serde_json::{Value, json};
use sessiond_protocol::{
    Answer, ClientFrame, Exit, ItemId, NameValue, Outcome, Permission, PermissionKind,
    PermissionOption, RequestBody, RequestFrame, RequestId, ServerFrame, TerminalOp, ToolCall,
    ToolContent, ToolKind, TurnOutcome,
};

use crate::events::{ended_item, started, tool};
use crate::harness::{S, Stage, item, session, turn};

fn everything() -> Value {
    json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true,
        "elicitation": {"form": {}}})
}

pub(crate) fn request_id() -> RequestId {
    "00000000-0000-7000-8000-000000000301".parse().unwrap()
}

pub(crate) fn asked(item: Option<ItemId>, body: RequestBody) -> ServerFrame {
    let digest = "d".into();
    let (session, turn) = (session(), turn(1));
    ServerFrame::Request(RequestFrame {
        deadline: None,
        id: request_id(),
        session,
        turn,
        item,
        body,
        digest,
    })
}

pub(crate) fn permission() -> RequestBody {
    let option = |kind: PermissionKind| PermissionOption {
        id: kind.id().into(),
        name: format!("{kind:?}"),
        kind,
    };
    RequestBody::Permission(Permission {
        title: "Run `ls`".into(),
        tool: "run".into(),
        pattern: "ls".into(),
        options: [PermissionKind::AllowOnce, PermissionKind::RejectOnce]
            .map(option)
            .to_vec(),
    })
}

fn settled(outcome: Outcome) -> Answer {
    Answer {
        request: request_id(),
        digest: "d".into(),
        outcome,
    }
}

fn chosen(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

async fn with_call(capabilities: Value) -> Stage {
    let mut stage = Stage::with_turn(capabilities).await;
    let call = ToolCall {
        title: "ls".into(),
        kind: ToolKind::Execute,
        input: json!({"command": "ls"}),
        content: vec![ToolContent::text("ls")],
        ..ToolCall::default()
    };
    stage.happen(Some(item(1)), started(tool(&call)));
    stage.update().await;
    stage
}

/// WIRE-8
#[tokio::test]
async fn a_permission_question_says_what_would_run_and_its_answer_is_bound_to_it() {
    let mut stage = with_call(json!({})).await;
    stage.say(asked(Some(item(1)), permission()));
    let question = stage.told().await;
    assert_eq!(question["method"], "session/request_permission");
    let expected = json!({
        "sessionId": S,
        "toolCall": {
            "toolCallId": item(1).to_string(), "title": "Run `ls`", "kind": "execute",
            "rawInput": {"command": "ls"},
            "content": [{"type": "content", "content": {"type": "text", "text": "ls"}}],
        },
        "options": [
            {"optionId": "allow_once", "name": "AllowOnce", "kind": "allow_once"},
            {"optionId": "reject_once", "name": "RejectOnce", "kind": "reject_once"},
        ],
    });
    assert_eq!(question["params"], expected);
    stage.answer(&question, chosen("allow_once")).await;
    let allowed = settled(Outcome::Selected {
        option: "allow_once".into(),
    });
    assert_eq!(stage.answered().await, allowed);
    // Late and duplicate answers change nothing (WIRE-7).
    stage.answer(&question, chosen("reject_once")).await;
    stage.quiet().await;
}

/// WIRE-8
#[tokio::test]
async fn nothing_but_an_offered_option_decides() {
    let cancelled = Outcome::Cancelled;
    let cases = [
        (
            json!({"result": chosen("reject_once")}),
            Outcome::Selected {
                option: "reject_once".into(),
            },
        ),
        (
            json!({"result": {"outcome": {"outcome": "cancelled"}}}),
            cancelled.clone(),
        ),
        (
            json!({"result": {"outcome": {"outcome": "perhaps"}}}),
            cancelled.clone(),
        ),
        (
            json!({"result": {"outcome": "allow_once"}}),
            cancelled.clone(),
        ),
        (json!({"result": {}}), cancelled.clone()),
        (json!({"result": null}), cancelled.clone()),
        (
            json!({"error": {"code": -32601, "message": "no"}}),
            cancelled.clone(),
        ),
        (
            json!({"error": {"code": -32800, "message": "cancelled"}}),
            cancelled,
        ),
    ];
    for (reply, outcome) in cases {
        let mut stage = with_call(json!({})).await;
        stage.say(asked(Some(item(1)), permission()));
        let question = stage.told().await;
        let mut frame = json!({"jsonrpc": "2.0", "id": question["id"]});
        frame
            .as_object_mut()
            .unwrap()
            .extend(reply.as_object().unwrap().clone());
        stage.line(frame.to_string()).await;
        assert_eq!(stage.answered().await, settled(outcome), "{reply}");
    }
}

/// WIRE-8
#[tokio::test]
async fn an_option_that_was_not_offered_decides_nothing_and_is_asked_again_twice() {
    let mut stage = with_call(json!({})).await;
    stage.say(asked(Some(item(1)), permission()));
    let first = stage.told().await;
    stage.answer(&first, chosen("allow_always")).await;
    let second = stage.told().await;
    assert_eq!(second["params"], first["params"]);
    assert_ne!(second["id"], first["id"]);
    // An answer to the first is late by now.
    stage.answer(&first, chosen("allow_once")).await;
    stage.answer(&second, chosen("nonsense")).await;
    let third = stage.told().await;
    stage.answer(&third, chosen("")).await;
    assert_eq!(stage.answered().await, settled(Outcome::Cancelled));
    stage.quiet().await;
}

/// WIRE-7
#[tokio::test]
async fn a_question_that_the_engine_settles_is_taken_back_before_the_turn_is_answered() {
    let mut stage = with_call(json!({})).await;
    stage.say(asked(Some(item(1)), permission()));
    let question = stage.told().await;
    stage
        .notify("session/cancel", json!({"sessionId": S}))
        .await;
    stage.op().await;
    stage.say(ServerFrame::RequestClosed {
        session: session(),
        id: request_id(),
        reason: sessiond_protocol::ClosedBecause::TurnCancelled,
    });
    let call = ToolCall {
        status: sessiond_protocol::ToolStatus::Cancelled,
        ..ToolCall::default()
    };
    stage.happen(Some(item(1)), ended_item(tool(&call)));
    stage.end(turn(1), TurnOutcome::Cancelled);
    let withdrawn = stage.told().await;
    assert_eq!(withdrawn["method"], "$/cancel_request");
    assert_eq!(withdrawn["params"], json!({"requestId": question["id"]}));
    assert_eq!(stage.update().await["status"], "failed");
    assert_eq!(stage.result_of_prompt(2).await, "cancelled");
    stage.answer(&question, chosen("allow_once")).await;
    stage.quiet().await;
}

#[tokio::test]
async fn files_terminals_and_forms_go_to_the_client_and_its_answers_back() {
    let schema = json!({"type": "object", "properties": {"answer": {"type": "string"}}});
    let terminal = || String::from("t1");
    let exit = |code, signal: Option<&str>| Exit {
        code,
        signal: signal.map(Into::into),
    };
    let printed = |output: &str, exit| Outcome::Output {
        output: output.into(),
        truncated: true,
        exit,
    };
    let cases = [
        (
            RequestBody::FsRead {
                path: "/w/a".into(),
                line: Some(2),
                limit: None,
            },
            ("fs/read_text_file", json!({"path": "/w/a", "line": 2})),
            json!({"content": "text"}),
            Outcome::Text {
                text: "text".into(),
            },
        ),
        (
            RequestBody::FsWrite {
                path: "/w/a".into(),
                content: "c".into(),
            },
            (
                "fs/write_text_file",
                json!({"path": "/w/a", "content": "c"}),
            ),
            json!(null),
            Outcome::Done,
        ),
        (
            RequestBody::Terminal(TerminalOp::Create {
                command: "sh".into(),
                args: vec!["-c".into(), "ls".into()],
                cwd: "/w".into(),
                env: vec![NameValue {
                    name: "A".into(),
                    value: "1".into(),
                }],
                output_limit: 9,
            }),
            (
                "terminal/create",
                json!({
                    "command": "sh", "args": ["-c", "ls"], "cwd": "/w",
                    "env": [{"name": "A", "value": "1"}], "outputByteLimit": 9,
                }),
            ),
            json!({"terminalId": "t1"}),
            Outcome::Terminal {
                terminal: terminal(),
            },
        ),
        (
            RequestBody::Terminal(TerminalOp::Output {
                terminal: terminal(),
            }),
            ("terminal/output", json!({"terminalId": "t1"})),
            json!({"output": "o", "truncated": true, "exitStatus": {"exitCode": 3}}),
            printed("o", Some(exit(Some(3), None))),
        ),
        (
            RequestBody::Terminal(TerminalOp::Output {
                terminal: terminal(),
            }),
            ("terminal/output", json!({"terminalId": "t1"})),
            json!({"output": "o", "truncated": true}),
            printed("o", None),
        ),
        (
            RequestBody::Terminal(TerminalOp::Wait {
                terminal: terminal(),
            }),
            ("terminal/wait_for_exit", json!({"terminalId": "t1"})),
            json!({"exitCode": null, "signal": "SIGTERM"}),
            Outcome::Output {
                output: String::new(),
                truncated: false,
                exit: Some(exit(None, Some("SIGTERM"))),
            },
        ),
        (
            RequestBody::Terminal(TerminalOp::Kill {
                terminal: terminal(),
            }),
            ("terminal/kill", json!({"terminalId": "t1"})),
            json!({}),
            Outcome::Done,
        ),
        (
            RequestBody::Terminal(TerminalOp::Release {
                terminal: terminal(),
            }),
            ("terminal/release", json!({"terminalId": "t1"})),
            json!({}),
            Outcome::Done,
        ),
        (
            RequestBody::Elicitation {
                message: "Which?".into(),
                schema: schema.clone(),
            },
            (
                "elicitation/create",
                json!({"mode": "form", "message": "Which?", "requestedSchema": schema,
                    "toolCallId": item(1).to_string()}),
            ),
            json!({"action": "accept", "content": {"answer": "this"}}),
            Outcome::Accepted {
                content: json!({"answer": "this"}),
            },
        ),
    ];
    for (body, (method, params), result, outcome) in cases {
        let mut stage = with_call(everything()).await;
        stage.say(asked(Some(item(1)), body));
        let question = stage.told().await;
        let mut expected = json!({"sessionId": S});
        expected
            .as_object_mut()
            .unwrap()
            .extend(params.as_object().unwrap().clone());
        assert_eq!(
            (&question["method"], &question["params"]),
            (&json!(method), &expected)
        );
        stage.answer(&question, result).await;
        assert_eq!(stage.answered().await, settled(outcome), "{method}");
    }
}

#[tokio::test]
async fn what_the_client_did_not_offer_is_not_asked_of_it() {
    let bodies = [
        RequestBody::FsRead {
            path: "/w/a".into(),
            line: None,
            limit: None,
        },
        RequestBody::FsWrite {
            path: "/w/a".into(),
            content: "c".into(),
        },
        RequestBody::Terminal(TerminalOp::Wait {
            terminal: "t".into(),
        }),
        RequestBody::Elicitation {
            message: "Which?".into(),
            schema: json!({"type": "object"}),
        },
    ];
    let mut stage = with_call(json!({"elicitation": {"url": {}}})).await;
    for body in bodies {
        stage.say(asked(Some(item(1)), body));
        assert_eq!(stage.answered().await, settled(Outcome::Unanswered));
    }
    stage.quiet().await;
}

#[tokio::test]
async fn questions_run_side_by_side() {
    let mut stage = with_call(everything()).await;
    stage.say(asked(
        None,
        RequestBody::Terminal(TerminalOp::Wait {
            terminal: "t".into(),
        }),
    ));
    let wait = stage.told().await;
    let other: RequestId = "00000000-0000-7000-8000-000000000302".parse().unwrap();
    let ServerFrame::Request(mut read) = asked(
        None,
        RequestBody::FsRead {
            path: "/w/a".into(),
            line: None,
            limit: None,
        },
    ) else {
        unreachable!()
    };
    read.id = other;
    stage.say(ServerFrame::Request(read));
    let read = stage.told().await;
    stage.answer(&read, json!({"content": "text"})).await;
    assert_eq!(stage.answered().await.request, other);
    stage.answer(&wait, json!({"exitCode": 0})).await;
    assert_eq!(stage.answered().await.request, request_id());
}

/// WIRE-7, WIRE-13
#[tokio::test]
async fn when_the_client_leaves_with_a_question_open_nothing_more_is_said() {
    let mut stage = with_call(json!({})).await;
    stage.say(asked(Some(item(1)), permission()));
    stage.told().await;
    stage.lines = None;
    assert_eq!(stage.sent().await, ClientFrame::Bye {});
    assert_eq!(stage.face.await.unwrap(), Ok(()));
    stage.out.close();
    assert!(stage.out.recv().await.is_none());
}

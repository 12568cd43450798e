//! How a connection ends, and what it does while nobody reads.

use serde_json::json;
use sessiond_acp::FaceError;
use sessiond_protocol::{
    ClientFrame, ErrorCode, Event, Op, Queued, ServerFrame, Severity, TurnOutcome, WireError,
};

use crate::events::{ended_item, message};
use crate::harness::{S, Stage, item, turn};

/// WIRE-13
#[tokio::test]
async fn the_end_of_the_input_ends_the_face_and_the_engine_is_told() {
    let mut stage = Stage::with_turn(json!({})).await;
    stage.lines = None;
    assert_eq!(stage.sent().await, ClientFrame::Bye {});
    assert_eq!(stage.face.await.unwrap(), Ok(()));
}

/// WIRE-13
#[tokio::test]
async fn an_output_that_nobody_reads_any_more_ends_the_face_too() {
    let mut stage = Stage::with_turn(json!({})).await;
    stage.out.abandon();
    assert_eq!(stage.sent().await, ClientFrame::Bye {});
    assert_eq!(stage.face.await.unwrap(), Ok(()));
}

#[tokio::test]
async fn when_the_engine_is_gone_every_request_gets_an_error() {
    type End = fn(&mut Stage);
    let ends: [(End, FaceError); 3] = [
        (|stage| stage.engine.out.close(), FaceError::EngineGone),
        (
            |stage| stage.say(ServerFrame::Bye {}),
            FaceError::EngineGone,
        ),
        (
            |stage| {
                stage.say(ServerFrame::Error {
                    error: fatal(),
                    fatal: true,
                })
            },
            FaceError::Refused(fatal()),
        ),
    ];
    for (end, expected) in ends {
        let mut stage = Stage::with_turn(json!({})).await;
        end(&mut stage);
        assert_eq!(stage.error(2).await.0, -32603);
        assert_eq!(stage.face.await.unwrap(), Err(expected));
    }
}

fn fatal() -> WireError {
    WireError::new(ErrorCode::Protocol, "bad frame")
}

#[tokio::test]
async fn an_error_of_the_engine_that_is_not_fatal_ends_nothing() {
    let mut stage = Stage::with_turn(json!({})).await;
    let error = WireError::new(ErrorCode::Refused, "the answer came too late");
    stage.say(ServerFrame::Error {
        error,
        fatal: false,
    });
    stage.quiet().await;
}

/// WIRE-4, WIRE-6
#[tokio::test]
async fn a_client_that_does_not_read_holds_the_engine_back_but_can_still_cancel() {
    const MESSAGES: usize = 8_000;
    let mut stage = Stage::with_turn(json!({"session": {"notices": {}}})).await;
    for number in 0..MESSAGES {
        let (severity, title) = (Severity::Info, number.to_string());
        stage.happen(
            Some(item(1)),
            Event::Notice {
                severity,
                title,
                description: None,
            },
        );
    }
    stage.end(turn(1), TurnOutcome::Completed);
    while !stage.out.is_full() {
        tokio::task::yield_now().await;
    }
    // However often the face gets to run, it takes no more of what the engine says.
    for _ in 0..MESSAGES {
        tokio::task::yield_now().await;
    }
    assert!(stage.engine.out.is_full());
    stage
        .notify("session/cancel", json!({"sessionId": S}))
        .await;
    assert_eq!(
        stage.op().await,
        Op::TurnInterrupt {
            turn: None,
            queued: Queued::Cancel
        }
    );
    for number in 0..MESSAGES {
        assert_eq!(stage.update().await["title"], number.to_string());
    }
    assert_eq!(stage.result_of_prompt(2).await, "end_turn");
}

/// WIRE-4
#[tokio::test]
async fn a_client_that_only_writes_is_not_read_for_ever() {
    let mut stage = Stage::initialized(json!({})).await;
    let request = r#"{"jsonrpc":"2.0","id":7,"method":"nonsense"}"#;
    let lines = stage.lines.clone().unwrap();
    let mut written = 0;
    let line = || sessiond_wire::Line::Text(request.to_owned());
    let patience = std::time::Duration::from_millis(500);
    while let Ok(sent) = tokio::time::timeout(patience, lines.send(line())).await {
        sent.unwrap();
        written += 1;
        assert!(written < 100_000, "the queue grows without bound");
    }
    // Once it reads it gets every answer, in order, and is read again.
    for _ in 0..written {
        assert_eq!(stage.error(7).await.0, -32601);
    }
    stage.quiet().await;
}

#[tokio::test]
async fn events_of_sessions_that_are_not_active_here_are_passed_over() {
    let mut stage = Stage::initialized(json!({})).await;
    stage.happen(Some(item(1)), ended_item(message("not yours")));
    stage.quiet().await;
}

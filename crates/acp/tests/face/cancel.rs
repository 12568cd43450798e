//! The cancel matrix (acp.md 6.4 point 5): at whatever moment it comes, each request has one answer.

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, Op, Outcome, Queued, ServerFrame, ToolCall, ToolStatus, TurnOutcome,
};

use crate::events::{delta, ended_item, message, started, tool};
use crate::harness::{OTHER, S, Stage, item, session, turn};
use crate::questions::{asked, permission, request_id};

/// Where a turn stands when it is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    BeforeTheFirstToken,
    MidStream,
    DuringPermission,
    DuringATool,
    /// The turn has ended, and the client does not know yet.
    AfterTheEnd,
}

/// How it is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Session,
    SessionTwice,
    Request,
    Both,
}

const MOMENTS: [Moment; 5] = [
    Moment::BeforeTheFirstToken,
    Moment::MidStream,
    Moment::DuringPermission,
    Moment::DuringATool,
    Moment::AfterTheEnd,
];

const WAYS: [How; 4] = [How::Session, How::SessionTwice, How::Request, How::Both];

async fn at(moment: Moment) -> Stage {
    let mut stage = Stage::with_turn(json!({})).await;
    let call = ToolCall {
        status: ToolStatus::Running,
        ..ToolCall::default()
    };
    match moment {
        Moment::BeforeTheFirstToken => {}
        Moment::MidStream => {
            stage.passing(Some(item(1)), started(message("")));
            stage.passing(Some(item(1)), delta(0, "half"));
        }
        Moment::DuringPermission => {
            stage.happen(Some(item(1)), started(tool(&call)));
            stage.say(asked(Some(item(1)), permission()));
        }
        Moment::DuringATool => stage.happen(Some(item(1)), started(tool(&call))),
        Moment::AfterTheEnd => stage.end(turn(1), TurnOutcome::Completed),
    }
    stage
}

async fn cancel(stage: &Stage, how: How) {
    let session = || stage.notify("session/cancel", json!({"sessionId": S}));
    let request = || stage.notify("$/cancel_request", json!({"requestId": 2}));
    match how {
        How::Session => session().await,
        How::SessionTwice => {
            session().await;
            session().await;
        }
        How::Request => request().await,
        How::Both => {
            request().await;
            session().await;
        }
    }
}

#[tokio::test]
async fn a_prompt_is_answered_once_at_whatever_moment_it_is_cancelled() {
    for moment in MOMENTS {
        for how in WAYS {
            let mut stage = at(moment).await;
            cancel(&stage, how).await;
            // The engine is told, unless the answer was out before: that crossed the cancel.
            if moment != Moment::AfterTheEnd {
                let op = stage.op().await;
                let expected = match how {
                    How::Session | How::SessionTwice => (None, Queued::Cancel),
                    How::Request | How::Both => (Some(turn(1)), Queued::Keep),
                };
                let (turn, queued) = expected;
                assert_eq!(op, Op::TurnInterrupt { turn, queued }, "{moment:?} {how:?}");
                if moment == Moment::DuringPermission {
                    stage.say(ServerFrame::RequestClosed {
                        session: session(),
                        id: request_id(),
                        reason: sessiond_protocol::ClosedBecause::TurnCancelled,
                    });
                }
                if matches!(moment, Moment::DuringPermission | Moment::DuringATool) {
                    let call = ToolCall {
                        status: ToolStatus::Cancelled,
                        ..ToolCall::default()
                    };
                    stage.happen(Some(item(1)), ended_item(tool(&call)));
                }
                stage.end(turn_one(), TurnOutcome::Cancelled);
            }
            let (stop, questions) = answer(&mut stage).await;
            let expected = match moment {
                Moment::AfterTheEnd => "end_turn",
                _ => "cancelled",
            };
            assert_eq!(stop, expected, "{moment:?} {how:?}");
            let open = usize::from(moment == Moment::DuringPermission);
            assert_eq!(questions, (open, open), "{moment:?} {how:?}");
        }
    }
}

fn turn_one() -> sessiond_protocol::TurnId {
    turn(1)
}

/// Why the prompt stopped, and how many questions were asked and taken back before. Nothing follows.
async fn answer(stage: &mut Stage) -> (String, (usize, usize)) {
    let (mut asked, mut withdrawn) = (0, 0);
    let stop = loop {
        let told = stage.told().await;
        match told["method"].as_str() {
            Some("session/request_permission") => asked += 1,
            Some("$/cancel_request") => withdrawn += 1,
            Some("session/update") => {}
            _ => {
                assert_eq!(told["id"], 2, "{told}");
                break told["result"]["stopReason"].as_str().unwrap().to_owned();
            }
        }
    };
    // What else the engine was told meanwhile are the interrupts.
    stage.request("list", "session/list", json!({})).await;
    let list = loop {
        let submitted = stage.submitted().await;
        match submitted.op {
            Op::TurnInterrupt { .. } => {}
            _ => break submitted,
        }
    };
    let (sessions, next) = (Vec::new(), None);
    stage.accept(&list, Accepted::Sessions { sessions, next });
    assert_eq!(stage.result("list").await, json!({"sessions": []}));
    (stop, (asked, withdrawn))
}

/// Cancelling what is no prompt changes nothing: the request has its own answer.
#[tokio::test]
async fn a_list_that_is_cancelled_is_answered_all_the_same() {
    let mut stage = Stage::with_session(json!({})).await;
    stage.request(5, "session/list", json!({})).await;
    let list = stage.submitted().await;
    for id in [json!(5), json!("5"), json!(99), Value::Null] {
        stage
            .notify("$/cancel_request", json!({"requestId": id}))
            .await;
    }
    let (sessions, next) = (Vec::new(), None);
    stage.accept(&list, Accepted::Sessions { sessions, next });
    assert_eq!(stage.result(5).await, json!({"sessions": []}));
    stage.quiet().await;
}

/// A client may not take back what the agent asks: the question stays until it is answered.
#[tokio::test]
async fn a_cancel_of_a_question_of_ours_is_no_answer_to_it() {
    let mut stage = at(Moment::DuringPermission).await;
    let _call = stage.update().await;
    let question = stage.told().await;
    stage
        .notify("$/cancel_request", json!({"requestId": question["id"]}))
        .await;
    stage.quiet().await;
    let rejected = json!({"outcome": {"outcome": "cancelled"}});
    stage.answer(&question, rejected).await;
    assert_eq!(stage.answered().await.outcome, Outcome::Cancelled);
}

#[tokio::test]
async fn a_cancel_of_a_session_that_is_not_here_is_passed_over() {
    let mut stage = at(Moment::MidStream).await;
    for id in [OTHER, "nonsense", ""] {
        stage
            .notify("session/cancel", json!({"sessionId": id}))
            .await;
    }
    stage.end(turn(1), TurnOutcome::Completed);
    assert_eq!(answer(&mut stage).await.0, "end_turn");
}

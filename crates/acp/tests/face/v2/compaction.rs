//! Compactions: asked for by a command, told to every client.

use serde_json::{Value, json};
use sessiond_protocol::{Accepted, Cursor, ErrorCode, Op, Queued, TurnOutcome, WireError};

use super::{initialized, running, started, text_of};
use crate::compaction::{command, compacting_view, shown, summed_up};
use crate::harness::{S, Stage, item, turn, view};

async fn compacting() -> Stage {
    let mut stage = initialized(json!({})).await;
    stage.request(1, "session/new", json!({"cwd": "/w"})).await;
    let new = stage.submitted().await;
    stage.accept(&new, Accepted::Session(Box::new(compacting_view())));
    let answer = stage.result(1).await;
    assert_eq!(answer["availableCommands"][0]["name"], "compact");
    stage
}

/// The log keeps no such prompt: its echo is all that is told of it.
#[tokio::test]
async fn the_command_is_echoed_answered_and_followed_by_the_compaction() {
    let mut stage = compacting().await;
    stage.request(2, "session/prompt", command()).await;
    let compact = stage.submitted().await;
    assert_eq!(compact.op, Op::SessionCompact {});
    stage.accept(&compact, Accepted::Turn { turn: turn(1) });
    let echo = text_of(turn(1), "user_message_chunk", "/compact");
    assert_eq!(stage.update().await, echo);
    assert_eq!(stage.result(2).await, json!({"messageId": turn(1)}));
    stage.happen_in(Some(turn(1)), None, started());
    stage.happen(Some(item(1)), summed_up("so far"));
    stage.end(turn(1), TurnOutcome::Completed);
    assert_eq!(stage.update().await, running());
    assert_eq!(stage.update().await, shown("so far"));
    assert_eq!(stage.update().await, super::idle("end_turn"));
}

/// CTX-2
#[tokio::test]
async fn a_compaction_is_replayed_as_it_was_told() {
    let mut stage = initialized(json!({})).await;
    let params = json!({"sessionId": S, "cwd": "/w", "replayFrom": {"type": "start"}});
    stage.request(1, "session/resume", params).await;
    let resume = stage.submitted().await;
    stage.happen_in(Some(turn(1)), None, started());
    stage.happen(Some(item(1)), summed_up("so far"));
    stage.end(turn(1), TurnOutcome::Completed);
    let mut all = view();
    all.cursor = Cursor(3);
    stage.accept(&resume, Accepted::Session(Box::new(all)));
    assert_eq!(stage.update().await, shown("so far"));
    let complete = json!({"sessionUpdate": "replay_complete"});
    assert_eq!(stage.update().await, complete);
}

#[tokio::test]
async fn a_compaction_that_is_refused_or_taken_back_says_so() {
    let mut stage = compacting().await;
    stage.request(2, "session/prompt", command()).await;
    let compact = stage.submitted().await;
    let nothing = WireError::new(ErrorCode::Invalid, "nothing was said");
    stage.refuse(&compact, nothing);
    assert_eq!(stage.error(2).await, (-32602, Value::Null));
    stage.request(3, "session/prompt", command()).await;
    let compact = stage.submitted().await;
    stage
        .notify("$/cancel_request", json!({"requestId": 3}))
        .await;
    // The notice was taken in once the next request was.
    stage.quiet().await;
    stage.accept(&compact, Accepted::Turn { turn: turn(1) });
    stage.update().await;
    assert_eq!(stage.result(3).await, json!({"messageId": turn(1)}));
    let interrupt = Op::TurnInterrupt {
        turn: Some(turn(1)),
        queued: Queued::Keep,
    };
    assert_eq!(stage.op().await, interrupt);
}

//! Memory is bounded whatever the client sends and however little it reads (WIRE-4, WIRE-6).

use serde_json::json;
use sessiond_protocol::{ClientFrame, ServerFrame};
use sessiond_wire::Line;
use sessiond_wire::queue::HIGH_WATER_FRAMES;

use crate::stage::{Stage, list};

/// Lines that the face takes up although it can pass nothing on, at most: what waits for receipts,
/// what it takes while its output is full, and what lies in between.
const SOME: usize = 128;

/// Writes lines until none is taken any more; gives how many were.
async fn flood(stage: &Stage, make: impl Fn(usize) -> String) -> usize {
    let lines = stage.lines.as_ref().unwrap();
    for taken in 0..10 * HIGH_WATER_FRAMES {
        // The face runs on this thread: each turn it has had its chance.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        if lines.try_send(Line::Text(make(taken))).is_err() {
            return taken;
        }
    }
    panic!("the face takes lines without end")
}

/// WIRE-4
#[tokio::test]
async fn a_client_is_not_heard_while_its_submissions_wait_and_again_after_receipts() {
    let mut stage = Stage::greeted().await;
    let make = |number| crate::stage::submission(&format!("s{number}"), &list()).to_string();
    let taken = flood(&stage, make).await;
    assert!(taken < SOME, "{taken} lines were taken");
    for number in 0..taken {
        let submission = stage.submitted().await;
        assert_eq!(submission.id.as_str(), format!("s{number}"));
        stage.accept(&submission.id);
        assert!(matches!(stage.told().await, ServerFrame::Receipt(_)));
    }
    stage.submit("after", &list()).await;
    assert_eq!(stage.submitted().await.id.as_str(), "after");
}

/// WIRE-4, SQEQ-1
#[tokio::test]
async fn a_client_that_does_not_read_is_not_heard_and_loses_no_receipt() {
    let mut stage = Stage::greeted().await;
    let make = |number| crate::stage::submission(&format!("s{number}"), &json!({})).to_string();
    let taken = flood(&stage, make).await;
    assert!(taken < HIGH_WATER_FRAMES + SOME, "{taken} lines were taken");
    for number in 0..taken {
        let ServerFrame::Receipt(receipt) = stage.told().await else {
            panic!("no receipt")
        };
        assert_eq!(receipt.id.as_str(), format!("s{number}"));
    }
    stage.submit("after", &list()).await;
    assert_eq!(stage.submitted().await.id.as_str(), "after");
}

/// WIRE-6: what stops the flood gets through it.
#[tokio::test]
async fn an_interrupt_is_heard_while_the_output_is_full() {
    let mut stage = Stage::greeted().await;
    for _ in 0..2 * HIGH_WATER_FRAMES {
        stage.engine.out.push(ServerFrame::Bye {});
    }
    while !stage.out.is_full() {
        tokio::task::yield_now().await;
    }
    stage
        .submit("stop", &json!({"type": "turn.interrupt"}))
        .await;
    let ClientFrame::Submission(submission) = stage.sent().await else {
        panic!("no submission")
    };
    assert_eq!(submission.id.as_str(), "stop");
    assert!(stage.out.is_full());
}

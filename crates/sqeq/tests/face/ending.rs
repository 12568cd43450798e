//! Every end of a connection: the engine hears of it, what was submitted gets its receipt (WIRE-13).

use serde_json::json;
use sessiond_protocol::{ClientFrame, ErrorCode, OnDisconnect, ServerFrame, WireError};
use sessiond_sqeq::{FaceError, Served};

use crate::stage::{SESSION, Stage, hello, list};

const CANCEL: Served = Served {
    wish: OnDisconnect::Cancel,
};

/// WIRE-13
#[tokio::test]
async fn bye_and_the_end_of_input_wait_for_receipts_and_are_a_good_end() {
    for says_bye in [true, false] {
        let mut stage = Stage::greeted().await;
        stage.submit("last", &list()).await;
        if says_bye {
            stage.say(&json!({"v": 1, "type": "bye"})).await;
        } else {
            stage.lines = None;
        }
        let last = stage.submitted().await;
        stage.accept(&last.id);
        assert!(matches!(stage.told().await, ServerFrame::Receipt(_)));
        assert_eq!(stage.sent().await, ClientFrame::Bye {});
        assert_eq!(stage.ended().await, Ok(CANCEL), "bye: {says_bye}");
    }
}

/// WIRE-13
#[tokio::test(start_paused = true)]
async fn a_receipt_that_does_not_come_keeps_nobody() {
    let mut stage = Stage::greeted().await;
    stage.submit("last", &list()).await;
    stage.lines = None;
    stage.submitted().await;
    assert_eq!(stage.sent().await, ClientFrame::Bye {});
    assert_eq!(stage.ended().await, Ok(CANCEL));
}

/// WIRE-13
#[tokio::test]
async fn a_client_that_reads_no_more_is_gone() {
    let mut stage = Stage::greeted().await;
    stage.submit("last", &list()).await;
    stage.submitted().await;
    stage.out.abandon();
    assert_eq!(stage.sent().await, ClientFrame::Bye {});
    assert_eq!(stage.ended().await, Ok(CANCEL));
}

#[tokio::test]
async fn the_wish_to_finish_turns_is_told() {
    let new = json!({"type": "session.new", "cwd": "/w", "on_disconnect": "finish"});
    let resume = json!({"type": "session.resume", "session": SESSION, "on_disconnect": "finish"});
    for op in [new, resume] {
        let mut stage = Stage::greeted().await;
        stage.submit("s", &op).await;
        let id = stage.submitted().await.id;
        stage.accept(&id);
        stage.lines = None;
        let served = stage.ended().await.unwrap();
        assert_eq!(served.wish, OnDisconnect::Finish, "{op}");
    }
}

#[tokio::test]
async fn an_engine_that_ends_the_connection_is_passed_on() {
    let mut stage = Stage::new();
    stage.say(&hello()).await;
    stage.sent().await;
    let error = WireError::new(ErrorCode::Protocol, "another version");
    let fatal = ServerFrame::Error {
        error: error.clone(),
        fatal: true,
    };
    stage.engine.out.push(fatal.clone());
    assert_eq!(stage.told().await, fatal);
    assert_eq!(stage.ended().await, Err(FaceError::Fatal(error)));
}

#[tokio::test]
async fn an_engine_that_is_gone_is_told_as_a_fatal_error() {
    let Stage {
        lines: _lines,
        out,
        engine,
        face,
    } = Stage::greeted().await;
    drop(engine);
    let told = out.recv().await;
    assert!(
        matches!(told, Some(ServerFrame::Error { fatal: true, .. })),
        "{told:?}"
    );
    assert_eq!(face.await.unwrap(), Err(FaceError::EngineGone));
}

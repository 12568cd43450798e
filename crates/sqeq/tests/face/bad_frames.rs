//! Every kind of bad frame has its own end (WIRE-2, WIRE-3, WIRE-5).

use serde_json::json;
use sessiond_protocol::{ClientFrame, ErrorCode, ServerFrame, Verdict};
use sessiond_sqeq::FaceError;
use sessiond_wire::{BadLine, Line};

use crate::stage::{Stage, hello, list, submission};

/// WIRE-2, WIRE-5
#[tokio::test]
async fn what_is_not_the_protocol_is_answered_last_and_fatally() {
    for line in [
        Line::Bad(BadLine::NotUtf8),
        Line::Bad(BadLine::TooLong { bytes: 1 << 30 }),
        Line::Text("{".into()),
        Line::Text("[]".into()),
        Line::Text(json!({"v": 2, "type": "bye"}).to_string()),
        Line::Text(json!({"type": "bye"}).to_string()),
    ] {
        let what = format!("{line:?}");
        let mut stage = Stage::greeted().await;
        stage.line(line).await;
        let ServerFrame::Error { error, fatal: true } = stage.told().await else {
            panic!("{what} is not fatal")
        };
        assert_eq!(error.code, ErrorCode::Protocol, "{what}");
        assert_eq!(stage.sent().await, ClientFrame::Bye {}, "{what}");
        let out = stage.out.clone();
        assert_eq!(stage.ended().await, Err(FaceError::Fatal(error)), "{what}");
        out.close();
        assert_eq!(out.recv().await, None, "{what}: nothing comes after it");
    }
}

/// WIRE-5, SQEQ-1
#[tokio::test]
async fn what_came_before_a_fatal_line_still_gets_its_receipt() {
    let mut stage = Stage::greeted().await;
    stage.submit("before", &list()).await;
    stage.line(Line::Text("{".into())).await;
    let before = stage.submitted().await;
    stage.accept(&before.id);
    let ServerFrame::Receipt(receipt) = stage.told().await else {
        panic!("no receipt")
    };
    assert_eq!(receipt.id, before.id);
    let last = stage.told().await;
    assert!(matches!(last, ServerFrame::Error { fatal: true, .. }));
}

/// WIRE-2, WIRE-3
#[tokio::test]
async fn what_is_the_protocol_but_wrong_is_answered_and_the_connection_lives() {
    use ErrorCode::{Invalid, Unknown};
    let receipts = [
        (json!({"type": "session.levitate"}), Unknown, "/op/type"),
        (json!({"type": "session.new"}), Invalid, "/op"),
        (json!({"type": "session.new", "cwd": 1}), Invalid, "/op/cwd"),
        (json!("session.list"), Invalid, "/op"),
    ];
    let errors = [
        (json!({"v": 1, "type": "levitate"}), Unknown, "/type"),
        (json!({"v": 1}), Invalid, ""),
        (json!({"v": 1, "type": "answer"}), Invalid, ""),
        (
            json!({"v": 1, "type": "submission", "op": list()}),
            Invalid,
            "",
        ),
        (submission("", &list()), Invalid, "/id"),
        (hello(), Invalid, "/type"),
    ];
    let mut stage = Stage::greeted().await;
    for (number, (op, code, pointer)) in receipts.into_iter().enumerate() {
        let id = format!("s{number}");
        stage.submit(&id, &op).await;
        let ServerFrame::Receipt(receipt) = stage.told().await else {
            panic!("{op}: no receipt")
        };
        let Verdict::Error(error) = receipt.result else {
            panic!("{op}: accepted")
        };
        assert_eq!(receipt.id.as_str(), id, "{op}");
        assert_eq!(
            (error.code, error.pointer.as_deref()),
            (code, Some(pointer)),
            "{op}"
        );
    }
    for (frame, code, pointer) in errors {
        stage.say(&frame).await;
        let ServerFrame::Error {
            error,
            fatal: false,
        } = stage.told().await
        else {
            panic!("{frame}: no error")
        };
        assert_eq!(
            (error.code, error.pointer.as_deref()),
            (code, Some(pointer)),
            "{frame}"
        );
    }
    stage.submit("after", &list()).await;
    let after = stage.submitted().await;
    assert_eq!(after.id.as_str(), "after", "nothing bad reached the engine");
}

#[tokio::test]
async fn nothing_is_done_before_hello() {
    let mut stage = Stage::new();
    for frame in [
        submission("early", &list()),
        submission("early", &json!({"type": "session.levitate"})),
    ] {
        stage.say(&frame).await;
        let told = stage.told().await;
        assert!(
            matches!(told, ServerFrame::Error { fatal: false, .. }),
            "{told:?}"
        );
    }
    stage.say(&hello()).await;
    assert!(matches!(stage.sent().await, ClientFrame::Hello(_)));
    stage.submit("early", &list()).await;
    let id = stage.submitted().await.id;
    assert_eq!(id.as_str(), "early", "its id was not used up");
}

/// WIRE-3: the examples of the schema check are the whole table; here only that it is in force.
#[tokio::test]
async fn no_frame_that_the_schema_refuses_reaches_the_engine() {
    let mut stage = Stage::greeted().await;
    let frame = json!({"v": 1, "type": "submission", "id": "s", "session": "NO", "op": list()});
    stage.say(&frame).await;
    assert!(matches!(stage.told().await, ServerFrame::Receipt(_)));
    stage.say(&json!({"v": 1, "type": "bye"})).await;
    assert_eq!(stage.sent().await, ClientFrame::Bye {});
}

use sessiond_protocol::{ClientFrame, Content, ErrorCode, Op};
use sessiond_wire::{BadLine, Line};

use super::{Inbound, read};

fn text(line: impl Into<String>) -> Inbound {
    read(Line::Text(line.into()))
}

/// WIRE-2, WIRE-5
#[test]
fn what_is_not_the_protocol_ends_the_connection_and_is_not_repeated() {
    let deep = format!(
        r#"{{"v":1,"type":"bye","secret":{}{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let table = [
        Line::Bad(BadLine::NotUtf8),
        Line::Bad(BadLine::TooLong { bytes: 7 }),
        Line::Text("secret".into()),
        Line::Text(r#"{"v":1,"type":"secret"#.into()),
        Line::Text(r#"{"v":1,"type":"bye"} {"v":1,"type":"bye"}"#.into()),
        Line::Text("{\"v\":1,\"type\":\"secret\0\"}".into()),
        Line::Text(deep),
        Line::Text(r#"[{"v":1,"type":"bye"}]"#.into()),
        Line::Text("1".into()),
        Line::Text("null".into()),
        Line::Text("{}".into()),
        Line::Text(r#"{"type":"bye"}"#.into()),
        Line::Text(r#"{"v":2,"type":"bye"}"#.into()),
        Line::Text(r#"{"v":"1","type":"bye"}"#.into()),
        Line::Text(r#"{"v":1.0,"type":"bye"}"#.into()),
    ];
    for line in table {
        let what = format!("{line:?}");
        let Inbound::Broken(error) = read(line) else {
            panic!("{what} was let through")
        };
        assert_eq!(error.code, ErrorCode::Protocol, "{what}");
        assert!(!error.message.contains("secret"), "{}", error.message);
    }
}

/// WIRE-3
#[test]
fn a_bad_submission_that_can_be_named_is() {
    for (line, id) in [
        (r#"{"v":1,"type":"submission","id":"s","op":{}}"#, Some("s")),
        (r#"{"v":1,"type":"submission","id":"s"}"#, Some("s")),
        (r#"{"v":1,"type":"submission","id":""}"#, None),
        (r#"{"v":1,"type":"submission","id":5}"#, None),
        (r#"{"v":1,"type":"submission"}"#, None),
        (r#"{"v":1,"type":"answer","id":"s"}"#, None),
        (r#"{"v":1,"type":"nothing","id":"s"}"#, None),
    ] {
        let Inbound::Refused { id: named, error } = text(line) else {
            panic!("{line} was let through")
        };
        let named = named.as_ref().map(|named| named.as_str());
        assert_eq!(named, id, "{line}");
        assert!(error.pointer.is_some(), "{line}");
    }
}

/// What the schema cannot say, the types still do.
#[test]
fn what_only_the_types_refuse_is_refused_alike() {
    let long = "é".repeat(200);
    for line in [
        format!(r#"{{"v":1,"type":"submission","id":"{long}","op":{{"type":"session.list"}}}}"#),
        r#"{"v":1,"type":"hello","versions":[1.0],"client":{"name":"d","version":"1"}}"#.into(),
    ] {
        let Inbound::Refused { error, .. } = text(line.clone()) else {
            panic!("{line} was let through")
        };
        assert_eq!(error.code, ErrorCode::Invalid, "{line}");
    }
}

/// WIRE-5
#[test]
fn lone_surrogates_and_nul_escapes_become_replacement_characters() {
    let line = r#"{"v":1,"type":"submission","id":"s","op":{"type":"turn.start","input":[{"type":"text","text":"a\ud800b\u0000c\ud83d\ude00"}]}}"#;
    let Inbound::Frame(ClientFrame::Submission(submission)) = text(line) else {
        panic!("refused")
    };
    let Op::TurnStart { input, .. } = submission.op else {
        panic!("another op")
    };
    assert_eq!(input, [Content::text("a\u{fffd}b\u{fffd}c😀")]);
}

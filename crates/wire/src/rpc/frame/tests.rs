//! WIRE-1, WIRE-6: the text of frames, and which merge.

use super::*;
use crate::rpc::error;

#[test]
fn frames_are_written_as_json_rpc_says() {
    let raw = |text: &str| serde_json::value::RawValue::from_string(text.into()).unwrap();
    let id = RawId::new(&raw("\"a\\u0062\"")).unwrap();
    let number = RawId::from(7);
    let failure = ErrorObject::owned(-32002, "not found", Some(raw(r#"{"n":1.0e2}"#)));
    let cases = [
        (
            RpcFrame::request(3, "m", &[1]).unwrap(),
            r#"{"jsonrpc":"2.0","id":3,"method":"m","params":[1]}"#,
        ),
        (
            RpcFrame::notification("m", &raw(r#"{"n":1.0e2}"#)).unwrap(),
            r#"{"jsonrpc":"2.0","method":"m","params":{"n":1.0e2}}"#,
        ),
        (
            RpcFrame::response(&id, &"x\ny").unwrap(),
            r#"{"jsonrpc":"2.0","id":"a\u0062","result":"x\ny"}"#,
        ),
        (
            RpcFrame::error(Some(&number), &failure),
            concat!(
                r#"{"jsonrpc":"2.0","id":7,"error":"#,
                r#"{"code":-32002,"message":"not found","data":{"n":1.0e2}}}"#,
            ),
        ),
        (
            RpcFrame::error(None, &error(-32700, "Parse error")),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
        ),
    ];
    for (frame, expected) in cases {
        assert_eq!(frame.text(), expected);
    }
}

/// WIRE-1
#[test]
fn a_frame_is_one_line_even_if_relayed_json_was_pretty_printed() {
    let pretty = serde_json::value::RawValue::from_string("{\r\n  \"a\": 1\n}".into()).unwrap();
    let frame = RpcFrame::notification("m", &pretty).unwrap();
    let mut line = Vec::new();
    frame.encode(&mut line);
    let line = String::from_utf8(line).unwrap();
    assert_eq!(line.find(['\n', '\r']), Some(line.len() - 1));
    assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok());
}

fn chunk(session: &str, text: &str) -> RpcFrame {
    let head = format!(r#"{{"session":"{session}","text":"#);
    let tail = "}".to_owned();
    RpcFrame::delta(Arc::new(Wrapping { head, tail }), text.into())
}

/// WIRE-1
#[test]
fn the_text_of_a_delta_is_a_string_of_the_frame() {
    let text = "a \"quoted\" \\ line\n\u{1}\u{7f}é漢🦀\u{2028}";
    let frame = chunk("s", text);
    let mut line = Vec::new();
    frame.encode(&mut line);
    let line = String::from_utf8(line).unwrap();
    assert_eq!(line.find(['\n', '\r']), Some(line.len() - 1));
    assert_eq!(line, format!("{}\n", frame.text()));
    let read: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(read, serde_json::json!({ "session": "s", "text": text }));
}

/// WIRE-4, WIRE-6
#[test]
fn deltas_merge_where_the_frames_are_equal_but_for_them() {
    let plain = |frame: &RpcFrame| RpcFrame::from_text(frame.text().into_owned());
    let long = "\u{1}".repeat(MAX_MERGED);
    let cases = [
        (
            "the same message",
            chunk("s", "a"),
            chunk("s", "b"),
            Some(chunk("s", "ab")),
        ),
        (
            "what is escaped",
            chunk("s", "\n"),
            chunk("s", "\""),
            Some(chunk("s", "\n\"")),
        ),
        ("another message", chunk("s", "a"), chunk("t", "b"), None),
        (
            "a frame that is no delta",
            chunk("s", "a"),
            plain(&chunk("s", "b")),
            None,
        ),
        (
            "after a frame that is no delta",
            plain(&chunk("s", "a")),
            chunk("s", "b"),
            None,
        ),
        (
            "more than a frame may hold",
            chunk("s", "a"),
            chunk("s", &long),
            None,
        ),
    ];
    for (name, mut last, next, merged) in cases {
        let before = last.clone();
        let rest = last.absorb(next.clone()).err();
        assert_eq!(rest, merged.is_none().then_some(next), "{name}");
        assert_eq!(last, merged.unwrap_or(before), "{name}");
    }
    let mut once = chunk("s", "");
    once.absorb(chunk("s", &long)).unwrap();
    assert!(once.text().len() < 1 << 20);
}

/// WIRE-1: pieces make one line, and take up nothing that comes behind them.
#[test]
fn the_pieces_of_a_line_are_written_as_one() {
    let mut pieces = [
        RpcFrame::piece(b"{\"a\":".to_vec(), Then::More),
        RpcFrame::piece(b"[1,".to_vec(), Then::More),
        RpcFrame::piece(b"2]}".to_vec(), Then::End),
    ];
    let mut line = Vec::new();
    pieces.iter().for_each(|piece| piece.encode(&mut line));
    assert_eq!(line, b"{\"a\":[1,2]}\n");
    assert_eq!(pieces.each_ref().map(RpcFrame::weight), [5, 3, 3]);
    let wrapping = Arc::new(Wrapping {
        head: "{".to_owned(),
        tail: "}".to_owned(),
    });
    let delta = RpcFrame::delta(wrapping, "x".to_owned());
    for piece in &mut pieces {
        assert_eq!(piece.absorb(delta.clone()), Err(delta.clone()));
    }
}

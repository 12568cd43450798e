use serde_json::{Value, json};
use sessiond_protocol::ItemId;
use sessiond_wire::Coalesce;
use sessiond_wire::stdio::Encode;
use uuid::Uuid;

use super::{Delta, LINE_BYTES, OutFrame, pieces, shortened};

fn line(frame: &OutFrame) -> String {
    let mut bytes = Vec::new();
    frame.encode(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

fn delta(item: u128, text: &str) -> OutFrame {
    OutFrame::Delta(Delta {
        item: ItemId::new(Uuid::from_u128(item)),
        head: r#"{"text":"#.to_owned(),
        text: text.to_owned(),
        tail: "}",
    })
}

/// WIRE-4: whatever a frame holds, its line stays one that the SDKs read.
#[test]
fn no_line_is_longer_than_the_sdks_read() {
    let table = [
        json!({"text": "x".repeat(5_000_000)}),
        json!({"text": "\u{1}".repeat(900_000)}),
        json!({"text": "\u{2028}".repeat(900_000)}),
        json!({"list": vec!["y".repeat(3000); 2000]}),
        json!({"deep": {"er": ["é".repeat(2_000_000)]}}),
    ];
    for frame in table {
        let line = line(&OutFrame::of(frame));
        assert!(line.len() <= LINE_BYTES + 1, "{}", line.len());
        let read: Value = serde_json::from_str(&line).unwrap();
        assert!(read.to_string().contains("bytes cut]"));
    }
}

#[test]
fn a_line_that_fits_is_as_it_was() {
    let frame = json!({"type": "x", "text": "a\nb\"c"});
    assert_eq!(line(&OutFrame::of(frame.clone())), format!("{frame}\n"));
}

#[test]
fn line_separators_are_escaped_and_read_as_themselves() {
    let text = "a\u{2028}b\u{2029}c";
    for frame in [OutFrame::of(json!({"text": text})), delta(1, text)] {
        let line = line(&frame);
        assert!(!line.contains(['\u{2028}', '\u{2029}']), "{line}");
        let read: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["text"], text);
    }
}

#[test]
fn pieces_are_the_text_and_each_fits_a_line() {
    for text in [
        "",
        "short",
        &"\u{1}é\"".repeat(400_000),
        &"🦀".repeat(600_000),
    ] {
        let pieces = pieces(text);
        assert_eq!(pieces.concat(), text);
        for piece in pieces {
            assert!(line(&OutFrame::of(json!({ "text": piece }))).len() <= LINE_BYTES);
        }
    }
}

#[test]
fn a_text_that_is_repeated_says_how_much_it_leaves_out() {
    assert_eq!(shortened("hello"), "hello");
    let long = shortened(&"x".repeat(2_000_000));
    assert!(
        long.ends_with("bytes more are in the messages before]"),
        "{}",
        &long[long.len() - 60..]
    );
    assert!(long.len() < LINE_BYTES);
}

/// WIRE-6: deltas of one block merge, of two they do not, and nothing is lost.
#[test]
fn deltas_of_one_block_merge() {
    let mut first = delta(1, "a");
    assert_eq!(first.absorb(delta(1, "b")), Ok(()));
    assert_eq!(first, delta(1, "ab"));
    assert_eq!(first.absorb(delta(2, "c")), Err(delta(2, "c")));
    let whole = OutFrame::of(json!({}));
    assert_eq!(first.absorb(whole.clone()), Err(whole));
    let long = "x".repeat(100 * 1024);
    let mut first = delta(1, &long);
    assert_eq!(first.absorb(delta(1, &long)), Err(delta(1, &long)));
}

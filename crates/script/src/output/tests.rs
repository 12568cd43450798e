//! Output: whole characters, bounded memory.

use super::{Decoder, Tail};

fn decoded(chunks: &[&[u8]]) -> Vec<String> {
    let mut decoder = Decoder::default();
    let mut texts: Vec<String> = chunks.iter().map(|chunk| decoder.push(chunk)).collect();
    texts.push(decoder.finish());
    texts
}

#[test]
fn a_character_cut_by_a_read_comes_out_whole() {
    let table: [(&[&[u8]], &[&str]); 7] = [
        (&[b"plain"], &["plain", ""]),
        (&[b"a\xc3", b"\xa4b"], &["a", "äb", ""]),
        (
            &[b"\xf0", b"\x9f", b"\x98", b"\x80!"],
            &["", "", "", "😀!", ""],
        ),
        (&[b"a\xf0\x9f\x98"], &["a", "\u{fffd}"]),
        (&[b"a\xffb", b"c"], &["a\u{fffd}b", "c", ""]),
        (&[b"a\xff", b"c"], &["a\u{fffd}", "c", ""]),
        (&[b"a\xc3", b"c"], &["a", "\u{fffd}c", ""]),
    ];
    for (chunks, texts) in table {
        assert_eq!(decoded(chunks), texts, "{chunks:?}");
    }
}

/// WIRE-5: no NUL reaches a record.
#[test]
fn a_nul_becomes_a_replacement_character() {
    assert_eq!(decoded(&[b"a\0b"]), ["a\u{fffd}b", ""]);
}

#[test]
fn text_cut_at_every_byte_is_the_same_text() {
    let text = "aä€😀\n";
    for cut in 0..=text.len() {
        let (one, two) = text.as_bytes().split_at(cut);
        assert_eq!(decoded(&[one, two]).concat(), text, "cut at {cut}");
    }
}

#[test]
fn short_output_is_kept_whole() {
    let mut tail = Tail::default();
    tail.push("a\n");
    tail.push("b\n");
    assert_eq!(tail.finish(), ("a\nb\n".to_owned(), false));
}

/// WIRE-4: memory stays bounded whatever a command prints.
#[test]
fn of_long_output_the_newest_part_is_kept_and_the_rest_is_counted() {
    let chunk = "€".repeat(1000);
    let chunks = 4 * Tail::KEPT / chunk.len();
    let mut tail = Tail::default();
    for _ in 0..chunks {
        tail.push(&chunk);
        assert!(tail.text.len() <= 2 * Tail::KEPT);
    }
    tail.push("the end");
    let all = chunks * chunk.len() + "the end".len();
    let (text, truncated) = tail.finish();
    assert!(truncated && text.ends_with("€the end"));
    let (note, kept) = text.split_once('\n').expect("a note");
    assert!((Tail::KEPT - 3..=Tail::KEPT).contains(&kept.len()));
    assert_eq!(
        note,
        format!("[{} bytes of earlier output dropped]", all - kept.len())
    );
}

use super::{Before, Streams};

#[test]
fn what_was_not_streamed_is_told_at_the_end_and_nothing_twice() {
    let cases: [(&[&str], &str, &str); 4] = [
        (&[], "hello", "hello"),
        (&["hel", "lo"], "hello", ""),
        (&["hel"], "hello", "lo"),
        (&["hello, all"], "hello", ""),
    ];
    for (pieces, text, rest) in cases {
        let mut streams = Streams::default();
        for piece in pieces {
            assert_eq!(streams.piece("m", piece), Before::Nothing);
        }
        assert_eq!(streams.end("m", text), rest, "{pieces:?}");
    }
}

/// codex.md R4: a message that is let go of half-said has no end of its own.
#[test]
fn a_message_ends_where_another_begins() {
    let mut streams = Streams::default();
    assert_eq!(streams.piece("a", "half"), Before::Nothing);
    assert_eq!(streams.piece("b", "new"), Before::MessageEnd);
    assert_eq!(streams.end("b", "new"), "");
    assert_eq!(streams.piece("c", "more"), Before::Nothing);
}

//! Lines of an agent: which are messages, noise, and what is left of a message.

use sessiond_wire::{BadLine, Line};

use super::{Judged, judge};

fn word<M>(judged: &Judged<M>) -> &'static str {
    match judged {
        Judged::Message(_) => "message",
        Judged::Bad => "bad",
        Judged::Broken => "broken",
    }
}

/// WIRE-14
#[test]
fn noise_is_a_bad_line_and_a_cut_or_glued_message_breaks_the_stream() {
    let note = r#"{"jsonrpc":"2.0","method":"session/update","params":{}}"#;
    let cases = [
        (note.to_owned(), "message"),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
            "message",
        ),
        ("Loading configuration …".to_owned(), "bad"),
        ("5".to_owned(), "bad"),
        ("[]".to_owned(), "bad"),
        (r#"{"level":"info","msg":"started"}"#.to_owned(), "bad"),
        (r#"{"level":"info","#.to_owned(), "bad"),
        (r#"{"jsonrpc":"2.0","id":1}"#.to_owned(), "bad"),
        (note[..note.len() - 3].to_owned(), "broken"),
        (format!("{note}{note}"), "broken"),
        (format!("warning: {note}"), "broken"),
    ];
    for (line, expected) in cases {
        assert_eq!(word(&judge(Line::Text(line.clone()))), expected, "{line}");
    }
    assert_eq!(word(&judge(Line::Bad(BadLine::NotUtf8))), "bad");
    let long = Line::Bad(BadLine::TooLong { bytes: 1 });
    assert_eq!(word(&judge(long)), "broken");
}

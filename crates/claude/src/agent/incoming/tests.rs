//! Lines of the CLI: which are messages, noise, and what is left of a message.

use sessiond_wire::program::Judged;
use sessiond_wire::{BadLine, Line};

use super::judge;

fn word<M>(judged: &Judged<M>) -> &'static str {
    match judged {
        Judged::Message(_) => "message",
        Judged::Bad => "bad",
        Judged::Broken => "broken",
    }
}

/// WIRE-14: what libraries print is passed over; a message that was cut or spliced ends the stream.
#[test]
fn noise_is_a_bad_line_and_a_cut_or_glued_message_breaks_the_stream() {
    let status = r#"{"type":"system","subtype":"status","session_id":"s","uuid":"u"}"#;
    let later = r#"{"type":"of_a_later_version","session_id":"s"}"#;
    let asked = r#"{"type":"control_request","request_id":"r","request":{"subtype":"x"}}"#;
    let cases = [
        (status.to_owned(), "message"),
        (later.to_owned(), "message"),
        (asked.to_owned(), "message"),
        ("[SandboxDebug] on".to_owned(), "bad"),
        (r#"{"level":"info","msg":"started"}"#.to_owned(), "bad"),
        ("[]".to_owned(), "bad"),
        (r#"{"level":"info","#.to_owned(), "bad"),
        (status[..status.len() - 3].to_owned(), "broken"),
        (format!("{status}{asked}"), "broken"),
        (format!("warning: {asked}"), "broken"),
    ];
    for (line, expected) in cases {
        assert_eq!(word(&judge(Line::Text(line.clone()))), expected, "{line}");
    }
    assert_eq!(word(&judge(Line::Bad(BadLine::NotUtf8))), "bad");
    let long = Line::Bad(BadLine::TooLong { bytes: 1 });
    assert_eq!(word(&judge(long)), "broken");
}

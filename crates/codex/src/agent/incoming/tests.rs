use sessiond_wire::Line;
use sessiond_wire::program::Judged;
use sessiond_wire::rpc::Inbound;

use super::judge;

/// WIRE-14: a message needs no `jsonrpc`; noise is passed over; the rest of a message is not.
#[test]
fn a_line_is_a_message_or_noise_or_a_broken_message() {
    let cases = [
        (r#"{"id":1,"result":{}}"#, "response"),
        (
            r#"{"id":1,"error":{"code":-32001,"message":"x"}}"#,
            "response",
        ),
        (
            r#"{"method":"turn/started","params":{},"emittedAtMs":1}"#,
            "notification",
        ),
        (
            r#"{"method":"item/tool/call","id":0,"params":{}}"#,
            "request",
        ),
        ("WARNING: proceeding", "bad"),
        ("", "bad"),
        ("[]", "bad"),
        (r#"{"id":1}"#, "bad"),
        (r#"{"method":"turn/started","params":{"thr"#, "broken"),
        (r#"{"id":1,"result":{}}{"id":2,"result":{}}"#, "broken"),
    ];
    for (line, expected) in cases {
        let judged = match judge(Line::Text(line.to_owned())) {
            Judged::Message(Inbound::Response { .. }) => "response",
            Judged::Message(Inbound::Notification { .. }) => "notification",
            Judged::Message(Inbound::Request { .. }) => "request",
            Judged::Message(_) => "another message",
            Judged::Bad => "bad",
            Judged::Broken => "broken",
        };
        assert_eq!(judged, expected, "{line}");
    }
}

//! The envelope rules of acp.md 1.0 and 8, as a table.

use super::*;

/// A short form of what a line was taken for.
fn shown(inbound: &Inbound) -> String {
    let raw = |params: &Option<Box<RawValue>>| params.as_ref().map_or("-", |p| p.get()).to_owned();
    match inbound {
        Inbound::Request { id, method, params } => format!("call {id} {method} {}", raw(params)),
        Inbound::Notification { method, params } => format!("tell {method} {}", raw(params)),
        Inbound::Response {
            id,
            result: Ok(result),
        } => format!("result {id} {result}"),
        Inbound::Response {
            id,
            result: Err(error),
        } => {
            format!(
                "error {id} {} {} {:?}",
                error.code(),
                error.message(),
                error.data()
            )
        }
        Inbound::Invalid { id, error } => {
            format!(
                "{} {}",
                error.code(),
                id.as_ref().map_or("null", RawId::as_str)
            )
        }
        Inbound::Ignore => "ignore".to_owned(),
    }
}

fn check(cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        assert_eq!(shown(&parse(line)), *expected, "{line}");
    }
}

/// WIRE-5
#[test]
fn calls_are_read_with_their_exact_id_and_params() {
    check(&[
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1.0e2}}"#,
            r#"call 1 m {"a":1.0e2}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"1","method":"m"}"#,
            r#"call "1" m -"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"\u0061","method":"m"}"#,
            r#"call "\u0061" m -"#,
        ),
        (r#"{"jsonrpc":"2.0","id":-1,"method":"m"}"#, "call -1 m -"),
        (
            r#"{"jsonrpc":"2.0","id":"","method":"m"}"#,
            r#"call "" m -"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}"#,
            "call 9007199254740993 m -",
        ),
        (
            r#"{"jsonrpc":"2.0","id":9223372036854775807,"method":"m"}"#,
            "call 9223372036854775807 m -",
        ),
        (
            r#" {"jsonrpc":"2.0","method":"m","params":[1]}"#,
            "tell m [1]",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"m","params":null}"#,
            "tell m -",
        ),
        (
            r#"{"params":{},"method":"\u006d","id":2,"jsonrpc":"2.0","x":{}}"#,
            "call 2 m {}",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}"#,
            "call 2 b -",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#,
            "call 1 m -",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"m","params":"\ud83d"}"#,
            r#"tell m "\ufffd""#,
        ),
    ]);
}

/// WIRE-5
#[test]
fn what_is_no_message_gets_one_error() {
    check(&[
        ("garbage", "-32700 null"),
        ("", "-32700 null"),
        (r#"{"jsonrpc":"2.0","id":77,"#, "-32700 null"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m"} trailing"#,
            "-32700 null",
        ),
        ("{\"a\":\"\0\"}", "-32700 null"),
        ("[]", "-32600 null"),
        ("[1", "-32700 null"),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","method":"n"}]"#,
            "-32600 null",
        ),
        (r#"["2.0",1,"m"]"#, "-32600 null"),
        ("5", "-32600 null"),
        ("null", "-32600 null"),
        (r#""text""#, "-32600 null"),
        ("{}", "-32600 null"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "-32600 null"),
        (r#"{"id":1,"method":"m"}"#, "-32600 null"),
        (r#"{"method":"m"}"#, "-32600 null"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "-32600 null"),
        (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, "-32600 null"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "-32600 null"),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, "-32600 null"),
        (r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#, "-32600 null"),
        (r#"{"jsonrpc":"2.0","id":1e2,"method":"m"}"#, "-32600 null"),
        (r#"{"jsonrpc":"2.0","id":-0,"method":"m"}"#, "-32600 null"),
        (
            r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"m"}"#,
            "-32600 null",
        ),
        (
            r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"m"}"#,
            "-32600 null",
        ),
        (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, "-32600 null"),
        (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, "-32600 null"),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#, "-32600 null"),
        (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, "-32600 7"),
        (r#"{"jsonrpc":"2.0","method":5}"#, "-32600 null"),
    ]);
    let bomb = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{}"#,
        "[".repeat(100_000)
    );
    assert_eq!(shown(&parse(&bomb)), "-32700 null");
    assert_eq!(shown(&refuse(BadLine::NotUtf8)), "-32700 null");
    assert_eq!(shown(&refuse(BadLine::TooLong { bytes: 9 })), "-32700 null");
}

/// WIRE-5, WIRE-7
#[test]
fn responses_are_read_and_what_only_looks_like_one_is_ignored() {
    check(&[
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#,
            r#"result 1 {"a":1}"#,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "result 1 null"),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#,
            "result 1 {}",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no","extra":1}}"#,
            "error 1 -32601 no None",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":5,"message":"no"}}"#,
            "error 1 5 no None",
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
            "ignore",
        ),
        (
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#,
            "ignore",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#,
            "ignore",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"error":"text"}"#, "ignore"),
        (r#"{"jsonrpc":"2.0","id":1,"error":null}"#, "ignore"),
        (r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#, "ignore"),
        (r#"{"jsonrpc":"2.0","result":{}}"#, "ignore"),
        (r#"{"id":1,"result":{}}"#, "ignore"),
    ]);
}

/// WIRE-3, SEC-1
#[test]
fn an_error_never_repeats_what_was_received() {
    for line in [
        "SECRET",
        r#"{"SECRET":1}"#,
        r#"["SECRET"]"#,
        r#"{"method":"SECRET"}"#,
    ] {
        let Inbound::Invalid { error, .. } = parse(line) else {
            panic!("{line}")
        };
        assert!(
            !serde_json::to_string(&error).unwrap().contains("SECRET"),
            "{line}"
        );
        assert!(error.data().is_none());
    }
}

/// codex.md B1: a peer may leave `jsonrpc` out; what is a message otherwise is one.
#[test]
fn a_peer_may_leave_the_version_out() {
    let request = parse_unversioned(r#"{"id":1,"method":"m","params":{}}"#);
    assert!(matches!(request, Inbound::Request { .. }), "{request:?}");
    let response = parse_unversioned(r#"{"id":1,"result":{},"emittedAtMs":5}"#);
    assert!(matches!(response, Inbound::Response { .. }), "{response:?}");
    let versioned = parse_unversioned(r#"{"jsonrpc":"2.0","method":"m"}"#);
    assert!(
        matches!(versioned, Inbound::Notification { .. }),
        "{versioned:?}"
    );
    let nothing = parse_unversioned(r#"{"id":1}"#);
    assert!(matches!(nothing, Inbound::Invalid { .. }), "{nothing:?}");
}

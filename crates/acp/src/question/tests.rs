use sessiond_wire::rpc::error;

use super::*;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn failed(message: &str) -> Outcome {
    Outcome::Failed {
        message: message.into(),
    }
}

#[test]
fn an_answer_that_is_none_fails_the_request_and_tells_the_tool_why() {
    let terminal = || "t".to_owned();
    let bodies = [
        RequestBody::FsRead {
            path: "/a".into(),
            line: None,
            limit: None,
        },
        RequestBody::Terminal(TerminalOp::Output {
            terminal: terminal(),
        }),
        RequestBody::Elicitation {
            message: "?".into(),
            schema: Value::Null,
        },
    ];
    let malformed = "the client's answer is malformed";
    for body in bodies {
        for (reply, message) in [
            (Ok(raw("7")), malformed),
            (Ok(raw("{}")), malformed),
            (
                Err(CallError::Rpc(error(-32002, "no such file"))),
                "no such file",
            ),
            (Err(CallError::Cancelled), "the request was cancelled"),
            (Err(CallError::Closed), "the connection is closed"),
        ] {
            let heard = heard(&body, reply);
            assert_eq!(heard, Heard::Outcome(failed(message)), "{body:?}");
        }
    }
}

#[test]
fn a_form_is_accepted_declined_or_dismissed() {
    let body = RequestBody::Elicitation {
        message: "?".into(),
        schema: Value::Null,
    };
    let empty = || Outcome::Accepted {
        content: Value::Object(Map::new()),
    };
    let cases = [
        (r#"{"action":"accept"}"#, empty()),
        (r#"{"action":"accept","content":null}"#, empty()),
        (r#"{"action":"decline"}"#, Outcome::Declined),
        (r#"{"action":"cancel","_meta":{}}"#, Outcome::Cancelled),
        (
            r#"{"action":"perhaps"}"#,
            failed("the client's answer is malformed"),
        ),
        (
            r#"{"action":"accept","content":7}"#,
            failed("the client's answer is malformed"),
        ),
    ];
    for (text, outcome) in cases {
        assert_eq!(
            heard(&body, Ok(raw(text))),
            Heard::Outcome(outcome),
            "{text}"
        );
    }
}

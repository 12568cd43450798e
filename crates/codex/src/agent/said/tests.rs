use serde_json::{Value, json};
use sessiond_protocol::Severity;

use super::{Ended, InTurn, Native, Said, read};

fn said(method: &str, params: &Value) -> Said {
    let raw = serde_json::value::to_raw_value(params).expect("JSON");
    read("t", method, Some(&raw))
}

/// Params of something in turn `n` of thread `t`.
fn of(more: Value) -> Value {
    let mut params = json!({ "threadId": "t", "turnId": "n" });
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    params
}

fn ends(status: &str) -> Value {
    let error = json!({ "message": "no", "additionalDetails": "why" });
    json!({ "threadId": "t", "turn": { "id": "n", "status": status, "error": error } })
}

/// ADAPT-6, ADAPT-8: what every notification becomes; one about another thread is nothing.
#[test]
fn a_notification_says_what_the_table_says() {
    let own = |text: &str| text.to_owned();
    let turn = |what| Said::Turn("n".to_owned(), what);
    let message = json!({ "type": "agentMessage", "id": "m", "text": "hi" });
    let hi = || Native::Message(own("hi"));
    let piece = json!({ "itemId": "m", "delta": "h" });
    let retry = |will: bool| of(json!({ "willRetry": will, "error": { "message": "cut" } }));
    let cases = [
        ("turn/started", ends("inProgress"), turn(InTurn::Started)),
        (
            "turn/completed",
            ends("completed"),
            turn(InTurn::Ended(Ended::Completed)),
        ),
        (
            "turn/completed",
            ends("interrupted"),
            turn(InTurn::Ended(Ended::Interrupted)),
        ),
        (
            "turn/completed",
            ends("failed"),
            turn(InTurn::Ended(Ended::Failed(own("no\nwhy")))),
        ),
        (
            "item/started",
            of(json!({ "item": message })),
            turn(InTurn::Item(own("m"), hi())),
        ),
        (
            "item/completed",
            of(json!({ "item": message })),
            turn(InTurn::ItemEnded(own("m"), hi())),
        ),
        (
            "item/agentMessage/delta",
            of(piece.clone()),
            turn(InTurn::Text(own("m"), own("h"))),
        ),
        (
            "item/reasoning/summaryTextDelta",
            of(piece.clone()),
            turn(InTurn::Thought(own("m"), own("h"))),
        ),
        (
            "item/reasoning/textDelta",
            of(piece.clone()),
            turn(InTurn::RawThought(own("m"), own("h"))),
        ),
        (
            "item/reasoning/summaryPartAdded",
            of(json!({ "itemId": "m", "summaryIndex": 0 })),
            Said::Nothing,
        ),
        (
            "item/reasoning/summaryPartAdded",
            of(json!({ "itemId": "m", "summaryIndex": 1 })),
            turn(InTurn::ThoughtPart(own("m"))),
        ),
        (
            "item/commandExecution/outputDelta",
            of(piece.clone()),
            turn(InTurn::Output(own("m"), own("h"))),
        ),
        (
            "warning",
            json!({ "threadId": "t", "message": "mind" }),
            Said::Notice(Severity::Warning, own("mind")),
        ),
        (
            "warning",
            json!({ "message": "mind" }),
            Said::Notice(Severity::Warning, own("mind")),
        ),
        (
            "error",
            retry(true),
            Said::Notice(Severity::Info, own("Codex tries again: cut")),
        ),
        ("error", retry(false), Said::Nothing),
        (
            "thread/name/updated",
            json!({ "threadId": "t", "threadName": "mine" }),
            Said::Title(own("mine")),
        ),
        (
            "thread/status/changed",
            json!({ "threadId": "t", "status": { "type": "idle" } }),
            Said::Nothing,
        ),
        ("of/tomorrow", json!({ "threadId": "t" }), Said::Nothing),
        // Of a thread that is not ours: an agent that Codex made has one.
        (
            "item/agentMessage/delta",
            json!({ "threadId": "x", "turnId": "n", "itemId": "m", "delta": "h" }),
            Said::Nothing,
        ),
        (
            "turn/completed",
            json!({ "threadId": "x", "turn": { "id": "n", "status": "completed" } }),
            Said::Nothing,
        ),
    ];
    for (method, params, expected) in cases {
        assert_eq!(said(method, &params), expected, "{method} {params}");
    }
}

#[test]
fn a_request_that_is_settled_is_named_by_its_id() {
    let params = json!({ "threadId": "t", "requestId": 0 });
    let Said::Resolved(id) = said("serverRequest/resolved", &params) else {
        panic!("it names a request");
    };
    assert_eq!(id.number(), Some(0));
}

use serde_json::{Value, json};
use sessiond_protocol::{HistoryItem, Item, ItemId, Lack, Marker, SessionId};
use uuid::Uuid;

use super::{Handed, MESSAGE_BYTES, TOTAL_BYTES};

fn items(values: &[Value]) -> Vec<HistoryItem> {
    let of = |value: &Value| {
        let item: Item = serde_json::from_value(value.clone()).expect("an item");
        HistoryItem {
            id: ItemId::new(Uuid::now_v7()),
            turn: None,
            item,
            origin: Default::default(),
        }
    };
    values.iter().map(of).collect()
}

fn handed(history: &[HistoryItem]) -> Handed {
    Handed::of(SessionId::new(Uuid::now_v7()), history, Lack::BeganAnew).expect("something to tell")
}

fn user(text: &str) -> Value {
    json!({ "type": "user_message", "content": [{ "type": "text", "text": text }] })
}

/// RESUME-6, CTX-2: calls and results are paired, an unknown outcome says so, a summary is nobody's.
#[test]
fn a_conversation_is_told_in_codex_s_own_items() {
    let call = |status: &str| {
        json!({ "type": "tool_call", "name": "my tool", "title": "t",
        "status": status, "input": { "a": 1 }, "content": [{ "type": "content",
        "content": { "type": "text", "text": "out" } }] })
    };
    let history = items(&[
        json!({ "type": "compaction", "summary": "short", "covers": { "from": 1, "to": 2 }, "window": 1, "digest": "d" }),
        user("one"),
        json!({ "type": "thought", "text": "hm" }),
        call("completed"),
        call("unknown"),
        json!({ "type": "agent_message", "text": "1" }),
    ]);
    let handed = handed(&history);
    let (first, second) = (
        format!("call_{}", history[3].id),
        format!("call_{}", history[4].id),
    );
    let message = |role: &str, kind: &str, text: &str| {
        json!({ "type": "message", "role": role,
        "content": [{ "type": kind, "text": text }] })
    };
    let call = |id: &str| {
        json!({ "type": "function_call", "name": "my_tool",
        "arguments": "{\"a\":1}", "call_id": id })
    };
    let output = |id: &str, output: &str| {
        json!({ "type": "function_call_output", "call_id": id,
        "output": output })
    };
    let expected = [
        message(
            "developer",
            "input_text",
            "Summary of what was said before:\nshort",
        ),
        message("user", "input_text", "one"),
        call(&first),
        output(&first, "out"),
        call(&second),
        output(
            &second,
            "Its outcome is unknown: it may have run. Do not run it again unasked.\nout",
        ),
        message("assistant", "output_text", "1"),
    ];
    assert_eq!(handed.items, expected);
    let Marker::HandedOver {
        from,
        to,
        told,
        left_out,
        ..
    } = handed.marker
    else {
        panic!("{:?}", handed.marker);
    };
    assert_eq!(
        (from, to, told, left_out),
        (history[0].id, history[5].id, 5, 0)
    );
}

#[test]
fn of_a_long_conversation_the_newest_is_told_and_how_much_is_left_out() {
    let long = "x".repeat(MESSAGE_BYTES);
    let count = TOTAL_BYTES / MESSAGE_BYTES * 2;
    let history = items(&vec![user(&long); count]);
    let handed = handed(&history);
    let Marker::HandedOver { told, left_out, .. } = handed.marker else {
        panic!("{:?}", handed.marker);
    };
    assert_eq!(told + left_out, count as u64);
    assert!(left_out > 0 && told > 0, "{told} told, {left_out} left out");
    let length: usize = handed.items.iter().map(|item| item.to_string().len()).sum();
    assert!(length < TOTAL_BYTES + 1024, "{length} bytes");
    let note = handed.items[0].to_string();
    assert!(
        note.contains(&format!("{left_out} older messages")),
        "{note}"
    );
}

#[test]
fn a_long_message_says_what_is_missing() {
    let history = items(&[user(&"x".repeat(MESSAGE_BYTES + 5))]);
    let text = handed(&history).items[0].to_string();
    assert!(text.contains("(5 more bytes are left out)"), "{text}");
}

#[test]
fn of_nothing_nothing_is_told() {
    let thought = items(&[json!({ "type": "thought", "text": "hm" })]);
    for history in [&[][..], &thought] {
        assert_eq!(
            Handed::of(SessionId::new(Uuid::now_v7()), history, Lack::BeganAnew),
            None
        );
    }
}

use serde_json::{Value, json};
use sessiond_engine::alignment::Alignment;
use sessiond_protocol::{HistoryItem, Item, ItemId, SessionId};
use uuid::Uuid;

use super::Record;

fn user(text: &str) -> Value {
    json!({ "type": "userMessage", "id": format!("u{text}"), "content": [{ "type": "text", "text": text }] })
}

fn said(text: &str) -> Value {
    json!({ "type": "agentMessage", "id": format!("a{text}"), "text": text })
}

fn ran(id: &str) -> Value {
    json!({ "type": "commandExecution", "id": id, "command": "ls", "status": "completed" })
}

fn turn(items: &[Value]) -> Value {
    json!({ "id": "t", "items": items, "status": "completed" })
}

fn item(value: Value) -> HistoryItem {
    let item: Item = serde_json::from_value(value).expect("an item");
    HistoryItem {
        id: ItemId::new(Uuid::now_v7()),
        turn: None,
        item,
        origin: Default::default(),
    }
}

fn ours(items: &[(&str, &str)]) -> Vec<HistoryItem> {
    let of = |(kind, text): &(&str, &str)| match *kind {
        "user" => json!({ "type": "user_message", "content": [{ "type": "text", "text": text }] }),
        "call" => {
            json!({ "type": "tool_call", "name": "shell", "title": "ls", "native": text, "status": "completed" })
        }
        _ => json!({ "type": "agent_message", "text": text }),
    };
    items.iter().map(|part| item(of(part))).collect()
}

/// ADAPT-10: a thread has all of the log, lacks its end, or is another.
#[test]
fn a_thread_is_compared_with_the_log_turn_by_turn() {
    let log = ours(&[
        ("user", "one"),
        ("agent", "1"),
        ("user", "two"),
        ("call", "c"),
        ("agent", "2"),
    ]);
    let first = turn(&[user("one"), said("1")]);
    let cases = [
        (
            vec![first.clone(), turn(&[user("two"), ran("c"), said("2")])],
            Alignment::Same,
        ),
        (vec![first.clone()], Alignment::LacksFrom(2)),
        (
            vec![first.clone(), turn(&[user("two"), ran("c")])],
            Alignment::LacksFrom(2),
        ),
        (
            vec![first.clone(), turn(&[user("two"), said("2")])],
            Alignment::LacksFrom(2),
        ),
        (
            vec![first.clone(), turn(&[user("else"), said("2")])],
            Alignment::DiffersAt(2),
        ),
        (
            vec![
                first.clone(),
                turn(&[user("two"), ran("c"), said("2")]),
                turn(&[user("three")]),
            ],
            Alignment::DiffersAt(3),
        ),
        // What is said into a turn that runs is a message of the same turn.
        (
            vec![turn(&[
                user("one"),
                said("1"),
                user("two"),
                ran("c"),
                said("2"),
            ])],
            Alignment::Same,
        ),
    ];
    let session = SessionId::new(Uuid::now_v7());
    for (turns, expected) in cases {
        let mut record = Record::default();
        for page in &turns {
            record.take(&json!({ "data": [page] }));
        }
        assert_eq!(record.align(session, &log, None), expected, "{turns:?}");
    }
}

#[test]
fn what_was_put_into_a_thread_is_part_of_what_it_has() {
    let log = ours(&[
        ("user", "one"),
        ("agent", "1"),
        ("user", "two"),
        ("agent", "2"),
    ]);
    let session = SessionId::new(Uuid::now_v7());
    let mut record = Record::default();
    assert!(record.is_empty());
    record.take(&json!({ "data": [turn(&[user("two"), said("2")])] }));
    assert!(!record.is_empty());
    let handed = format!("sessiond://session/{session}#{}", log[1].id);
    assert_eq!(record.align(session, &log, Some(&handed)), Alignment::Same);
    // Ours lists it as turns of the thread.
    let mut record = Record::default();
    let turns = [
        turn(&[user("one"), said("1")]),
        turn(&[user("two"), said("2")]),
    ];
    record.take(&json!({ "data": turns }));
    assert_eq!(record.align(session, &log, Some(&handed)), Alignment::Same);
}

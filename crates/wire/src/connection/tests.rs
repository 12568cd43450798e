//! WIRE-6, WIRE-9: which events of the waist join in the queue, and how either end ends.

use sessiond_protocol::{ItemId, SessionId, Stream};

use super::*;
use crate::queue::NOMINAL_WEIGHT;

fn delta(session: u128, item: u128, offset: u64, text: &str) -> ServerFrame {
    frame(session, item, Stream::Text, (offset, text))
}

fn frame(session: u128, item: u128, stream: Stream, (offset, text): (u64, &str)) -> ServerFrame {
    let id = |number: u128| format!("00000000-0000-4000-8000-{number:012}");
    let session: SessionId = id(session).parse().unwrap();
    let item: ItemId = id(item).parse().unwrap();
    ServerFrame::Event(EventFrame {
        session,
        cursor: None,
        turn: None,
        item: Some(item),
        cause: None,
        at: None,
        event: Event::ItemDelta {
            stream,
            offset,
            text: text.into(),
        },
    })
}

/// WIRE-6, WIRE-9
#[test]
fn deltas_join_only_where_one_continues_the_other() {
    let long = "x".repeat(MAX_MERGED_TEXT);
    let cases = [
        (
            "the next bytes of the same text join",
            delta(1, 1, 2, "cd"),
            true,
        ),
        ("a gap does not", delta(1, 1, 3, "d"), false),
        ("an overlap does not", delta(1, 1, 1, "bcd"), false),
        ("another item does not", delta(1, 2, 2, "cd"), false),
        ("another session does not", delta(2, 1, 2, "cd"), false),
        (
            "another stream does not",
            frame(1, 1, Stream::Output, (2, "cd")),
            false,
        ),
        (
            "more than a frame holds does not",
            delta(1, 1, 2, &long),
            false,
        ),
        ("another frame does not", ServerFrame::Bye {}, false),
    ];
    for (name, next, joins) in cases {
        let mut last = delta(1, 1, 0, "ab");
        let rest = last.absorb(next.clone()).err();
        let (expected, left) = match joins {
            true => (delta(1, 1, 0, "abcd"), None),
            false => (delta(1, 1, 0, "ab"), Some(next)),
        };
        assert_eq!((last, rest), (expected, left), "{name}");
    }
    let mut bye = ServerFrame::Bye {};
    assert!(
        bye.absorb(delta(1, 1, 0, "ab")).is_err(),
        "nothing joins what is no delta"
    );
    assert!(delta(1, 1, 0, "ab").weight() > NOMINAL_WEIGHT);
}

/// WIRE-4
#[test]
fn what_a_frame_holds_weighs_as_much() {
    const LONG: usize = 100_000;
    let text = "x".repeat(LONG);
    let event = |event: serde_json::Value| {
        serde_json::json!({"type": "event", "session": "00000000-0000-4000-8000-000000000001",
            "event": event})
    };
    let ended =
        |item: serde_json::Value| event(serde_json::json!({"type": "item.ended", "item": item}));
    let blocks = serde_json::json!([
        {"type": "text", "text": text},
        {"type": "image", "data": text, "mimeType": "image/png"},
        {"type": "resource", "resource": {"text": text}},
    ]);
    let call = serde_json::json!({"type": "tool_call", "name": "t", "title": "t", "input": text,
        "content": [{"type": "content", "content": {"type": "text", "text": text}},
            {"type": "diff", "path": "/p", "new_text": text}]});
    let events = serde_json::json!([{"event": {"text": text}}, {"event": [text]}]);
    let table = [
        (
            ended(serde_json::json!({"type": "agent_message", "text": text})),
            1,
        ),
        (
            ended(serde_json::json!({"type": "user_message", "content": blocks})),
            3,
        ),
        (ended(call), 3),
        (
            event(
                serde_json::json!({"type": "item.partial", "kind": "thought", "offset": 0, "text": text}),
            ),
            1,
        ),
        (
            event(serde_json::json!({"type": "turn.queued", "input": blocks})),
            3,
        ),
        (
            serde_json::json!({"type": "receipt", "id": "s", "accepted": {"events": events}}),
            2,
        ),
        (serde_json::json!({"type": "bye"}), 0),
    ];
    for (frame, texts) in table {
        let kind = frame["event"]["type"].to_string();
        let weight = serde_json::from_value::<ServerFrame>(frame)
            .unwrap()
            .weight();
        assert!(
            (texts * LONG..texts * LONG + 4 * NOMINAL_WEIGHT).contains(&weight),
            "{kind}: {weight}"
        );
    }
}

#[test]
fn a_frame_is_written_as_one_line_that_says_its_version_first() {
    let mut line = Vec::new();
    delta(1, 1, 0, "a\nb").encode(&mut line);
    ServerFrame::Bye {}.encode(&mut line);
    let text = String::from_utf8(line).unwrap();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].starts_with(r#"{"v":1,"type":"event","#), "{text}");
    assert_eq!(lines[1], "{\"v\":1,\"type\":\"bye\"}\n");
}

#[tokio::test]
async fn frames_pass_both_ways_and_either_end_sees_the_other_go() {
    let (client, mut server) = pair();
    client.send(ClientFrame::Bye {}).await.unwrap();
    assert_eq!(server.recv().await, Some(ClientFrame::Bye {}));
    server.out.push(ServerFrame::Bye {});
    drop(server);
    assert_eq!(
        client.recv().await,
        Some(ServerFrame::Bye {}),
        "what was sent still arrives"
    );
    assert_eq!(client.recv().await, None);
    assert_eq!(client.send(ClientFrame::Bye {}).await, Err(Gone));

    let (client, mut server) = pair();
    drop(client);
    assert_eq!(server.recv().await, None);
    assert!(server.out.is_closed());
}

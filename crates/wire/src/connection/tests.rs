//! WIRE-6, WIRE-9: which events of the waist join in the queue, and how either end ends.

use sessiond_protocol::{ItemId, SessionId, Stream};

use super::*;

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

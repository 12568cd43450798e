use std::collections::VecDeque;

use sessiond_protocol::{Event, EventFrame, Finish, Item, ItemId, SessionId, Stream};
use sessiond_wire::queue::OutQueue;
use uuid::Uuid;

use super::{Piece, Printer};
use crate::args::Format;

const MESSAGE: u128 = 1;

fn started() -> (u128, Event) {
    (MESSAGE, Event::ItemStarted { item: message("") })
}

fn delta(offset: u64, text: &str) -> (u128, Event) {
    (
        MESSAGE,
        Event::ItemDelta {
            stream: Stream::Text,
            offset,
            text: text.into(),
        },
    )
}

fn ended(item: u128, text: &str) -> (u128, Event) {
    (
        item,
        Event::ItemEnded {
            item: message(text),
        },
    )
}

fn message(text: &str) -> Item {
    Item::AgentMessage {
        text: text.into(),
        finish: Finish::Whole,
    }
}

fn printed(json: bool, events: Vec<(u128, Event)>) -> String {
    let queue = OutQueue::new();
    let mut printer = Printer::new(queue.clone(), Format { json });
    for (item, event) in events {
        let item = Some(ItemId::new(Uuid::from_u128(item)));
        let session = SessionId::new(Uuid::from_u128(7));
        printer.print(EventFrame {
            item,
            ..EventFrame::new(session, event)
        });
    }
    printer.end();
    queue.close();
    let mut pieces = VecDeque::new();
    queue.take_all(&mut pieces);
    pieces.into_iter().map(|Piece(text)| text).collect()
}

#[test]
fn the_text_of_each_message_is_printed_once_on_lines_of_its_own() {
    let table = [
        (
            "streamed whole",
            vec![
                started(),
                delta(0, "hello "),
                delta(6, "you"),
                ended(1, "hello you"),
            ],
        ),
        ("not streamed", vec![ended(1, "hello you")]),
        (
            "a delta was lost",
            vec![
                started(),
                delta(0, "hel"),
                delta(6, "you"),
                ended(1, "hello you"),
            ],
        ),
        (
            "a delta came twice",
            vec![
                started(),
                delta(0, "hello "),
                delta(0, "hello "),
                ended(1, "hello you"),
            ],
        ),
        ("not ended", vec![started(), delta(0, "hello you")]),
    ];
    for (case, events) in table {
        assert_eq!(printed(false, events), "hello you\n", "{case}");
    }
    let two = vec![
        started(),
        delta(0, "one"),
        ended(1, "one"),
        ended(2, "two\n"),
    ];
    assert_eq!(printed(false, two), "one\ntwo\n");
}

#[test]
fn output_of_tools_is_not_the_answer() {
    let output = Event::ItemDelta {
        stream: Stream::Output,
        offset: 0,
        text: "noise".into(),
    };
    assert_eq!(printed(false, vec![(5, output)]), "");
}

#[test]
fn for_programs_each_event_is_one_frame_on_one_line() {
    let text = printed(true, vec![started(), delta(0, "a\nb")]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with(r#"{"v":1,"type":"event""#)),
        "{text}"
    );
}

//! The log and an agent's own record: equal, shorter, and not to be aligned.

use sessiond_protocol::{
    Content, Finish, HistoryItem, Item, ItemId, Lack, Origin, SessionId, ToolCall, TurnId,
};
use std::borrow::Cow;

use sessiond_engine::alignment::{Alignment, align};
use sessiond_engine::handover::Handover;

use super::Replay;
use crate::agent::update::{CallUpdate, Chunk, Piece, Update};

const SESSION: &str = "00000000-0000-0000-0000-000000000001";

fn session() -> SessionId {
    SESSION.parse().unwrap()
}

fn id(number: usize) -> String {
    format!("00000000-0000-0000-0000-{number:012}")
}

/// A history of these entries: `u:` the user, `a:` the agent, `c:` a call of that id.
fn history(entries: &[&str]) -> Vec<HistoryItem> {
    let item = |(number, entry): (usize, &&str)| {
        let (kind, text) = entry.split_once(':').unwrap();
        let text = text.to_owned();
        let item = match kind {
            "u" => Item::UserMessage {
                content: vec![Content::text(text)],
            },
            "a" => Item::AgentMessage {
                text,
                finish: Finish::Whole,
            },
            _ => Item::ToolCall(Box::new(ToolCall {
                native: Some(text),
                ..ToolCall::default()
            })),
        };
        let turn: TurnId = id(1).parse().unwrap();
        HistoryItem {
            id: id(number).parse::<ItemId>().unwrap(),
            turn: Some(turn),
            origin: Origin::Conversation,
            item,
        }
    };
    entries.iter().enumerate().map(item).collect()
}

fn chunk(text: &str) -> Chunk<'_> {
    Chunk {
        content: Piece::Text(Cow::Borrowed(text)),
        message: None,
    }
}

/// What an agent replays, in the same notation; `U:` begins a new message of the user although the
/// one before was the user's too.
fn replay(entries: &[&str]) -> Replay {
    let mut replay = Replay::default();
    for (number, entry) in entries.iter().enumerate() {
        let (kind, text) = entry.split_once(':').unwrap();
        replay.hear(match kind {
            "u" => Update::User(chunk(text)),
            "U" => Update::User(Chunk {
                message: Some(number.to_string()),
                ..chunk(text)
            }),
            "a" => Update::Agent(chunk(text)),
            _ => Update::Call(Box::new(CallUpdate {
                id: text.to_owned(),
                ..CallUpdate::default()
            })),
        });
    }
    replay
}

fn aligned(ours: &[&str], theirs: &[&str]) -> Alignment {
    align(session(), &history(ours), &replay(theirs).finish().unwrap())
}

/// ADAPT-10
#[test]
fn an_agents_own_record_is_the_log_lacks_its_end_or_is_not_relied_on() {
    use Alignment::{DiffersAt, LacksFrom, Same};
    let whole: &[&str] = &["u:one", "a:1", "u:two", "c:x", "a:2", "u:three", "a:3"];
    let cases: [(&[&str], &[&str], Alignment); 15] = [
        (&[], &[], Same),
        (whole, whole, Same),
        // White space and chunks are the agent's own business.
        (&["u:one  two", "a:1"], &["u:one", "u: two\n", "a:1"], Same),
        // The newest turns are missing.
        (
            whole,
            &["u:one", "a:1", "u:two", "c:x", "a:2"],
            LacksFrom(5),
        ),
        (whole, &["u:one", "a:1"], LacksFrom(2)),
        (whole, &[], LacksFrom(0)),
        // The newest turn is there in part: text or a call that was seen here.
        (
            whole,
            &["u:one", "a:1", "u:two", "c:x", "a:2", "u:three"],
            LacksFrom(5),
        ),
        (&["u:one", "c:x", "a:1"], &["u:one", "a:1"], LacksFrom(0)),
        // Of an older turn only what the user said is compared.
        (
            whole,
            &["u:one", "u:two", "c:x", "a:2", "u:three", "a:3"],
            Same,
        ),
        // Two messages of the user that follow each other may be one.
        (&["u:one", "u:two", "a:2"], &["u:one", "u:two", "a:2"], Same),
        (&["u:one", "u:two", "a:2"], &["U:one", "U:two", "a:2"], Same),
        // Reordered, foreign, missing at the front.
        (whole, &["u:two", "a:2", "u:one", "a:1"], DiffersAt(1)),
        (
            &["u:one", "a:1"],
            &["u:one", "a:1", "u:foreign", "a:f"],
            DiffersAt(2),
        ),
        (
            whole,
            &["u:two", "c:x", "a:2", "u:three", "a:3"],
            DiffersAt(1),
        ),
        (&["u:one", "a:1"], &["u:other", "a:1"], DiffersAt(1)),
    ];
    for (ours, theirs, expected) in cases {
        assert_eq!(
            aligned(ours, theirs),
            expected,
            "{ours:?} against {theirs:?}"
        );
    }
}

/// ADAPT-10: what was handed over is no message of the user, and is known to be there.
#[test]
fn what_was_handed_over_counts_as_known_in_every_form() {
    let ours = &["u:one", "a:1", "u:two", "a:2", "u:three", "a:3"];
    let items = history(ours);
    let handover = Handover::of(session(), &items[..4], Lack::Behind).unwrap();
    let text = handover.text().to_owned();
    let resource = crate::agent::handover::resource(&handover);
    let uri = resource["resource"]["uri"].as_str().unwrap();
    let forms = [
        format!("u:{text}three"),
        format!("u:three{text}"),
        // As some agents write a resource into their text.
        format!("u:three\n<context ref=\"{uri}\">\n{text}\n</context>"),
    ];
    for form in forms {
        assert_eq!(aligned(ours, &[&form, "a:3"]), Alignment::Same, "{form}");
        let missing = aligned(&[&ours[..], &["u:four"]].concat(), &[&form, "a:3"]);
        assert_eq!(missing, Alignment::LacksFrom(6), "{form}");
        let foreign = aligned(ours, &[&form.replace("three", "other"), "a:3"]);
        assert_eq!(foreign, Alignment::DiffersAt(1), "{form}");
    }
    let other = text.replace(SESSION, &id(2));
    let forged = aligned(ours, &[&format!("u:{other}three"), "a:3"]);
    assert_eq!(forged, Alignment::DiffersAt(1), "another session's");
}

/// What stands for a picture is words of ours: no agent has it in its own record.
#[test]
fn what_stands_for_a_picture_is_compared_with_nothing() {
    let mut ours = history(&["u:draw", "a:look", "a:[picture, image/png, 3 bytes]"]);
    ours[2].origin = Origin::Content;
    let theirs = replay(&["u:draw", "a:look"]).finish().unwrap();
    assert_eq!(align(session(), &ours, &theirs), Alignment::Same);
    ours[2].origin = Origin::Conversation;
    assert_eq!(align(session(), &ours, &theirs), Alignment::LacksFrom(0));
}

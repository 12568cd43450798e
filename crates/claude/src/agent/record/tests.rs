//! The CLI's transcripts beside the log.

use std::path::Path;

use sessiond_engine::Conversation;
use sessiond_protocol::{
    Content, Finish, HistoryItem, Item, ItemId, Lack, Origin, SessionId, ToolCall, ToolStatus,
    TurnId,
};
use uuid::Uuid;

use super::{Place, marker};

const SESSION: &str = "00000000-0000-4000-8000-000000000001";

fn session() -> SessionId {
    SESSION.parse().unwrap()
}

/// A conversation of these entries: `u:` the user, `a:` the agent, `c:` a call of that id.
fn conversation(entries: &[&str]) -> Conversation {
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
                name: "Bash".to_owned(),
                native: Some(text),
                status: ToolStatus::Completed,
                ..ToolCall::default()
            })),
        };
        HistoryItem {
            id: ItemId::new(Uuid::from_u128(0x4000_8000_0000_0000_0000 + number as u128)),
            turn: None,
            origin: Origin::Conversation,
            item,
        }
    };
    Conversation {
        items: entries.iter().enumerate().map(item).collect(),
        broken_off: None,
    }
}

fn place(config: &Path) -> Place {
    Place {
        config: config.to_owned(),
        cwd: "/work".to_owned(),
    }
}

/// What a transcript of `theirs` lacks of `ours`.
fn lacks(theirs: &[&str], ours: &[&str]) -> Option<Lack> {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    place.write(session(), &conversation(theirs).items).unwrap();
    let record = place.read(SESSION).unwrap().unwrap();
    record.lacks(session(), &conversation(ours))
}

/// ADAPT-10: a transcript that has all is taken up; one that is behind or of another conversation is
/// not, and neither is one of a conversation that was cleared.
#[test]
fn what_a_transcript_lacks_of_the_log_is_seen() {
    let one = ["u:one", "c:toolu_1", "a:first"];
    let two = ["u:one", "c:toolu_1", "a:first", "u:two", "a:second"];
    for (theirs, ours, expected) in [
        (&one[..], &one[..], None),
        (&two, &two, None),
        (&one, &two, Some(Lack::Behind)),
        (&one[..2], &one, Some(Lack::Behind)),
        (&["u:one", "a:first"], &one, Some(Lack::Behind)),
        (&two, &one, Some(Lack::Differs)),
        (&["u:other", "a:first"], &one, Some(Lack::Differs)),
        (&one, &[], Some(Lack::Differs)),
    ] {
        assert_eq!(lacks(theirs, ours), expected, "{theirs:?} {ours:?}");
    }
}

/// CTX-2: what the CLI has summed up cannot be compared; what was said since is.
#[test]
fn behind_a_summary_only_what_was_said_since_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    place.write(session(), &[]).unwrap();
    let path = crate::transcript::path(&place.config, &place.cwd, SESSION);
    let line = |uuid: u128, parent: Option<u128>, more: &str| {
        let id = |id: u128| format!("\"{}\"", Uuid::from_u128(id));
        let parent = parent.map_or("null".to_owned(), id);
        format!("{{\"uuid\":{},\"parentUuid\":{parent},{more}}}\n", id(uuid))
    };
    let user =
        |text: &str| format!(r#""type":"user","message":{{"role":"user","content":"{text}"}}"#);
    let boundary = r#""type":"system","subtype":"compact_boundary""#;
    let summary = format!("{},\"isCompactSummary\":true", user("summed up"));
    let mut text = line(1, None, &user("one"));
    text.push_str(&line(2, None, boundary));
    text.push_str(&line(3, Some(2), &summary));
    std::fs::write(&path, &text).unwrap();
    let known = conversation(&["u:one", "a:first"]);
    let lacks = |known: &Conversation| {
        let record = place.read(SESSION).unwrap().unwrap();
        record.lacks(session(), known)
    };
    assert_eq!(lacks(&known), None);
    let broken_off = Conversation {
        broken_off: Some(TurnId::new(Uuid::from_u128(1))),
        ..known
    };
    assert_eq!(lacks(&broken_off), Some(Lack::Behind));

    text.push_str(&line(4, Some(3), &user("two")));
    std::fs::write(&path, &text).unwrap();
    assert_eq!(lacks(&conversation(&["u:one", "a:first", "u:two"])), None);
    let more = conversation(&["u:one", "a:first", "u:two", "u:three"]);
    assert_eq!(lacks(&more), Some(Lack::Behind));
    let other = conversation(&["u:one", "a:first", "u:other"]);
    assert_eq!(lacks(&other), Some(Lack::Differs));
}

/// SEC-1: a transcript is the user's alone, and one that is there is never written over.
#[test]
fn a_transcript_is_private_and_never_written_over() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let items = conversation(&["u:one"]).items;
    place.write(session(), &items).unwrap();
    let path = crate::transcript::path(&place.config, &place.cwd, SESSION);
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let before = std::fs::read(&path).unwrap();
    place.write(session(), &items).unwrap_err();
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(place.read("00000000-0000-4000-8000-000000000002").is_none());
    assert!(marker(&[], Lack::Behind).is_none());
}

/// A session that began elsewhere has its transcript there.
#[test]
fn the_transcript_of_a_session_that_began_elsewhere_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = Place {
        cwd: "/else".to_owned(),
        ..place(folder.path())
    };
    let known = conversation(&["u:one"]);
    elsewhere.write(session(), &known.items).unwrap();
    let record = place(folder.path()).read(SESSION).unwrap().unwrap();
    assert_eq!(record.lacks(session(), &known), None);
}

//! A replay of an agent, as it is kept for comparing.

use std::borrow::Cow;

use super::{KEPT_BYTES, Replay};
use crate::agent::update::{CallUpdate, Chunk, Piece, Update};

fn chunk<'a>(message: &str, text: &'a str) -> Chunk<'a> {
    Chunk {
        content: Piece::Text(Cow::Borrowed(text)),
        message: (!message.is_empty()).then(|| message.to_owned()),
    }
}

fn call(id: &str) -> Update<'static> {
    Update::Call(Box::new(CallUpdate {
        id: id.to_owned(),
        ..CallUpdate::default()
    }))
}

/// ADAPT-10: chunks of one message are one, of another message another; of what the agent said and
/// did only the newest is kept.
#[test]
fn messages_are_told_apart_and_of_the_agents_own_only_the_newest_is_kept() {
    let mut replay = Replay::default();
    replay.hear(Update::User(chunk("a", "one")));
    replay.hear(Update::User(chunk("a", "more")));
    replay.hear(Update::User(chunk("b", "two")));
    replay.hear(Update::Agent(chunk("", "answer")));
    replay.hear(call("c1"));
    replay.hear(call("c1"));
    replay.hear(Update::User(chunk("", "three")));
    replay.hear(Update::Agent(chunk("", "newest")));
    replay.hear(call("c2"));
    let exchanges = replay.finish().unwrap();
    let told: Vec<_> = exchanges
        .iter()
        .map(|one| (&*one.user, &*one.said, one.calls.len()))
        .collect();
    assert_eq!(
        told,
        [
            ("one\nmore\n", "", 0),
            ("two\n", "", 0),
            ("three\n", "newest", 1)
        ]
    );
}

/// WIRE-4: a replay that is too long to keep is not compared.
#[test]
fn a_replay_is_kept_up_to_a_bound() {
    let text = "x".repeat(1 << 20);
    for (pieces, is_kept) in [(KEPT_BYTES >> 20, true), ((KEPT_BYTES >> 20) + 1, false)] {
        let mut replay = Replay::default();
        for _ in 0..pieces {
            replay.hear(Update::User(chunk("a", &text)));
        }
        assert_eq!(replay.finish().is_some(), is_kept, "{pieces} MiB");
    }
}

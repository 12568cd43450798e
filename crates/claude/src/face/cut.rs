//! Going on from an earlier message (`--resume-session-at`): the end of the turn that the message
//! ends is the bookmark that the conversation is taken back to.

use serde::Deserialize;
use serde_json::Value;
use sessiond_protocol::{
    Cursor, ErrorCode, Event, EventFrame, Item, ItemId, Marker, SessionId, TurnId, WireError,
};
use uuid::Uuid;

use super::engine::Engine;
use crate::message::result_uuid;

/// Where a message stands in a session, found page by page.
#[derive(Debug, Default)]
struct Search {
    /// The turn that the message belongs to, once it was found.
    turn: Option<TurnId>,
    /// Whether more was said in that turn behind it.
    goes_on: bool,
}

/// The bookmark behind a message.
///
/// # Errors
/// `not_found` where no message of the session has this `uuid`; `invalid` where its turn went on:
/// conversations are taken back to the ends of turns.
pub(super) async fn bookmark(
    engine: &mut Engine,
    session: SessionId,
    uuid: &str,
) -> Result<Cursor, WireError> {
    let absent = || {
        let message = format!("No message found with message.uuid of: {uuid}");
        WireError::new(ErrorCode::NotFound, message).about(session)
    };
    let wanted: Uuid = uuid.parse().map_err(|_| absent())?;
    let (mut search, mut after) = (Search::default(), Cursor::START);
    loop {
        let (events, next) = engine.page(session, after).await?;
        for event in events {
            if let Some(bookmark) = search.look(wanted, event) {
                return bookmark;
            }
        }
        after = next.ok_or_else(absent)?;
    }
}

/// Checks that going on from a bookmark discards the turn of this prompt, as far as it is in force,
/// and nothing else: what the program has not seen is not thrown away.
///
/// # Errors
/// `invalid`, in the words by which programs know it.
pub(super) async fn must_drop(
    engine: &mut Engine,
    session: SessionId,
    (at, prompt): (Cursor, &str),
) -> Result<(), WireError> {
    let prompt = prompt.parse().ok().map(TurnId::new);
    let (mut behind, mut after) = (Vec::new(), at);
    loop {
        let (events, next) = engine.page(session, after).await?;
        for event in events {
            dropped(&mut behind, event);
        }
        match next {
            Some(next) => after = next,
            None => break,
        }
    }
    if prompt.is_some() && behind.iter().all(|(_, turn)| *turn == prompt) {
        return Ok(());
    }
    let message = "Resume rejected by --resume-drops-turn: more than that turn would be discarded";
    Err(WireError::new(ErrorCode::Invalid, message).about(session))
}

/// Takes note of what is said behind a bookmark; what was cleared or taken back is discarded already.
fn dropped(behind: &mut Vec<(Cursor, Option<TurnId>)>, event: Value) {
    let Ok(frame) = EventFrame::deserialize(event) else {
        return;
    };
    match frame.event {
        Event::ItemEnded { .. } => behind.push((frame.cursor.unwrap_or_default(), frame.turn)),
        Event::Marker(Marker::Rewind { to, .. }) => behind.retain(|(cursor, _)| *cursor <= to),
        Event::Marker(Marker::Clear {}) => behind.clear(),
        _ => {}
    }
}

impl Search {
    /// Looks at the next event; the end of the message's turn decides.
    fn look(&mut self, wanted: Uuid, event: Value) -> Option<Result<Cursor, WireError>> {
        let frame = EventFrame::deserialize(event).ok()?;
        if self.turn.is_some() && frame.turn == self.turn {
            return match frame.event {
                Event::TurnEnded(_) if self.goes_on => {
                    let message = "the message is not the last one of its turn; a conversation is \
                                   taken back to the end of a turn";
                    Some(Err(WireError::new(ErrorCode::Invalid, message)))
                }
                Event::TurnEnded(ended) => Some(Ok(ended.bookmark)),
                Event::ItemEnded { item } => {
                    let is_said = !matches!(item, Item::Plan { .. } | Item::Thought { .. });
                    self.goes_on |= is_said;
                    None
                }
                _ => None,
            };
        }
        let is_wanted = |item: ItemId| item.uuid() == wanted || result_uuid(item) == wanted;
        if matches!(frame.event, Event::ItemEnded { .. }) && frame.item.is_some_and(is_wanted) {
            self.turn = frame.turn;
        }
        None
    }
}

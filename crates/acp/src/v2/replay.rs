//! A conversation as it is replayed: what it shows is what it showed live, in fewer pieces.

use std::collections::HashMap;

use sessiond_protocol::{
    Content, Event, EventFrame, Finish, Item, ItemId, ItemKind, SessionId, Severity, Stream,
    TurnId, TurnOutcome, Usage, prompt_item,
};

use super::show::{Show, message};
use super::update::Update;
use crate::client::{CHUNK_BYTES, Client, Voice};
use crate::replay::{INTERRUPTED, NOT_RUN, damage_sentence};
use crate::update::{Block, Remark};

/// Turns durable events into updates. A message is shown when it ends, since nothing else is shown
/// while one streams; calls are shown when they begin.
#[derive(Debug, Default)]
pub(super) struct Replay {
    show: Show,
    /// Messages that have not ended.
    texts: HashMap<ItemId, (ItemKind, String)>,
    /// Output that is not shown yet, and where in all of it that begins.
    outputs: HashMap<ItemId, (u64, String)>,
    /// The turn that began last.
    begun: Option<TurnId>,
    /// The prompt of a turn that has not begun: what becomes of it comes next.
    prompt: Option<(TurnId, Vec<Content>)>,
    usage: Option<Usage>,
}

impl Replay {
    /// Takes in the next event.
    pub(super) fn apply(&mut self, client: &Client, frame: EventFrame) {
        let (session, item) = (frame.session, frame.item);
        match (frame.event, item) {
            (Event::TurnStarted { .. }, _) => self.begun = frame.turn,
            (Event::TurnEnded(ended), _) => {
                if let Some(turn) = frame.turn {
                    self.turn_ended(client, session, (turn, ended.outcome));
                }
            }
            (Event::ItemStarted { item }, Some(id)) if is_text(item.kind()) => {
                self.texts.entry(id).or_insert((item.kind(), String::new()));
            }
            (Event::ItemPartial { kind, offset, text }, Some(id)) if is_text(kind) => {
                let text = (offset, text.as_str());
                more(
                    &mut self.texts.entry(id).or_insert((kind, String::new())).1,
                    text,
                );
            }
            (
                Event::ItemDelta {
                    stream: Stream::Text,
                    offset,
                    text,
                },
                Some(id),
            ) => {
                if let Some((_, known)) = self.texts.get_mut(&id) {
                    more(known, (offset, &text));
                }
            }
            (
                Event::ItemPartial { offset, text, .. } | Event::ItemDelta { offset, text, .. },
                Some(id),
            ) => {
                self.print(client, (session, id), (offset, &text));
            }
            (
                Event::ItemEnded {
                    item: Item::UserMessage { content },
                },
                Some(id),
            ) => {
                self.prompted(client, (session, id), (frame.turn, content));
            }
            (event, Some(id)) => {
                self.texts.remove(&id);
                self.flush(client, (session, id));
                self.show.apply(client, about(session, id, event));
            }
            (Event::SessionChanged(change), _) => {
                if let Some(title) = &change.title {
                    let updated_at = frame.at.as_deref();
                    client.update(session, &Update::SessionInfoUpdate { title, updated_at });
                }
            }
            (Event::Usage(usage), _) => self.usage = Some(usage),
            (Event::Damage { length, .. }, _) => damage(client, session, length),
            _ => {}
        }
    }

    /// Shows what is left. What is open goes on live.
    pub(super) fn finish(mut self, client: &Client, session: SessionId) -> Show {
        for id in self.outputs.keys().copied().collect::<Vec<_>>() {
            self.flush(client, (session, id));
        }
        for (id, (kind, text)) in std::mem::take(&mut self.texts) {
            let item = match kind {
                ItemKind::Thought => Item::Thought {
                    text,
                    finish: Finish::Whole,
                },
                _ => Item::AgentMessage {
                    text,
                    finish: Finish::Whole,
                },
            };
            let item = Event::ItemStarted { item };
            self.show.apply(client, about(session, id, item));
        }
        if let Some(usage) = &self.usage {
            client.update(session, &Update::UsageUpdate(usage.into()));
        }
        self.show
    }

    /// A prompt is part of the conversation from when its turn began; one that was taken back before
    /// never became a part, one that a dead process left waiting is shown and marked.
    fn prompted(
        &mut self,
        client: &Client,
        (session, id): (SessionId, ItemId),
        (turn, content): (Option<TurnId>, Vec<Content>),
    ) {
        match turn.filter(|turn| prompt_item(*turn) == id && self.begun != Some(*turn)) {
            Some(turn) => self.prompt = Some((turn, content)),
            None => say(client, (session, id), &content),
        }
    }

    fn turn_ended(
        &mut self,
        client: &Client,
        session: SessionId,
        (turn, outcome): (TurnId, TurnOutcome),
    ) {
        let prompt = self.prompt.take_if(|(of, _)| *of == turn);
        if let Some((_, content)) = prompt.filter(|_| outcome != TurnOutcome::Cancelled) {
            say(client, (session, prompt_item(turn)), &content);
        }
        self.show.end(client, session);
        match outcome {
            TurnOutcome::Interrupted => mark(client, session, (turn, "interrupted", INTERRUPTED)),
            TurnOutcome::NotRun => mark(client, session, (turn, "not_run", NOT_RUN)),
            TurnOutcome::Completed | TurnOutcome::Cancelled | TurnOutcome::Failed => {}
        }
    }

    /// Gathers output: it was stored in small pieces.
    fn print(&mut self, client: &Client, at: (SessionId, ItemId), (offset, text): (u64, &str)) {
        let (begin, known) = self.outputs.entry(at.1).or_insert((offset, String::new()));
        let end = begin.saturating_add(known.len() as u64);
        if end < offset {
            // A piece is missing; what was gathered is shown by itself.
            self.flush(client, at);
            return self.print(client, at, (offset, text));
        }
        more(known, (offset - (*begin).min(offset), text));
        if known.len() >= CHUNK_BYTES {
            self.flush(client, at);
        }
    }

    fn flush(&mut self, client: &Client, at: (SessionId, ItemId)) {
        if let Some((offset, text)) = self.outputs.remove(&at.1) {
            self.show.output(client, at, (offset, &text));
        }
    }
}

fn is_text(kind: ItemKind) -> bool {
    matches!(kind, ItemKind::AgentMessage | ItemKind::Thought)
}

/// Adds what is new of a text that is whole so far.
fn more(known: &mut String, (offset, text): (u64, &str)) {
    let overlap = (known.len() as u64)
        .checked_sub(offset)
        .map(usize::try_from);
    let fresh = overlap.and_then(|overlap| text.get(overlap.ok()?..));
    known.push_str(fresh.unwrap_or_default());
}

fn about(session: SessionId, item: ItemId, event: Event) -> EventFrame {
    EventFrame {
        item: Some(item),
        ..EventFrame::new(session, event)
    }
}

/// Shows what the user said.
pub(super) fn say(client: &Client, (session, id): (SessionId, ItemId), content: &[Content]) {
    for block in content {
        client.show(Voice::User, block, &message(session, id, None));
    }
}

/// Says that a place of the log cannot be read (LOG-4).
pub(super) fn damage(client: &Client, session: SessionId, length: u64) {
    let notice = Update::Notice {
        severity: Severity::Warning,
        title: &damage_sentence(length),
        description: None,
    };
    client.update(session, &notice);
}

/// A message that is nobody's: it says under our key what it marks. Its id is the turn's, and the same
/// in every replay.
fn mark(client: &Client, session: SessionId, (turn, marker, text): (TurnId, &'static str, &str)) {
    let message_id = &*format!("{turn}-{marker}");
    let meta = Remark::Marker(marker).into();
    let content = Block::text(text);
    client.update(
        session,
        &Update::AgentMessageChunk {
            message_id,
            meta,
            content,
        },
    );
}

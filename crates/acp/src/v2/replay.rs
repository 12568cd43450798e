//! A conversation as it is replayed: what it shows is what it showed live, in fewer pieces.

use std::collections::HashMap;

use sessiond_protocol::{
    Content, Event, EventFrame, Finish, Item, ItemId, ItemKind, SessionId, Severity, Stream,
    TurnId, TurnOutcome, Usage, prompt_item,
};

use super::show::{Show, message};
use super::update::Update;
use crate::client::{Client, Voice};
use crate::replay::{INTERRUPTED, NOT_RUN, damage_sentence};
use crate::update::{Block, Remark};

/// How much of the newest output of a call that runs is shown when its session is resumed, in bytes:
/// as much as anybody scrolls back.
const OUTPUT_BYTES: usize = 1 << 20;

/// Turns durable events into updates. A message is shown when it ends, since nothing else is shown
/// while one streams; calls are shown when they begin.
#[derive(Debug, Default)]
pub(super) struct Replay {
    show: Show,
    /// Messages that have not ended.
    texts: HashMap<ItemId, (ItemKind, String)>,
    /// The newest output of the calls that are open, and where in all of it that ends.
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
                self.print(id, (offset, &text));
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
                if let Event::ItemEnded { .. } = event {
                    self.texts.remove(&id);
                    self.outputs.remove(&id);
                }
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
        for (id, (end, text)) in std::mem::take(&mut self.outputs) {
            let begin = end.saturating_sub(text.len() as u64);
            self.show.output(client, (session, id), (begin, &text));
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

    /// Gathers output: of a call that has ended its result is shown, of one that runs this.
    fn print(&mut self, id: ItemId, (offset, text): (u64, &str)) {
        let (end, known) = self.outputs.entry(id).or_default();
        let overlap = usize::try_from(end.saturating_sub(offset)).ok();
        let fresh = overlap.and_then(|overlap| text.get(overlap..));
        known.push_str(fresh.unwrap_or_default());
        *end = (*end).max(offset.saturating_add(text.len() as u64));
        // Twice the bound is kept, so that cutting costs little for each byte.
        if known.len() > 2 * OUTPUT_BYTES {
            let from = known.len() - OUTPUT_BYTES;
            known.drain(..known.ceil_char_boundary(from));
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

//! What an agent emits becomes items: adjacent text is one message, stored while it streams.

use std::time::Duration;

use sessiond_protocol::{
    Event, EventFrame, Finish, Hook, Item, ItemId, ItemKind, PersistenceState, Stream, ToolCall,
    ToolStatus, limits::LEAN_OUTPUT_BYTES,
};

use super::{PARTIAL_AFTER, Stepping, Token, hooks::Waits};
use crate::agent::Emit;

/// Text of one item that grows, and how much of it is stored.
#[derive(Debug)]
pub(super) struct Growing {
    pub(super) item: ItemId,
    pub(super) kind: ItemKind,
    /// Messages: all of the text. Tool output: only what is not stored yet.
    text: String,
    /// Bytes of it that are to be stored while it grows.
    kept: usize,
    /// Bytes that are stored as partials.
    stored: usize,
    /// Bytes that were dropped from the front of `text` once stored.
    dropped: usize,
    /// When the oldest unstored byte came.
    since: Option<Duration>,
}

/// How a message ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageEnd {
    /// Something else follows, or the turn ended well.
    Whole,
    /// The turn was cancelled or failed under it.
    Cut,
}

impl Growing {
    fn new(item: ItemId, kind: ItemKind, persistence: PersistenceState) -> Self {
        Self {
            item,
            kind,
            text: String::new(),
            kept: match (persistence, kind) {
                (PersistenceState::Lean, ItemKind::Thought) => 0,
                (PersistenceState::Lean, ItemKind::ToolCall) => LEAN_OUTPUT_BYTES,
                _ => usize::MAX,
            },
            stored: 0,
            dropped: 0,
            since: None,
        }
    }

    fn len(&self) -> usize {
        self.dropped + self.text.len()
    }

    fn grow(&mut self, more: &str, now: Duration) -> u64 {
        let offset = self.len() as u64;
        self.text.push_str(more);
        if self.stored < self.kept {
            self.since.get_or_insert(now);
        } else if self.kind == ItemKind::ToolCall {
            self.drop_text();
        }
        offset
    }

    /// The call's end carries the output as the model saw it; no need to hold it here.
    fn drop_text(&mut self) {
        self.stored = self.len();
        self.dropped = self.stored;
        self.text.clear();
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.since.map(|since| since + PARTIAL_AFTER)
    }

    fn is_due(&self, now: Duration) -> bool {
        self.deadline().is_some_and(|deadline| deadline <= now)
    }

    /// The text that is not stored yet, as the partial that stores it.
    fn take_partial(&mut self) -> Event {
        let end = self
            .text
            .floor_char_boundary(self.kept.saturating_sub(self.dropped));
        let text = self
            .text
            .get(self.stored - self.dropped..end)
            .unwrap_or_default()
            .to_owned();
        let offset = self.stored as u64;
        self.stored = self.len();
        self.since = None;
        if self.kind == ItemKind::ToolCall {
            self.drop_text();
        }
        Event::ItemPartial {
            kind: self.kind,
            offset,
            text,
        }
    }

    /// All of the text, of a message.
    pub(super) fn all(&self) -> Event {
        Event::ItemDelta {
            stream: stream_of(self.kind),
            offset: 0,
            text: self.text.clone(),
        }
    }

    /// What an attaching client lacks after the durable events.
    pub(super) fn unstored(&self) -> Option<Event> {
        let text = self
            .text
            .get(self.stored - self.dropped..)
            .unwrap_or_default();
        let stream = stream_of(self.kind);
        let delta = || Event::ItemDelta {
            stream,
            offset: self.stored as u64,
            text: text.into(),
        };
        (!text.is_empty()).then(delta)
    }
}

fn stream_of(kind: ItemKind) -> Stream {
    if kind == ItemKind::ToolCall {
        Stream::Output
    } else {
        Stream::Text
    }
}

fn text_item(kind: ItemKind, text: String, finish: Finish) -> Item {
    match kind {
        ItemKind::Thought => Item::Thought { text, finish },
        _ => Item::AgentMessage { text, finish },
    }
}

impl Stepping<'_> {
    pub(super) fn emitted(&mut self, emit: Emit) {
        let Some(turn) = self.turn_id() else { return };
        match emit {
            Emit::Text(text) => self.text(ItemKind::AgentMessage, text),
            Emit::Thought(text) => self.text(ItemKind::Thought, text),
            Emit::Content(kind, content) => {
                self.end_message(MessageEnd::Whole);
                let item = self.mint.item();
                self.record(Some(turn), Some(item), Event::ItemContent { kind, content });
            }
            Emit::MessageEnd => self.end_message(MessageEnd::Whole),
            Emit::CallChanged(item, call) => {
                if self.is_open_call(item) {
                    self.record(Some(turn), Some(item), Event::ItemChanged { call });
                }
            }
            Emit::CallOutput(item, text) => self.output(item, text),
            Emit::CallEnded(item, call) => self.call_ended(item, call),
            Emit::Plan(entries) => {
                self.end_message(MessageEnd::Whole);
                let item = self.mint.item();
                let plan = Item::Plan { entries };
                self.record(Some(turn), Some(item), Event::ItemEnded { item: plan });
            }
            Emit::Usage(_)
            | Emit::Title(_)
            | Emit::Notice(..)
            | Emit::Commands(_)
            | Emit::Modes(_)
            | Emit::Mode(_)
            | Emit::Options(_)
            | Emit::Extension(..) => self.noted(emit),
        }
    }

    fn text(&mut self, kind: ItemKind, text: String) {
        if text.is_empty() {
            return;
        }
        if self.message_kind().is_some_and(|open| open != kind) {
            self.end_message(MessageEnd::Whole);
        }
        if self.message_kind().is_none() {
            let id = self.mint.item();
            let item = text_item(kind, String::new(), Finish::Whole);
            self.record(self.turn_id(), Some(id), Event::ItemStarted { item });
            let persistence = self.core.persistence;
            if let Some(turn) = &mut self.core.turn {
                turn.message = Some(Growing::new(id, kind, persistence));
            }
        }
        let now = self.now.elapsed;
        let Some(message) = self
            .core
            .turn
            .as_mut()
            .and_then(|turn| turn.message.as_mut())
        else {
            return;
        };
        let (item, offset) = (message.item, message.grow(&text, now));
        let delta = Event::ItemDelta {
            stream: Stream::Text,
            offset,
            text,
        };
        self.record(self.turn_id(), Some(item), delta);
    }

    fn message_kind(&self) -> Option<ItemKind> {
        self.core
            .turn
            .as_ref()?
            .message
            .as_ref()
            .map(|message| message.kind)
    }

    /// Ends the message that streams, if one does: the whole of it is recorded.
    pub(super) fn end_message(&mut self, end: MessageEnd) {
        let Some(turn) = &mut self.core.turn else {
            return;
        };
        let Some(message) = turn.message.take() else {
            return;
        };
        let finish = if end == MessageEnd::Whole {
            Finish::Whole
        } else {
            Finish::Cut
        };
        let item = text_item(message.kind, message.text, finish);
        let id = turn.id;
        self.record(Some(id), Some(message.item), Event::ItemEnded { item });
    }

    pub(super) fn call_started(&mut self, call: Box<ToolCall>, token: Token) {
        let Some(turn) = self.turn_id() else { return };
        self.end_message(MessageEnd::Whole);
        let id = self.mint.item();
        self.record(
            Some(turn),
            Some(id),
            Event::ItemStarted {
                item: Item::ToolCall(call.clone()),
            },
        );
        let hook = Hook::BeforeTool { call: call.clone() };
        self.raise(Some(id), hook, Waits::Call(token, id, call));
    }

    fn output(&mut self, item: ItemId, text: String) {
        if text.is_empty() || !self.is_open_call(item) {
            return;
        }
        let (now, persistence) = (self.now.elapsed, self.core.persistence);
        let Some(turn) = &mut self.core.turn else {
            return;
        };
        let known = turn.outputs.iter().position(|output| output.item == item);
        let at = known.unwrap_or_else(|| {
            let output = Growing::new(item, ItemKind::ToolCall, persistence);
            turn.outputs.push(output);
            turn.outputs.len() - 1
        });
        let Some(growing) = turn.outputs.get_mut(at) else {
            return;
        };
        let offset = growing.grow(&text, now);
        let delta = Event::ItemDelta {
            stream: Stream::Output,
            offset,
            text,
        };
        self.record(self.turn_id(), Some(item), delta);
    }

    fn call_ended(&mut self, item: ItemId, mut call: Box<ToolCall>) {
        if !self.is_open_call(item) {
            return;
        }
        if !call.status.is_final() {
            // An end is an end; an agent that names none has not said that it went well.
            call.status = ToolStatus::Failed;
        }
        if let Some(turn) = &mut self.core.turn {
            turn.outputs.retain(|output| output.item != item);
        }
        let turn = self.turn_id();
        self.record(
            turn,
            Some(item),
            Event::ItemEnded {
                item: Item::ToolCall(call.clone()),
            },
        );
        self.raise(Some(item), Hook::AfterTool { call }, Waits::AfterCall);
    }

    fn is_open_call(&self, item: ItemId) -> bool {
        let is_call = |open: &sessiond_protocol::OpenItem| {
            open.id == item && matches!(open.item, Item::ToolCall(_))
        };
        self.core.standing.open.iter().any(is_call)
    }

    /// Closes the calls that the agent left open when its turn ended.
    pub(super) fn end_open_calls(&mut self, status: ToolStatus, why: &str) {
        if let Some(turn) = &mut self.core.turn {
            turn.outputs.clear();
        }
        for open in self.core.standing.open.clone() {
            let Item::ToolCall(mut call) = open.item else {
                continue;
            };
            call.status = status;
            if !open.output.is_empty() {
                call.content
                    .push(sessiond_protocol::ToolContent::text(open.output));
            }
            call.content.push(sessiond_protocol::ToolContent::text(why));
            self.record(
                open.turn,
                Some(open.id),
                Event::ItemEnded {
                    item: Item::ToolCall(call),
                },
            );
        }
    }

    /// Stores what was shown and is due (LOG-17).
    pub(super) fn flush_partials(&mut self) {
        let now = self.now.elapsed;
        let Some(turn) = &mut self.core.turn else {
            return;
        };
        let growing = turn.message.iter_mut().chain(&mut turn.outputs);
        let due = growing.filter(|growing| growing.is_due(now));
        let partials: Vec<_> = due.map(|due| (due.item, due.take_partial())).collect();
        let id = turn.id;
        for (item, partial) in partials {
            self.record(Some(id), Some(item), partial);
        }
    }
}

/// An event of a session that has no place in the log.
pub(super) fn ephemeral(
    session: sessiond_protocol::SessionId,
    turn: sessiond_protocol::TurnId,
    item: Option<ItemId>,
    event: Event,
) -> EventFrame {
    EventFrame {
        turn: Some(turn),
        item,
        ..EventFrame::new(session, event)
    }
}

/// The start of a text item, as a live client sees it.
pub(super) fn text_started(kind: ItemKind) -> Event {
    Event::ItemStarted {
        item: text_item(kind, String::new(), Finish::Whole),
    }
}

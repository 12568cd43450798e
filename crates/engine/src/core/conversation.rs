//! What clients change of the conversation itself, between its turns.

use sessiond_protocol::{
    Accepted, Content, Course, Cursor, ErrorCode, Event, EventFrame, Item, Persistence, Titler,
    ToolContent, WireError, limits,
};

use super::{Cause, ConnId, Core, Effect, Stepping, Sync, Urgent, closed};

impl Core {
    /// Why the conversation cannot be changed now, if it cannot.
    pub(super) fn occupied(&self) -> Option<WireError> {
        let is_occupied = self.turn.is_some() || !self.standing.waiting.is_empty();
        let message = "a turn is running or waits; interrupt it, then try again";
        is_occupied.then(|| WireError::new(ErrorCode::Busy, message))
    }

    /// Whether a client may change the conversation now: only then need the log be read for it.
    pub(crate) fn is_changeable_by(&self, conn: ConnId) -> bool {
        !self.is_closed() && !self.viewers.contains(&conn) && self.occupied().is_none()
    }
}

impl Stepping<'_> {
    /// The agent is opened anew by the next turn, with what is in force then (CKPT-2).
    pub(super) fn rewind(&mut self, cause: &Cause, to: Cursor, course: &Course) {
        if let Some(error) = self.unchangeable(cause) {
            return self.reject(cause, error);
        }
        let marker = match course.rewind(to) {
            Ok(marker) => marker,
            Err(error) => {
                return self.reject(cause, invalid(error.to_string(), "/op/to"));
            }
        };
        self.step.urgent.push(Urgent::DropAgent);
        self.record(None, None, Event::Marker(marker));
        self.accept(cause, Accepted::Done {});
    }

    /// Items of a client become part of the conversation; the agent is opened anew with them.
    pub(super) fn append_items(&mut self, cause: &Cause, items: Vec<Item>) {
        let error = self.core.occupied().or_else(|| unfit(&items));
        if let Some(error) = error {
            return self.reject(cause, error);
        }
        self.step.urgent.push(Urgent::DropAgent);
        // Also where lean persistence stores nothing of the items.
        self.record_closings();
        let title = items.iter().find_map(prompt_text).map(str::to_owned);
        for item in items {
            let frame = EventFrame {
                item: Some(self.mint.item()),
                cause: Some(cause.id.clone()),
                ..EventFrame::new(self.core.session, Event::ItemEnded { item })
            };
            // Lean persistence keeps no thoughts, these neither.
            if frame.event.persistence(self.core.persistence) == Persistence::Never {
                self.push(Effect::Deliver(frame));
            } else {
                self.append(frame);
            }
        }
        if let Some(title) = title {
            self.title(&title, Titler::Prompt);
        }
        self.step.sync = Sync::Synced;
        self.accept(cause, Accepted::Done {});
    }

    fn unchangeable(&self, cause: &Cause) -> Option<WireError> {
        let is_closed = self.core.is_closed();
        is_closed
            .then(closed)
            .or_else(|| self.only_looks_on(cause.conn))
            .or_else(|| self.core.occupied())
    }
}

/// Why items cannot be part of a conversation; the first that cannot is named.
fn unfit(items: &[Item]) -> Option<WireError> {
    let most = limits::APPENDED_ITEMS;
    if items.is_empty() || items.len() > most {
        let message = format!("from 1 to {most} items can be appended at once");
        return Some(invalid(message, "/op/items"));
    }
    let mut unfit = items.iter().enumerate();
    let (at, why) = unfit.find_map(|(at, item)| Some((at, unfit_item(item)?)))?;
    Some(invalid(why, &format!("/op/items/{at}")))
}

pub(super) fn prompt_text(item: &Item) -> Option<&str> {
    match item {
        Item::UserMessage { content } => content.iter().find_map(Content::as_text),
        _ => None,
    }
}

pub(crate) fn unfit_item(item: &Item) -> Option<&'static str> {
    match item {
        Item::UserMessage { content } if content.is_empty() => Some("a message needs content"),
        Item::ToolCall(call) if !call.status.is_final() => Some("a call must have ended"),
        Item::ToolCall(call) if call.content.iter().any(is_terminal) => {
            Some("a terminal is of the client that has it; append its text")
        }
        Item::UserMessage { .. }
        | Item::AgentMessage { .. }
        | Item::Thought { .. }
        | Item::ToolCall(_) => None,
        Item::Plan { .. } | Item::Compaction(_) => {
            Some("only messages, thoughts and tool calls can be appended")
        }
    }
}

fn is_terminal(content: &ToolContent) -> bool {
    matches!(content, ToolContent::Terminal { .. })
}

fn invalid(message: impl Into<String>, pointer: &str) -> WireError {
    let mut error = WireError::new(ErrorCode::Invalid, message);
    error.pointer = Some(pointer.to_owned());
    error
}

//! What commands that follow a turn print: the agent's text, or event frames one a line.

use sessiond_protocol::{
    Event, EventFrame, Item, ItemId, ItemKind, ServerFrame, Stream, TurnEnded, TurnId, encode,
};
use sessiond_wire::queue::{Coalesce, OutQueue};
use sessiond_wire::stdio::Encode;

use crate::args::Format;

/// A piece of output.
#[derive(Debug)]
pub(crate) struct Piece(String);

impl Coalesce for Piece {
    fn absorb(&mut self, next: Self) -> Result<(), Self> {
        self.0.push_str(&next.0);
        Ok(())
    }

    fn weight(&self) -> usize {
        self.0.len()
    }
}

impl Encode for Piece {
    fn encode(&self, line: &mut Vec<u8>) {
        line.extend_from_slice(self.0.as_bytes());
    }
}

/// Prints events as they come.
#[derive(Debug)]
pub(crate) struct Printer {
    output: OutQueue<Piece>,
    format: Format,
    /// The message whose text is being printed, and how much of it is, in bytes.
    message: Option<(ItemId, usize)>,
    /// Whether the last byte was a line's end.
    at_line_start: bool,
    ended: Option<(TurnId, TurnEnded)>,
}

impl Printer {
    pub(crate) fn new(output: OutQueue<Piece>, format: Format) -> Printer {
        Printer {
            output,
            format,
            message: None,
            at_line_start: true,
            ended: None,
        }
    }

    /// Takes in an event.
    pub(crate) fn print(&mut self, frame: EventFrame) {
        if let (Event::TurnEnded(ended), Some(turn)) = (&frame.event, frame.turn) {
            self.ended = Some((turn, ended.clone()));
        }
        if !self.format.json {
            return self.print_text(&frame);
        }
        if let Ok(line) = encode(&ServerFrame::Event(frame)) {
            self.output.push(Piece(line));
        }
    }

    /// How the turn ended, once it has.
    pub(crate) fn ended(&self, turn: TurnId) -> Option<TurnEnded> {
        let (id, ended) = self.ended.as_ref()?;
        (*id == turn).then(|| ended.clone())
    }

    /// Ends the last line.
    pub(crate) fn end(&mut self) {
        if !self.at_line_start {
            self.push("\n");
        }
    }

    /// Whether frames are printed, for a program.
    pub(crate) fn is_json(&self) -> bool {
        self.format.json
    }

    /// Prints a line of its own, in the format for people.
    pub(crate) fn note(&mut self, text: &str) {
        self.end();
        self.push(&format!("{text}\n"));
    }

    /// Waits while the reader is far behind.
    pub(crate) async fn ready(&self) {
        self.output.ready().await;
    }

    /// Waits for the reader to go.
    pub(crate) async fn reader_gone(&self) {
        self.output.closed().await;
    }

    fn print_text(&mut self, frame: &EventFrame) {
        let Some(item) = frame.item else { return };
        match &frame.event {
            Event::ItemStarted {
                item: Item::AgentMessage { text, .. },
            } => {
                self.continue_message(item, 0, text);
            }
            Event::ItemDelta {
                stream: Stream::Text,
                offset,
                text,
            } if self.message.is_some_and(|(id, _)| id == item) => {
                self.continue_message(item, usize::try_from(*offset).unwrap_or(usize::MAX), text);
            }
            Event::ItemEnded {
                item: Item::AgentMessage { text, .. },
            } => {
                self.continue_message(item, 0, text);
                self.end();
                self.message = None;
            }
            Event::ItemContent {
                kind: ItemKind::AgentMessage,
                content,
            } => self.note(&content.in_words()),
            _ => {}
        }
    }

    /// Prints what of `text`, which begins at `offset`, has not been printed yet.
    fn continue_message(&mut self, item: ItemId, offset: usize, text: &str) {
        if self.message.is_none_or(|(id, _)| id != item) {
            self.end();
            self.message = Some((item, 0));
        }
        let Some((_, printed)) = &mut self.message else {
            return;
        };
        let Some(new) = printed
            .checked_sub(offset)
            .and_then(|known| text.get(known..))
        else {
            return;
        };
        *printed += new.len();
        let new = new.to_owned();
        self.push(&new);
    }

    fn push(&mut self, text: &str) {
        if let Some(last) = text.as_bytes().last() {
            self.at_line_start = *last == b'\n';
            self.output.push(Piece(text.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests;

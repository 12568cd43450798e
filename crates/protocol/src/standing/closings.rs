//! What closes a turn that a dead process left open (LOG-17, RESUME-6).

use super::{OpenItem, Standing, WaitingTurn};
use crate::{
    ErrorCode, Event, EventFrame, Finish, ForkPoint, Item, ItemId, Marker, Outcome, SessionChanged,
    SessionId, ToolCall, ToolContent, ToolStatus, TurnEnded, TurnId, TurnOutcome, WireError,
    limits,
};

impl Standing {
    /// The events that close what a dead process, or the parent of a fork, left open, without cursors: what a load shows and
    /// what the next append records first (LOG-17, RESUME-6). The same for every load.
    pub fn closings(&self, session: SessionId) -> Vec<EventFrame> {
        let mut closings = Vec::new();
        let mut push = |turn, item, event| {
            closings.push(EventFrame {
                turn,
                item,
                ..EventFrame::new(session, event)
            });
        };
        if let Some(ForkPoint { session, at }) = &self.unmarked_fork {
            let (parent, at) = (*session, *at);
            push(None, None, Event::Marker(Marker::Fork { parent, at }));
            if let Some(title) = &self.title {
                let change = SessionChanged {
                    title: Some(title_of_fork(title)),
                    titled_by: self.titled_by,
                    ..SessionChanged::default()
                };
                push(None, None, Event::SessionChanged(change));
            }
        }
        for request in &self.requests {
            let event = Event::RequestClosed {
                request: request.id,
                outcome: Outcome::Cancelled,
                refused: 0,
            };
            push(request.turn, request.item, event);
        }
        if let Some(begun) = &self.begun {
            push(Some(begun.id), Some(prompt_item(begun.id)), said(begun));
        }
        for open in &self.open {
            push(
                open.turn,
                Some(open.id),
                Event::ItemEnded {
                    item: interrupted(open),
                },
            );
        }
        if let Some(turn) = self.active {
            push(
                Some(turn),
                None,
                Event::TurnEnded(self.ended(TurnOutcome::Interrupted)),
            );
        }
        for waiting in &self.waiting {
            if !waiting.is_item {
                push(
                    Some(waiting.id),
                    Some(prompt_item(waiting.id)),
                    said(waiting),
                );
            }
            push(
                Some(waiting.id),
                None,
                Event::TurnEnded(self.ended(TurnOutcome::NotRun)),
            );
        }
        closings
    }

    fn ended(&self, outcome: TurnOutcome) -> TurnEnded {
        let message = match outcome {
            TurnOutcome::NotRun => "the session ended before this prompt's turn came",
            _ => "the session ended in the middle of this turn",
        };
        let error = Some(WireError::new(ErrorCode::AgentFailed, message));
        TurnEnded {
            outcome,
            stop: None,
            usage: None,
            bookmark: self.cursor,
            error,
        }
    }
}

/// The prompt of a turn that waited, as an item.
fn said(turn: &WaitingTurn) -> Event {
    let content = turn.input.clone();
    Event::ItemEnded {
        item: Item::UserMessage { content },
    }
}

/// The item that holds a turn's prompt: it carries the turn's own UUID, so that it has the same id
/// whether or not the turn ever began.
pub fn prompt_item(turn: TurnId) -> ItemId {
    ItemId::new(turn.uuid())
}

fn interrupted(open: &OpenItem) -> Item {
    match open.item.clone() {
        Item::AgentMessage { text, .. } => Item::AgentMessage {
            text,
            finish: Finish::Interrupted,
        },
        Item::Thought { text, .. } => Item::Thought {
            text,
            finish: Finish::Interrupted,
        },
        Item::ToolCall(call) => Item::ToolCall(Box::new(outcome_unknown(*call, &open.output))),
        whole @ (Item::UserMessage { .. } | Item::Plan { .. } | Item::Compaction(_)) => whole,
    }
}

fn outcome_unknown(mut call: ToolCall, output: &str) -> ToolCall {
    let why = match call.status {
        ToolStatus::Pending => {
            "Outcome unknown: the session ended before this call was recorded as begun. \
             It is not run again by itself."
        }
        _ => {
            "Outcome unknown: the session ended while this call ran. It is not run again by itself."
        }
    };
    call.status = ToolStatus::Unknown;
    // A dead client's terminal must not be shown; the text that follows says what is known.
    call.content
        .retain(|content| !matches!(content, ToolContent::Terminal { .. }));
    if !output.is_empty() {
        call.content.push(ToolContent::text(output));
    }
    call.content.push(ToolContent::text(why));
    call
}

/// The title of a fork: it has to be another one, also where the user chose it, because sessions are
/// found by their titles (RESUME-2).
fn title_of_fork(title: &str) -> String {
    let (base, count) = match title.rsplit_once(" (fork") {
        Some((base, ")")) => (base, 2),
        Some((base, count)) => {
            let digits = count
                .strip_prefix(' ')
                .and_then(|rest| rest.strip_suffix(')'));
            match digits.and_then(|digits| digits.parse::<u32>().ok()) {
                Some(count) => (base, count.saturating_add(1)),
                None => (title, 1),
            }
        }
        None => (title, 1),
    };
    let suffix = match count {
        1 => " (fork)".to_owned(),
        count => format!(" (fork {count})"),
    };
    let room = limits::TITLE_CHARS.saturating_sub(suffix.chars().count());
    let base: String = base.chars().take(room).collect();
    format!("{}{suffix}", base.trim_end())
}

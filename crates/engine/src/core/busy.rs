//! What becomes of input: a turn of its own, now or later, or a part of the active one (SQEQ-2).

use sessiond_protocol::{
    Accepted, Content, ErrorCode, Event, EventFrame, IdempotencyKey, IfBusy, Item, ItemId, Keyed,
    Marker, Place, Queued, SubmissionId, TurnId, WireError, limits,
};

use super::{Cause, Effect, Stepping, Token, closed, stream::MessageEnd};

/// Input that was found good.
struct Wanted {
    cause: Cause,
    input: Vec<Content>,
    keyed: Option<Keyed>,
}

impl Stepping<'_> {
    pub(super) fn turn_start(
        &mut self,
        cause: Cause,
        input: Vec<Content>,
        (if_busy, key): (IfBusy, Option<IdempotencyKey>),
    ) {
        if let Some(key) = &key
            && let Some(known) = self.known(key, &input)
        {
            return match known {
                Ok(turn) => {
                    let stage = self.stage(turn);
                    self.accept(&cause, Accepted::Repeated { turn, stage })
                }
                Err(error) => self.reject(&cause, error),
            };
        }
        if let Some(error) = self.unfit(&input) {
            return self.reject(&cause, error);
        }
        let keyed = match key.map(|key| self.keyed(key, &input)).transpose() {
            Ok(keyed) => keyed,
            Err(error) => return self.reject(&cause, error),
        };
        let wanted = Wanted {
            cause,
            input,
            keyed,
        };
        let Some(active) = self.turn_id() else {
            return self.start(wanted);
        };
        match if_busy {
            IfBusy::Reject => {
                let message = "a turn is active; interrupt it, or submit with if_busy queue";
                let mut error = WireError::new(ErrorCode::TurnActive, message);
                error.turn = Some(active);
                self.reject(&wanted.cause, error);
            }
            IfBusy::Queue => self.queue_up(wanted),
            // What is being stopped takes nothing more; the input is wanted all the same.
            IfBusy::Steer if self.is_cancelling() => self.queue_up(wanted),
            IfBusy::Steer if self.covers().is_some() => self.queue_up(wanted),
            IfBusy::Steer => self.steer(active, wanted),
            IfBusy::Replace => self.replace(wanted),
        }
    }

    /// `turn.steer`: never a turn of its own.
    pub(super) fn turn_steer(&mut self, cause: Cause, input: Vec<Content>, turn: Option<TurnId>) {
        if let Some(error) = self.unfit(&input) {
            return self.reject(&cause, error);
        }
        let active = self.turn_id().filter(|_| !self.is_cancelling());
        let active = active.filter(|_| self.covers().is_none());
        let not_active = |message| {
            let mut error = WireError::new(ErrorCode::TurnNotActive, message);
            error.turn = active;
            error
        };
        let wanted = Wanted {
            cause,
            input,
            keyed: None,
        };
        match (active, turn) {
            (None, _) => self.reject(&wanted.cause, not_active("no turn is active")),
            (Some(active), Some(turn)) if active != turn => {
                self.reject(&wanted.cause, not_active("another turn is active"));
            }
            (Some(active), _) => self.steer(active, wanted),
        }
    }

    /// Why input cannot be taken at all.
    fn unfit(&self, input: &[Content]) -> Option<WireError> {
        if !self.core.closing.is_open() {
            return Some(closed());
        }
        let none = || WireError::new(ErrorCode::Invalid, "a turn needs input");
        input.is_empty().then(none)
    }

    fn start(&mut self, wanted: Wanted) {
        let turn = self.mint.turn();
        self.accept(&wanted.cause, Accepted::Turn { turn });
        self.begin((turn, Some(wanted.cause.id)), wanted.input, wanted.keyed);
    }

    fn queue_up(&mut self, wanted: Wanted) {
        if self.core.standing.waiting.len() >= limits::QUEUED_TURNS {
            let message = format!("{} prompts wait already", limits::QUEUED_TURNS);
            let error = WireError::new(ErrorCode::QueueFull, message);
            return self.reject(&wanted.cause, error);
        }
        self.queue(wanted, Place::Last);
    }

    /// At most one turn waits to replace the active one, so the queue stays bounded.
    fn replace(&mut self, wanted: Wanted) {
        self.end_waiting(|waiting| waiting.place == Place::First);
        self.queue(wanted, Place::First);
        self.interrupt(None, Queued::Keep);
    }

    fn queue(&mut self, wanted: Wanted, place: Place) {
        let turn = self.mint.turn();
        self.accept(&wanted.cause, Accepted::Turn { turn });
        self.note_asker(turn, wanted.cause.conn);
        let queued = Event::TurnQueued {
            input: wanted.input,
            place,
            keyed: wanted.keyed,
        };
        self.append_for((turn, wanted.cause.id), None, queued);
    }

    /// The input is an item of the active turn at once; the agent takes it when it can.
    fn steer(&mut self, turn: TurnId, wanted: Wanted) {
        let Wanted {
            cause,
            input,
            keyed,
        } = wanted;
        let waiting = self.core.turn.as_ref().map_or(0, |turn| turn.steers.len());
        if waiting >= limits::STEERS {
            let message = format!("{} inputs wait for the agent already", limits::STEERS);
            return self.reject(&cause, WireError::new(ErrorCode::QueueFull, message));
        }
        self.accept(&cause, Accepted::Turn { turn });
        // What the agent says from here on it says after this.
        self.end_message(MessageEnd::Whole);
        let item = self.mint.item();
        let content = input.clone();
        let said = Event::ItemEnded {
            item: Item::UserMessage { content },
        };
        self.append_for((turn, cause.id.clone()), Some(item), said);
        if let Some(keyed) = keyed {
            let marker = Event::Marker(Marker::Key { keyed });
            self.append_for((turn, cause.id), None, marker);
        }
        if let Some(active) = &mut self.core.turn {
            active.steers.push(input);
        }
        self.push(Effect::Steered);
    }

    /// Gives the agent what was added to its turn since it last took something.
    pub(super) fn take_steers(&mut self, token: Token) {
        let steers = match &mut self.core.turn {
            Some(active) => std::mem::take(&mut active.steers),
            None => Vec::new(),
        };
        self.push(Effect::Steers(token, steers));
    }

    /// Records what a submission did to a turn that another one may have caused (SQEQ-1).
    fn append_for(
        &mut self,
        (turn, cause): (TurnId, SubmissionId),
        item: Option<ItemId>,
        event: Event,
    ) {
        let (turn, cause) = (Some(turn), Some(cause));
        self.append(EventFrame {
            turn,
            item,
            cause,
            ..EventFrame::new(self.core.session, event)
        });
    }
}

//! Clients that look on, and a turn that its client has left to itself.

use sessiond_protocol::{
    Content, Cursor, ErrorCode, Event, IfBusy, Item, Marker, OnDisconnect, Op, Outcome, Queued,
    RequestBody, RequestKind, Stream, Verdict,
};
use std::collections::BTreeMap;

use super::{
    Broken,
    act::{Act, Meddling, Place, Question},
    ensure,
    model::{Controller, Model},
    rig::Rig,
    verdict::Taken,
};
use crate::core::{Cause, ConnId, Input};

/// Whether it asks somebody: it can wait for the next client.
pub(super) fn is_question(kind: RequestKind) -> bool {
    matches!(kind, RequestKind::Permission | RequestKind::Elicitation)
}

impl Model {
    /// Nobody is there, and nothing runs.
    pub(super) fn is_alone(&self) -> bool {
        self.controller.is_none() && self.viewers.is_empty()
    }

    /// The controller leaves the turn to itself.
    pub(super) fn left(&mut self, gone: &Controller) {
        let kinds = gone.answers.iter().copied();
        self.awaited = kinds.filter(|kind| is_question(*kind)).collect();
    }

    /// What the agent hears of what a client left unanswered that cannot be asked anew.
    pub(super) fn unanswered(body: &RequestBody) -> Outcome {
        match body {
            RequestBody::FsRead { .. } => Outcome::Unanswered,
            _ => Outcome::Failed {
                message: "the client went before it answered".into(),
            },
        }
    }
}

impl Rig {
    pub(super) fn view(&mut self, conn: ConnId, place: Place) -> Result<(), Broken> {
        let controls = self.client == Some(conn);
        if !self.stopped && controls {
            // The actor refuses that.
            return Ok(());
        }
        self.come(place)?;
        self.model.viewers.insert(conn.0);
        let taken = self.take(Input::Viewed { conn })?;
        ensure!(taken.is_nothing(), "who looks on changes nothing");
        Ok(())
    }

    /// Another client controls the session instead of the one that did.
    pub(super) fn swap(&mut self, on_disconnect: OnDisconnect, answers: u8) -> Result<(), Broken> {
        let Some(conn) = self.client else {
            return Ok(());
        };
        self.disconnect(conn)?;
        let next = ConnId((conn.0 + 1) % 3);
        self.attach(next, (on_disconnect, answers), Place::Same)
    }

    pub(super) fn forsake(&mut self) -> Result<(), Broken> {
        self.swap(OnDisconnect::Detach, 0)?;
        self.swap(OnDisconnect::Finish, 0)?;
        if let Some(conn) = self.client {
            self.disconnect(conn)?;
        }
        let question = Question::Permission(2);
        self.agent_acts(&Act::Ask {
            call: None,
            question,
        })
    }

    /// Who only looks on submits something, which changes nothing.
    pub(super) fn meddle(&mut self, conn: ConnId, what: Meddling) -> Result<(), Broken> {
        if self.is_stopped() || !self.model.viewers.contains(&conn.0) {
            return Ok(());
        }
        let op = match what {
            Meddling::Start => Op::TurnStart {
                input: vec![Content::text("mine")],
                if_busy: IfBusy::Replace,
                idempotency_key: None,
            },
            Meddling::Interrupt => Op::TurnInterrupt {
                turn: None,
                queued: Queued::Cancel,
            },
            Meddling::Configure => Op::set_mode("auto"),
            Meddling::Clear => Op::SessionClear {},
            Meddling::Close => Op::SessionClose {},
            Meddling::Append => Op::SessionAppend {
                items: vec![Item::UserMessage {
                    content: vec![Content::text("mine")],
                }],
            },
            Meddling::Rewind => Op::SessionRewind { to: Cursor(1) },
            Meddling::Compact => Op::SessionCompact {},
        };
        let id = self.submission()?;
        let cause = Cause { conn, id };
        let input = self.input(cause, op);
        let taken = self.take(input)?;
        let code = match self.model.closed {
            true => ErrorCode::NotFound,
            false => ErrorCode::ViewOnly,
        };
        let refused = match taken.receipts.as_slice() {
            [receipt] => matches!(&receipt.result, Verdict::Error(error) if error.code == code),
            _ => false,
        };
        ensure!(
            refused && taken.is_only_a_receipt(),
            "who looks on changes nothing: {taken:?}"
        );
        Ok(())
    }

    /// Who looked on goes.
    pub(super) fn looks_away(&mut self, conn: ConnId) -> Result<(), Broken> {
        self.model.viewers.remove(&conn.0);
        let taken = self.take(Input::Disconnected { conn })?;
        let only = taken.records == 0 && taken.urgent.is_empty();
        ensure!(
            only && taken.others == usize::from(taken.stop),
            "who looked on leaves nothing behind: {taken:?}"
        );
        Ok(())
    }

    /// A session is let go when it is closed, or when nobody is there and nothing runs; and no
    /// sooner.
    pub(super) fn let_go(&self, taken: &Taken, goes: Goes) -> Result<(), Broken> {
        let (active, waiting) = self.turns();
        let over = active.is_none() && waiting.is_empty() && self.model.is_alone();
        ensure!(
            over || self.model.closed || !taken.stop,
            "a session is let go that somebody needs"
        );
        ensure!(
            !over || goes == Goes::Nobody || taken.stop,
            "a session is never let go"
        );
        Ok(())
    }

    /// Who looks on and has seen nothing of what is in flight is shown all of it.
    pub(super) fn newcomers_see_all(&self) -> Result<(), Broken> {
        if self.books.is_stale() {
            return Ok(());
        }
        let mut texts = BTreeMap::new();
        let mut requests = Vec::new();
        for frame in self.core.in_flight() {
            ensure!(frame.cursor.is_none(), "what is in flight has no cursor");
            match (frame.item, frame.event) {
                (
                    Some(item),
                    Event::ItemStarted {
                        item: Item::ToolCall(_) | Item::AgentMessage { .. } | Item::Thought { .. },
                    },
                ) => {
                    texts.insert(item, String::new());
                }
                (
                    Some(item),
                    Event::ItemDelta {
                        stream: Stream::Text | Stream::Output,
                        offset,
                        text,
                    },
                ) => {
                    let known: &mut String = texts.get_mut(&item).ok_or("a delta of nothing")?;
                    ensure!(offset == known.len() as u64, "a delta goes on (WIRE-9)");
                    known.push_str(&text);
                }
                (_, Event::RequestOpened { request, .. }) => requests.push(request),
                (_, Event::Marker(Marker::Attest { .. })) => {}
                (_, other) => return Err(format!("{} in flight", other.kind()).into()),
            }
        }
        ensure!(
            texts == self.shown.texts(),
            "{texts:?} is shown, not {:?}",
            self.shown.texts()
        );
        requests.sort_unstable();
        ensure!(
            requests.iter().eq(self.books.requests.keys()),
            "the open requests are shown"
        );
        Ok(())
    }
}

/// What comes to its end in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goes {
    Client,
    Turn,
    Nobody,
}

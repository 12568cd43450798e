//! How clients come and go, time passes, and processes live and die.

use std::{collections::BTreeSet, time::Duration};

use sessiond_protocol::{
    Drift, DriftClass, DriftField, Event, EventFrame, FoundBy, Loaded, Marker, OnDisconnect,
    Outcome, RequestId, RequestKind, ResumePath, Standing, Surroundings, TurnOutcome,
};

use super::{
    Broken,
    act::{Act, Death, Place},
    books::View,
    ensure,
    hooks::Waits,
    model::{Asked, Controller, Fate, Model, Promise, UNATTENDED},
    rig::{Agent, Rig, SOMEBODY},
    watch::is_question,
};
use crate::core::{
    ConnId, Core, INTERRUPT_GRACE, Input, REAP_LIMIT, Urgent,
    tests::fixture::{digests, info, session},
};
use crate::drift::Arrival;

impl Rig {
    pub(super) fn attach(
        &mut self,
        conn: ConnId,
        (on_disconnect, answers): (OnDisconnect, u8),
        place: Place,
    ) -> Result<(), Broken> {
        if self.core.controlled_by_other(conn) && !self.stopped {
            return Ok(());
        }
        self.come(place)?;
        self.attached(conn, on_disconnect, answers)
    }

    /// A client comes to the session, which is opened for it where it is not open.
    pub(super) fn come(&mut self, place: Place) -> Result<(), Broken> {
        self.acknowledge_all()?;
        self.late_comers_see_all()?;
        self.newcomers_see_all()?;
        if self.stopped {
            self.reopen()?;
        }
        self.arrive(place)
    }

    /// A client comes to a session that was there before; only to one that was just read it can
    /// come elsewhere.
    fn arrive(&mut self, place: Place) -> Result<(), Broken> {
        let fresh = std::mem::take(&mut self.fresh);
        let place = if fresh { place } else { Place::Same };
        let class = (place == Place::Accepted).then_some(DriftClass::Roots);
        let drift = Drift {
            field: DriftField::Root,
            class,
            recorded: Some("/w".into()),
            found: Some("/v".into()),
        };
        let arrival = Box::new(Arrival {
            path: ResumePath::Id,
            found_by: FoundBy::Id,
            surroundings: Surroundings::default(),
            drift: if place == Place::Same {
                Vec::new()
            } else {
                vec![drift]
            },
        });
        let loaded = fresh.then(Loaded::default);
        if place != Place::Same {
            self.model.moved(place);
        }
        let taken = self.take(Input::Resumed { arrival, loaded })?;
        ensure!(taken.is_nothing(), "a load changes nothing (RESUME-3)");
        self.attests = true;
        if fresh {
            self.closings = self.core.snapshot();
        }
        Ok(())
    }

    pub(super) fn attached(
        &mut self,
        conn: ConnId,
        on_disconnect: OnDisconnect,
        answers: u8,
    ) -> Result<(), Broken> {
        let answers = match answers {
            0 => vec![RequestKind::Permission],
            1 => vec![
                RequestKind::Permission,
                RequestKind::Elicitation,
                RequestKind::FsRead,
                RequestKind::FsWrite,
                RequestKind::Terminal,
            ],
            2 => vec![RequestKind::Permission, RequestKind::Hook],
            3 => vec![RequestKind::Hook, RequestKind::Elicitation],
            _ => Vec::new(),
        };
        self.client = Some(conn);
        self.model.viewers.remove(&conn.0);
        self.model.awaited.clear();
        self.model.controller = Some(Controller {
            conn,
            on_disconnect,
            answers: answers.clone(),
        });
        let waiting = self
            .model
            .asks
            .values()
            .filter(|asked| asked.conn.is_none());
        let fates: Vec<_> = waiting
            .map(|asked| (asked.waits, self.model.fate(&asked.frame.body)))
            .collect();
        let taken = self.take(Input::Attached {
            conn,
            answers,
            on_disconnect,
        })?;
        for (waits, fate) in fates {
            let good = match (fate, waits) {
                (Fate::Reply(outcome), Waits::Agent(token)) => {
                    taken.replies.contains(&(token, outcome))
                }
                _ => self.model.asks.values().any(|asked| asked.waits == waits),
            };
            ensure!(good, "who comes is asked what waits: {taken:?}");
        }
        Ok(())
    }

    /// Who reads the log and then is shown what is in flight knows what somebody knows who was there
    /// all the time (SQEQ-6).
    fn late_comers_see_all(&self) -> Result<(), Broken> {
        if self.books.is_stale() {
            return Ok(());
        }
        let mut texts = self.books.texts();
        for frame in self.core.snapshot() {
            // What a run revokes before it has recorded anything.
            if matches!(frame.event, Event::Marker(_) | Event::SessionChanged(_)) {
                continue;
            }
            let item = frame.item.ok_or("what is in flight is of an item")?;
            match frame.event {
                Event::ItemStarted { .. } => drop(texts.entry(item).or_default()),
                Event::ItemDelta { offset, text, .. } => {
                    let known = texts.get_mut(&item).ok_or("a delta of nothing")?;
                    ensure!(offset == known.len() as u64, "a delta goes on (WIRE-9)");
                    known.push_str(&text);
                }
                other => return Err(format!("{} in flight", other.kind()).into()),
            }
        }
        ensure!(
            texts == self.shown.texts(),
            "{texts:?} is not what was shown"
        );
        Ok(())
    }

    pub(super) fn disconnect(&mut self, conn: ConnId) -> Result<(), Broken> {
        if !self.stopped && self.model.viewers.contains(&conn.0) {
            return self.looks_away(conn);
        }
        let controls = |client: &&mut Controller| client.conn == conn;
        if self.stopped || self.model.controller.as_mut().filter(controls).is_none() {
            return Ok(());
        }
        self.client = None;
        let gone = self.model.controller.take().ok_or("nobody controls")?;
        let asks = self.model.asks.clone();
        match gone.on_disconnect {
            OnDisconnect::Cancel => self.doom(),
            OnDisconnect::Finish => {}
            OnDisconnect::Detach => self.model.left(&gone),
        }
        let waits = |asked: &&mut Asked| {
            gone.on_disconnect == OnDisconnect::Detach && is_question(asked.frame.body.kind())
        };
        for asked in self.model.asks.values_mut().filter(waits) {
            (asked.conn, asked.until) = (None, Some(self.now + UNATTENDED));
        }
        self.model.agent_ended = self.model.may_stop().then_some(TurnOutcome::Completed);
        let taken = self.take(Input::Disconnected { conn })?;
        self.model.agent_ended = None;
        for (id, asked) in &asks {
            let kept = self.model.asks.contains_key(id);
            let detach = gone.on_disconnect == OnDisconnect::Detach;
            ensure!(
                kept == (detach && is_question(asked.frame.body.kind())),
                "questions wait for the next client, and nothing else does"
            );
            let Waits::Agent(token) = asked.waits else {
                continue;
            };
            let heard = match gone.on_disconnect {
                OnDisconnect::Detach => Model::unanswered(&asked.frame.body),
                _ => Outcome::Cancelled,
            };
            ensure!(
                kept || taken.replies.contains(&(token, heard)),
                "the agent hears that its client has gone: {taken:?}"
            );
        }
        let closing = taken.urgent.contains(&Urgent::Closing);
        ensure!(
            closing == (gone.on_disconnect == OnDisconnect::Cancel && self.model.is_alone()),
            "a session that is being let go says so, and no other"
        );
        Ok(())
    }

    /// All turns are to end.
    pub(super) fn doom(&mut self) {
        let (active, waiting) = self.turns();
        self.model.doomed.extend(waiting);
        if active.is_some() {
            self.model.stopping.get_or_insert(self.now);
        }
    }

    pub(super) fn pass(&mut self, time: Duration) -> Result<(), Broken> {
        self.now += time;
        if self.stopped {
            return Ok(());
        }
        let before = self.books.active;
        let overdue = self.model.overdue(self.now);
        if self.core.deadline().is_some_and(|due| due <= self.now) {
            self.tick(&overdue)?;
            let again = self.core.deadline().is_some_and(|due| due <= self.now);
            ensure!(!again, "a tick does what is due");
        }
        ensure!(
            self.model.overdue(self.now).is_empty(),
            "a question waits longer than it may"
        );
        let Some(since) = self.model.stopping.filter(|_| before == self.books.active) else {
            return Ok(());
        };
        if since + INTERRUPT_GRACE <= self.now {
            ensure!(
                self.agent != Agent::Running,
                "an agent is left running (TASK-4)"
            );
        }
        if let Agent::Dropped(since) = self.agent {
            let due = since + REAP_LIMIT;
            ensure!(
                self.now < due,
                "a turn does not end though it was stopped (SQEQ-3)"
            );
        }
        Ok(())
    }

    fn tick(&mut self, overdue: &BTreeSet<RequestId>) -> Result<(), Broken> {
        let (before, stopping) = (self.model.asks.clone(), self.model.stopping.is_some());
        self.model.agent_ended = self.model.may_stop().then_some(TurnOutcome::Completed);
        let taken = self.take(Input::Tick)?;
        self.model.agent_ended = None;
        for (id, asked) in before {
            if stopping {
                continue;
            }
            let open = self.model.asks.contains_key(&id);
            ensure!(open != overdue.contains(&id), "what is due is given up");
            let outcome = Model::fallback(asked.frame.body.kind());
            if let Waits::Agent(token) = asked.waits {
                ensure!(
                    open || taken.replies.contains(&(token, outcome)),
                    "who waited for nobody hears so: {taken:?}"
                );
            }
        }
        Ok(())
    }

    pub(super) fn die(&mut self, death: Death) -> Result<(), Broken> {
        let (least, more) = match death {
            Death::Kill(more) => (self.written, more),
            Death::Power(more) => (self.synced, more),
        };
        let spare = self.log.len() - least;
        self.log.truncate(least + usize::from(more) % (spare + 1));
        self.deaths.retain(|records| *records <= self.log.len());
        if self.log.is_empty() {
            // Nobody was told of a session; its beginning is all that can be tried again.
            *self = Self::new(self.persistence)?;
            return Ok(());
        }
        let log = &self.log;
        self.model.promised.retain(|turn, promise| {
            let lost = log.iter().all(|frame| frame.turn != Some(*turn));
            !(lost && matches!(death, Death::Power(_)) && *promise == Promise::Queued)
        });
        self.reopen()
    }

    /// Another process reads the log.
    pub(super) fn reopen(&mut self) -> Result<(), Broken> {
        let fold = |from: usize| {
            let mut standing = Standing::default();
            let read = self.log.iter().skip(from);
            read.for_each(|frame| standing.apply(frame));
            standing
        };
        let is_checkpoint =
            |frame: &EventFrame| matches!(frame.event, Event::Marker(Marker::Checkpoint { .. }));
        let mut standing = fold(0);
        if let Some(newest) = self.log.iter().rposition(is_checkpoint) {
            ensure!(
                standing == fold(newest),
                "a checkpoint is another fold (LOG-10)"
            );
        }
        if let Some(parent) = &self.parent {
            standing.comes_from(parent.clone());
        }
        self.incarnation += 1;
        let stands = (self.persistence, self.incarnation, standing);
        self.core = Core::new(session(), "/w".into(), info(), stands);
        self.core.learn(digests());
        self.deaths.push(self.log.len());
        self.books = self.books.anew();
        for (records, frame) in self.log.iter().enumerate() {
            if self.deaths.contains(&records) {
                self.books.died();
            }
            self.books.apply(frame)?;
        }
        self.books.died();
        self.shown = self.books.seen_by(View::Client);
        self.closings = self.core.snapshot();
        self.attests = false;
        self.fresh = true;
        self.model.reborn(&self.log, self.parent.as_ref());
        self.keys_agree()?;
        self.conversation_agrees()?;
        self.books.marks_agree(&self.core.standing)?;
        (self.written, self.synced) = (self.log.len(), self.log.len());
        self.held.clear();
        self.receipts.clear();
        self.queued.clear();
        self.calls.clear();
        self.agent = Agent::Absent;
        self.client = None;
        self.stopped = false;
        self.kept_promises()
    }

    /// Every turn that a client was promised is in the log.
    fn kept_promises(&self) -> Result<(), Broken> {
        for (turn, promise) in &self.model.promised {
            let known = self.log.iter().any(|frame| frame.turn == Some(*turn));
            ensure!(known, "a turn is lost that was promised: {promise:?}");
        }
        Ok(())
    }

    /// Brings the session to its end, by which every rule must have been kept.
    pub(super) fn finish(mut self) -> Result<(), Broken> {
        self.acknowledge_all()?;
        self.late_comers_see_all()?;
        self.newcomers_see_all()?;
        if self.stopped || self.model.controller.is_none() {
            self.attach(SOMEBODY, (OnDisconnect::Cancel, 0), Place::Same)?;
        }
        self.submit(&Act::Close)?;
        self.acknowledge_all()?;
        for time in [INTERRUPT_GRACE, REAP_LIMIT] {
            self.pass(time)?;
            self.acknowledge_all()?;
        }
        ensure!(self.stopped, "a close comes to its end");
        let once = self.receipts.values().all(|count| *count == 1);
        ensure!(once, "one receipt a submission: {:?}", self.receipts);
        ensure!(self.model.asks.is_empty(), "requests are left open");
        ensure!(self.model.waited.is_empty(), "the agent is left waiting");
        if !self.books.is_stale() {
            ensure!(self.books.is_settled(), "something is left open");
            for turn in self.model.promised.keys() {
                let ended = self.books.ended.contains_key(turn);
                ensure!(ended, "a turn has no end (SQEQ-3)");
            }
        }
        self.kept_promises()
    }
}

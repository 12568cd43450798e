//! What a resumed run attests, and which of the session's rights it goes on with (RESUME-5, RESUME-8).

use sessiond_protocol::{
    Attestation, Closed, ContextStart, Cursor, Event, EventFrame, GrantEffect, Item, Loaded,
    Marker, ModePolicy, SessionChanged, Standing, TurnOutcome,
};

use super::{Core, Stepping};
use crate::drift::Arrival;

impl Core {
    /// What the mode in force does with permission questions.
    pub(super) fn policy(&self) -> ModePolicy {
        self.info.policy(self.standing.mode.as_deref())
    }

    /// What will be attested by the next append.
    pub(super) fn attestation(&self) -> Option<&Attestation> {
        self.closings.iter().find_map(|frame| match &frame.event {
            Event::Marker(Marker::Attest { attestation }) => Some(&**attestation),
            _ => None,
        })
    }

    /// Puts what is recorded before all else, but for the marker of a fork, in its place.
    fn record_first(&mut self, event: Event) {
        let is_fork =
            |frame: &EventFrame| matches!(&frame.event, Event::Marker(Marker::Fork { .. }));
        let at = self
            .closings
            .iter()
            .take_while(|frame| is_fork(frame))
            .count();
        self.closings
            .insert(at, EventFrame::new(self.session, event));
    }
}

impl Stepping<'_> {
    /// A client that comes again before anything was recorded changes nothing about what the run
    /// attests: that says more.
    pub(super) fn resumed(&mut self, arrival: Arrival, loaded: Option<Loaded>) {
        let core = &mut *self.core;
        if core.attestation().is_some() {
            return;
        }
        let start = start(&core.standing);
        let closed = closed(&core.closings);
        let revoked = rederive(core, &arrival);
        let attestation = Attestation {
            path: arrival.path,
            found_by: arrival.found_by,
            start,
            loaded,
            closed,
            agent: core.info.id.clone(),
            model: core
                .standing
                .header
                .as_ref()
                .and_then(|header| header.model.clone()),
            mode: core.standing.mode.clone(),
            policy: core.policy(),
            grants: core.standing.grants.clone(),
            revoked,
            surroundings: arrival.surroundings,
            drift: arrival.drift,
        };
        let attestation = Box::new(attestation);
        core.record_first(Event::Marker(Marker::Attest { attestation }));
    }

    /// What was allowed for good is asked about again from here on.
    pub(super) fn revoke(&mut self) {
        if allowed(&self.core.standing) > 0 {
            self.record(None, None, Event::Marker(Marker::Revoke {}));
        }
    }
}

/// Grants are no more than history where the policy has been tightened since, or where the run
/// works elsewhere; a mode that asks nobody does not carry over to where the client had to accept
/// the root. How many grants went. It holds at once, and is recorded with the attestation.
fn rederive(core: &mut Core, arrival: &Arrival) -> u64 {
    let now = core.policy();
    let last = core.standing.last_run.as_ref();
    let then = last.filter(|last| last.mode == core.standing.mode);
    let tightened = then
        .and_then(|last| last.policy)
        .is_some_and(|then| then.is_looser_than(now));
    let elsewhere = arrival.is_elsewhere();
    let mut revoked = 0;
    if tightened || elsewhere {
        revoked = allowed(&core.standing);
    }
    let asks = core
        .info
        .modes
        .iter()
        .find(|mode| mode.policy == ModePolicy::Ask);
    let asks = asks.map(|mode| mode.id.clone());
    let unattended = elsewhere && !arrival.accepted().is_empty() && now == ModePolicy::Allow;
    if let Some(mode) = asks.filter(|_| unattended) {
        core.standing.mode = Some(mode.clone());
        let change = SessionChanged {
            mode: Some(mode),
            ..Default::default()
        };
        core.record_first(Event::SessionChanged(change));
    }
    if revoked > 0 {
        core.standing.revoke();
        core.record_first(Event::Marker(Marker::Revoke {}));
    }
    revoked
}

fn allowed(standing: &Standing) -> u64 {
    let allows = |grant: &&sessiond_protocol::Grant| grant.effect == GrantEffect::Allow;
    standing.grants.iter().filter(allows).count() as u64
}

fn start(standing: &Standing) -> ContextStart {
    let parent = standing
        .header
        .as_ref()
        .and_then(|header| header.parent.as_ref());
    let cleared = standing.base > Cursor(1) && standing.is_blank();
    match (&standing.last_run, parent) {
        (None, Some(_)) => ContextStart::Forked,
        _ if cleared => ContextStart::Cleared,
        (None, None) => ContextStart::New,
        (Some(_), _) => ContextStart::Resumed,
    }
}

fn closed(closings: &[EventFrame]) -> Closed {
    let mut closed = Closed::default();
    for frame in closings {
        match &frame.event {
            // A prompt that waited ends as an item, and was none that was open.
            Event::ItemEnded {
                item: Item::UserMessage { .. },
            } => {}
            Event::ItemEnded { .. } => closed.items += 1,
            Event::RequestClosed { .. } => closed.requests += 1,
            Event::TurnEnded(ended) if ended.outcome == TurnOutcome::NotRun => closed.waiting += 1,
            Event::TurnEnded(_) => closed.turns += 1,
            _ => {}
        }
    }
    closed
}

/// Whether this is what a run attests.
pub(super) fn is_attestation(frame: &EventFrame) -> bool {
    matches!(&frame.event, Event::Marker(Marker::Attest { .. }))
}

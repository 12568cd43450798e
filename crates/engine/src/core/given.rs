//! What a client gave the session at attach: roots, instructions, the mode and options to begin with.
//!
//! A new session records it right behind its header. At a stored one it is in force at once and
//! recorded with what the run attests: a load changes no byte before the first append (RESUME-3).

use sessiond_protocol::{Event, EventFrame, Marker, SessionChanged, Setup};

use super::{Core, Stepping};

impl Stepping<'_> {
    /// Takes up what a client gave. What the agent does not have, or does not take, is passed over.
    pub(super) fn given(&mut self, setup: &Setup) {
        let change = self.core.change_by(setup);
        if change == SessionChanged::default() {
            return;
        }
        if self.core.standing.header.is_none() {
            self.core.given = Some(change);
            return;
        }
        let before = self.core.policy();
        self.core.put_in_force(&change);
        let revoked = before.is_looser_than(self.core.policy());
        self.core
            .record_behind_attestation(Event::SessionChanged(change));
        if revoked {
            self.core.standing.revoke();
            self.core
                .record_behind_attestation(Event::Marker(Marker::Revoke {}));
        }
    }
}

impl Core {
    fn change_by(&mut self, setup: &Setup) -> SessionChanged {
        let has = |mode: &&String| self.info.modes.iter().any(|known| known.id == **mode);
        let mode = setup.mode.as_ref().filter(has);
        let mode = mode.filter(|mode| self.standing.mode.as_ref() != Some(*mode));
        let roots = (setup.roots != self.standing.roots).then(|| setup.roots.clone());
        let instructions = setup.instructions.as_ref();
        let instructions =
            instructions.filter(|given| self.standing.instructions.as_ref() != Some(*given));
        let options = self.info.options.clone();
        let mode = mode.cloned();
        let instructions = instructions.cloned();
        self.info.set_options(&setup.options);
        let options = (options != self.info.options).then(|| self.info.options.clone());
        SessionChanged {
            mode,
            roots,
            instructions,
            options,
            ..SessionChanged::default()
        }
    }

    fn put_in_force(&mut self, change: &SessionChanged) {
        let standing = &mut self.standing;
        if change.mode.is_some() {
            standing.mode.clone_from(&change.mode);
        }
        if let Some(roots) = &change.roots {
            standing.roots.clone_from(roots);
        }
        if change.instructions.is_some() {
            standing.instructions.clone_from(&change.instructions);
        }
        if let Some(options) = &change.options {
            standing.options = options.iter().map(|option| option.setting()).collect();
        }
    }

    /// Behind what is recorded first: the marker of a fork, and what the run attests.
    fn record_behind_attestation(&mut self, event: Event) {
        let comes_first = |frame: &&EventFrame| {
            matches!(
                &frame.event,
                Event::SessionChanged(_)
                    | Event::Marker(
                        Marker::Fork { .. } | Marker::Attest { .. } | Marker::Revoke {}
                    )
            )
        };
        let at = self.closings.iter().take_while(comes_first).count();
        self.closings
            .insert(at, EventFrame::new(self.session, event));
    }
}

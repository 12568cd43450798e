//! What clients change of a session between its turns: mode, directory, the conversation's beginning.

use std::path::Path;

use sessiond_protocol::{
    Accepted, ErrorCode, Event, Marker, OptionSetting, SessionChanged, WireError,
};

use super::{Cause, Effect, Stepping, Sync, Urgent};

impl Stepping<'_> {
    pub(super) fn configure(
        &mut self,
        cause: &Cause,
        mode: Option<String>,
        options: &[OptionSetting],
    ) {
        let known = |mode: &String| self.core.info.modes.iter().any(|known| known.id == *mode);
        if !mode.as_ref().is_none_or(known) {
            let message = "the agent has no such mode; session.new and session.resume list them";
            let error = WireError::new(ErrorCode::Invalid, message);
            return self.reject(cause, error);
        }
        let options = match self.options_with(options) {
            Ok(options) => options,
            Err(error) => return self.reject(cause, error),
        };
        if let Some(options) = &options {
            self.core.info.options.clone_from(options);
        }
        let mode = mode.filter(|mode| self.core.standing.mode.as_ref() != Some(mode));
        if mode.is_some() || options.is_some() {
            let before = self.core.policy();
            let after = mode
                .as_ref()
                .map_or(before, |mode| self.core.info.policy(Some(mode)));
            let change = SessionChanged {
                mode,
                options,
                ..Default::default()
            };
            self.record(None, None, Event::SessionChanged(change));
            self.push(Effect::Settings);
            if before.is_looser_than(after) {
                self.revoke();
            }
            // A tightened policy must not be lost with the power.
            self.step.sync = Sync::Synced;
        }
        self.accept(cause, Accepted::Done {});
    }

    /// This run goes on where it works; the next one begins there.
    pub(super) fn relocate(&mut self, cause: &Cause, cwd: String) {
        if !Path::new(&cwd).is_absolute() {
            let error = WireError::new(ErrorCode::Invalid, "`cwd` must be an absolute path");
            return self.reject(cause, error);
        }
        let header = self.core.standing.header.as_ref();
        if header.is_none_or(|header| header.cwd != cwd) {
            let change = SessionChanged {
                cwd: Some(cwd),
                ..Default::default()
            };
            self.record(None, None, Event::SessionChanged(change));
            self.step.sync = Sync::Synced;
        }
        self.accept(cause, Accepted::Done {});
    }

    /// The agent is opened anew by the next turn, with nothing to remember (RESUME-1).
    pub(super) fn clear(&mut self, cause: &Cause) {
        if let Some(error) = self.core.occupied() {
            return self.reject(cause, error);
        }
        self.step.urgent.push(Urgent::DropAgent);
        self.record(None, None, Event::Marker(Marker::Clear {}));
        self.accept(cause, Accepted::Done {});
    }
}

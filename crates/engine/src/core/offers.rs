//! What the agent offers and what of it is in force: modes, options, commands; extensions and the
//! stopping of single calls, which need nothing but passing on.

use sessiond_protocol::{
    Accepted, AgentOption, ErrorCode, Event, Item, ItemId, Mode, OptionSetting, SessionChanged,
    Settings, Severity, Standing, Stoppable, WireError,
};

use super::{Cause, Core, Effect, Stepping, Sync};
use crate::agent::Emit;

impl Core {
    /// What of the agent's offers is in force.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            mode: self.standing.mode.clone(),
            options: self.standing.options.clone(),
        }
    }

    /// How the session stands.
    pub(crate) fn standing(&self) -> &Standing {
        &self.standing
    }
}

/// A notice of a text: its first line says it, the rest says more.
pub(super) fn notice(severity: Severity, text: &str) -> Event {
    let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
    let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
    Event::Notice {
        severity,
        title: title.to_owned(),
        description: rest.map(str::to_owned),
    }
}

impl Stepping<'_> {
    /// What an agent says outside of its turns, or of things that belong to none.
    pub(super) fn noted(&mut self, emit: Emit) {
        if self.core.is_closed() {
            tracing::debug!("an agent said something behind the close of its session");
            return;
        }
        let turn = self.turn_id();
        match emit {
            Emit::Commands(commands) => {
                self.core.info.commands.clone_from(&commands);
                self.changed(SessionChanged {
                    commands: Some(commands),
                    ..SessionChanged::default()
                });
            }
            Emit::Modes(modes) => self.modes_changed(modes),
            Emit::Mode(mode) => self.mode_changed(mode),
            Emit::Options(options) => self.options_changed(options),
            Emit::Title(title) => self.title(&title, sessiond_protocol::Titler::Agent),
            Emit::Usage(usage) => self.record(turn, None, Event::Usage(usage)),
            Emit::Notice(severity, text) => {
                let event = notice(severity, &text);
                self.record(turn, None, event);
            }
            Emit::Extension(method, params) => {
                self.record(turn, None, Event::Extension { method, params });
            }
            Emit::Text(_)
            | Emit::Thought(_)
            | Emit::Content(..)
            | Emit::MessageEnd
            | Emit::CallChanged(..)
            | Emit::CallOutput(..)
            | Emit::CallEnded(..)
            | Emit::Plan(_) => {
                tracing::warn!("an agent said something of a turn outside of one");
            }
        }
    }

    fn changed(&mut self, change: SessionChanged) {
        self.record(self.turn_id(), None, Event::SessionChanged(change));
    }

    /// The agent has other modes. What the one in force does with questions may get tighter that way,
    /// and never looser: that is the user's to say.
    fn modes_changed(&mut self, mut modes: Vec<Mode>) {
        let before = self.core.policy();
        let in_force = self.core.standing.mode.clone();
        for mode in &mut modes {
            if Some(&mode.id) == in_force.as_ref() && mode.policy.is_looser_than(before) {
                mode.policy = before;
            }
        }
        self.core.info.modes.clone_from(&modes);
        self.changed(SessionChanged {
            modes: Some(modes),
            ..SessionChanged::default()
        });
        if before.is_looser_than(self.core.policy()) {
            self.revoke();
        }
    }

    /// The agent has changed its mode. One that it does not have is not taken from it, nor one that
    /// lets more happen without the user: that is the user's to say.
    fn mode_changed(&mut self, mode: String) {
        let info = &self.core.info;
        let is_known = info.modes.iter().any(|known| known.id == mode);
        let (before, after) = (self.core.policy(), info.policy(Some(&mode)));
        let is_same = self.core.standing.mode.as_ref() == Some(&mode);
        if is_same || !is_known || after.is_looser_than(before) {
            return;
        }
        self.changed(SessionChanged {
            mode: Some(mode),
            ..SessionChanged::default()
        });
        if before.is_looser_than(after) {
            self.revoke();
        }
        self.step.sync = Sync::Synced;
        self.push(Effect::Settings);
    }

    fn options_changed(&mut self, options: Vec<AgentOption>) {
        self.core.info.options.clone_from(&options);
        self.changed(SessionChanged {
            options: Some(options),
            ..SessionChanged::default()
        });
        self.push(Effect::Settings);
    }

    /// The agent's options with these values in place of theirs.
    ///
    /// # Errors
    /// What to answer where the agent has no such option, or it takes no such value.
    pub(super) fn options_with(
        &self,
        settings: &[OptionSetting],
    ) -> Result<Option<Vec<AgentOption>>, WireError> {
        let mut options = self.core.info.options.clone();
        for setting in settings {
            let option = options.iter_mut().find(|option| option.id == setting.id);
            let option = option.filter(|option| option.takes(&setting.value));
            let Some(option) = option else {
                let message = format!(
                    "the agent has no option `{}` that takes this value; session.new and \
                     session.resume list them",
                    setting.id
                );
                return Err(WireError::new(ErrorCode::Invalid, message));
            };
            option.value.clone_from(&setting.value);
        }
        Ok((options != self.core.info.options).then_some(options))
    }

    /// One call of the active turn is to stop; the turn goes on.
    pub(super) fn cancel_call(&mut self, cause: &Cause, item: ItemId) {
        let open = self.core.standing.open.iter().find(|open| open.id == item);
        let stoppable = open.is_some_and(
            |open| matches!(&open.item, Item::ToolCall(call) if call.stoppable == Stoppable::Yes),
        );
        if !stoppable {
            let message = "no open call of this id can be stopped by itself";
            return self.reject(cause, WireError::new(ErrorCode::Invalid, message));
        }
        // The agent sees that first; otherwise it would take a dropped question for a refusal.
        self.push(Effect::StopCall(item));
        self.accept(cause, Accepted::Done {});
        self.settle_questions_about(item);
    }
}

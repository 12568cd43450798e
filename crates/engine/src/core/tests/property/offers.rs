//! What the agent offers and says of no turn, what clients choose of it, and calls that are stopped.

use sessiond_protocol::{
    AgentOption, Choice, ErrorCode, GrantEffect, ItemId, Op, OptionSetting, OptionValue, Outcome,
    Severity,
};

use super::{
    Broken,
    act::Note,
    ensure,
    hooks::Waits,
    model::{Asked, Model},
    rig::Rig,
    submissions::{Expected, MODES},
    verdict::Taken,
    watch::is_question,
};
use crate::{
    agent::Emit,
    core::{Input, Sync},
};

/// A mode, and options with their values, that are submitted together.
type Choices = (
    Option<&'static str>,
    &'static [(&'static str, &'static str)],
);

const CHOICES: [Choices; 8] = [
    (None, &[("model", "large")]),
    (None, &[("model", "small")]),
    (None, &[("fast", "on"), ("model", "large")]),
    (Some("careful"), &[("fast", "off")]),
    (None, &[("model", "huge")]),
    (None, &[("model", "small"), ("none", "x")]),
    (None, &[("model", "on")]),
    (Some("no such mode"), &[("model", "large")]),
];

fn value(text: &str) -> OptionValue {
    match text {
        "on" => OptionValue::Boolean(true),
        "off" => OptionValue::Boolean(false),
        text => OptionValue::Choice(text.into()),
    }
}

fn option(id: &str, value: OptionValue, choices: &[&str]) -> AgentOption {
    let choice = |id: &&str| Choice {
        id: (*id).into(),
        name: (*id).into(),
        description: None,
        group: None,
    };
    AgentOption {
        id: id.into(),
        name: id.into(),
        description: None,
        category: None,
        value,
        choices: choices.iter().map(choice).collect(),
    }
}

/// What the agent offers, by its number.
fn offered(which: u8) -> Vec<AgentOption> {
    let model = |chosen| option("model", value(chosen), &["small", "large"]);
    match which {
        0 => Vec::new(),
        1 => vec![model("small")],
        _ => vec![model("large"), option("fast", value("off"), &[])],
    }
}

fn choices(which: u8) -> Choices {
    CHOICES
        .get(usize::from(which))
        .copied()
        .unwrap_or((None, &[]))
}

/// How much a mode lets happen without the user.
fn looseness(mode: &str) -> u8 {
    match mode {
        "auto" => 2,
        "read-only" => 0,
        _ => 1,
    }
}

impl Model {
    /// The options after a choice; none where the agent has no such option, or not this value.
    fn chosen(&self, which: u8) -> Option<Vec<AgentOption>> {
        let mut options = self.offered.clone();
        for (id, text) in choices(which).1 {
            let option = options.iter_mut().find(|option| option.id == *id)?;
            let switch = matches!(option.value, OptionValue::Boolean(_));
            let good = match *text {
                "on" | "off" => switch,
                text => option.choices.iter().any(|choice| choice.id == text),
            };
            option.value = good.then(|| value(text))?;
        }
        Some(options)
    }

    /// The values of what is offered.
    fn values(&self) -> Vec<OptionSetting> {
        let setting = |option: &AgentOption| OptionSetting {
            id: option.id.clone(),
            value: option.value.clone(),
        };
        self.offered.iter().map(setting).collect()
    }
}

impl Rig {
    pub(super) fn expect_choice(&self, which: u8) -> (Op, Expected) {
        let (mode, options) = choices(which);
        let setting = |(id, text): &(&str, &str)| OptionSetting {
            id: (*id).into(),
            value: value(text),
        };
        let op = Op::SessionConfigure {
            mode: mode.map(str::to_owned),
            options: options.iter().map(setting).collect(),
        };
        let known = mode != Some("no such mode");
        let good = known && self.model.chosen(which).is_some();
        let expected = match good {
            true => Expected::Done,
            false => Expected::Error(ErrorCode::Invalid, None),
        };
        (op, expected)
    }

    /// All that was chosen is in force, or nothing was to change.
    pub(super) fn chose(&mut self, which: u8, taken: &Taken) -> Result<(), Broken> {
        let chosen = self.model.chosen(which).ok_or("an option is set")?;
        if chosen != self.model.offered {
            self.model.offered = chosen;
            ensure!(
                self.model.settings == self.model.values(),
                "{:?} are in force",
                self.model.settings
            );
            ensure!(
                taken.settings == 1 && taken.sync == Sync::Synced,
                "what is set is stored, and said to the agent: {taken:?}"
            );
        }
        match choices(which).0 {
            Some(mode) => self.moded(mode),
            None => Ok(()),
        }
    }

    /// A mode was set.
    pub(super) fn moded(&self, mode: &str) -> Result<(), Broken> {
        ensure!(self.model.mode == mode, "{mode} was set");
        Ok(())
    }

    /// What was allowed under a looser mode is allowed no more (SEC-5).
    pub(super) fn tightened(&self, before: &str, taken: &Taken) -> Result<(), Broken> {
        if looseness(&self.model.mode) >= looseness(before) {
            return Ok(());
        }
        let mut grants = self.model.grants.iter();
        ensure!(
            grants.all(|(_, effect)| *effect == GrantEffect::Deny),
            "what was allowed stays allowed under a tighter mode"
        );
        ensure!(
            taken.sync == Sync::Synced,
            "a tighter mode is not on stable storage"
        );
        Ok(())
    }

    /// What the agent offers is what the model knows of it.
    pub(super) fn offers_agree(&self) -> Result<(), Broken> {
        let known = &self.core.info.options;
        ensure!(
            *known == self.model.offered,
            "{known:?} is offered, not {:?}",
            self.model.offered
        );
        Ok(())
    }

    /// The agent says something of no turn.
    pub(super) fn note(&mut self, note: Note) -> Result<(), Broken> {
        if self.is_stopped() || self.fresh {
            return Ok(());
        }
        let mode = |which: u8| MODES.get(usize::from(which)).copied().unwrap_or("ask");
        let emit = match note {
            Note::Options(which) => Emit::Options(offered(which)),
            Note::Mode(which) => Emit::Mode(mode(which).into()),
            Note::Commands => Emit::Commands(Vec::new()),
            Note::Title => Emit::Title("another title".into()),
            Note::Notice => Emit::Notice(Severity::Info, "well".into()),
            Note::Text => Emit::Text("nowhere".into()),
        };
        let before = self.model.mode.clone();
        let taken = self.take(Input::Noted(emit))?;
        let nothing = taken.is_nothing();
        if self.model.closed {
            ensure!(nothing, "something is said behind the close");
            return Ok(());
        }
        match note {
            Note::Options(which) => {
                self.model.offered = offered(which);
                let values = self.model.values();
                ensure!(
                    self.model.settings == values && taken.settings == 1,
                    "what the agent says of its options is in force: {taken:?}"
                );
            }
            Note::Mode(which) => {
                let mode = mode(which);
                let known = mode != "no such mode";
                let takes = known && mode != before && looseness(mode) <= looseness(&before);
                ensure!(
                    takes != nothing,
                    "the mode that the agent says it is in: {before}, {mode}"
                );
                if takes {
                    self.moded(mode)?;
                    self.tightened(&before, &taken)?;
                }
            }
            Note::Text => ensure!(nothing, "text of no turn comes to nothing"),
            Note::Commands | Note::Title | Note::Notice => {
                ensure!(taken.others == 0, "what an agent says is only events");
            }
        }
        Ok(())
    }

    pub(super) fn expect_stop(&self, which: u8) -> (Op, Expected) {
        let item = self.call(Some(which));
        let good = match !self.books.is_stale() && self.books.stops(item) {
            true => Expected::Done,
            false => Expected::Error(ErrorCode::Invalid, None),
        };
        (Op::CallCancel { item }, good)
    }

    /// The agent is told to stop the call, then that nobody answers what it asked about it; and
    /// nothing else is settled.
    pub(super) fn stopped_call(
        &self,
        item: ItemId,
        (asks, taken): (&[Asked], &Taken),
    ) -> Result<(), Broken> {
        ensure!(
            taken.stops == [(item, 0)],
            "a call is told to stop, before all else: {taken:?}"
        );
        for asked in asks {
            let about = asked.frame.item == Some(item) && is_question(asked.frame.body.kind());
            let open = self.model.asks.contains_key(&asked.frame.id);
            ensure!(open != about, "what is asked about the call is settled");
            if let (true, Waits::Agent(token)) = (about, asked.waits) {
                ensure!(
                    taken.replies.contains(&(token, Outcome::Cancelled)),
                    "who asked about the call hears so: {taken:?}"
                );
            }
        }
        Ok(())
    }
}

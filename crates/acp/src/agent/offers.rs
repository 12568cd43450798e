//! What an agent lets its user choose: modes, options, commands, and how they stand.

use agent_client_protocol_schema::v1::{
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption,
    SessionConfigSelectOptions, SessionModeState,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sessiond_protocol::{AgentOption, Choice, Command, Mode, ModePolicy, OptionValue};

use super::update::list;

/// What an agent offers in a session. An option of category mode is the modes, seen twice.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Offers {
    /// Its modes.
    pub(super) modes: Vec<Mode>,
    /// The one in force.
    pub(super) mode: Option<String>,
    /// The option that is the modes too.
    pub(super) mode_option: Option<String>,
    /// Whether the modes are known only as that option.
    pub(super) mode_by: ModeBy,
    /// Its other options.
    pub(super) options: Vec<AgentOption>,
    /// Its slash commands.
    pub(super) commands: Vec<Command>,
}

/// How the mode is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ModeBy {
    /// By `session/set_mode`.
    #[default]
    Mode,
    /// By the option of category mode.
    Option,
}

/// What changed by what an agent said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Changed {
    pub(super) modes: bool,
    pub(super) mode: bool,
    pub(super) options: bool,
}

impl Offers {
    /// Reads them from the answer to `session/new`, load or resume.
    pub(super) fn read(answer: &RawValue) -> Self {
        #[derive(Deserialize, Default)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
            #[serde(default)]
            modes: Value,
            #[serde(default)]
            config_options: Value,
        }
        let answer: Answer = serde_json::from_str(answer.get()).unwrap_or_default();
        let mut offers = Self::default();
        if let Ok(state) = SessionModeState::deserialize(&answer.modes) {
            offers.mode = Some(state.current_mode_id.0.to_string());
            let mode = |mode: agent_client_protocol_schema::v1::SessionMode| {
                asking(mode.id.0.to_string(), mode.name, mode.description)
            };
            offers.modes = state.available_modes.into_iter().map(mode).collect();
        }
        if offers.modes.is_empty() {
            offers.mode_by = ModeBy::Option;
        }
        offers.set_options(list(&answer.config_options));
        offers
    }

    /// Takes in the complete list of options.
    pub(super) fn set_options(&mut self, listed: Vec<SessionConfigOption>) -> Changed {
        let before = (self.modes.clone(), self.mode.clone(), self.options.clone());
        self.options.clear();
        for listed in listed {
            let is_mode = listed.category == Some(SessionConfigOptionCategory::Mode);
            let Some(option) = option(listed) else {
                continue;
            };
            if is_mode {
                self.take_mode(option);
            } else {
                self.options.push(option);
            }
        }
        Changed {
            modes: before.0 != self.modes,
            mode: before.1 != self.mode,
            options: before.2 != self.options,
        }
    }

    fn take_mode(&mut self, option: AgentOption) {
        if let OptionValue::Choice(current) = &option.value {
            self.mode = Some(current.clone());
        }
        if self.mode_by == ModeBy::Option {
            let mode = |choice: Choice| asking(choice.id, choice.name, choice.description);
            self.modes = option.choices.into_iter().map(mode).collect();
        }
        self.mode_option = Some(option.id);
    }

    /// Its modes with the one in force first, as the waist has its default.
    pub(super) fn modes_from_current(&self) -> Vec<Mode> {
        let is_current = |mode: &&Mode| Some(&mode.id) == self.mode.as_ref();
        let (current, others): (Vec<_>, Vec<_>) = self.modes.iter().partition(is_current);
        current.into_iter().chain(others).cloned().collect()
    }
}

/// A mode of an agent. What it means is up to the agent: what it asks is asked.
fn asking(id: String, name: String, description: Option<String>) -> Mode {
    Mode {
        id,
        name,
        description: description.unwrap_or_default(),
        policy: ModePolicy::Ask,
    }
}

fn option(listed: SessionConfigOption) -> Option<AgentOption> {
    let category = listed.category.and_then(|category| {
        let name = serde_json::to_value(category).ok()?;
        name.as_str().map(str::to_owned)
    });
    let (value, choices) = match listed.kind {
        SessionConfigKind::Boolean(boolean) => {
            (OptionValue::Boolean(boolean.current_value), Vec::new())
        }
        SessionConfigKind::Select(select) => {
            let current = select.current_value.0.to_string();
            (OptionValue::Choice(current), choices(select.options))
        }
        _ => return None,
    };
    Some(AgentOption {
        id: listed.id.0.to_string(),
        name: listed.name,
        description: listed.description,
        category,
        value,
        choices,
    })
}

fn choices(options: SessionConfigSelectOptions) -> Vec<Choice> {
    let choice = |option: SessionConfigSelectOption, group: Option<&String>| Choice {
        id: option.value.0.to_string(),
        name: option.name,
        description: option.description,
        group: group.cloned(),
    };
    match options {
        SessionConfigSelectOptions::Ungrouped(options) => options
            .into_iter()
            .map(|option| choice(option, None))
            .collect(),
        SessionConfigSelectOptions::Grouped(groups) => {
            let of_group = groups.into_iter().flat_map(|group| {
                let name = group.name;
                let options = group.options.into_iter();
                options
                    .map(move |option| choice(option, Some(&name)))
                    .collect::<Vec<_>>()
            });
            of_group.collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;

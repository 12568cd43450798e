//! What a user may choose of a session's agent, as the client has it: modes, and config options of
//! which the mode is one. The two ways of showing the mode stay in step (acp.md 1.5).

use agent_client_protocol_schema::v1::{
    ConfigOptionUpdate, SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue,
    SessionConfigSelectOption, SessionMode, SessionModeState, SessionUpdate,
};
use sessiond_protocol::{
    AgentInfo, AgentOption, Choice, Mode, OptionSetting, OptionValue, SessionChanged,
};

use crate::gate::{Gate, Gates};

/// The id, and the category, of the config option that is the mode.
pub(crate) const MODE_OPTION: &str = "mode";

/// A session's modes and options with what of them is in force.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Choices {
    modes: Vec<Mode>,
    mode: Option<String>,
    options: Vec<AgentOption>,
}

/// What setting a config option changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Setting {
    Mode(String),
    Option(OptionSetting),
}

/// What of the choices is not as the client has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Changed {
    pub(crate) mode: bool,
    pub(crate) options: bool,
}

impl Choices {
    pub(crate) fn of(agent: &AgentInfo, mode: Option<&String>) -> Self {
        let first = agent.modes.first().map(|mode| &mode.id);
        Self {
            modes: agent.modes.clone(),
            mode: mode.or(first).cloned(),
            options: agent.options.clone(),
        }
    }

    /// Whether there is such a mode.
    pub(crate) fn has_mode(&self, id: &str) -> bool {
        self.modes.iter().any(|mode| mode.id == id)
    }

    /// Takes over what changed.
    pub(crate) fn change(&mut self, change: &SessionChanged) -> Changed {
        let before = self.clone();
        if let Some(modes) = &change.modes {
            self.modes.clone_from(modes);
        }
        let mode = change.mode.as_deref();
        if let Some(mode) = mode.filter(|mode| self.has_mode(mode)) {
            self.mode = Some(mode.to_owned());
        }
        if let Some(options) = &change.options {
            self.options.clone_from(options);
        }
        Changed {
            mode: before.mode != self.mode,
            options: before != *self,
        }
    }

    /// The mode in force.
    pub(crate) fn mode(&self) -> Option<&str> {
        self.mode.as_deref().filter(|_| !self.modes.is_empty())
    }

    /// As modes; none where the agent has none.
    pub(crate) fn modes(&self) -> Option<SessionModeState> {
        let current = self.mode()?;
        let mode = |mode: &Mode| {
            SessionMode::new(mode.id.clone(), mode.name.clone())
                .description(mode.description.as_str())
        };
        let available = self.modes.iter().map(mode).collect();
        Some(SessionModeState::new(current.to_owned(), available))
    }

    /// As config options: always the complete list. Those that are on or off only for a client that
    /// shows such.
    pub(crate) fn options(&self, gates: Gates) -> Vec<SessionConfigOption> {
        let mode = self.mode().map(|mode| self.mode_option(mode));
        let others = self.agents_own().filter_map(|option| shown(option, gates));
        mode.into_iter().chain(others).collect()
    }

    /// The options as they are told when a session is set up: none where the agent has none.
    pub(crate) fn offered(&self, gates: Gates) -> Option<Vec<SessionConfigOption>> {
        Some(self.options(gates)).filter(|options| !options.is_empty())
    }

    /// The update that says how the config options stand.
    pub(crate) fn update(&self, gates: Gates) -> SessionUpdate {
        SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(self.options(gates)))
    }

    /// What giving an option this value means; none where there is no such option for this client,
    /// or it takes no such value.
    pub(crate) fn setting(
        &self,
        id: &str,
        value: &SessionConfigOptionValue,
        gates: Gates,
    ) -> Option<Setting> {
        if id == MODE_OPTION && self.mode().is_some() {
            let mode = value.as_value_id().map(|value| value.0.to_string());
            return mode.filter(|mode| self.has_mode(mode)).map(Setting::Mode);
        }
        let value = option_value(value)?;
        let option = self.agents_own().find(|option| option.id == id)?;
        let takes = option.takes(&value) && shown(option, gates).is_some();
        takes.then(|| {
            Setting::Option(OptionSetting {
                id: id.to_owned(),
                value,
            })
        })
    }

    /// The options with this one set.
    pub(crate) fn with(&self, setting: &OptionSetting) -> Vec<AgentOption> {
        let mut options = self.options.clone();
        for option in &mut options {
            if option.id == setting.id {
                option.value.clone_from(&setting.value);
            }
        }
        options
    }

    /// An option that is the mode under another name is left out: one thing has one place.
    fn agents_own(&self) -> impl Iterator<Item = &AgentOption> {
        let has_modes = self.mode().is_some();
        self.options.iter().filter(move |option| {
            let is_mode =
                option.id == MODE_OPTION || option.category.as_deref() == Some(MODE_OPTION);
            !(has_modes && is_mode)
        })
    }

    fn mode_option(&self, current: &str) -> SessionConfigOption {
        let value = |mode: &Mode| {
            SessionConfigSelectOption::new(mode.id.clone(), mode.name.clone())
                .description(mode.description.as_str())
        };
        let values: Vec<_> = self.modes.iter().map(value).collect();
        SessionConfigOption::select(MODE_OPTION, "Mode", current.to_owned(), values)
            .category(SessionConfigOptionCategory::Mode)
    }
}

/// A value as the waist has it.
pub(crate) fn option_value(value: &SessionConfigOptionValue) -> Option<OptionValue> {
    match value {
        SessionConfigOptionValue::Boolean { value } => Some(OptionValue::Boolean(*value)),
        SessionConfigOptionValue::ValueId { value } => {
            Some(OptionValue::Choice(value.0.to_string()))
        }
        _ => None,
    }
}

/// Choices stand in one flat list: grouped ones break strict clients (acp.md 5.10).
fn shown(option: &AgentOption, gates: Gates) -> Option<SessionConfigOption> {
    let (id, name) = (option.id.clone(), option.name.clone());
    let written = match &option.value {
        OptionValue::Boolean(value) if gates.has(Gate::Booleans) => {
            SessionConfigOption::boolean(id, name, *value)
        }
        OptionValue::Boolean(_) => return None,
        OptionValue::Choice(value) => {
            let choice = |choice: &Choice| {
                SessionConfigSelectOption::new(choice.id.clone(), choice.name.clone())
                    .description(choice.description.clone())
            };
            let choices: Vec<_> = option.choices.iter().map(choice).collect();
            SessionConfigOption::select(id, name, value.clone(), choices)
        }
    };
    let category = option.category.as_deref().map(category);
    Some(
        written
            .description(option.description.clone())
            .category(category),
    )
}

fn category(name: &str) -> SessionConfigOptionCategory {
    match name {
        "mode" => SessionConfigOptionCategory::Mode,
        "model" => SessionConfigOptionCategory::Model,
        "model_config" => SessionConfigOptionCategory::ModelConfig,
        "thought_level" => SessionConfigOptionCategory::ThoughtLevel,
        other => SessionConfigOptionCategory::Other(other.to_owned()),
    }
}

//! What a user may choose about a session's agent: its options, and its modes as one more of them.

use agent_client_protocol_schema::v2::{
    AvailableCommand, AvailableCommandInput, Command as ShownCommand, SessionConfigOption,
    SessionConfigOptionCategory, SessionConfigSelectGroup, SessionConfigSelectOption,
    SessionConfigSelectOptions, TextCommandInput,
};
use sessiond_protocol::{
    AgentInfo, AgentOption, Choice, Command, Mode, Op, OptionSetting, OptionValue, SessionChanged,
    SessionView,
};
use sessiond_wire::rpc::ErrorObject;

use crate::refusal::invalid_params;

/// The option that the modes are.
pub(super) const MODE: &str = "mode";

/// The choices of a session, and what is in force of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Config {
    modes: Vec<Mode>,
    mode: Option<String>,
    options: Vec<AgentOption>,
}

impl Config {
    pub(super) fn of(view: &SessionView) -> Self {
        Self::offered(&view.agent, view.mode.as_deref())
    }

    /// What an agent offers, with this mode in force.
    pub(super) fn offered(agent: &AgentInfo, mode: Option<&str>) -> Self {
        Self {
            modes: agent.modes.clone(),
            mode: mode.map(str::to_owned),
            options: agent.options.clone(),
        }
    }

    /// Takes in what changed; tells whether anything did.
    pub(super) fn apply(&mut self, change: &SessionChanged) -> bool {
        let before = self.clone();
        if let Some(modes) = &change.modes {
            self.modes.clone_from(modes);
        }
        if let Some(mode) = &change.mode {
            self.mode = Some(mode.clone());
        }
        if let Some(options) = &change.options {
            self.options.clone_from(options);
        }
        *self != before
    }

    /// All options, as the client is shown them.
    pub(super) fn list(&self) -> Vec<SessionConfigOption> {
        self.modes_option()
            .into_iter()
            .chain(self.options.iter().filter_map(option))
            .collect()
    }

    fn modes_option(&self) -> Option<SessionConfigOption> {
        let first = self.modes.first()?;
        let current = self.mode.clone().unwrap_or_else(|| first.id.clone());
        let value = |mode: &Mode| {
            SessionConfigSelectOption::new(mode.id.clone(), mode.name.clone())
                .description(mode.description.clone())
        };
        let values: Vec<_> = self.modes.iter().map(value).collect();
        let option = SessionConfigOption::select(MODE, "Mode", current, values);
        Some(option.category(SessionConfigOptionCategory::Mode))
    }

    /// What puts a value in force.
    ///
    /// # Errors
    /// Invalid params where there is no such option, or it takes no such value.
    pub(super) fn setting(&self, id: &str, value: OptionValue) -> Result<Op, ErrorObject> {
        if let OptionValue::Choice(mode) = &value
            && id == MODE
            && self.modes.iter().any(|known| known.id == *mode)
        {
            return Ok(Op::set_mode(mode.clone()));
        }
        let option = self.options.iter().find(|option| option.id == id);
        if !option.is_some_and(|option| option.takes(&value)) {
            return Err(invalid_params(
                "there is no such option, or it takes no such value",
            ));
        }
        let id = id.to_owned();
        Ok(Op::SessionConfigure {
            mode: None,
            options: vec![OptionSetting { id, value }],
        })
    }
}

fn option(option: &AgentOption) -> Option<SessionConfigOption> {
    let (id, name) = (option.id.clone(), option.name.clone());
    let shown = match &option.value {
        OptionValue::Boolean(on) => SessionConfigOption::boolean(id, name, *on),
        OptionValue::Choice(current) => {
            SessionConfigOption::select(id, name, current.clone(), choices(&option.choices))
        }
    };
    let category = option.category.as_deref().map(category);
    Some(
        shown
            .description(option.description.clone())
            .category(category),
    )
}

/// Under headings only where each choice has one: the two are never mixed.
fn choices(choices: &[Choice]) -> SessionConfigSelectOptions {
    let value = |choice: &Choice| {
        SessionConfigSelectOption::new(choice.id.clone(), choice.name.clone())
            .description(choice.description.clone())
    };
    let headings: Option<Vec<&str>> = choices
        .iter()
        .map(|choice| choice.group.as_deref())
        .collect();
    let Some(mut headings) = headings.filter(|headings| !headings.is_empty()) else {
        return choices.iter().map(value).collect::<Vec<_>>().into();
    };
    let mut known = std::collections::HashSet::new();
    headings.retain(|heading| known.insert(*heading));
    let group = |heading: &&str| {
        let under = choices
            .iter()
            .filter(|choice| choice.group.as_deref() == Some(heading));
        SessionConfigSelectGroup::new(*heading, *heading, under.map(value).collect())
    };
    headings.iter().map(group).collect::<Vec<_>>().into()
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

/// The slash commands, as the client is shown them.
pub(super) fn commands(commands: &[Command]) -> Vec<AvailableCommand> {
    let shown = |command: &Command| {
        let input = command.hint.clone().map(TextCommandInput::new);
        let input = input.map(AvailableCommandInput::Text);
        AvailableCommand::Command(
            ShownCommand::new(command.name.clone(), command.description.clone()).input(input),
        )
    };
    commands.iter().map(shown).collect()
}

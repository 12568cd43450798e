//! What the CLI lets its user choose: modes, the model, commands.

use serde_json::Value;
use sessiond_protocol::{AgentOption, Choice, Command, Mode, ModePolicy, OptionValue};

/// The option that chooses the model.
pub(super) const MODEL: &str = "model";

/// The model that is nobody's choice.
const DEFAULT_MODEL: &str = "default";

/// The mode that asks.
pub(super) const DEFAULT_MODE: &str = "default";

/// The mode that asks nothing; the CLI has it only when it was started so.
const BYPASS: &str = "bypassPermissions";

/// Words of a command line that let the CLI have [`BYPASS`].
const BYPASSES: [&str; 2] = [
    "--allow-dangerously-skip-permissions",
    "--dangerously-skip-permissions",
];

/// The modes: id, name, what it does, and what becomes of what it asks.
const MODES: [(&str, &str, &str, ModePolicy); 5] = [
    (
        DEFAULT_MODE,
        "Default",
        "Asks for what no rule allows",
        ModePolicy::Ask,
    ),
    (
        "acceptEdits",
        "Accept edits",
        "Edits files without asking",
        ModePolicy::Ask,
    ),
    (
        "plan",
        "Plan",
        "Reads and plans, and changes nothing",
        ModePolicy::Ask,
    ),
    (
        "dontAsk",
        "Don't ask",
        "Denies what no rule allows",
        ModePolicy::Ask,
    ),
    (
        BYPASS,
        "Bypass permissions",
        "Asks nothing",
        ModePolicy::Allow,
    ),
];

/// What the CLI offers in a session, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Offers {
    /// The modes, the one it began in first.
    pub(super) modes: Vec<Mode>,
    /// The mode in force.
    pub(super) mode: String,
    /// Its options: the model, where it tells any.
    pub(super) options: Vec<AgentOption>,
    /// Its slash commands.
    pub(super) commands: Vec<Command>,
    /// Its version.
    pub(super) version: Option<String>,
}

impl Offers {
    /// Reads them from the answer to `initialize`; `args` are those that the user configured.
    pub(super) fn read(answer: &Value, args: &[String]) -> Self {
        let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
        let mode = text("current_permission_mode").unwrap_or_else(|| DEFAULT_MODE.to_owned());
        let bypasses = args.iter().any(|arg| BYPASSES.contains(&arg.as_str()));
        let modes = MODES
            .iter()
            .filter(|(id, ..)| *id != BYPASS || bypasses || mode == BYPASS)
            .map(|(id, name, description, policy)| Mode {
                id: (*id).to_owned(),
                name: (*name).to_owned(),
                description: (*description).to_owned(),
                policy: *policy,
            });
        let (current, others): (Vec<_>, Vec<_>) = modes.partition(|known| known.id == mode);
        Self {
            modes: current.into_iter().chain(others).collect(),
            mode,
            options: models(answer.get("models")).into_iter().collect(),
            commands: commands(answer.get("commands")),
            version: text("claude_code_version"),
        }
    }

    /// The model in force; none where there is no choice.
    pub(super) fn model(&self) -> Option<&str> {
        let option = self.options.iter().find(|option| option.id == MODEL)?;
        match &option.value {
            OptionValue::Choice(model) => Some(model),
            OptionValue::Boolean(_) => None,
        }
    }

    /// Notes that a model is in force.
    pub(super) fn set_model(&mut self, model: &str) {
        let option = self.options.iter_mut().find(|option| option.id == MODEL);
        if let Some(option) = option {
            option.value = OptionValue::Choice(model.to_owned());
        }
    }
}

/// The models as one option.
fn models(listed: Option<&Value>) -> Option<AgentOption> {
    let choice = |model: &Value| {
        let text = |name: &str| model.get(name).and_then(Value::as_str).map(str::to_owned);
        let id = text("value")?;
        Some(Choice {
            name: text("displayName").unwrap_or_else(|| id.clone()),
            id,
            description: text("description"),
            group: None,
        })
    };
    let choices: Vec<Choice> = listed?.as_array()?.iter().filter_map(choice).collect();
    let is_default = |choice: &&Choice| choice.id == DEFAULT_MODEL;
    let current = choices.iter().find(is_default).or(choices.first())?;
    Some(AgentOption {
        id: MODEL.to_owned(),
        name: "Model".to_owned(),
        description: None,
        category: Some("model".to_owned()),
        value: OptionValue::Choice(current.id.clone()),
        choices,
    })
}

/// Slash commands as the CLI lists them.
pub(super) fn commands(listed: Option<&Value>) -> Vec<Command> {
    let command = |command: &Value| {
        let text = |name: &str| command.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Command {
            name: text("name")?,
            description: text("description").unwrap_or_default(),
            hint: text("argumentHint").filter(|hint| !hint.is_empty()),
        })
    };
    let listed = listed.and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(command).collect()
}

#[cfg(test)]
mod tests;

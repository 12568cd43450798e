//! What Codex lets its user choose: the model, how much it thinks, when it asks, what it may touch.

use serde_json::{Map, Value, json};
use sessiond_protocol::{AgentOption, Choice, OptionSetting, OptionValue, Settings};

/// The options by their ids, in the order in which they are offered.
const MODEL: &str = "model";
const EFFORT: &str = "reasoning_effort";
const APPROVAL: &str = "approval_policy";
const SANDBOX: &str = "sandbox";

/// When Codex asks: its own word, what people read.
const APPROVALS: [(&str, &str); 3] = [
    ("untrusted", "Ask about all but reading"),
    ("on-request", "Ask when it wants to leave the sandbox"),
    ("never", "Never ask"),
];

/// What its commands may touch: its word, what people read, and the type of its policy.
const SANDBOXES: [(&str, &str, &str); 3] = [
    ("read-only", "Read only", "readOnly"),
    (
        "workspace-write",
        "Write in the workspace",
        "workspaceWrite",
    ),
    ("danger-full-access", "Everything", "dangerFullAccess"),
];

/// What Codex offers in a thread, with the values in force.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Offers {
    options: Vec<AgentOption>,
    /// The efforts of each model.
    efforts: Vec<(String, Vec<Choice>)>,
    /// What may be written to beside the working directory.
    roots: Vec<String>,
}

impl Offers {
    /// Reads them from the answers to `model/list` and to the opening of a thread.
    pub(super) fn read(models: &Value, thread: &Value, roots: &[String]) -> Self {
        let listed = models["data"].as_array().into_iter().flatten();
        let (mut choices, mut efforts) = (Vec::new(), Vec::new());
        for model in listed.filter(|model| model["hidden"] != true) {
            let Some(id) = text(model, "model") else {
                continue;
            };
            choices.push(Choice {
                id: id.to_owned(),
                name: text(model, "displayName").unwrap_or(id).to_owned(),
                description: text(model, "description").map(str::to_owned),
                group: None,
            });
            efforts.push((id.to_owned(), efforts_of(model)));
        }
        let mut offers = Self {
            options: Vec::new(),
            efforts,
            roots: roots.to_vec(),
        };
        if let Some(model) = text(thread, "model") {
            offers.offer((MODEL, "Model", "model"), model, choices);
            offers.offer_efforts(model, text(thread, "reasoningEffort"));
        }
        if let Some(approval) = text(thread, "approvalPolicy") {
            let known = APPROVALS.map(|(id, name)| choice(id, name));
            let about = (APPROVAL, "Approvals", "approval_policy");
            offers.offer(about, approval, known.into());
        }
        let policy = text(&thread["sandbox"], "type").unwrap_or_default();
        let sandbox = SANDBOXES.iter().find(|(.., of)| *of == policy);
        if let Some((sandbox, ..)) = sandbox {
            let known = SANDBOXES.map(|(id, name, _)| choice(id, name));
            offers.offer((SANDBOX, "Sandbox", "sandbox"), sandbox, known.into());
        }
        offers
    }

    /// The options, with the values in force.
    pub(super) fn options(&self) -> &[AgentOption] {
        &self.options
    }

    /// Takes in `thread/settings/updated`; whether anything is different now.
    pub(super) fn updated(&mut self, settings: &Value) -> bool {
        let before = self.options.clone();
        if let Some(model) = text(settings, "model") {
            self.put(MODEL, model);
            self.offer_efforts(model, text(settings, "effort"));
        }
        if let Some(approval) = text(settings, "approvalPolicy") {
            self.put(APPROVAL, approval);
        }
        let policy = text(&settings["sandboxPolicy"], "type").unwrap_or_default();
        if let Some((sandbox, ..)) = SANDBOXES.iter().find(|(.., of)| *of == policy) {
            self.put(SANDBOX, sandbox);
        }
        before != self.options
    }

    /// The members of `turn/start` that put these settings into force; what is in force is left out,
    /// and so is what Codex does not take.
    pub(super) fn overrides(&self, settings: &Settings) -> Map<String, Value> {
        let mut overrides = Map::new();
        for OptionSetting { id, value } in &settings.options {
            let option = self.options.iter().find(|option| option.id == *id);
            let is_other = |option: &&AgentOption| option.takes(value) && option.value != *value;
            let (Some(_), OptionValue::Choice(value)) = (option.filter(is_other), value) else {
                continue;
            };
            let (member, value) = match id.as_str() {
                MODEL => ("model", json!(value)),
                EFFORT => ("effort", json!(value)),
                APPROVAL => ("approvalPolicy", json!(value)),
                _ => match self.policy(value) {
                    Some(policy) => ("sandboxPolicy", policy),
                    None => continue,
                },
            };
            overrides.insert(member.to_owned(), value);
        }
        overrides
    }

    fn policy(&self, sandbox: &str) -> Option<Value> {
        let (.., of) = SANDBOXES.iter().find(|(id, ..)| *id == sandbox)?;
        let mut policy = json!({ "type": of });
        if sandbox == "workspace-write" {
            policy["writableRoots"] = json!(self.roots);
        }
        Some(policy)
    }

    fn offer_efforts(&mut self, model: &str, effort: Option<&str>) {
        self.options.retain(|option| option.id != EFFORT);
        let of_model = self.efforts.iter().find(|(id, _)| id == model);
        let choices = of_model.map(|(_, choices)| choices.clone());
        let choices = choices.unwrap_or_default();
        // Where the thread does not say, the model's own is in force, which is no value to set.
        if let Some(effort) = effort {
            let about = (EFFORT, "Reasoning effort", "thought_level");
            self.offer(about, effort, choices);
        } else if let Some(first) = choices.first() {
            let about = (EFFORT, "Reasoning effort", "thought_level");
            let first = first.id.clone();
            self.offer(about, &first, choices);
        }
    }

    /// Offers a choice; the value in force is always one of its choices.
    fn offer(
        &mut self,
        (id, name, category): (&str, &str, &str),
        value: &str,
        mut choices: Vec<Choice>,
    ) {
        if !choices.iter().any(|choice| choice.id == value) {
            choices.push(choice(value, value));
        }
        self.options.push(AgentOption {
            id: id.to_owned(),
            name: name.to_owned(),
            description: None,
            category: Some(category.to_owned()),
            value: OptionValue::Choice(value.to_owned()),
            choices,
        });
    }

    fn put(&mut self, id: &str, value: &str) {
        let option = self.options.iter_mut().find(|option| option.id == id);
        let Some(option) = option else { return };
        if !option.choices.iter().any(|choice| choice.id == value) {
            option.choices.push(choice(value, value));
        }
        option.value = OptionValue::Choice(value.to_owned());
    }
}

/// The efforts of a model, the one that it takes by itself first.
fn efforts_of(model: &Value) -> Vec<Choice> {
    let own = text(model, "defaultReasoningEffort");
    let listed = model["supportedReasoningEfforts"].as_array();
    let listed = listed.into_iter().flatten();
    let mut choices: Vec<Choice> = listed
        .filter_map(|effort| {
            let id = text(effort, "reasoningEffort")?;
            let description = text(effort, "description").map(str::to_owned);
            Some(Choice {
                description,
                ..choice(id, id)
            })
        })
        .collect();
    choices.sort_by_key(|choice| Some(choice.id.as_str()) != own);
    choices
}

fn choice(id: &str, name: &str) -> Choice {
    Choice {
        id: id.to_owned(),
        name: name.to_owned(),
        description: None,
        group: None,
    }
}

fn text<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member)?.as_str()
}

#[cfg(test)]
mod tests;

//! What a client may choose from, and what there is of accounts and configuration.

use serde_json::{Value, json};
use sessiond_protocol::{Accepted, AgentInfo, AgentOption, Choice, Op, OptionValue};
use sessiond_wire::rpc::{INTERNAL_ERROR, RawId, error};

use super::face::{Begun, Face};
use super::refuse::unexpected;

impl Face {
    /// The models that the agent of new threads offers; without such a choice the agent stands for
    /// its one model.
    pub(super) fn list_models(&mut self, id: &RawId, _params: &Value) -> Begun {
        let op = Op::AgentOptions {
            agent: Some(self.options.agent.clone()),
        };
        let id = id.clone();
        self.submit(None, op, move |face, options| match options {
            Ok(Accepted::Agent { agent, .. }) => {
                let answer = json!({ "data": models(&agent), "nextCursor": null });
                face.client.answer(&id, &answer);
            }
            Ok(_) => face.client.fail(&id, &unexpected()),
            Err(wire) => face
                .client
                .fail(&id, &error(INTERNAL_ERROR, &*wire.message)),
        })
    }

    /// What sessiond decides by itself; whatever else Codex's configuration holds is not in force.
    pub(super) fn read_config(&self, id: &RawId) -> Begun {
        let settings = &self.options.settings;
        let config = json!({
            "model": settings.text("model"),
            "model_provider": self.options.agent,
            "model_reasoning_effort": settings.text("model_reasoning_effort"),
            "approval_policy": settings.text("approval_policy"),
            "sandbox_mode": settings.text("sandbox_mode"),
            "instructions": settings.text("instructions"),
            "developer_instructions": settings.text("developer_instructions"),
        });
        self.client
            .answer(id, &json!({ "config": config, "origins": {} }));
        Ok(())
    }

    /// Agents have accounts of their own; nobody logs in here.
    pub(super) fn read_account(&self, id: &RawId) -> Begun {
        let answer = json!({ "account": null, "userId": null, "requiresOpenaiAuth": false });
        self.client.answer(id, &answer);
        Ok(())
    }
}

fn option<'a>(agent: &'a AgentInfo, kinds: [&str; 2]) -> Option<&'a AgentOption> {
    let is_it = |option: &&AgentOption| {
        let category = option.category.as_deref();
        kinds.contains(&option.id.as_str()) || category.is_some_and(|name| kinds.contains(&name))
    };
    agent.options.iter().find(is_it)
}

fn models(agent: &AgentInfo) -> Vec<Value> {
    let efforts = option(agent, ["thought_level", "reasoning_effort"]);
    let choices = efforts.map_or(&[][..], |option| &option.choices);
    let supported: Vec<Value> = choices
        .iter()
        .map(|choice| json!({ "reasoningEffort": choice.id, "description": choice.name }))
        .collect();
    let effort = match efforts.map(|option| &option.value) {
        Some(OptionValue::Choice(id)) => id.as_str(),
        _ => "none",
    };
    let model = |choice: &Choice, is_default: bool| {
        json!({
            "id": choice.id, "model": choice.id, "displayName": choice.name,
            "description": choice.description.as_deref().unwrap_or_default(),
            "hidden": false, "isDefault": is_default, "supportedReasoningEfforts": supported,
            "defaultReasoningEffort": effort, "inputModalities": ["text", "image"],
        })
    };
    match option(agent, ["model", "model"]).filter(|option| !option.choices.is_empty()) {
        Some(option) => {
            let chosen = |choice: &Choice| option.value == OptionValue::Choice(choice.id.clone());
            let choices = option.choices.iter();
            choices
                .map(|choice| model(choice, chosen(choice)))
                .collect()
        }
        None => {
            let only = Choice {
                id: agent.id.name.clone(),
                name: agent.id.name.clone(),
                description: None,
                group: None,
            };
            vec![model(&only, true)]
        }
    }
}

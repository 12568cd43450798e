//! Control requests of the program (claude.md 5.1): each gets one answer, at once.

use serde_json::{Map, Value, json};
use sessiond_protocol::{AgentOption, Op, OptionValue};

use super::hooks::Hooks;
use super::mode::Mode;
use super::schema::Schema;
use super::serve::{End, Face, Place};
use super::servers::Detail;
use super::turn::Stopped;
use crate::control::{self, Refused, text};
use crate::message::SPOKEN;

/// An answer; without a value it says only that the thing is done.
type Answer = Result<Option<Value>, Refused>;

impl Face {
    /// Answers a control request.
    pub(super) async fn requested(
        &mut self,
        id: &str,
        request: &Map<String, Value>,
    ) -> Result<(), End> {
        let subtype = text(request, "subtype").unwrap_or_default();
        let answer = match subtype.as_str() {
            "initialize" => match self.take_wishes(request) {
                Ok(()) => return self.initialize(id).await,
                Err(refused) => Err(refused),
            },
            "interrupt" => return self.interrupted(id, request).await,
            "set_permission_mode" => self.set_mode(request).await,
            "set_model" => self.set_model(request).await,
            "mcp_status" => Ok(Some(
                json!({ "mcpServers": self.servers.statuses(Detail::All) }),
            )),
            "mcp_reconnect" | "mcp_toggle" => self.known_server(request),
            "mcp_set_servers" => Ok(Some(no_servers(request))),
            "get_context_usage" => Ok(Some(self.context_usage())),
            "get_binary_version" => Ok(Some(json!({ "version": SPOKEN }))),
            "rename_session" => self.rename(request).await,
            "rewind_files" => Err(Refused::new(
                "File rewinding is not enabled: sessiond keeps no checkpoints of files",
            )),
            // Agents behind have no tasks of their own that could be named here.
            "stop_task" => Ok(Some(json!({}))),
            "cancel_async_message" => Ok(Some(self.cancel_message(request))),
            "end_session" => {
                self.out.control(control::success(id, None));
                return Ok(self.input_ended().await?);
            }
            // Also what concerns the original's own thinking and reading: nothing would come of it.
            _ => Err(Refused::unsupported(&subtype)),
        };
        let frame = match answer {
            Ok(value) => control::success(id, value),
            Err(refused) => control::failure(id, &refused),
        };
        self.out.control(frame);
        Ok(())
    }

    /// Takes up what the first `initialize` asks for.
    fn take_wishes(&mut self, request: &Map<String, Value>) -> Result<(), Refused> {
        if self.place != Place::Unmet {
            return Ok(());
        }
        let texts = |name: &str| match request.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Array(texts)) => {
                let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
                Some(texts.join("\n\n"))
            }
            _ => None,
        };
        let given = |name: &str| texts(name).filter(|text| !text.is_empty());
        self.hooks = Hooks::read(request.get("hooks"));
        self.wishes.instructions = given("systemPrompt");
        self.wishes.more_instructions = given("appendSystemPrompt");
        self.wishes.title = given("title");
        if let Some(schema) = request.get("jsonSchema").filter(|it| it.is_object()) {
            self.wishes.schema = Some(Schema::new(schema).map_err(Refused::new)?);
        }
        let living = request.get("sdkMcpServers").and_then(Value::as_array);
        for name in living.into_iter().flatten().filter_map(Value::as_str) {
            self.servers.live(name);
        }
        Ok(())
    }

    /// What the program learns about the agent.
    pub(super) fn introduction(&self) -> Value {
        let commands = self.agent.commands.iter().map(|command| {
            json!({ "name": command.name, "description": command.description,
                "argumentHint": command.hint.as_deref().unwrap_or_default() })
        });
        let commands: Vec<Value> = commands.collect();
        json!({
            "commands": commands,
            "agents": [],
            "output_style": "default",
            "available_output_styles": ["default"],
            "models": self.models(),
            "account": {},
            "pid": std::process::id(),
            "claude_code_version": SPOKEN,
            "current_permission_mode": self.mode.name(),
        })
    }

    /// The models to choose from; the agent itself where it offers none.
    fn models(&self) -> Vec<Value> {
        let is_model = |option: &&AgentOption| option.category.as_deref() == Some("model");
        let choices = self
            .agent
            .options
            .iter()
            .find(is_model)
            .map(|it| &it.choices);
        let model = |id: &str, name: &str, about: &str| json!({ "value": id, "displayName": name, "description": about });
        match choices {
            Some(choices) if !choices.is_empty() => choices
                .iter()
                .map(|it| {
                    model(
                        &it.id,
                        &it.name,
                        it.description.as_deref().unwrap_or_default(),
                    )
                })
                .collect(),
            _ => {
                let name = &self.agent.id.name;
                vec![model(name, name, "the agent's own choice")]
            }
        }
    }

    /// Stops the turn that runs, at whatever point it is; a prompt that has not begun is stopped
    /// when it does. What waits behind it stays.
    async fn interrupted(&mut self, id: &str, request: &Map<String, Value>) -> Result<(), End> {
        let drops = request.get("cancel_queued") == Some(&Value::Bool(true));
        let next = match (&self.turn, self.queued.front()) {
            (Some(turn), _) => Some(turn.id),
            (None, Some((turn, _))) => Some(*turn),
            (None, None) => {
                self.interrupts_next = !self.held.is_empty();
                None
            }
        };
        if self.turn.is_some() {
            // What is asked is asked no more, before the answer (claude.md 5.3).
            for (id, _) in self.asks.take_turns() {
                self.out.control(control::cancel(&id));
            }
        }
        let waiting = self.queued.iter().filter(|(turn, _)| Some(*turn) != next);
        let uuid = |(turn, prompt): &(sessiond_protocol::TurnId, super::prompt::Prompt)| {
            prompt.uuid.clone().unwrap_or_else(|| turn.to_string())
        };
        let mut still: Vec<String> = waiting.map(uuid).collect();
        still.extend(self.held.iter().filter_map(|prompt| prompt.uuid.clone()));
        if drops {
            still.clear();
        }
        self.out
            .control(control::success(id, Some(json!({ "still_queued": still }))));
        if drops {
            self.drop_held();
        }
        match (next, drops) {
            (Some(_), true) => self.stop_all().await?,
            (Some(_), false) if self.turn.is_some() => {
                self.stop_turn(Stopped::Interrupted).await?;
            }
            (Some(turn), false) => self.interrupt(turn).await?,
            (None, _) => {}
        }
        Ok(())
    }

    async fn set_mode(&mut self, request: &Map<String, Value>) -> Answer {
        let name = text(request, "mode").unwrap_or_default();
        let Ok(mode) = name.parse::<Mode>() else {
            return Err(Refused {
                message: format!(
                    "Cannot set permission mode: must be one of {}",
                    Mode::names()
                ),
                code: Some("invalid_mode"),
            });
        };
        if self.place == Place::Attached
            && let Some(wanted) = mode.of_agent(&self.agent.modes, self.agent_mode.as_deref())
        {
            let set = self.configure(Some(wanted), Vec::new()).await;
            set.map_err(|error| Refused::new(error.message))?;
        }
        self.options.arguments.mode = Some(mode);
        self.mode = mode;
        self.tell_mode();
        Ok(Some(json!({ "mode": mode.name() })))
    }

    /// A model that the agent does not have is left where it is; the answer says which is in force.
    async fn set_model(&mut self, request: &Map<String, Value>) -> Answer {
        let model = text(request, "model").filter(|model| !model.is_empty());
        let setting = model.as_deref().and_then(|model| self.model_setting(model));
        match (setting, &model) {
            (Some(setting), _) if self.place == Place::Attached => {
                let set = self.configure(None, vec![setting]).await;
                set.map_err(|error| Refused::new(error.message))?;
            }
            (Some(setting), _) => {
                if let OptionValue::Choice(model) = setting.value {
                    self.options.arguments.model = Some(model);
                }
            }
            (None, Some(model)) => {
                (self.options.note)(&format!("the agent has no model {model}; it keeps its own"));
            }
            (None, None) => {}
        }
        Ok(Some(json!({ "model": self.model() })))
    }

    fn known_server(&self, request: &Map<String, Value>) -> Answer {
        let name = text(request, "serverName").unwrap_or_default();
        match self.servers.is_known(&name) {
            true => Ok(Some(json!({}))),
            false => Err(Refused::new(format!("Server not found: {name}"))),
        }
    }

    async fn rename(&mut self, request: &Map<String, Value>) -> Answer {
        let title = text(request, "title").unwrap_or_default();
        if self.place != Place::Attached {
            self.wishes.title = Some(title);
            return Ok(Some(json!({})));
        }
        let renamed = self
            .engine
            .call(Some(self.out.session), Op::SessionRename { title });
        let renamed = renamed.await.map(|_| Some(json!({})));
        renamed.map_err(|error| Refused::new(error.message))
    }

    /// Takes a prompt back that has not been given to the engine.
    fn cancel_message(&mut self, request: &Map<String, Value>) -> Value {
        let uuid = text(request, "message_uuid");
        let is_it = |prompt: &super::prompt::Prompt| uuid.is_some() && prompt.uuid == uuid;
        let (taken, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.held).into_iter().partition(is_it);
        self.held = kept.into();
        for prompt in &taken {
            self.out.lifecycle(prompt, "cancelled");
        }
        json!({ "cancelled": !taken.is_empty() })
    }
}

/// Servers are given at the beginning; what is added later is refused by name.
fn no_servers(request: &Map<String, Value>) -> Value {
    let servers = request.get("servers").and_then(Value::as_object);
    let refused = servers.into_iter().flatten().map(|(name, _)| {
        let why = "servers of a session are given when it begins".to_owned();
        (name.clone(), Value::from(why))
    });
    let errors: Map<String, Value> = refused.collect();
    json!({ "added": [], "removed": [], "errors": errors })
}

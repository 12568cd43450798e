//! Turns are started, steered, interrupted; compactions are turns, too.

use std::path::Path;

use serde_json::{Map, Value, json};
use sessiond_protocol::{
    Accepted, Content, ErrorCode, IfBusy, Op, OptionSetting, OptionValue, Queued, SessionId, TurnId,
};
use sessiond_wire::rpc::{ErrorObject, INTERNAL_ERROR, RawId, error};

use super::face::{Begun, Face};
use super::params::{
    self, ThreadParams, TurnInterruptParams, TurnStartParams, TurnSteerParams, UserInput,
};
use super::refuse::{invalid, refused, unexpected};
use super::thread::{Running, Thread};
use crate::prompt;

/// What of a turn is the client's own.
#[derive(Debug, Default)]
struct Own {
    schema: Option<Value>,
    client_id: Option<String>,
}

impl Face {
    pub(super) fn start_turn(&mut self, id: &RawId, params: &Value) -> Begun {
        let params: TurnStartParams = params::read(params)?;
        let session = self.loaded(&params.thread_id)?;
        let own = Own {
            schema: params
                .output_schema
                .clone()
                .filter(|schema| !schema.is_null()),
            client_id: params.client_user_message_id.clone(),
        };
        if let Some(running) = self.running(session)
            && own.schema.is_some()
            && own.schema != running.schema
        {
            let text = "failed to submit turn input: ActiveTurnOutputSchemaMismatch";
            return Err(error(INTERNAL_ERROR, text));
        }
        self.set_policy(session, &params);
        self.configure(session, &params);
        let mut input = self.input(params.input);
        let is_busy = self.running(session).is_some();
        if input.is_empty() {
            // Codex begins a turn without a message; here one that says nothing stands for that.
            input.push(Content::text(""));
        }
        input.extend(own.schema.as_ref().filter(|_| !is_busy).map(prompt::schema));
        let op = Op::TurnStart {
            input,
            // New input goes into the turn that runs (codex.md R3).
            if_busy: IfBusy::Steer,
            idempotency_key: None,
        };
        let id = id.clone();
        self.submit(Some(session), op, move |face, begun| match begun {
            Ok(Accepted::Turn { turn }) => face.turn_named(&id, (session, turn), own),
            Ok(_) => face.client.fail(&id, &unexpected()),
            Err(wire) => face.client.fail(&id, &refused(&wire, session)),
        })
    }

    fn turn_named(&mut self, id: &RawId, (session, turn): (SessionId, TurnId), own: Own) {
        let Some(thread) = self.threads.get_mut(&session) else {
            return self.client.fail(id, &unexpected());
        };
        let known = thread.running.as_ref().filter(|running| running.id == turn);
        let shown = match known {
            Some(running) => running.json(None),
            None => {
                let running = Running {
                    schema: own.schema,
                    client_id: own.client_id,
                    ..Running::new(turn)
                };
                let shown = running.json(None);
                match thread.running {
                    // The one that runs is being stopped; its end is still to be told.
                    Some(_) => thread.waiting.push(running),
                    None => thread.running = Some(running),
                }
                shown
            }
        };
        self.client.answer(id, &json!({ "turn": shown }));
    }

    /// What comes with a new turn counts at once; with a message for the running one, later (R6).
    fn set_policy(&mut self, session: SessionId, params: &TurnStartParams) {
        let Some(thread) = self.threads.get_mut(&session) else {
            return;
        };
        let mut policy = thread
            .next_policy
            .clone()
            .unwrap_or_else(|| thread.policy.clone());
        policy.set_approval(params.approval_policy.as_ref(), params.approvals_reviewer);
        if let Some(sandbox) = params.sandbox_policy.clone() {
            policy.set_sandbox(sandbox, &thread.about.cwd);
        }
        match thread.running {
            Some(_) => thread.next_policy = Some(policy),
            None => thread.policy = policy,
        }
    }

    /// Sets model and effort, where the agent offers the choice and another one is in force.
    fn configure(&mut self, session: SessionId, params: &TurnStartParams) {
        let Some(thread) = self
            .threads
            .get_mut(&session)
            .filter(|t| t.running.is_none())
        else {
            return;
        };
        let wishes = [("model", &params.model), ("thought_level", &params.effort)];
        let wishes = wishes
            .into_iter()
            .filter_map(|(kind, wish)| Some((kind, wish.as_ref()?)));
        let options: Vec<_> = wishes
            .filter_map(|(kind, wish)| choose(thread, kind, wish))
            .collect();
        if options.is_empty() {
            return;
        }
        for option in &options {
            thread.agent.set_options(std::slice::from_ref(option));
        }
        thread.about.model = super::thread::model(&thread.agent).or(thread.about.model.take());
        let op = Op::SessionConfigure {
            mode: None,
            options,
        };
        let set = self.submit(Some(session), op, move |face, set| {
            if let Err(wire) = set {
                face.warn(session, &wire.message);
            }
        });
        if set.is_err() {
            tracing::error!("options could not be submitted");
        }
    }

    pub(super) fn steer_turn(&mut self, id: &RawId, params: &Value) -> Begun {
        let params: TurnSteerParams = params::read(params)?;
        let session = self.loaded(&params.thread_id)?;
        if params.input.is_empty() {
            return Err(invalid("input must not be empty"));
        }
        let expected = params.expected_turn_id;
        let running = self.running(session).map(|running| running.id);
        let turn = running.ok_or_else(|| not_steerable(&expected, None))?;
        if turn.to_string() != expected {
            return Err(not_steerable(&expected, Some(turn)));
        }
        let input = self.input(params.input);
        let op = Op::TurnSteer {
            input,
            turn: Some(turn),
        };
        let id = id.clone();
        self.submit(Some(session), op, move |face, steered| match steered {
            Ok(_) => face.client.answer(&id, &json!({ "turnId": turn })),
            Err(wire) if wire.code == ErrorCode::TurnNotActive => {
                face.client.fail(&id, &not_steerable(&expected, wire.turn));
            }
            Err(wire) => face.client.fail(&id, &refused(&wire, session)),
        })
    }

    pub(super) fn interrupt_turn(&mut self, id: &RawId, params: &Value) -> Begun {
        let params: TurnInterruptParams = params::read(params)?;
        let session = self.loaded(&params.thread_id)?;
        let expected = params.turn_id;
        let none = || invalid("no active turn to interrupt");
        let turn = self
            .running(session)
            .map(|running| running.id)
            .ok_or_else(none)?;
        if turn.to_string() != expected {
            let text = format!("expected active turn id {expected} but found {turn}");
            return Err(invalid(text));
        }
        let op = Op::TurnInterrupt {
            turn: Some(turn),
            queued: Queued::Keep,
        };
        let id = id.clone();
        self.submit(Some(session), op, move |face, stopped| match stopped {
            Ok(_) => face.client.answer(&id, &json!({})),
            Err(wire) => face.client.fail(&id, &refused(&wire, session)),
        })
    }

    /// Whether a turn runs in a thread that is loaded.
    pub(super) fn has_turns(&self) -> bool {
        self.threads.values().any(|thread| thread.running.is_some())
    }

    /// Interrupts every turn, and drops what waits.
    pub(super) fn interrupt_all(&mut self) {
        let running = self.threads.iter().filter_map(|(session, thread)| {
            let turn = thread.running.as_ref()?.id;
            Some((*session, turn))
        });
        for (session, turn) in running.collect::<Vec<_>>() {
            let op = Op::TurnInterrupt {
                turn: Some(turn),
                queued: Queued::Cancel,
            };
            // One that cannot be stopped is not waited for either: the process ends.
            let _ended = self.submit(Some(session), op, |_, _| {});
        }
    }

    /// A compaction replaces the turn that runs (codex.md R3).
    pub(super) fn compact_thread(&mut self, id: &RawId, params: &Value) -> Begun {
        let params: ThreadParams = params::read(params)?;
        let session = self.loaded(&params.thread_id)?;
        let Some(turn) = self.running(session).map(|running| running.id) else {
            return self.compact(id.clone(), session);
        };
        if let Some(thread) = self.threads.get_mut(&session) {
            thread.compactions.push_back(id.clone());
        }
        let op = Op::TurnInterrupt {
            turn: Some(turn),
            queued: Queued::Keep,
        };
        self.submit(Some(session), op, |_, _| {})
    }

    /// The turn that a compaction waited for has ended.
    pub(super) fn next_compaction(&mut self, session: SessionId) {
        let thread = self.threads.get_mut(&session);
        let Some(id) = thread.and_then(|thread| thread.compactions.pop_front()) else {
            return;
        };
        if let Err(error) = self.compact(id.clone(), session) {
            self.client.fail(&id, &error);
        }
    }

    fn compact(&mut self, id: RawId, session: SessionId) -> Begun {
        let op = Op::SessionCompact {};
        self.submit(Some(session), op, move |face, begun| match begun {
            Ok(accepted) => {
                face.client.answer(&id, &json!({}));
                if let (Accepted::Turn { turn }, Some(thread)) =
                    (accepted, face.threads.get_mut(&session))
                {
                    thread.running.get_or_insert_with(|| Running::new(turn));
                }
            }
            Err(wire) => face.client.fail(&id, &refused(&wire, session)),
        })
    }

    /// What the user says, as content.
    fn input(&self, input: Vec<UserInput>) -> Vec<Content> {
        let content = |input| match input {
            UserInput::Text { text } => Content::text(text),
            UserInput::Image { url } => remote(url.unwrap_or_default()),
            UserInput::LocalImage { path } => {
                let read = self.options.picture.and_then(|read| read(&path));
                read.unwrap_or_else(|| link(&path, None))
            }
            UserInput::LocalAudio { path } => link(&path, None),
            UserInput::Audio {} => Content::text("[a sound that cannot be heard]"),
            UserInput::Skill { name, path } | UserInput::Mention { name, path } => {
                link(&path, Some(name))
            }
        };
        input.into_iter().map(content).collect()
    }
}

/// A picture by its address: its data where that holds them.
fn remote(url: String) -> Content {
    let data = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    match data {
        Some((mime_type, data)) => Content::Image {
            data: data.to_owned(),
            mime_type: mime_type.to_owned(),
            extra: Map::new(),
        },
        None => Content::ResourceLink {
            name: url.clone(),
            uri: url,
            extra: Map::new(),
        },
    }
}

/// A file that the agent is to look at by itself.
fn link(path: &str, name: Option<String>) -> Content {
    let own = || Path::new(path).file_name().unwrap_or_default();
    Content::ResourceLink {
        uri: format!("file://{path}"),
        name: name.unwrap_or_else(|| own().to_string_lossy().into_owned()),
        extra: Map::new(),
    }
}

/// The setting that a wish comes to; none where the agent offers no such choice, or it is made.
fn choose(thread: &Thread, kind: &str, wish: &str) -> Option<OptionSetting> {
    let mut options = thread.agent.options.iter();
    let is_it = |category: Option<&str>, id: &str| {
        category == Some(kind) || id == kind || kind == "thought_level" && id == "reasoning_effort"
    };
    let option = options.find(|option| is_it(option.category.as_deref(), &option.id))?;
    let value = OptionValue::Choice(wish.to_owned());
    let is_new = option.value != value && option.takes(&value);
    is_new.then(|| OptionSetting {
        id: option.id.clone(),
        value,
    })
}

/// Clients read the active turn's id out of this text (codex.md B3).
fn not_steerable(expected: &str, active: Option<TurnId>) -> ErrorObject {
    match active {
        None => invalid("no active turn to steer"),
        Some(active) => invalid(format!(
            "expected active turn id `{expected}` but found `{active}`"
        )),
    }
}

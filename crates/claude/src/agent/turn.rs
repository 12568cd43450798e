//! A turn: one `user` line goes to the CLI, what it says and asks comes back, up to its `result`.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sessiond_engine::between::bad_line;
use sessiond_engine::{AgentError, Emit, TurnContext, TurnOver, TurnReport, Withdrawal};
use sessiond_protocol::{ItemId, Marker, Outcome, RequestBody, Settings, Severity, ToolStatus};
use sessiond_wire::Pending;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::asks::{self, Call, Decision, Question};
use super::calls::{Asked, Calls, Standing};
use super::incoming::Incoming;
use super::native::{Native, SESSION};
use super::outcome;
use super::servers;
use super::settings;
use super::stream::Stream;
use crate::control::{self, Message};
use crate::elicited;

/// What is said of the calls of a turn that was cancelled.
const STOPPED: &str = "Stopped: the turn was cancelled.";

/// What goes to the CLI in a turn.
#[derive(Debug)]
pub(super) struct Prompt {
    /// The `user` line.
    pub(super) line: Value,
    /// Its id: the result of the turn names it.
    pub(super) uuid: Uuid,
    /// The request that gives the CLI its MCP servers, before its first prompt.
    pub(super) servers: Option<Value>,
    pub(super) binding: Binding,
}

/// What is to be recorded before the CLI gets its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// The CLI's own id of the session is new.
    Fresh,
    /// It is recorded.
    Recorded,
}

/// A turn that runs.
pub(super) struct Turn<'a> {
    native: &'a Arc<Native>,
    context: &'a TurnContext,
    incoming: &'a mut mpsc::Receiver<Incoming>,
    prompt: Uuid,
    calls: Calls,
    stream: Stream,
    /// Requests of the CLI that are not answered yet.
    unanswered: HashMap<String, Withdrawal>,
    answers: Pending<'a, Answered>,
    /// Takes the result.
    result: Option<oneshot::Sender<Map<String, Value>>>,
    /// How the CLI ended, if it did.
    ended: Option<String>,
}

/// A question that was settled.
struct Answered {
    id: String,
    about: About,
    outcome: Result<Outcome, TurnOver>,
}

/// What a question was about.
enum About {
    Permission(Call),
    User(Call),
    Elicitation,
    Mcp(Value),
}

impl<'a> Turn<'a> {
    pub(super) fn new(
        native: &'a Arc<Native>,
        context: &'a TurnContext,
        incoming: &'a mut mpsc::Receiver<Incoming>,
    ) -> Self {
        Self {
            native,
            context,
            incoming,
            prompt: Uuid::nil(),
            calls: Calls::default(),
            stream: Stream::default(),
            unanswered: HashMap::new(),
            answers: Pending::new(),
            result: None,
            ended: None,
        }
    }

    /// Runs the turn to its end.
    ///
    /// # Errors
    /// [`AgentError`] where the CLI failed or went away.
    pub(super) async fn run(mut self, prompt: Prompt) -> Result<TurnReport, AgentError> {
        let (native, context) = (self.native.clone(), self.context);
        let (sender, result) = oneshot::channel();
        self.result = Some(sender);
        self.prompt = prompt.uuid;
        let result = {
            let mut talk = pin!(talk(&native, context, prompt, result));
            let mut settings = pin!(settings::follow(&native, context));
            let mut cancel = pin!(cancel(&native, context));
            let mut listen = pin!(self.listen());
            let mut following = true;
            loop {
                tokio::select! {
                    biased;
                    result = &mut talk => break result?,
                    () = &mut cancel => {}
                    followed = &mut settings, if following => {
                        followed?;
                        following = false;
                    }
                    listened = &mut listen => {
                        listened?;
                        // What was asked of it is answered no more, and says so.
                        native.link.end();
                        break None;
                    }
                }
            }
        };
        self.close(result).await
    }

    /// Takes in what comes, in order, until the CLI ends.
    async fn listen(&mut self) -> Result<(), TurnOver> {
        loop {
            tokio::select! {
                biased;
                answered = self.answers.next() => self.answered(answered).await?,
                incoming = self.incoming.recv() => match incoming {
                    Some(Incoming::Message(message, _weight)) => self.hear(message).await?,
                    Some(Incoming::Bad) => {
                        self.context.emit(bad_line(&self.native.agent)).await?;
                    }
                    Some(Incoming::End(how)) => {
                        self.ended = Some(how);
                        return Ok(());
                    }
                    None => return Ok(()),
                },
            }
        }
    }

    async fn hear(&mut self, message: Message) -> Result<(), TurnOver> {
        match message {
            Message::Frame { kind, frame } => self.frame(&kind, frame).await,
            Message::Request { id, request } => self.request(id, &request).await,
            Message::Cancel { id } => {
                if let Some(asked) = self.unanswered.get(&id) {
                    asked.take_back();
                }
                Ok(())
            }
            message => {
                self.native.answered(message);
                Ok(())
            }
        }
    }

    async fn frame(&mut self, kind: &str, frame: Map<String, Value>) -> Result<(), TurnOver> {
        // What a sub-agent says is its caller's; what it does is done here all the same.
        let is_ours = frame.get("parent_tool_use_id").is_none_or(Value::is_null);
        match kind {
            "stream_event" => {
                self.press(&frame);
                match is_ours {
                    true => self.stream.event(self.context, &frame).await,
                    false => Ok(()),
                }
            }
            "assistant" => self.said(&frame, is_ours).await,
            "user" => {
                for block in blocks(&frame) {
                    if block.get("type").and_then(Value::as_str) == Some("tool_result") {
                        self.calls.result(self.context, block).await?;
                    }
                }
                Ok(())
            }
            "result" if outcome::is_of(&frame, self.prompt) => {
                if let Some(result) = self.result.take() {
                    // Whoever waited has left.
                    let _unwanted = result.send(frame);
                }
                Ok(())
            }
            kind => {
                self.press(&frame);
                for emit in self.native.noted(kind, &frame).unwrap_or_default() {
                    self.context.emit(emit).await?;
                }
                Ok(())
            }
        }
    }

    /// An interrupt that comes before the CLI has begun with its prompt stops nothing: it is told once
    /// more when it begins.
    fn press(&self, frame: &Map<String, Value>) {
        let begins = control::text(frame, "subtype").as_deref() == Some("init")
            || frame
                .get("event")
                .and_then(|event| event.get("type")?.as_str())
                == Some("message_start");
        if begins && self.context.is_cancelled() {
            self.native.link.tell(json!({ "subtype": "interrupt" }));
        }
    }

    async fn said(&mut self, frame: &Map<String, Value>, is_ours: bool) -> Result<(), TurnOver> {
        // What failed is told by the result, and nobody said it.
        let is_failure = frame.contains_key("error")
            || frame.get("is_api_error_message").and_then(Value::as_bool) == Some(true);
        if is_failure {
            return Ok(());
        }
        for block in blocks(frame) {
            let text = |name: &str| block.get(name).and_then(Value::as_str);
            match (text("type"), is_ours) {
                (Some("text"), true) => {
                    let whole = text("text").unwrap_or_default();
                    self.stream.text(self.context, whole).await?;
                }
                (Some("thinking"), true) => {
                    let whole = text("thinking").unwrap_or_default();
                    self.stream.thought(self.context, whole).await?;
                }
                (Some("tool_use"), _) => {
                    if let (Some(id), Some(name), Some(input)) =
                        (text("id"), text("name"), block.get("input"))
                    {
                        let asked = Asked { id, name, input };
                        self.calls.asked(self.context, asked).await?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    async fn request(&mut self, id: String, request: &Map<String, Value>) -> Result<(), TurnOver> {
        let link = &self.native.link;
        match asks::read(request) {
            Question::BeforeTool(call) => {
                let asked = Asked {
                    id: &call.id,
                    name: &call.name,
                    input: &call.input,
                };
                let answer = match self.calls.asked(self.context, asked).await? {
                    _ if self.context.is_cancelled() => asks::denied_hook(STOPPED),
                    Standing::Open(open) => match &open.changed {
                        Some(input) => asks::changed_hook(input),
                        None => json!({}),
                    },
                    Standing::Denied(reason) => asks::denied_hook(reason),
                    Standing::Ended => asks::denied_hook("This call is over."),
                };
                asks::respond(link, &id, answer);
            }
            Question::Elicitation(body) => self.ask((id, About::Elicitation), None, body),
            Question::Permission(call) => {
                let asked = Asked {
                    id: &call.id,
                    name: &call.name,
                    input: &call.input,
                };
                match self.calls.asked(self.context, asked).await? {
                    Standing::Open(open) => {
                        let (item, form) = (open.item, asks::form(&call));
                        let (about, body) = match form {
                            Some(form) => (About::User(call), form),
                            None => (About::Permission(call), asks::permission(&open.call)),
                        };
                        self.ask((id, about), Some(item), body);
                    }
                    Standing::Denied(reason) => asks::respond(link, &id, asks::deny(reason)),
                    Standing::Ended => {
                        asks::respond(link, &id, asks::deny("This call is over."));
                    }
                }
            }
            Question::Mcp { server, message } => {
                let question = servers::question(&server, &message);
                match (servers::local(&message), question) {
                    (Some(answer), _) => asks::respond(link, &id, answer),
                    (None, Some(body)) => {
                        let call = message.pointer("/params/_meta/claudecode~1toolUseId");
                        let call = call.and_then(Value::as_str);
                        let item = call.and_then(|call| self.calls.item(call));
                        self.ask((id, About::Mcp(message)), item, body);
                    }
                    (None, None) => {
                        let failure = servers::failure(&message, "no method");
                        asks::respond(link, &id, failure);
                    }
                }
            }
            Question::Unknown(subtype) => asks::refuse(link, &id, &subtype),
        }
        Ok(())
    }

    fn ask(&mut self, (id, about): (String, About), item: Option<ItemId>, body: RequestBody) {
        let (context, withdrawal) = (self.context, Withdrawal::none());
        self.unanswered.insert(id.clone(), withdrawal.clone());
        self.answers.push(async move {
            let withdrawn = withdrawal.taken_back();
            let outcome = context.ask_unless(item, body, withdrawn).await;
            Answered { id, about, outcome }
        });
    }

    async fn answered(&mut self, answered: Answered) -> Result<(), TurnOver> {
        let Answered { id, about, outcome } = answered;
        let outcome = outcome?;
        let withdrawal = self.unanswered.remove(&id);
        if withdrawal.is_some_and(|asked| asked.is_taken_back()) {
            // It expects no answer any more.
            return Ok(());
        }
        let answer = match about {
            About::Permission(call) => {
                let decision = asks::decision(outcome, call.input);
                self.decided(&call.id, decision).await?
            }
            About::User(call) => {
                let decision = asks::told(outcome, &call.input);
                self.decided(&call.id, decision).await?
            }
            About::Elicitation => elicited::answer(outcome),
            About::Mcp(message) => servers::answered(&message, outcome),
        };
        asks::respond(&self.native.link, &id, answer);
        Ok(())
    }

    async fn decided(&mut self, call: &str, decision: Decision) -> Result<Value, TurnOver> {
        match &decision {
            Decision::Allow(input) => self.calls.allowed(self.context, (call, input)).await?,
            Decision::Deny(_) => self.calls.refused(call),
        }
        Ok(decision.answer())
    }

    /// Ends what the CLI has left open, and says how the turn went.
    async fn close(mut self, result: Option<Map<String, Value>>) -> Result<TurnReport, AgentError> {
        self.answers = Pending::new();
        for (id, _) in self.unanswered.drain() {
            asks::respond(&self.native.link, &id, asks::deny("The turn is over."));
        }
        let end = match (self.context.is_cancelled(), &result) {
            (true, _) => (ToolStatus::Cancelled, STOPPED),
            (false, None) => (ToolStatus::Unknown, "Outcome unknown: the agent went away."),
            (false, Some(_)) => (
                ToolStatus::Unknown,
                "The agent told no result of this call.",
            ),
        };
        self.calls.close(self.context, end).await?;
        let agent = &self.native.agent;
        let Some(result) = result else {
            let how = self.ended.take();
            let how = how.unwrap_or_else(|| "ended".to_owned());
            let message = format!("{agent} {how}; the next prompt starts it anew");
            return Err(AgentError::failed(message));
        };
        let used = outcome::context(&result, self.stream.used());
        if let Some(used) = used {
            *self.native.context() = used;
            self.context.emit(Emit::Usage(used)).await?;
        }
        let stands = *self.native.context();
        if self.context.is_cancelled() {
            return Ok(outcome::stopped(&result, stands));
        }
        outcome::report(agent, &result, stands)
    }
}

/// Our part of the conversation: what is in force, the servers, the prompt, and the result of it.
/// None where the CLI ended.
async fn talk(
    native: &Native,
    context: &TurnContext,
    prompt: Prompt,
    result: oneshot::Receiver<Map<String, Value>>,
) -> Result<Option<Map<String, Value>>, TurnOver> {
    let now: Settings = context.settings().borrow().clone();
    settings::apply(native, context, &now).await?;
    if let Some(servers) = prompt.servers {
        give(native, context, servers).await?;
    }
    if prompt.binding == Binding::Fresh {
        let marker = Marker::Native {
            name: SESSION.to_owned(),
            value: native.id.clone(),
        };
        context.record(marker).await?;
    }
    native.link.send(&prompt.line);
    // The mark need not be stored before the prompt goes out.
    let mark = context.record(Marker::ContextUnverifiable {
        native: native.id.clone(),
    });
    let (marked, result) = tokio::join!(mark, result);
    marked?;
    Ok(result.ok())
}

/// Gives the CLI its MCP servers, and tells which of them it cannot have.
async fn give(native: &Native, context: &TurnContext, request: Value) -> Result<(), TurnOver> {
    let agent = &native.agent;
    let title = match native.link.ask(request).await {
        Ok(answer) => match servers::failed(&answer)[..] {
            [] => return Ok(()),
            ref names => format!("{agent} could not reach MCP servers: {}", names.join(", ")),
        },
        Err(why) => format!("{agent} did not take the session's MCP servers: {why}"),
    };
    context.emit(Emit::Notice(Severity::Warning, title)).await
}

/// Tells the CLI once that the turn is being cancelled, and never returns.
async fn cancel(native: &Native, context: &TurnContext) {
    context.cancelled().await;
    native.link.tell(json!({ "subtype": "interrupt" }));
    std::future::pending().await
}

/// The blocks of a frame's message; a bare text is none.
fn blocks(frame: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let content = frame
        .get("message")
        .and_then(|message| message.get("content"));
    content.and_then(Value::as_array).into_iter().flatten()
}

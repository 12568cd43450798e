//! A turn: a prompt goes to the agent, what it says and asks comes back.

use std::pin::pin;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sessiond_engine::between::bad_line;
use sessiond_engine::{AgentError, Emit, TurnContext, TurnOver, TurnReport, Withdrawal};
use sessiond_protocol::{
    Content, ItemId, ItemKind, Marker, Outcome, RequestBody, Settings, Severity, Stop, TerminalOp,
    ToolStatus, Usage,
};
use sessiond_wire::Pending;
use sessiond_wire::rpc::{
    CANCEL_REQUEST, CallError, InFlight, Inbound, REQUEST_CANCELLED, RawId, cancelled_id, error,
};
use tokio::sync::mpsc;

use super::answer::{self, Turn as State};
use super::asks::{self, Asked};
use super::calls::{Calls, Standing};
use super::failure::failed;
use super::incoming::Incoming;
use super::native::{Native, SESSION};
use super::said::{Said, said};
use super::settings;
use super::terminals::Terminals;
use super::update::{Chunk, Piece, Update};

/// A turn that runs.
pub(super) struct Turn<'a> {
    native: &'a Arc<Native>,
    context: &'a TurnContext,
    incoming: &'a mut mpsc::Receiver<Incoming>,
    calls: Calls,
    terminals: Terminals,
    /// Requests of the agent that are not answered yet.
    unanswered: InFlight<(Wants, Withdrawal)>,
    answers: Pending<'a, Answered>,
    /// The message that streams, by the agent's id of it.
    message: Option<String>,
    /// How the agent ended, if it did.
    ended: Option<String>,
}

/// What an agent that asks waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wants {
    /// Whether a call may run: of a cancelled turn it hears just that, also where it did not wait.
    Permission,
    /// Anything else.
    Other,
}

/// A question that was settled.
struct Answered {
    id: RawId,
    body: RequestBody,
    outcome: Result<Outcome, TurnOver>,
}

/// What is to be recorded before the agent gets its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// The agent's own id of the session is new.
    Fresh,
    /// It is recorded.
    Recorded,
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
            calls: Calls::default(),
            terminals: Terminals::default(),
            unanswered: InFlight::default(),
            answers: Pending::new(),
            message: None,
            ended: None,
        }
    }

    /// Runs the turn to its end.
    ///
    /// # Errors
    /// [`AgentError`] where the agent refused the prompt or went away.
    pub(super) async fn run(
        mut self,
        prompt: Vec<Value>,
        binding: Binding,
    ) -> Result<TurnReport, AgentError> {
        let (native, context) = (self.native.clone(), self.context);
        let answer = {
            let mut talk = pin!(talk(&native, context, prompt, binding));
            let mut settings = pin!(settings::follow(&native, context));
            let mut cancel = pin!(cancel(&native, context));
            let mut listen = pin!(self.listen());
            let mut following = true;
            loop {
                tokio::select! {
                    biased;
                    answer = &mut talk => break answer?,
                    () = &mut cancel => {}
                    followed = &mut settings, if following => {
                        followed?;
                        following = false;
                    }
                    listened = &mut listen => {
                        listened?;
                        // What was asked of it is answered no more, and says so.
                        native.over.end();
                        break Err(CallError::Closed);
                    }
                }
            }
        };
        self.close(answer).await
    }

    /// Takes in what comes, in order, until the agent ends.
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

    async fn hear(&mut self, message: Inbound) -> Result<(), TurnOver> {
        match message {
            Inbound::Notification { method, params } if method == CANCEL_REQUEST => {
                let id = params.as_deref().and_then(cancelled_id);
                if let Some((_, asked)) = id.and_then(|id| self.unanswered.get(&id)) {
                    asked.take_back();
                }
                Ok(())
            }
            Inbound::Notification { method, params } => {
                let native = self.native.clone();
                match said(&native, &method, params.as_deref()) {
                    Said::Update(update) => self.update(update).await,
                    Said::Beyond(emit) => self.context.emit(emit).await,
                    Said::Nothing => Ok(()),
                }
            }
            Inbound::Request { id, method, params } => {
                self.request(id, &method, params.as_deref()).await
            }
            message => {
                self.native.answered(message);
                Ok(())
            }
        }
    }

    async fn update(&mut self, update: Update<'_>) -> Result<(), TurnOver> {
        match update {
            Update::Agent(chunk) => self.chunk(chunk, ItemKind::AgentMessage).await,
            Update::Thought(chunk) => self.chunk(chunk, ItemKind::Thought).await,
            // An echo of what the user said here.
            Update::User(_) | Update::Other => Ok(()),
            Update::Call(update) => {
                self.message = None;
                let terminals = (&*self.native.agent, &mut self.terminals);
                self.calls.told(self.context, terminals, *update).await
            }
            Update::Plan(entries) => {
                self.message = None;
                self.context.emit(Emit::Plan(entries)).await
            }
            update => {
                for emit in self.native.noted(update).unwrap_or_default() {
                    self.context.emit(emit).await?;
                }
                Ok(())
            }
        }
    }

    /// A message with another id is another message.
    async fn chunk(&mut self, chunk: Chunk<'_>, kind: ItemKind) -> Result<(), TurnOver> {
        if self.message.is_some() && chunk.message.is_some() && self.message != chunk.message {
            self.context.emit(Emit::MessageEnd).await?;
        }
        if chunk.message.is_some() {
            self.message = chunk.message;
        }
        let text = match chunk.content {
            Piece::Text(text) => text.into_owned(),
            Piece::Block(block) if is_kept(&block) => {
                return self.context.emit(Emit::Content(kind, *block)).await;
            }
            Piece::Block(block) => block.in_words(),
        };
        let emit = match kind {
            ItemKind::Thought => Emit::Thought(text),
            _ => Emit::Text(text),
        };
        self.context.emit(emit).await
    }

    async fn request(
        &mut self,
        id: RawId,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<(), TurnOver> {
        let native = self.native;
        let wants = match method {
            "session/request_permission" => Wants::Permission,
            _ => Wants::Other,
        };
        let withdrawal = Withdrawal::none();
        let entry = (wants, withdrawal.clone());
        if let Err(refused) = self.unanswered.begin(id.clone(), entry) {
            native.peer.refuse(Some(&id), &refused);
            return Ok(());
        }
        match asks::read(native, method, params) {
            Err(why) => {
                self.unanswered.finish(&id);
                asks::unasked(native, &id, why);
                Ok(())
            }
            Ok(Asked::Client(mut body)) => {
                if let RequestBody::Terminal(TerminalOp::Create { cwd, .. }) = &mut body
                    && cwd.is_empty()
                {
                    cwd.clone_from(&native.cwd);
                }
                self.ask((id, withdrawal), None, body);
                Ok(())
            }
            Ok(Asked::Permission(update, options)) => {
                let call = update.id.clone();
                let terminals = (&*native.agent, &mut self.terminals);
                self.calls.told(self.context, terminals, *update).await?;
                match self.calls.get(&call) {
                    Some(Standing::Open(item, call)) => {
                        let body = asks::question(call, options);
                        self.ask((id, withdrawal), Some(item), body);
                    }
                    Some(Standing::Closed) | None => {
                        self.unanswered.finish(&id);
                        native.peer.respond(&id, Ok(&answer::rejection(&options)));
                    }
                }
                Ok(())
            }
        }
    }

    fn ask(
        &mut self,
        (id, withdrawal): (RawId, Withdrawal),
        item: Option<ItemId>,
        body: RequestBody,
    ) {
        let context = self.context;
        self.answers.push(async move {
            let withdrawn = withdrawal.taken_back();
            let outcome = context.ask_unless(item, body.clone(), withdrawn).await;
            Answered { id, body, outcome }
        });
    }

    async fn answered(&mut self, answered: Answered) -> Result<(), TurnOver> {
        let Answered { id, body, outcome } = answered;
        let outcome = outcome?;
        self.note_terminal(&body, &outcome);
        let state = if self.context.is_cancelled() {
            State::Cancelled
        } else {
            State::Runs
        };
        let entry = self.unanswered.finish(&id);
        let is_taken_back = entry.is_some_and(|(_, asked)| asked.is_taken_back());
        let answer = if is_taken_back && outcome == Outcome::Cancelled {
            Err(error(REQUEST_CANCELLED, "Cancelled"))
        } else {
            answer::answer(&body, outcome, state).await
        };
        self.native.peer.respond(&id, answer.as_ref());
        Ok(())
    }

    fn note_terminal(&mut self, body: &RequestBody, outcome: &Outcome) {
        let RequestBody::Terminal(op) = body else {
            return;
        };
        match (op, outcome) {
            (TerminalOp::Create { .. }, Outcome::Terminal { terminal }) => {
                self.terminals.created(terminal.clone());
            }
            (TerminalOp::Output { terminal }, Outcome::Output { output, .. }) => {
                self.terminals.printed(terminal, output);
            }
            (TerminalOp::Release { terminal }, _) => self.terminals.released(terminal),
            _ => {}
        }
    }

    /// Ends what the agent has left open, and says how the turn went.
    async fn close(
        mut self,
        answer: Result<Box<RawValue>, CallError>,
    ) -> Result<TurnReport, AgentError> {
        let gone = self.native.over.is_over();
        self.answers = Pending::new();
        for (id, (wants, _)) in self.unanswered.drain() {
            if wants == Wants::Permission && self.context.is_cancelled() {
                self.native.peer.respond(&id, Ok(&answer::cancelled()));
                continue;
            }
            let over = error(REQUEST_CANCELLED, "The turn is over");
            self.native.peer.refuse(Some(&id), &over);
        }
        let end = if self.context.is_cancelled() {
            (ToolStatus::Cancelled, "Stopped: the turn was cancelled.")
        } else if gone {
            (ToolStatus::Unknown, "Outcome unknown: the agent went away.")
        } else {
            (
                ToolStatus::Unknown,
                "The agent told no result of this call.",
            )
        };
        self.calls
            .close(self.context, &mut self.terminals, end)
            .await?;
        let agent = &self.native.agent;
        let answer = match (answer, self.ended.take()) {
            (Err(CallError::Closed), Some(how)) => {
                let message = format!("{agent} {how}; the next prompt starts it anew");
                return Err(AgentError::failed(message));
            }
            (answer, _) => answer.map_err(|error| failed(agent, error))?,
        };
        self.report(&answer).await
    }

    async fn report(&mut self, answer: &RawValue) -> Result<TurnReport, AgentError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
            stop_reason: String,
            #[serde(default)]
            usage: Value,
        }
        let agent = &self.native.agent;
        let answer: Answer = serde_json::from_str(answer.get()).map_err(|_| {
            AgentError::failed(format!(
                "{agent} ended its turn with an answer that is malformed"
            ))
        })?;
        let stop = match &*answer.stop_reason {
            "max_tokens" => Stop::MaxTokens,
            "max_turn_requests" => Stop::MaxRequests,
            "refusal" => Stop::Refusal,
            "cancelled" if !self.context.is_cancelled() => {
                let title = format!("{agent} stopped the turn by itself");
                let notice = Emit::Notice(Severity::Warning, title);
                self.context.emit(notice).await?;
                Stop::EndTurn
            }
            _ => Stop::EndTurn,
        };
        let usage = self.usage(&answer.usage);
        Ok(TurnReport { stop, usage })
    }

    fn usage(&self, usage: &Value) -> Option<Usage> {
        let tokens = |name| usage.get(name).and_then(Value::as_u64);
        Some(Usage {
            input: tokens("inputTokens")?,
            output: tokens("outputTokens")?,
            thought: tokens("thoughtTokens"),
            cached_read: tokens("cachedReadTokens"),
            cached_write: tokens("cachedWriteTokens"),
            ..self.native.context_stands_at()
        })
    }
}

/// Our part of the conversation: what is in force, the prompt, and the answer to it.
async fn talk(
    native: &Native,
    context: &TurnContext,
    prompt: Vec<Value>,
    binding: Binding,
) -> Result<Result<Box<RawValue>, CallError>, TurnOver> {
    let now: Settings = context.settings().borrow().clone();
    settings::apply(native, context, &now).await?;
    if binding == Binding::Fresh {
        let marker = Marker::Native {
            name: SESSION.to_owned(),
            value: native.id.clone(),
        };
        context.record(marker).await?;
    }
    let params = json!({ "sessionId": native.id, "prompt": prompt });
    let answer = native.peer.request("session/prompt", &params);
    // The mark need not be stored before the prompt goes out.
    let mark = context.record(Marker::ContextUnverifiable {
        native: native.id.clone(),
    });
    let (marked, answer) = tokio::join!(mark, answer);
    marked?;
    Ok(answer)
}

/// Tells the agent once that the turn is being cancelled, and never returns.
async fn cancel(native: &Native, context: &TurnContext) {
    context.cancelled().await;
    let params = json!({ "sessionId": native.id });
    // Cannot fail: the params are an object with one text.
    let _written = native.peer.notify("session/cancel", &params);
    std::future::pending().await
}

/// Whether a block is kept as it is; others are text, or become text.
fn is_kept(block: &Content) -> bool {
    match block {
        Content::Image { .. } | Content::Audio { .. } => true,
        Content::Resource { resource, .. } => resource.get("text").is_none(),
        Content::Text { .. } | Content::ResourceLink { .. } => false,
    }
}

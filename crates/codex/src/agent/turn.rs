//! A turn: a prompt goes to Codex, what it says and asks comes back.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use serde_json::value::RawValue;
use sessiond_engine::between::bad_line;
use sessiond_engine::{AgentError, Emit, TurnContext, TurnOver, TurnReport, Withdrawal};
use sessiond_protocol::{Content, Outcome, RequestBody, Severity, Stop, ToolStatus};
use sessiond_wire::Pending;
use sessiond_wire::rpc::{INVALID_PARAMS, InFlight, Inbound, RawId, error};
use tokio::sync::{mpsc, watch};
use tokio::task::yield_now;

use super::asks::{self, Asked, Turn as State};
use super::between::outside;
use super::calls::Calls;
use super::changes;
use super::failure::Failed;
use super::incoming::Incoming;
use super::input::Input;
use super::item::Native;
use super::said::{self, Ended, InTurn, Said};
use super::steers::Steers;
use super::streams::{Before, Streams};
use super::talk::{begin, cancel, lost};
use super::thread::Thread;
use super::usage::Spent;

/// A turn that runs.
pub(super) struct Turn<'a> {
    thread: &'a Arc<Thread>,
    context: &'a TurnContext,
    incoming: &'a mut mpsc::Receiver<Incoming>,
    calls: Calls,
    streams: Streams,
    /// Requests of Codex that are not answered yet.
    unanswered: InFlight<Withdrawal>,
    answers: Pending<'a, Answered>,
    /// Codex's id of the turn, once it is known.
    native: watch::Sender<Option<String>>,
    /// Messages so far.
    heard: Arc<AtomicU64>,
    /// What the thread had used before.
    before: Spent,
    /// Whether the user's own answer stopped the turn.
    stopped: Stopped,
}

/// A question that was settled.
struct Answered {
    id: RawId,
    asked: Asked,
    outcome: Result<Outcome, TurnOver>,
}

/// Who stopped a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopped {
    /// Nobody here.
    No,
    /// The user, by an answer.
    ByAnswer,
}

/// How Codex's part of a turn came to its end.
#[derive(Debug)]
enum End {
    /// As it said.
    Said(Ended),
    /// The turn did not begin.
    Refused(Failed),
    /// Its process ended so.
    Gone(String),
    /// It runs no turn any more, and did not say how it ended.
    Lost,
}

impl<'a> Turn<'a> {
    pub(super) fn new(
        thread: &'a Arc<Thread>,
        context: &'a TurnContext,
        incoming: &'a mut mpsc::Receiver<Incoming>,
    ) -> Self {
        Self {
            thread,
            context,
            incoming,
            calls: Calls::default(),
            streams: Streams::default(),
            unanswered: InFlight::default(),
            answers: Pending::new(),
            native: watch::channel(None).0,
            heard: Arc::default(),
            before: thread.spent(),
            stopped: Stopped::No,
        }
    }

    /// Runs the turn to its end. What was added to it and did not reach Codex is another turn of
    /// Codex's, of the same turn here.
    ///
    /// # Errors
    /// [`AgentError`] where Codex refused the prompt, failed or went away.
    pub(super) async fn run(mut self, mut input: Input) -> Result<TurnReport, AgentError> {
        loop {
            let steers = Steers::new();
            self.native.send_replace(None);
            let end = self.once(input, &steers).await?;
            self.close(&end).await?;
            let report = self.report(end).await?;
            let left: Vec<Content> = steers.take_left();
            if left.is_empty() || self.context.is_cancelled() {
                return Ok(report);
            }
            input = Input::of(&left);
        }
    }

    /// One turn of Codex's.
    async fn once(&mut self, input: Input, steers: &Steers) -> Result<End, TurnOver> {
        let (thread, context) = (self.thread.clone(), self.context);
        let (native, heard) = (self.native.subscribe(), self.heard.clone());
        let mut begin = pin!(begin(&thread, context, input));
        let mut cancel = pin!(cancel(&thread, context, native.clone()));
        let mut follow = pin!(steers.follow(&thread, context, native));
        let mut watch = pin!(lost(&thread, &heard));
        let told = self.native.clone();
        let (mut beginning, mut following) = (true, true);
        let end = {
            let mut listen = pin!(self.listen());
            loop {
                tokio::select! {
                    biased;
                    begun = &mut begin, if beginning => match begun {
                        Ok(turn) => {
                            told.send_replace(Some(turn));
                            beginning = false;
                        }
                        Err(failed) => break End::Refused(failed),
                    },
                    () = &mut cancel => {}
                    followed = &mut follow, if following => {
                        followed?;
                        following = false;
                    }
                    end = &mut listen => break end?,
                    () = &mut watch, if !beginning => break End::Lost,
                }
            }
        };
        if matches!(end, End::Gone(_)) {
            // What was asked of it is answered no more, and says so.
            thread.over.end();
        }
        // Whether what is on its way was taken is said only now.
        let mut settled = pin!(steers.settled());
        let mut listen = pin!(self.listen());
        loop {
            tokio::select! {
                biased;
                () = &mut settled => return Ok(end),
                followed = &mut follow, if following => {
                    followed?;
                    following = false;
                }
                _ = &mut listen, if !thread.over.is_over() => return Ok(end),
            }
        }
    }

    /// Takes in what comes, in order, until the turn or Codex ends.
    async fn listen(&mut self) -> Result<End, TurnOver> {
        loop {
            tokio::select! {
                biased;
                answered = self.answers.next() => self.answered(answered)?,
                incoming = self.incoming.recv() => match incoming {
                    Some(Incoming::Message(message, _weight)) => {
                        self.heard.fetch_add(1, Ordering::Relaxed);
                        if let Some(ended) = self.hear(message).await? {
                            return Ok(End::Said(ended));
                        }
                    }
                    Some(Incoming::Bad) => {
                        self.context.emit(bad_line(&self.thread.agent)).await?;
                    }
                    Some(Incoming::End(how)) => return Ok(End::Gone(how)),
                    None => return Ok(End::Gone("ended".to_owned())),
                },
            }
        }
    }

    async fn hear(&mut self, message: Inbound) -> Result<Option<Ended>, TurnOver> {
        match message {
            Inbound::Notification { method, params } => {
                let thread = self.thread.clone();
                match said::read(&thread.id, &method, params.as_deref()) {
                    Said::Turn(turn, what) if self.is_this(&turn, &what) => {
                        return self.happens(what).await;
                    }
                    // Of another turn: what it says does not count here (ADAPT-8).
                    Said::Turn(..) => {}
                    Said::Resolved(id) => {
                        if let Some(asked) = self.unanswered.get(&id) {
                            asked.take_back();
                        }
                    }
                    said => {
                        for emit in thread.noted(said, Some(self.before)).unwrap_or_default() {
                            self.context.emit(emit).await?;
                        }
                    }
                }
            }
            Inbound::Request { id, method, params } => {
                self.request(id, &method, params.as_deref()).await?;
            }
            message => {
                self.thread.answered(message);
                // Whoever waits for it goes on before what follows is heard: the id of the turn is
                // in the answer that comes before all else of it.
                yield_now().await;
            }
        }
        Ok(None)
    }

    /// Whether something belongs to this turn. Its beginning may be heard before the answer that
    /// names it is dealt with.
    fn is_this(&self, turn: &str, what: &InTurn) -> bool {
        if *what == InTurn::Started {
            self.native.send_if_modified(|native| {
                let is_new = native.is_none();
                native.get_or_insert_with(|| turn.to_owned());
                is_new
            });
        }
        self.native.borrow().as_deref() == Some(turn)
    }

    async fn happens(&mut self, what: InTurn) -> Result<Option<Ended>, TurnOver> {
        match what {
            InTurn::Started => {}
            InTurn::Ended(ended) => return Ok(Some(ended)),
            InTurn::Text(id, text) => self.piece(&id, text, Emit::Text).await?,
            InTurn::Thought(id, text) => self.piece(&id, text, Emit::Thought).await?,
            InTurn::RawThought(id, text) => {
                // What is summed up is not told twice.
                let raw = format!("{id}/raw");
                if self.streams.told(&id) == 0 {
                    self.piece(&raw, text, Emit::Thought).await?;
                }
            }
            InTurn::ThoughtPart(id) => self.piece(&id, "\n\n".to_owned(), Emit::Thought).await?,
            InTurn::Item(id, Native::Call(call)) => self.call(&id, call).await?,
            InTurn::Item(..) => {}
            InTurn::ItemEnded(id, native) => self.item_ended(&id, native).await?,
            InTurn::Output(id, text) => {
                if let Some(item) = self.calls.printed(&id, &text) {
                    self.context.emit(Emit::CallOutput(item, text)).await?;
                }
            }
            InTurn::Changes(id, changes) => {
                if let Some((_, call)) = self.calls.open(&id) {
                    let (content, locations) = changes::read(&changes);
                    let mut call = Box::new(call.clone());
                    (call.content, call.locations) = (content, locations);
                    self.call(&id, call).await?;
                }
            }
            InTurn::Plan(entries) => {
                self.streams.interrupted();
                self.context.emit(Emit::Plan(entries)).await?;
            }
        }
        Ok(None)
    }

    async fn piece(
        &mut self,
        id: &str,
        text: String,
        emit: fn(String) -> Emit,
    ) -> Result<(), TurnOver> {
        if self.streams.piece(id, &text) == Before::MessageEnd {
            self.context.emit(Emit::MessageEnd).await?;
        }
        self.context.emit(emit(text)).await
    }

    async fn call(
        &mut self,
        id: &str,
        call: Box<sessiond_protocol::ToolCall>,
    ) -> Result<(), TurnOver> {
        self.streams.interrupted();
        let told = (self.thread.agent.as_str(), id);
        self.calls.told(self.context, told, call).await
    }

    async fn item_ended(&mut self, id: &str, native: Native) -> Result<(), TurnOver> {
        match native {
            Native::Message(text) => self.words_ended(id, &text, Emit::Text).await,
            Native::Thought(text) => {
                let raw = format!("{id}/raw");
                if self.streams.told(&raw) > 0 {
                    self.streams.end(&raw, "");
                    return self.context.emit(Emit::MessageEnd).await;
                }
                self.words_ended(id, &text, Emit::Thought).await
            }
            Native::Call(call) => self.call(id, call).await,
            Native::Compaction => {
                let agent = &self.thread.agent;
                let title = format!("{agent} summed up its context");
                self.context.emit(Emit::Notice(Severity::Info, title)).await
            }
            Native::User | Native::Other => Ok(()),
        }
    }

    /// Tells what of a message was not streamed, and that it is whole.
    async fn words_ended(
        &mut self,
        id: &str,
        text: &str,
        emit: fn(String) -> Emit,
    ) -> Result<(), TurnOver> {
        let rest = self.streams.end(id, text);
        if !rest.is_empty() {
            self.context.emit(emit(rest.to_owned())).await?;
        }
        self.context.emit(Emit::MessageEnd).await
    }

    async fn request(
        &mut self,
        id: RawId,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<(), TurnOver> {
        let peer = &self.thread.requests.peer;
        let raw = params.map_or("null", RawValue::get);
        let told: Value = serde_json::from_str(raw).unwrap_or_default();
        // What is asked is about the thread that runs here, or about none (ADAPT-8).
        if told["threadId"]
            .as_str()
            .is_some_and(|of| of != self.thread.id)
        {
            outside(peer, &id, (method, params));
            return Ok(());
        }
        let asked = match asks::read(method, &told) {
            Ok(asked) => asked,
            Err(refused) => {
                peer.refuse(Some(&id), &refused);
                return Ok(());
            }
        };
        let withdrawal = Withdrawal::none();
        if let Err(refused) = self.unanswered.begin(id.clone(), withdrawal.clone()) {
            peer.refuse(Some(&id), &refused);
            return Ok(());
        }
        let of_server = || self.calls.of_server(asked.server.as_deref()?, &asked.about);
        let call = self.calls.open(&asked.item).or_else(of_server);
        let body = asked.body(call.map(|(_, call)| call));
        if self.calls.is_closed(&asked.item) && matches!(body, RequestBody::Permission(_)) {
            self.unanswered.finish(&id);
            peer.respond(&id, Ok(&asked.unasked()));
            return Ok(());
        }
        let (item, context) = (call.map(|(item, _)| item), self.context);
        self.answers.push(async move {
            let withdrawn = withdrawal.taken_back();
            let outcome = context.ask_unless(item, body, withdrawn).await;
            Answered { id, asked, outcome }
        });
        Ok(())
    }

    fn answered(&mut self, answered: Answered) -> Result<(), TurnOver> {
        let Answered { id, asked, outcome } = answered;
        let outcome = outcome?;
        // One that Codex took back waits for no answer.
        let taken_back = match self.unanswered.finish(&id) {
            Some(withdrawal) => withdrawal.is_taken_back(),
            None => true,
        };
        if taken_back {
            return Ok(());
        }
        let answer = asked.answer(&outcome, self.state());
        if asks::stops(&answer) {
            self.stopped = Stopped::ByAnswer;
        }
        self.thread.requests.peer.respond(&id, Ok(&answer));
        Ok(())
    }

    fn state(&self) -> State {
        if self.context.is_cancelled() {
            State::Cancelled
        } else {
            State::Runs
        }
    }

    /// Ends what Codex has left open.
    async fn close(&mut self, end: &End) -> Result<(), TurnOver> {
        self.answers = Pending::new();
        for (id, _) in self.unanswered.drain() {
            let over = error(INVALID_PARAMS, "The turn is over");
            self.thread.requests.peer.refuse(Some(&id), &over);
        }
        self.streams = Streams::default();
        let how = if self.context.is_cancelled() || self.stopped == Stopped::ByAnswer {
            (ToolStatus::Cancelled, "Stopped: the turn was cancelled.")
        } else if matches!(end, End::Gone(_)) {
            (ToolStatus::Unknown, "Outcome unknown: the agent went away.")
        } else {
            (
                ToolStatus::Unknown,
                "The agent told no result of this call.",
            )
        };
        self.calls.close(self.context, how).await
    }

    async fn report(&mut self, end: End) -> Result<TurnReport, AgentError> {
        let agent = &self.thread.agent;
        match end {
            End::Said(Ended::Completed) => {}
            End::Said(Ended::Interrupted) => {
                let is_asked = self.context.is_cancelled() || self.stopped == Stopped::ByAnswer;
                if !is_asked {
                    let title = format!("{agent} stopped the turn by itself");
                    let notice = Emit::Notice(Severity::Warning, title);
                    self.context.emit(notice).await?;
                }
            }
            End::Said(Ended::Failed(why)) => {
                return Err(AgentError::failed(format!("{agent}: {why}")));
            }
            End::Refused(failed) => return Err(failed.into_error(agent)),
            End::Gone(how) => {
                let message = format!("{agent} {how}; the next prompt starts it anew");
                return Err(AgentError::failed(message));
            }
            End::Lost => {
                let message =
                    format!("{agent} runs this turn no more, and did not say how it ended");
                return Err(AgentError::failed(message));
            }
        }
        Ok(TurnReport {
            stop: Stop::EndTurn,
            usage: Some(self.thread.spent().since(self.before)),
        })
    }
}

//! The face: what each line of the client and each frame of the engine leads to.
//!
//! Nothing here waits. What a receipt leads to is submitted with the op, as its continuation.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, ClientFrame, Op, RequestId, ServerFrame, SessionId, Verdict, WireError,
};
use sessiond_wire::rpc::{ErrorObject, RawId, RpcFrame};
use sessiond_wire::{OutQueue, Submissions};

use super::approvals::Asked;
use super::client::Client;
use super::line::{Said, read};
use super::methods;
use super::pages::Outlines;
use super::params::{self, InitializeParams};
use super::past::Past;
use super::refuse::{invalid, unsupported};
use super::serve::Options;
use super::thread::{Subscription, Thread};

/// The version of Codex whose app-server this is: clients ask for what a version has.
const CODEX_VERSION: &str = "0.171.0";

/// What becomes of a receipt.
type Continue = Box<dyn FnOnce(&mut Face, Result<Accepted, WireError>) + Send>;

/// The continuation of a submission.
pub(super) struct Then(Continue);

impl fmt::Debug for Then {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Then")
    }
}

/// What a request led to: it is answered later, or refused now.
pub(super) type Begun = Result<(), ErrorObject>;

/// Everything the face knows of one connection.
#[derive(Debug)]
pub(super) struct Face {
    pub(super) client: Client,
    pub(super) options: Options,
    pub(super) threads: HashMap<SessionId, Thread>,
    /// Threads that are being opened, with what their replay has told so far.
    pub(super) opening: HashMap<SessionId, Past>,
    pub(super) outlines: Outlines,
    /// Requests for threads that wait until the answer with turns that is being written has ended.
    /// No more than there are lines that are taken up meanwhile.
    waiting: VecDeque<(RawId, String, Value)>,
    /// What the client is asked, by our request's id, and by the engine's.
    pub(super) asked: HashMap<i64, Asked>,
    pub(super) requests: HashMap<RequestId, i64>,
    submissions: Submissions<Then>,
    caller: Option<Caller>,
}

/// The client, once it has said who it is.
#[derive(Debug)]
struct Caller {
    experimental: bool,
}

impl Face {
    pub(super) fn new(queue: OutQueue<RpcFrame>, options: Options) -> Self {
        Self {
            client: Client::new(queue),
            options,
            threads: HashMap::new(),
            opening: HashMap::new(),
            outlines: Outlines::default(),
            waiting: VecDeque::new(),
            asked: HashMap::new(),
            requests: HashMap::new(),
            submissions: Submissions::default(),
            caller: None,
        }
    }

    /// Takes in a line of the client. One that is no message is not answered, as Codex does.
    pub(super) fn line(&mut self, line: &str) {
        match read(line) {
            Said::Request { id, method, params } => {
                if let Err(error) = self.request(&id, &method, params.as_ref()) {
                    self.client.fail(&id, &error);
                }
            }
            Said::Response { id, result } => self.answered(&id, result),
            Said::Notification => {}
            Said::Nothing => tracing::warn!("a line of the client is no message"),
        }
        self.take_up_waiting();
    }

    /// Begins what waited for the end of an answer.
    fn take_up_waiting(&mut self) {
        while !self.client.is_writing()
            && let Some((id, method, params)) = self.waiting.pop_front()
        {
            if let Err(error) = self.dispatch(&id, &method, &params) {
                self.client.fail(&id, &error);
            }
        }
    }

    /// Takes in a frame of the engine.
    pub(super) fn frame(&mut self, frame: ServerFrame) {
        match frame {
            ServerFrame::Receipt(receipt) => {
                if let Some(Then(then)) = self.submissions.received(&receipt.id) {
                    then(
                        self,
                        match receipt.result {
                            Verdict::Accepted(accepted) => Ok(accepted),
                            Verdict::Error(error) => Err(error),
                        },
                    );
                }
            }
            ServerFrame::Event(event) => self.event(&event),
            ServerFrame::Request(request) => self.ask(request),
            ServerFrame::RequestClosed { id, .. } => self.withdraw(id),
            // They are about the connection.
            ServerFrame::Welcome(_) | ServerFrame::Error { .. } | ServerFrame::Bye {} => {}
        }
        self.take_up_waiting();
    }

    /// Whether every submission has had its receipt.
    pub(super) fn is_settled(&self) -> bool {
        self.submissions.awaited().next().is_none()
    }

    /// What is to be sent to the engine.
    pub(super) fn take_outbox(&mut self) -> Vec<ClientFrame> {
        self.submissions.take_outbox()
    }

    /// Submits an operation; `then` gets its receipt.
    ///
    /// # Errors
    /// An internal error; nothing was submitted.
    pub(super) fn submit(
        &mut self,
        session: Option<SessionId>,
        op: Op,
        then: impl FnOnce(&mut Face, Result<Accepted, WireError>) + Send + 'static,
    ) -> Begun {
        let then = Then(Box::new(then));
        self.submissions.submit(("codex", then), session, op)
    }

    /// Submits an operation from a continuation, for a request that is answered if it cannot be.
    pub(super) fn submit_for(
        &mut self,
        id: &RawId,
        session: Option<SessionId>,
        op: Op,
        then: impl FnOnce(&mut Face, Result<Accepted, WireError>) + Send + 'static,
    ) {
        if let Err(error) = self.submit(session, op, then) {
            self.client.fail(id, &error);
        }
    }

    pub(super) fn send(&mut self, frame: ClientFrame) {
        self.submissions.send(frame);
    }

    /// Tells about a thread, where the client wants to hear of it.
    pub(super) fn tell(&self, thread: SessionId, method: &str, params: &Value) {
        let subscription = self.threads.get(&thread).map(|thread| thread.subscription);
        if subscription == Some(Subscription::On) {
            self.client.notify(method, params);
        }
    }

    /// Tells how a thread stands.
    pub(super) fn tell_status(&self, thread: SessionId) {
        if let Some(state) = self.threads.get(&thread) {
            let params = json!({ "threadId": thread, "status": state.status() });
            self.tell(thread, "thread/status/changed", &params);
        }
    }

    /// Begins what a request asks for. As with the original, what cannot be read is refused before
    /// anything else is asked.
    fn request(&mut self, id: &RawId, method: &str, params: Option<&Value>) -> Begun {
        if methods::gate(method).is_none() {
            return Err(invalid(methods::unknown(method)));
        }
        let none = Value::Null;
        let given = params.unwrap_or(&none);
        match (&self.caller, method) {
            (None, "initialize") => return self.initialize(id, params),
            (Some(_), "initialize") => return Err(invalid("Already initialized")),
            (None, _) => return Err(invalid("Not initialized")),
            (Some(caller), _) if !caller.experimental => {
                if let Some(name) = methods::experimental(method, given) {
                    let text = format!("{name} requires experimentalApi capability");
                    return Err(invalid(text));
                }
            }
            (Some(_), _) => {}
        }
        match (method, params) {
            ("account/logout", _) => {
                self.client.answer(id, &json!({}));
                Ok(())
            }
            (method, Some(params)) => self.dispatch(id, method, params),
            (method, None) if is_served(method) => {
                Err(invalid("Invalid request: missing field `params`"))
            }
            (method, None) => Err(unsupported(method)),
        }
    }

    fn dispatch(&mut self, id: &RawId, method: &str, params: &Value) -> Begun {
        let shows_turns = ["thread/resume", "thread/fork", "thread/read"].contains(&method);
        if shows_turns && self.client.is_writing() {
            let waits = (id.clone(), method.to_owned(), params.clone());
            self.waiting.push_back(waits);
            return Ok(());
        }
        match method {
            "thread/start" => self.start_thread(id, params),
            "thread/resume" => self.resume_thread(id, params),
            "thread/fork" => self.fork_thread(id, params),
            "thread/read" => self.read_thread(id, params),
            "thread/list" => self.list_threads(id, params),
            "thread/loaded/list" => self.list_loaded(id, params),
            "thread/turns/list" => self.list_turns(id, params),
            "thread/items/list" => self.list_items(id, params),
            "thread/archive" => self.archive_thread(id, params),
            "thread/unarchive" => self.unarchive_thread(id, params),
            "thread/delete" => self.delete_thread(id, params),
            "thread/name/set" => self.name_thread(id, params),
            "thread/revert" => self.revert_thread(id, params),
            "thread/compact/start" => self.compact_thread(id, params),
            "thread/unsubscribe" => self.unsubscribe(id, params),
            "thread/inject_items" => self.inject_items(id, params),
            "turn/start" => self.start_turn(id, params),
            "turn/steer" => self.steer_turn(id, params),
            "turn/interrupt" => self.interrupt_turn(id, params),
            "model/list" => self.list_models(id, params),
            "config/read" => self.read_config(id),
            "account/read" => self.read_account(id),
            other => Err(unsupported(other)),
        }
    }

    fn initialize(&mut self, id: &RawId, params: Option<&Value>) -> Begun {
        let params = params.ok_or_else(|| invalid("Invalid request: missing field `params`"))?;
        let params: InitializeParams = params::read(params)?;
        let capabilities = params.capabilities.unwrap_or_default();
        let unwanted = capabilities.opt_out_notification_methods;
        self.client.opt_out(unwanted.unwrap_or_default());
        self.caller = Some(Caller {
            experimental: capabilities.experimental_api,
        });
        let (name, version) = (params.client_info.name, params.client_info.version);
        let (ours, os) = (env!("CARGO_PKG_VERSION"), std::env::consts::OS);
        let agent =
            format!("{name}/{CODEX_VERSION} (sessiond {ours}; {os}) unknown ({name}; {version})");
        self.client.answer(
            id,
            &json!({
                "userAgent": agent,
                "codexHome": self.options.home,
                "platformFamily": std::env::consts::FAMILY,
                "platformOs": os,
            }),
        );
        Ok(())
    }
}

/// Whether a method is one of those that [`Face::dispatch`] serves.
fn is_served(method: &str) -> bool {
    SERVED.contains(&method)
}

/// The methods that are served; all others of Codex's are answered as unsupported.
pub(super) const SERVED: [&str; 24] = [
    "initialize",
    "thread/start",
    "thread/resume",
    "thread/fork",
    "thread/read",
    "thread/list",
    "thread/loaded/list",
    "thread/turns/list",
    "thread/items/list",
    "thread/archive",
    "thread/unarchive",
    "thread/delete",
    "thread/name/set",
    "thread/revert",
    "thread/compact/start",
    "thread/unsubscribe",
    "thread/inject_items",
    "turn/start",
    "turn/steer",
    "turn/interrupt",
    "model/list",
    "config/read",
    "account/read",
    "account/logout",
];

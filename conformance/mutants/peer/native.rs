//! The reference peer as a server of sessiond's native protocol: `reference-peer sqeq`.

mod delivery;
mod frame;
mod history;
mod ops;
mod session;
mod standing;
mod turn;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::fault::{die_on, on};
use crate::input::{Input, Line};
use crate::wire::Wire;
pub(crate) use frame::uuid;
use frame::{bad, checked, named, pointed};
use session::Session;

/// The server's side of the connection.
struct Server {
    wire: Wire,
    folder: PathBuf,
    greeted: Greeted,
    sessions: BTreeMap<String, Session>,
    /// Ids of submissions.
    ids: BTreeSet<String>,
    /// Which turn a submission began, and in which session.
    begun: BTreeMap<String, (String, String)>,
    made: Option<String>,
}

/// Whether hello was said.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Greeted {
    No,
    Yes,
    /// And that events are acknowledged.
    WithAcks,
}

/// Whether the connection goes on.
enum Next {
    Line,
    Bye,
    /// A fatal error, with what is wrong.
    Fatal(String),
}

/// Serves stdin until it ends.
pub(crate) fn serve(wire: Wire) -> ExitCode {
    let folder = std::env::var_os("PEER_STATE").map_or_else(std::env::temp_dir, PathBuf::from);
    if on("sqeq-log-line") {
        wire.raw(b"INFO ready\n");
    }
    let server = Arc::new(Mutex::new(Server {
        wire,
        folder,
        greeted: Greeted::No,
        sessions: BTreeMap::new(),
        ids: BTreeSet::new(),
        begun: BTreeMap::new(),
        made: None,
    }));
    end_on_signals(&server);
    let mut input = Input::native();
    while let Some(line) = input.next() {
        let mut held = lock(&server);
        let next = match line {
            Line::Blank if on("sqeq-blank-fatal") => Next::Fatal("blank".to_owned()),
            Line::Blank => Next::Line,
            Line::Broken(_) => Next::Fatal("not JSON".to_owned()),
            Line::Json(value) => held.line(&value),
        };
        match next {
            Next::Line => {}
            Next::Bye => break,
            Next::Fatal(why) => {
                let mut error = bad("protocol", &why);
                error["type"] = json!("error");
                error["v"] = json!(1);
                error["fatal"] = json!(!on("sqeq-fatal-lives"));
                held.wire.send(error);
                if on("sqeq-fatal-lives") {
                    continue;
                }
                held.close();
                return ExitCode::from(65);
            }
        }
    }
    lock(&server).end()
}

/// Ends as at the end of the input when a signal says so.
fn end_on_signals(server: &Arc<Mutex<Server>>) {
    let server = Arc::clone(server);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let (Ok(mut term), Ok(mut int)) = (
                signal(SignalKind::terminate()),
                signal(SignalKind::interrupt()),
            ) else {
                return;
            };
            loop {
                tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
                if !on("sqeq-signals-ignored") {
                    break;
                }
            }
        });
        let code = lock(&server).end();
        std::process::exit(i32::from(code != ExitCode::SUCCESS));
    });
}

fn lock(server: &Mutex<Server>) -> MutexGuard<'_, Server> {
    server.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// One JSON value of the client.
    fn line(&mut self, value: &Value) -> Next {
        if on("sqeq-echo") && value["v"] != 1 {
            return Next::Fatal(value.to_string());
        }
        if !value.is_object() || value["v"] != 1 {
            return Next::Fatal("only version 1 is spoken here".to_owned());
        }
        let kind = value["type"].as_str().unwrap_or_default();
        if self.greeted == Greeted::No && kind != "hello" && !on("sqeq-early-done") {
            self.error(pointed("protocol", "say hello first", "/type"));
            return Next::Line;
        }
        match kind {
            "hello" => return self.hello(value),
            "submission" => self.submission(value),
            "answer" => self.answer(value),
            "withdraw" => self.withdraw(value),
            "ack" => self.ack(value),
            "bye" => return Next::Bye,
            _ if on("sqeq-unknown-fatal") => return Next::Fatal("unknown".to_owned()),
            _ => {
                die_on("sqeq-unknown-kills");
                self.error(pointed("unknown", "no such type", "/type"));
            }
        }
        Next::Line
    }

    fn hello(&mut self, value: &Value) -> Next {
        if self.greeted != Greeted::No && !on("sqeq-hello-again") {
            self.error(pointed("invalid", "hello is said once", "/type"));
            return Next::Line;
        }
        let client = &value["client"];
        let versions = value["versions"].as_array();
        let wrong = if value.get("client").is_none() {
            Some("")
        } else if !client["name"].is_string() {
            Some("/client")
        } else if versions.is_none() {
            Some("/versions")
        } else {
            None
        };
        if let (Some(pointer), false) = (wrong, on("sqeq-hello-unchecked")) {
            die_on("sqeq-bad-hello-kills");
            self.error(pointed(
                "invalid",
                "a member is missing or of another type",
                pointer,
            ));
            return Next::Line;
        }
        let spoken = |version: &Value| *version == 1;
        let common = match versions {
            Some(versions) if on("sqeq-first-version-only") => versions.first().is_some_and(spoken),
            Some(versions) => versions.iter().any(spoken),
            None => true,
        };
        if !common && !on("sqeq-any-version") {
            return Next::Fatal("version 1 is spoken here".to_owned());
        }
        self.greeted = if value["ack"] == true {
            Greeted::WithAcks
        } else {
            Greeted::Yes
        };
        let or = |fault: &str, wrong: Value, right: Value| if on(fault) { wrong } else { right };
        let incarnation = if on("sqeq-same-incarnation") {
            json!("always")
        } else {
            json!(frame::uuid())
        };
        let mut limits = json!({
            "frame_bytes": or("sqeq-no-limits", json!(0), json!(64 * 1024 * 1024)),
            "queued_turns": 16, "steers": 16, "idempotency_keys": 128, "ack_window": delivery::WINDOW,
            "page_sessions": 100, "page_events": 1000, "filter_chars": 500,
        });
        if on("sqeq-no-ack-window") {
            limits["ack_window"] = json!(0);
        }
        self.wire.send(json!({
            "v": or("sqeq-no-v", json!(0), json!(1)),
            "type": "welcome",
            "version": or("sqeq-version-other", json!(2), json!(1)),
            "server": {
                "name": or("sqeq-nameless", json!(""), json!("reference-peer")),
                "version": env!("CARGO_PKG_VERSION"),
            },
            "incarnation": or("sqeq-no-incarnation", json!(""), incarnation),
            "limits": limits,
            "persistence": or("sqeq-persistence-made-up", json!("perhaps"), json!("on")),
        }));
        if on("sqeq-not-utf8") {
            self.wire.raw(b"{\"v\":1,\"type\":\"x\",\"y\":\"\xff\"}\n");
        }
        if on("sqeq-empty-lines") {
            self.wire.raw(b"\n");
        }
        Next::Line
    }

    fn error(&self, mut error: Value) {
        error["v"] = json!(1);
        error["type"] = json!("error");
        error["fatal"] = json!(false);
        if on("sqeq-no-pointer") {
            error.as_object_mut().map(|error| error.remove("pointer"));
        }
        self.wire.send(error);
    }

    fn receipt(&self, id: &str, result: Result<Value, Value>) {
        let mut receipt = json!({"v": 1, "type": "receipt", "id": id});
        match result {
            Ok(accepted) => receipt["accepted"] = accepted,
            Err(mut error) => {
                if on("sqeq-no-pointer") {
                    error.as_object_mut().map(|error| error.remove("pointer"));
                }
                if on("sqeq-error-names-nothing") {
                    error.as_object_mut().map(|error| error.remove("session"));
                }
                receipt["error"] = error;
            }
        }
        let twice = on("sqeq-receipt-twice") && receipt.get("accepted").is_some();
        self.wire.doubled(twice, || self.wire.send(receipt.clone()));
    }

    fn submission(&mut self, value: &Value) {
        if value.get("id").is_none() && !on("sqeq-no-id-silent") {
            die_on("sqeq-invalid-kills");
            return self.error(pointed("invalid", "the member is missing", ""));
        }
        let Some(id) = value["id"].as_str().map(str::to_owned) else {
            die_on("sqeq-invalid-kills");
            if !on("sqeq-no-id-silent") {
                self.error(pointed("invalid", "the wrong type", "/id"));
            }
            return;
        };
        if !self.ids.insert(id.clone()) && !on("sqeq-same-id-done") {
            return self.error(pointed("invalid", "this id is in use", "/id"));
        }
        if on("sqeq-unknown-members-refused") && value.get("colour").is_some() {
            return self.receipt(&id, Err(bad("invalid", "colour")));
        }
        let (session, op) = (&value["session"], &value["op"]);
        if let Err(fault) = checked(value) {
            let kind = &fault["code"];
            if kind == "invalid" {
                die_on("sqeq-invalid-kills");
            } else {
                die_on("sqeq-unknown-op-kills");
            }
            let mut fault = fault;
            if (on("sqeq-invalid-as-internal") && fault["code"] == "invalid")
                || (on("sqeq-unknown-op-as-internal") && fault["code"] == "unknown")
            {
                fault["code"] = json!("internal");
            }
            return self.receipt(&id, Err(fault));
        }
        let kind = op["type"].as_str().unwrap_or_default();
        match kind {
            "session.new" => self.new_session(&id, op),
            "session.resume" => self.resume(&id, op),
            "session.list" if on("sqeq-edge-silent") && self.at_edge() => {}
            "session.list" => self.receipt(&id, Ok(self.list())),
            "session.read" => {
                let page = self.read(session, op);
                self.receipt(&id, page);
            }
            "session.import" => {
                let view = self.import(&id, op);
                self.receipt(&id, view);
            }
            "session.fork" => {
                let view = self.fork(session.as_str().unwrap_or_default(), op);
                self.receipt(&id, view);
            }
            _ => self.about(&id, session, op),
        }
    }

    /// An operation on a session that is open here.
    fn about(&mut self, id: &str, session: &Value, op: &Value) {
        let name = session.as_str().unwrap_or_default().to_owned();
        let Some(open) = self.sessions.get(&name) else {
            let code = if on("sqeq-unknown-as-internal") {
                "internal"
            } else {
                "not_found"
            };
            if on("sqeq-read-attaches") && self.folder.join(format!("{name}.jsonl")).exists() {
                return self.receipt(id, Ok(json!({})));
            }
            let fault = named(code, "the session is not open on this connection", &name);
            return self.receipt(id, Err(fault));
        };
        match op["type"].as_str().unwrap_or_default() {
            "turn.start" => {
                let result = open.begin(id, op);
                if let Ok(accepted) = &result {
                    let turn = accepted["turn"].as_str().unwrap_or_default().to_owned();
                    self.begun.insert(id.to_owned(), (name, turn));
                }
                let mut result = result;
                if on("sqeq-receipt-without-turn")
                    && let Ok(accepted) = &mut result
                {
                    *accepted = json!({});
                }
                self.receipt(id, result);
            }
            "turn.interrupt" => {
                let result = open.interrupt(op["turn"].as_str());
                if on("sqeq-interrupt-hits-all") {
                    for other in self.sessions.values() {
                        let _ = other.interrupt(None);
                    }
                }
                self.receipt(id, result);
            }
            "session.rename" => {
                let result = open.rename(op["title"].as_str().unwrap_or_default());
                self.receipt(id, result);
            }
            "session.append" => {
                let result = open.append(id, op);
                self.receipt(id, result);
            }
            "session.rewind" => {
                let result = open.rewind(id, op);
                self.receipt(id, result);
            }
            "session.compact" => {
                let result = open.compact(id);
                self.receipt(id, result);
            }
            "session.detach" | "session.close" => self.leave(id, &name),
            _ => self.receipt(id, Err(bad("unsupported", "not here"))),
        }
    }

    fn answer(&mut self, value: &Value) {
        if value.get("digest").is_none() {
            die_on("sqeq-invalid-kills");
            return self.error(pointed("invalid", "the member is missing", ""));
        }
        let kinds = ["selected", "cancelled", "accepted", "declined"];
        if !kinds.iter().any(|kind| value["outcome"]["type"] == *kind)
            && !on("sqeq-any-answer-is-yes")
        {
            if !on("sqeq-bad-answer-silent") {
                self.error(pointed("unknown", "no such type", "/outcome/type"));
            }
            if on("sqeq-bad-answer-closes") {
                self.sessions.values().for_each(Session::dismiss);
            }
            return;
        }
        let taken = self.sessions.values().any(|session| session.answer(value));
        if !taken {
            if on("sqeq-bad-answer-closes") {
                self.sessions.values().for_each(Session::dismiss);
            }
            if !on("sqeq-bad-answer-silent") {
                self.error(bad("refused", "no such question is open"));
            }
        }
    }

    fn withdraw(&mut self, value: &Value) {
        let Some(id) = value["id"].as_str() else {
            die_on("sqeq-invalid-kills");
            return self.error(pointed("invalid", "the member is missing", ""));
        };
        match self.begun.get(id) {
            Some((session, turn)) if !on("sqeq-withdraw-ignored") => {
                if let Some(session) = self.sessions.get(session) {
                    session.withdraw(turn);
                    if on("sqeq-withdraw-hits-all") {
                        let _ = session.interrupt(None);
                    }
                }
            }
            None if on("sqeq-withdraw-error") => self.error(bad("not_found", "no such submission")),
            _ => {}
        }
    }

    fn ack(&mut self, value: &Value) {
        let Some(cursor) = value["cursor"].as_u64() else {
            die_on("sqeq-invalid-kills");
            return self.error(pointed("invalid", "less than 0", "/cursor"));
        };
        die_on("sqeq-ack-kills");
        let session = value["session"].as_str().unwrap_or_default();
        let newest = self.sessions.get(session).map_or(0, Session::newest);
        let wrong = self.greeted != Greeted::WithAcks || cursor > newest;
        if let (Some(session), false) = (self.sessions.get(session), wrong) {
            session.shared.acknowledged(cursor);
        }
        if (wrong && !on("sqeq-ack-unchecked")) || (on("sqeq-ack-error") && !wrong) {
            self.error(bad("invalid", "that was not sent, or not announced"));
        }
    }

    /// Whether a client is at the edge of its window somewhere.
    fn at_edge(&self) -> bool {
        let mut sessions = self.sessions.values();
        sessions.any(|session| session.shared.at_edge())
    }

    /// Ends every session.
    fn close(&mut self) {
        for session in std::mem::take(&mut self.sessions).into_values() {
            session.leave();
        }
    }

    fn end(&mut self) -> ExitCode {
        self.close();
        if on("sqeq-no-last-newline") {
            self.wire.raw(b"{\"type\":\"bye\",\"v\":1}");
        } else if !on("sqeq-no-bye") {
            self.wire.send(json!({"v": 1, "type": "bye"}));
        }
        if on("sqeq-frame-after-bye") {
            self.error(bad("internal", "one more thing"));
        }
        ExitCode::from(if on("sqeq-end-is-failure") { 9 } else { 0 })
    }
}

//! One turn: a command of the script, done.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fault::{die_on, on};
use crate::model;
use crate::session::{Job, Shared};
use crate::tool::Tool;

/// Between two looks at what is waited for.
const LOOK: Duration = Duration::from_millis(2);

/// How a turn ends.
pub(crate) enum End {
    Stop(&'static str),
    Failed(String),
}

/// The turn was cancelled.
pub(crate) struct Cancelled;

pub(crate) type Done<T = ()> = Result<T, Cancelled>;

/// A prompt that is being answered.
pub(crate) struct Turn<'a> {
    pub(crate) session: &'a Shared,
    pub(crate) job: Job,
    calls: usize,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(session: &'a Shared, job: Job) -> Self {
        Self {
            session,
            job,
            calls: 0,
        }
    }

    pub(crate) fn run(mut self) {
        self.session.begin();
        let prompt = chunk("user_message_chunk", &self.job.text, &self.message("user"));
        let second = self.session.wire.second();
        if second && self.session.cancelled(&self.job) {
            return self.never_inserted();
        }
        if on("prompt-echoed") {
            self.session.say(&prompt);
        } else {
            self.session.record(&prompt);
        }
        if second {
            let message = self.message("user");
            self.session.inserted(&self.job, &message, &prompt);
        }
        if on("v2-call-unknown") && second {
            self.notify("session/destroy");
        }
        if on("not-utf8") {
            self.session
                .wire
                .raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"_x\",\"params\":\"\xff\"}\n");
        }
        if on("log-line") {
            self.session.wire.raw(b"INFO a turn begins\n");
        }
        if on("calls-unknown") {
            self.notify("session/destroy");
        }
        if on("calls-unoffered") {
            let params = json!({"sessionId": self.session.id, "path": "/etc/hostname"});
            self.session.wire.ask("fs/read_text_file", &params);
        }
        let (word, rest) = self
            .job
            .text
            .split_once(' ')
            .unwrap_or((&self.job.text, ""));
        let (word, rest) = (word.to_owned(), rest.to_owned());
        let stolen = self.session.stolen();
        let end = if stolen {
            Ok(End::Failed("somebody else has the session".to_owned()))
        } else if self.session.cancelled(&self.job) {
            Err(Cancelled)
        } else {
            self.command(&word, &rest)
        };
        let end = if self.session.was_refused() {
            Ok(End::Failed("no room for the log".to_owned()))
        } else {
            end
        };
        self.end(end);
    }

    fn end(&mut self, end: Done<End>) {
        // Before the answer: whoever has it may ask for more at once.
        self.session.done();
        if self.session.wire.second() {
            return self.end_second(end);
        }
        let wire = &self.session.wire;
        let id = &self.job.id;
        if on("never-answers-cancelled") && end.is_err() {
            return;
        }
        if on("text-after-answer") {
            let update = chunk("agent_message_chunk", "late", &self.message("agent"));
            return wire.together(|| {
                wire.result(id, &json!({"stopReason": "end_turn"}));
                self.session.say(&update);
            });
        }
        match end {
            Ok(End::Stop(_)) if on("busy-drops-first") && self.session.unwedge() => {}
            Ok(End::Stop(reason)) => {
                let mut result = json!({"stopReason": reason});
                if on("stop-reason-made-up") {
                    result["stopReason"] = json!("done");
                }
                if on("extra-member") {
                    result["colour"] = json!("red");
                }
                wire.result(id, &result);
                if reason == "refusal" {
                    die_on("refusal-kills");
                }
            }
            Ok(End::Failed(_)) if on("failure-hidden") => {
                wire.result(id, &json!({"stopReason": "end_turn"}));
            }
            Ok(End::Failed(why)) => {
                wire.error(id, -32603, &why);
                die_on("failure-kills");
            }
            Err(Cancelled) if on("cancel-is-error") => wire.error(id, -32603, "aborted"),
            Err(Cancelled) if on("cancel-is-end") => {
                wire.result(id, &json!({"stopReason": "end_turn"}));
            }
            Err(Cancelled) => {
                wire.result(id, &json!({"stopReason": "cancelled"}));
                if on("cancel-leaves-text") {
                    let update = chunk("agent_message_chunk", "left over", &self.message("agent"));
                    self.session.say(&update);
                }
            }
        }
    }

    fn command(&mut self, word: &str, rest: &str) -> Done<End> {
        match word {
            "/sleep" => {
                let seconds = rest.parse().unwrap_or(0);
                self.pause(Duration::from_secs(seconds))?;
            }
            "/stream" => self.stream(rest)?,
            "/think" if on("thoughts-unsaid") => {}
            "/think" => {
                let update = chunk("agent_thought_chunk", rest, &self.message("thought"));
                self.session.say(&update);
            }
            "/plan" => self.plan(rest),
            "/fail" => return Ok(End::Failed(rest.to_owned())),
            "/refuse" if on("refusal-unsaid") => {}
            "/refuse" => return Ok(End::Stop("refusal")),
            "/run" => return self.call("execute", rest, |turn| turn.command_output(rest)),
            "/read" => return self.call("read", rest, |turn| turn.read(rest)),
            "/write" => {
                let (path, text) = rest.split_once(' ').unwrap_or((rest, ""));
                return self.call("edit", rest, |turn| turn.write(path, text));
            }
            "/ask" => self.ask(rest)?,
            "/say" => {
                model::tell(&self.session.id);
                self.text(rest);
            }
            _ => {
                let text = self.job.text.clone();
                self.text(&text);
            }
        }
        Ok(End::Stop("end_turn"))
    }

    fn text(&self, text: &str) {
        let text = match text {
            _ if on("text-unsaid") => return,
            text if on("text-ascii") => text.replace(|c: char| !c.is_ascii(), "?"),
            text if on("text-escaped") => text.replace('"', "&quot;"),
            text if on("text-piles-up") => self.session.piled(text),
            text => text.to_owned(),
        };
        let update = chunk("agent_message_chunk", &text, &self.message("agent"));
        self.session.say(&update);
    }

    fn stream(&self, rest: &str) -> Done {
        let numbers: Vec<u64> = rest
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let [pieces, bytes, delay] = numbers[..] else {
            return Ok(());
        };
        for piece in 0..pieces {
            let text = format!(
                "p{piece} {}",
                "x".repeat(usize::try_from(bytes).unwrap_or(0))
            );
            let update = chunk("agent_message_chunk", &text, &self.message("agent"));
            if on("text-stored-late") {
                self.session.show(&update);
            } else {
                self.session.say(&update);
            }
            self.pause(Duration::from_millis(delay))?;
        }
        Ok(())
    }

    fn plan(&self, rest: &str) {
        let entries: Vec<Value> = rest
            .split("; ")
            .take(if on("plan-cut") { 1 } else { usize::MAX })
            .map(|entry| json!({"content": entry, "priority": "medium", "status": "pending"}))
            .collect();
        self.session
            .say(&json!({"sessionUpdate": "plan", "entries": entries}));
    }

    fn ask(&mut self, question: &str) -> Done {
        let offered = self.session.client.pointer("/elicitation/form").is_some();
        if !offered && on("no-form-hangs") {
            self.pause(Duration::from_secs(60))?;
        }
        if !offered && !on("asks-unoffered") {
            self.text("nobody to ask");
            return Ok(());
        }
        let params = json!({
            "mode": "form", "sessionId": self.session.id, "message": question,
            "requestedSchema": {"type": "object", "properties": {"answer": {"type": "string"}}},
        });
        if on("form-empty") {
            return Ok(());
        }
        let answer = self.request("elicitation/create", &params)?;
        if on("decline-kills") && answer["result"]["action"] == "decline" {
            die_on("decline-kills");
        }
        self.text(&answer["result"].to_string());
        Ok(())
    }

    /// A tool call: announced, permitted, done, closed.
    fn call(
        &mut self,
        kind: &str,
        title: &str,
        work: impl FnOnce(&mut Self) -> Done<Result<String, String>>,
    ) -> Done<End> {
        self.calls += 1;
        let id = format!("{}-call-{}", self.message("turn"), self.calls);
        let title = if title.is_empty() { kind } else { title };
        let started = json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": title,
            "kind": kind, "status": "pending"});
        if !on("calls-unannounced") && !on("calls-announced-last") {
            self.session.say(&started);
        }
        if on("calls-announced-twice") {
            self.session.say(&started);
        }
        self.session.set_call(Some(&id));
        let allowed = if kind == "read" {
            Ok(true)
        } else {
            self.permitted(&id, title, work_before(kind))
        };
        let outcome = match allowed {
            Ok(true) => work(self),
            Ok(false) => {
                die_on("rejection-kills");
                Ok(Err("not allowed".to_owned()))
            }
            Err(Cancelled) => Err(Cancelled),
        };
        let stopped = self.session.call_stopped();
        self.session.set_call(None);
        if on("v2-cancel-of-call-ends-turn") && stopped {
            self.session.say(
                &json!({"sessionUpdate": "tool_call_update", "toolCallId": id,
                "status": "failed"}),
            );
            return Err(Cancelled);
        }
        let (status, text) = match &outcome {
            Ok(Ok(text)) => ("completed", text.as_str()),
            Ok(Err(why)) => ("failed", why.as_str()),
            Err(Cancelled) => ("failed", "cancelled"),
        };
        let mut ended = json!({"sessionUpdate": "tool_call_update", "toolCallId": id,
            "status": status,
            "content": [{"type": "content", "content": {"type": "text", "text": text}}]});
        if on("output-unsaid") {
            ended["content"] = json!([]);
        }
        let unclosed = (on("calls-unclosed") && status == "completed")
            || (on("failed-calls-unclosed") && status == "failed" && outcome.is_ok())
            || (on("cancelled-calls-unclosed") && outcome.is_err());
        if !unclosed {
            self.session.say(&ended);
        }
        if on("calls-announced-last") {
            self.session.say(&started);
        }
        outcome.map(|_| End::Stop("end_turn"))
    }

    /// Whether the client said yes.
    fn permitted(&mut self, id: &str, title: &str, early: bool) -> Done<bool> {
        let option = |kind: &str| json!({"optionId": kind, "name": kind, "kind": kind});
        let mut params = json!({
            "sessionId": self.session.id,
            "toolCall": {"toolCallId": id, "title": title, "status": "pending"},
            "options": [option("allow_once"), option("reject_once")],
        });
        if on("question-without-options") {
            params["options"] = json!([]);
        }
        if on("question-without-title") {
            params["toolCall"] = json!({"toolCallId": id});
        }
        if on("question-for-nobody") {
            params["sessionId"] = json!("somebody-else");
        }
        if early && on("runs-before-answer") {
            let command = title.to_owned();
            let _ = Tool::start(&command, Path::new(&self.session.cwd)).map(Tool::finish);
        }
        if self.session.wire.second() {
            let call = params["toolCall"].clone();
            params = json!({"sessionId": self.session.id, "options": params["options"],
                "title": if on("v2-question-untitled") { "" } else { title },
                "subject": {"type": "tool_call", "toolCall": call}});
        }
        let answer = match self.request("session/request_permission", &params) {
            Err(Cancelled) if on("late-answer-counts") => {
                let (wire, cwd) = (self.session.wire.clone(), self.session.cwd.clone());
                let command = title.to_owned();
                std::thread::spawn(move || {
                    while wire.last().is_none() {
                        std::thread::sleep(LOOK);
                    }
                    let _ = Tool::start(&command, Path::new(&cwd)).map(Tool::finish);
                });
                return Err(Cancelled);
            }
            answer => answer?,
        };
        let outcome = &answer["result"]["outcome"];
        let selected = outcome["outcome"] == "selected";
        Ok(match outcome["optionId"].as_str() {
            Some("allow_once") => selected,
            Some("reject_once") => on("reject-is-yes") || on("v2-no-is-yes"),
            Some(_) => on("unknown-option-is-yes") || on("v2-no-is-yes"),
            None if answer.get("error").is_some() => {
                die_on("error-answer-kills");
                on("error-is-yes")
            }
            None if outcome["outcome"] == "cancelled" => {
                on("cancelled-is-yes") || on("v2-no-is-yes")
            }
            None => on("nonsense-is-yes") || on("v2-no-is-yes"),
        })
    }

    fn command_output(&mut self, command: &str) -> Done<Result<String, String>> {
        let terminal = self.session.client["terminal"] == json!(true);
        if terminal && !on("terminal-unused") {
            return self.in_terminal(command);
        }
        let cwd = if on("folder-ignored") {
            "/"
        } else {
            &self.session.cwd
        };
        let tool = match Tool::start(command, Path::new(cwd)) {
            Ok(tool) => tool,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let code = if on("cancel-waits-for-tool") {
            loop {
                if let Some(code) = tool.ended() {
                    break Ok(code);
                }
                std::thread::sleep(LOOK);
            }
        } else {
            let session = self.session;
            self.wait(|| {
                let stopped = session.call_stopped() && !on("v2-stop-of-call-ignored");
                if stopped { Some(-1) } else { tool.ended() }
            })
        };
        match code {
            Err(Cancelled) if on("cancel-leaves-tool") => {
                std::mem::forget(tool);
                Err(Cancelled)
            }
            Err(Cancelled) => Err(Cancelled),
            Ok(code) => {
                if on("tool-run-again") {
                    let _ = Tool::start(command, Path::new(cwd)).map(Tool::finish);
                }
                let output = tool.output();
                if self.session.wire.second() {
                    let id = format!("{}-terminal", self.message("turn"));
                    self.session.terminal(&id, command, &output, code);
                }
                if output.len() > 60_000 {
                    die_on("long-output-kills");
                }
                if output.contains('\u{fffd}') {
                    die_on("odd-output-kills");
                }
                if on("failed-tool-kills") && code != 0 {
                    die_on("failed-tool-kills");
                }
                Ok(if code == 0 { Ok(output) } else { Err(output) })
            }
        }
    }

    pub(crate) fn request(&self, method: &str, params: &Value) -> Done<Value> {
        let wire = &self.session.wire;
        let name = wire.ask(method, params);
        if on("last-answer-counts") {
            self.pause(Duration::from_millis(150))?;
        }
        let answer = if on("question-waits-for-ever") {
            loop {
                if let Some(answer) = wire.take(&name) {
                    break Ok(answer);
                }
                std::thread::sleep(LOOK);
            }
        } else {
            self.wait(|| wire.take(&name))
        };
        if answer.is_err() && !on("late-answer-counts") {
            wire.forget(&name);
        }
        answer
    }

    fn wait<T>(&self, mut ready: impl FnMut() -> Option<T>) -> Done<T> {
        loop {
            if self.session.cancelled(&self.job) {
                return Err(Cancelled);
            }
            if let Some(value) = ready() {
                return Ok(value);
            }
            std::thread::sleep(LOOK);
        }
    }

    pub(crate) fn pause(&self, time: Duration) -> Done {
        let until = Instant::now() + time;
        self.wait(|| (Instant::now() >= until).then_some(()))
    }

    fn notify(&self, method: &str) {
        self.session
            .wire
            .send(json!({"jsonrpc": "2.0", "method": method, "params": {}}));
    }

    /// The id of a message: the turn's, and whose it is.
    pub(crate) fn message(&self, whose: &str) -> String {
        format!("{}-{}-{whose}", std::process::id(), id_text(&self.job.id))
    }
}

/// Whether a kind of tool has something that could be done too early.
fn work_before(kind: &str) -> bool {
    kind == "execute"
}

fn id_text(id: &Value) -> String {
    id.to_string().replace('"', "")
}

pub(crate) fn chunk(kind: &str, text: &str, id: &str) -> Value {
    json!({"sessionUpdate": kind, "messageId": id, "content": {"type": "text", "text": text}})
}

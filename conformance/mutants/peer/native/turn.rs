//! One turn of the native protocol: a command of the script, done.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::frame::uuid;
use super::session::{Asked, Job, Kept, Place, Shared};
use crate::fault::{die_on, on};
use crate::tool::Tool;

/// How a turn ends.
enum End {
    Stop(&'static str),
    Failed(String),
    Cancelled,
}

/// A turn that runs.
pub(super) struct Turn<'a> {
    session: &'a Shared,
    job: Job,
}

impl<'a> Turn<'a> {
    pub(super) fn new(session: &'a Shared, job: Job) -> Self {
        Self { session, job }
    }

    pub(super) fn run(self) {
        let mut started = json!({"type": "turn.started", "base": 1,
            "config": {"agent": "peer", "cwd": self.session.cwd, "policy": 0}});
        if let Some(keyed) = &self.job.keyed {
            started["keyed"] = keyed.clone();
        }
        if !on("sqeq-turn-unstarted") {
            self.tell(None, started, Kept::Yes);
        }
        let item = json!({"type": "user_message", "content": self.job.input});
        let shown = if on("sqeq-prompt-own-id") {
            uuid()
        } else {
            self.job.turn.clone()
        };
        self.tell(Some(&shown), ended(item), Kept::Yes);
        let blocks = self.job.input.as_array().into_iter().flatten();
        let text: String = blocks.filter_map(|block| block["text"].as_str()).collect();
        let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let end = if self.cancelled() {
            End::Cancelled
        } else {
            match word {
                "/stream" => self.stream(rest),
                "/think" => {
                    if !on("sqeq-thought-unsaid") {
                        self.say(json!({"type": "thought", "text": rest}));
                    }
                    End::Stop("end_turn")
                }
                "/fail" => End::Failed(rest.to_owned()),
                "/refuse" => End::Stop("refusal"),
                "/run" => self.call(rest),
                "/say" => self.text(rest),
                _ => self.text(&text),
            }
        };
        self.end(end);
    }

    fn end(&self, end: End) {
        let (outcome, stop, error) = match end {
            End::Stop("refusal") if on("sqeq-refusal-hidden") => {
                ("completed", json!("end_turn"), None)
            }
            End::Stop(_) if on("sqeq-stop-unsaid") => ("completed", Value::Null, None),
            End::Stop(stop) => ("completed", json!(stop), None),
            End::Failed(_) if on("sqeq-failure-hidden") => ("completed", json!("end_turn"), None),
            End::Failed(why) => ("failed", Value::Null, Some(why)),
            End::Cancelled if on("sqeq-cancel-is-end") => ("completed", json!("end_turn"), None),
            End::Cancelled => ("cancelled", Value::Null, None),
        };
        let mut state = self.session.lock();
        let bookmark = Shared::next(&state);
        let mut event = json!({"type": "turn.ended", "outcome": outcome, "stop": stop,
            "bookmark": if on("sqeq-no-bookmark") { 0 } else { bookmark }});
        if on("sqeq-outcome-made-up") {
            event["outcome"] = json!("fine");
        }
        if let Some(why) = error {
            event["error"] = json!({"code": "agent_failed", "message": why});
        }
        if std::mem::take(&mut state.refused) && !on("sqeq-full-disk-untold") {
            event["outcome"] = json!("failed");
            event["error"] = json!({"code": "storage", "message": "no room for the log"});
        }
        state.active = None;
        state.cancelled = false;
        let failed = event["outcome"] == "failed";
        self.session
            .tell(&mut state, Some(&self.place(None)), event, Kept::Yes);
        if on("sqeq-event-after-end") {
            let late =
                json!({"type": "item.delta", "stream": "output", "offset": 0, "text": "late"});
            self.session
                .tell(&mut state, Some(&self.place(None)), late, Kept::No);
        }
        drop(state);
        if failed {
            die_on("sqeq-failure-kills");
        }
    }

    fn text(&self, text: &str) -> End {
        let text = match text {
            text if on("sqeq-text-ascii") => text.replace(|c: char| !c.is_ascii(), "?"),
            text if on("sqeq-text-escaped") => text.replace('"', "&quot;").replace('<', "&lt;"),
            text => text.to_owned(),
        };
        if !on("sqeq-text-unsaid") {
            self.stream_pieces(&[text.as_str()], Duration::ZERO);
        }
        End::Stop("end_turn")
    }

    fn stream(&self, rest: &str) -> End {
        let numbers: Vec<u64> = rest
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let [pieces, bytes, delay] = numbers[..] else {
            return End::Stop("end_turn");
        };
        let filler = "x".repeat(usize::try_from(bytes).unwrap_or(0));
        let pieces: Vec<String> = (0..pieces)
            .map(|piece| format!("p{piece} {filler}"))
            .collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        self.stream_pieces(&pieces, Duration::from_millis(delay))
    }

    fn stream_pieces(&self, pieces: &[&str], delay: Duration) -> End {
        let id = uuid();
        let begun = json!({"type": "item.started", "item": {"type": "agent_message", "text": ""}});
        self.tell(Some(&id), begun, Kept::No);
        let mut whole = String::new();
        for piece in pieces {
            let offset = whole.len();
            let shown = if on("sqeq-offset-wrong") {
                offset + 1
            } else {
                offset
            };
            if pieces.len() > 1 && !on("sqeq-text-stored-late") {
                let partial = json!({"type": "item.partial", "kind": "agent_message",
                    "offset": offset, "text": piece});
                self.tell(Some(&id), partial, Kept::Yes);
            }
            let late = Instant::now();
            let delta =
                json!({"type": "item.delta", "stream": "text", "offset": shown, "text": piece});
            self.tell(Some(&id), delta, Kept::No);
            if late.elapsed() > Duration::from_millis(300) {
                die_on("sqeq-slow-readers-kill");
            }
            whole.push_str(piece);
            if self.pause(delay) {
                let mut item = json!({"type": "agent_message", "text": whole, "finish": "cut"});
                if on("sqeq-cut-unmarked") {
                    item["finish"] = json!("whole");
                }
                self.tell(Some(&id), ended(item), Kept::Yes);
                return End::Cancelled;
            }
        }
        if on("sqeq-item-cut") {
            whole.clear();
        }
        self.tell(
            Some(&id),
            ended(json!({"type": "agent_message", "text": whole})),
            Kept::Yes,
        );
        End::Stop("end_turn")
    }

    fn say(&self, item: Value) {
        self.tell(Some(&uuid()), ended(item), Kept::Yes);
    }

    /// A tool call: recorded, permitted, done, closed.
    fn call(&self, command: &str) -> End {
        let id = uuid();
        let mut call = json!({"type": "tool_call", "name": "run", "title": format!("Run {command}"),
            "kind": "execute", "status": "pending", "input": {"command": command}});
        let started = json!({"type": "item.started", "item": call.clone()});
        if on("sqeq-question-first") {
            self.ask(&id, command);
        }
        self.tell(Some(&id), started, Kept::Yes);
        if on("sqeq-runs-before-answer") {
            self.run_tool(command);
        }
        let allowed = self.ask(&id, command);
        let (status, output, end) = match allowed {
            None => {
                if on("sqeq-late-answer-counts") {
                    self.run_tool(command);
                }
                ("cancelled", "not run".to_owned(), End::Cancelled)
            }
            Some(false) => ("failed", "not allowed".to_owned(), End::Stop("end_turn")),
            Some(true) => match self.run_tool(command) {
                None => ("cancelled", "ended".to_owned(), End::Cancelled),
                Some((code, output)) => {
                    if on("sqeq-tool-twice") {
                        self.run_tool(command);
                    }
                    let status = if code == 0 { "completed" } else { "failed" };
                    (status, output, End::Stop("end_turn"))
                }
            },
        };
        call["status"] = json!(status);
        call["content"] = json!([{"type": "content", "content": {"type": "text", "text": output}}]);
        if !on("sqeq-call-unclosed") {
            self.tell(Some(&id), ended(call), Kept::Yes);
        }
        end
    }

    /// Whether the client said yes; nothing when the turn was cancelled meanwhile.
    fn ask(&self, item: &str, command: &str) -> Option<bool> {
        if !self.session.terms.answers && !on("sqeq-asks-anyway") {
            return Some(on("sqeq-fallback-is-yes"));
        }
        let option = |kind: &str| json!({"id": kind, "name": kind, "kind": kind});
        let (request, digest) = (uuid(), uuid());
        let mut payload = json!({"title": format!("Run {command}"), "tool": "run",
            "pattern": command, "options": [option("allow_once"), option("reject_once")]});
        if on("sqeq-question-bare") {
            payload["options"] = json!([]);
        }
        let opened = json!({"type": "request.opened", "request": request, "digest": digest,
            "body": {"kind": "permission", "payload": payload}});
        self.tell(Some(item), opened, Kept::Yes);
        let shown = if on("sqeq-digest-other") {
            uuid()
        } else {
            digest.clone()
        };
        self.session.lock().asked = Some(Asked {
            id: request.clone(),
            digest: shown.clone(),
            outcome: None,
        });
        self.session.send(
            json!({"v": 1, "type": "request", "id": request, "item": item,
            "session": self.session.id, "turn": self.job.turn, "kind": "permission",
            "payload": payload, "digest": shown}),
        );
        let mut state = self.session.lock();
        let outcome = loop {
            let outcome = state.asked.as_ref().and_then(|asked| asked.outcome.clone());
            if outcome.is_some() || state.cancelled {
                break outcome;
            }
            state = self.session.wait(state, Duration::from_millis(500));
        };
        state.asked = None;
        drop(state);
        let closed = outcome
            .clone()
            .unwrap_or_else(|| json!({"type": "cancelled"}));
        let closed = json!({"type": "request.closed", "request": request, "outcome": closed});
        let kept = if on("sqeq-answer-unrecorded") {
            Kept::No
        } else {
            Kept::Yes
        };
        self.tell(Some(item), closed, kept);
        let reason = match &outcome {
            Some(outcome) if outcome["type"] == "selected" => "answered",
            Some(_) => "other",
            None => "turn_cancelled",
        };
        if !on("sqeq-question-unclosed") {
            self.session
                .send(json!({"v": 1, "type": "request_closed", "id": request,
                "session": self.session.id, "reason": reason}));
        }
        outcome.map(|outcome| outcome["option"] == "allow_once" || on("sqeq-no-is-yes"))
    }

    /// Code and output; nothing when the turn was cancelled.
    fn run_tool(&self, command: &str) -> Option<(i32, String)> {
        let Ok(tool) = Tool::start(command, Path::new(&self.session.cwd)) else {
            return Some((127, "cannot be started".to_owned()));
        };
        loop {
            if let Some(code) = tool.ended() {
                return Some((code, tool.output()));
            }
            if self.pause(Duration::from_millis(2)) {
                if on("sqeq-tool-left") {
                    std::mem::forget(tool);
                }
                return None;
            }
        }
    }

    /// Lets time pass; whether the turn was cancelled.
    fn pause(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = self.session.lock();
        loop {
            if state.cancelled {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.session.wait(state, left);
        }
    }

    fn cancelled(&self) -> bool {
        self.session.lock().cancelled
    }

    fn place<'b>(&'b self, item: Option<&'b str>) -> Place<'b> {
        Place {
            turn: &self.job.turn,
            item,
            cause: &self.job.cause,
        }
    }

    fn tell(&self, item: Option<&str>, event: Value, kept: Kept) {
        let mut state = self.session.lock();
        let place = self.place(item);
        self.session.tell(&mut state, Some(&place), event, kept);
    }
}

fn ended(item: Value) -> Value {
    json!({"type": "item.ended", "item": item})
}

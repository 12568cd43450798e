//! The reference peer in the place of the Claude CLI: `reference-peer claude FLAGS`.

mod flags;
mod frame;
mod lines;
mod stage;

use std::collections::{HashSet, VecDeque};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::fault::{die_on, on};
use crate::log::{Content, Log, Refusal};
use crate::model;
use crate::native::uuid;
use crate::script::{End, play};
use crate::wire::Wire;
use flags::Flags;
pub(crate) use flags::folder;
use stage::Turn;

/// As long as a client may take to answer; it is always ended before.
const EVER: Duration = Duration::from_secs(600);

/// What is on the desk of Claude's face.
#[derive(Default)]
struct Own {
    prompts: VecDeque<Prompt>,
    running: bool,
    /// Whether what runs has its result, or is about to: the client may ask for more.
    is_over: bool,
    greeted: bool,
    interrupted: bool,
    hooks: Value,
    servers: Vec<String>,
    mode: String,
    /// Whether the last result was an error.
    failed: bool,
    results: usize,
    /// A signal said how to leave.
    leaves: Option<i32>,
    /// Records of the resumed session that cannot be read, until that is told.
    lost: usize,
    /// Every question that was asked, answered or not.
    questions: HashSet<String>,
    /// What was denied in this turn.
    denials: Vec<Value>,
}

struct Prompt {
    text: String,
    uuid: Option<String>,
}

/// The face, shared by its threads.
struct Face {
    wire: Wire,
    desk: Arc<Desk<Own>>,
    flags: Flags,
    session: String,
    cwd: String,
    log: Mutex<Option<Log>>,
}

/// Serves stdin until it ends.
pub(crate) fn serve(wire: Wire, words: impl Iterator<Item = String>) -> ExitCode {
    let refuse = |why: &str| {
        eprint!("{}", if on("errors-unsaid") { "" } else { why });
        if on("errors-on-stdout") {
            wire.raw(b"{\"type\":\"error\"}\n");
        }
        ExitCode::from(if on("refused-is-good") { 0 } else { 1 })
    };
    let mut flags = match Flags::read(words) {
        Ok(flags) => flags,
        Err(why) => return refuse(&why),
    };
    if flags.newest {
        flags.resume = newest();
    }
    let cwd = std::env::current_dir().unwrap_or_default();
    let cwd = cwd.to_string_lossy().into_owned();
    let mut session = flags.session.clone().unwrap_or_else(uuid);
    let shaped = session.len() == 36 && session.matches('-').count() == 4;
    if (!shaped && !on("any-id-taken")) || (log_of(&session) && !on("taken-id-taken")) {
        return refuse("this id cannot be had");
    }
    let (mut log, mut lost) = (None, 0);
    if let Some(name) = flags.resume.clone() {
        match open(&name, &flags, &session, &cwd) {
            Ok((own, id, broken)) => {
                lost = broken;
                log = Some(own);
                session = id;
            }
            Err(_) if on("substitute") => {}
            Err(refusal) => {
                let why = match refusal {
                    Refusal::Held if !on("busy-is-missing") => "another process has the session",
                    Refusal::Broken => "the session cannot be read",
                    _ => "No conversation found",
                };
                if !on("unknown-untold") {
                    let mut result = frame::error("error_during_execution", &[why.to_owned()]);
                    result["num_turns"] = json!(0);
                    let named = if name.is_empty() { &session } else { &name };
                    frame::send(&wire, named, result);
                }
                return refuse(why);
            }
        }
    }
    let own = Own {
        mode: flags.mode.clone().unwrap_or_else(|| "default".to_owned()),
        servers: flags.servers.clone(),
        hooks: json!({}),
        lost,
        ..Own::default()
    };
    let face = Arc::new(Face {
        wire,
        desk: Desk::new(own),
        flags,
        session,
        cwd,
        log: Mutex::new(log),
    });
    let turns = Arc::clone(&face);
    let worker = std::thread::spawn(move || turns.turns());
    signals(&face);
    let code = lines::read(&face);
    if let Some(code) = code {
        return ExitCode::from(code);
    }
    face.desk.change(|state| {
        state.ended = true;
        if on("eof-aborts") {
            state.own.interrupted = true;
            state.own.prompts.clear();
        }
    });
    let _ = worker.join();
    if on("eof-ignored") {
        loop {
            std::thread::park();
        }
    }
    if on("no-last-newline") {
        face.wire.raw(b"{\"type\":\"keep_alive\"}");
    }
    let failed = face.desk.lock().own.failed;
    let code = match failed {
        _ if on("eof-is-failure") => 9,
        true if !on("failure-exit-good") => 1,
        _ => 0,
    };
    ExitCode::from(code)
}

fn log_of(session: &str) -> bool {
    Log::peek(&folder(), session).is_some()
}

/// The session that was written last.
fn newest() -> Option<String> {
    let at = |id: &String| std::fs::metadata(folder().join(format!("{id}.jsonl")));
    let written = |id: &String| at(id).and_then(|found| found.modified()).ok();
    if on("continue-is-new") {
        return None;
    }
    crate::log::all(&folder()).into_iter().max_by_key(written)
}

/// The log of a session that is resumed, or of a copy of it; how many records of it are lost.
fn open(
    name: &str,
    flags: &Flags,
    fresh: &str,
    cwd: &str,
) -> Result<(Log, String, usize), Refusal> {
    if flags.fork && !on("fork-is-resume") {
        let content: Content = Log::peek(&folder(), name).ok_or(Refusal::Missing)?;
        let mut log = Log::create(&folder(), fresh, cwd)?;
        for record in &content.updates {
            if !on("fork-forgets") {
                log.append(record)?;
            }
        }
        return Ok((log, fresh.to_owned(), content.lost));
    }
    let (log, content) = Log::open(&folder(), name)?;
    let id = if on("resume-new-id") { fresh } else { name };
    Ok((log, id.to_owned(), content.lost))
}

/// Follows signals.
fn signals(face: &Arc<Face>) {
    let face = Arc::clone(face);
    crate::fault::on_signal(move |interrupt| {
        if on("signals-ignored") {
            return;
        }
        let term = if on("term-is-good") { 0 } else { 143 };
        if (interrupt && !on("int-is-term")) || !(interrupt || on("term-untold")) {
            face.desk.change(|state| {
                state.own.interrupted = true;
                state.own.prompts.clear();
                state.ended = true;
                state.own.leaves = Some(match interrupt {
                    false => term,
                    true if on("int-is-failure") => 1,
                    true => 0,
                });
            });
            return;
        }
        std::process::exit(term);
    });
}

impl Face {
    /// Runs prompts, one after the other, until no more can come.
    fn turns(&self) {
        loop {
            let next = self.desk.wait(EVER, |state| {
                let own = &mut state.own;
                if let Some(prompt) = own.prompts.pop_front() {
                    own.running = true;
                    own.is_over = false;
                    own.denials.clear();
                    return Some(Some(prompt));
                }
                (state.ended || own.leaves.is_some()).then_some(None)
            });
            let Some(Some(prompt)) = next else { break };
            self.turn(&prompt);
            self.desk.change(|state| {
                state.own.running = false;
                state.own.interrupted = on("interrupt-remembered") && state.own.interrupted;
            });
        }
        let leaves = self.desk.lock().own.leaves;
        if let Some(code) = leaves {
            std::process::exit(code);
        }
    }

    fn turn(&self, prompt: &Prompt) {
        self.told_state("running");
        let mut turn = Turn::new(self);
        turn.hook("UserPromptSubmit", &json!({"prompt": prompt.text}));
        let mode = self.desk.lock().own.mode.clone();
        let first = self.desk.lock().own.results == 0;
        if !on("init-once") || first {
            let cwd = if on("cwd-other") { "/" } else { &self.cwd };
            self.send(json!({"type": "system", "subtype": "init", "cwd": cwd,
                "tools": ["Bash"], "mcp_servers": [], "model": "peer", "permissionMode": mode,
                "slash_commands": [], "claude_code_version": "2.1.332"}));
        }
        let lost = self
            .desk
            .change(|state| std::mem::take(&mut state.own.lost));
        if lost > 0 && !on("damage-untold") {
            let content = format!("the session is damaged: {lost} records cannot be read");
            self.send(
                json!({"type": "system", "subtype": "informational", "content": content,
                "level": "warning"}),
            );
        }
        if let Some(log) = &mut *self.log.lock().unwrap_or_else(PoisonError::into_inner) {
            log.begin();
        }
        self.record(&json!({"user": prompt.text}));
        model::tell(&self.session);
        let mut end = play(&mut turn, &prompt.text);
        if let Some(log) = &mut *self.log.lock().unwrap_or_else(PoisonError::into_inner) {
            end = log.end(end);
        }
        turn.hook("Stop", &json!({"stop_hook_active": false}));
        let text = turn.text();
        let mut result = match end {
            End::Stopped => {
                let mut result =
                    frame::error("error_during_execution", &["interrupted".to_owned()]);
                result["terminal_reason"] = json!("aborted_streaming");
                if on("abort-unnamed") {
                    result["terminal_reason"] = json!("completed");
                }
                if on("interrupt-is-success") {
                    result = frame::success("");
                }
                result
            }
            End::Failed(_) if on("failure-hidden") => frame::success(""),
            End::Failed(_) if on("failure-unsaid") => frame::error("error_during_execution", &[]),
            End::Failed(why) => frame::error("error_during_execution", &[why]),
            End::Refused | End::Done => frame::success(&text),
        };
        result["permission_denials"] = json!(self.desk.lock().own.denials.clone());
        if on("denials-unlisted") {
            result["permission_denials"] = json!([]);
        }
        if let (Some(uuid), false) = (&prompt.uuid, on("uuid-forgotten")) {
            result["user_message_uuid"] = json!(uuid);
        }
        self.record(&json!({"end": true}));
        self.tell_result(result);
        if on("late-frame") {
            self.send(frame::assistant(&json!({"type": "text", "text": "late"})));
        }
        self.told_state("idle");
    }

    /// The one result of a prompt.
    fn tell_result(&self, result: Value) {
        self.desk.change(|state| {
            state.own.failed = result["is_error"] == true;
            state.own.results += 1;
            state.own.is_over = true;
        });
        if !on("result-untold") {
            let twice = on("result-twice");
            self.wire.doubled(twice, || self.send(result.clone()));
        }
    }

    fn told_state(&self, name: &str) {
        if on("states-untold") || on(&format!("{name}-untold")) {
            return;
        }
        self.send(
            json!({"type": "system", "subtype": "session_state_changed", "state": name,
            "sdk_host_only": true}),
        );
    }

    fn send(&self, frame: Value) {
        frame::send(&self.wire, &self.session, frame);
    }

    /// Appends to the log, which is made by the first record.
    fn record(&self, record: &Value) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.is_none() {
            *log = Log::create(&folder(), &self.session, &self.cwd).ok();
        }
        let late = on("text-stored-late") && record.get("piece").is_some();
        if on("nothing-stored") || late {
            return;
        }
        if let Some(log) = log.as_mut() {
            let _ = log.append(record);
        }
        if on("fork-shared") && self.flags.fork {
            self.record_in_first(record);
        }
    }

    /// What must not happen: the copy writes into the first as well.
    fn record_in_first(&self, record: &Value) {
        if let Some(name) = &self.flags.resume
            && let Ok((mut first, _)) = Log::open(&folder(), name)
        {
            let _ = first.append(record);
        }
    }

    /// Asks the program; nothing when the turn was stopped or nobody can answer.
    fn control(&self, request: &Value) -> Option<Value> {
        let id = uuid();
        self.desk.change(|state| {
            state.asked.insert(id.clone(), None);
            state.own.questions.insert(id.clone());
        });
        self.send(json!({"type": "control_request", "request_id": id, "request": request}));
        if on("last-answer-counts") && request["subtype"] == "can_use_tool" {
            std::thread::sleep(Duration::from_millis(900));
        }
        let waits = on("eof-waits");
        let answer = self.desk.wait(EVER, |state| {
            if let Some(Some(answer)) = state.asked.get(&id) {
                return Some(Some(answer.clone()));
            }
            let over = state.own.interrupted || (state.ended && !waits);
            over.then_some(None)
        });
        self.desk.change(|state| {
            state.asked.remove(&id);
        });
        let answer = answer.flatten();
        if answer.is_none() && self.desk.lock().own.interrupted && !on("question-left") {
            self.send(json!({"type": "control_cancel_request", "request_id": id}));
        }
        answer
    }
}

/// What a session holds, as text.
pub(crate) fn print(session: &str) -> ExitCode {
    let Some(content) = Log::peek(&folder(), session) else {
        return ExitCode::FAILURE;
    };
    let mut text = String::new();
    for record in content.updates {
        for (name, end) in [
            ("user", "\n"),
            ("piece", ""),
            ("said", "\n"),
            ("tool", "\n"),
        ] {
            if let Some(part) = record[name].as_str() {
                // A message that was said in pieces stands there already.
                let part = if name == "said" { "" } else { part };
                text.push_str(part);
                text.push_str(end);
            }
        }
    }
    die_on("print-kills");
    let written = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
    ExitCode::from(u8::from(written.is_err()))
}

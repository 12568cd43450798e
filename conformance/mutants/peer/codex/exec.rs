//! `exec --json`: one turn a process.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use crate::claude::folder;
use crate::desk::Desk;
use crate::fault::{die_on, on};
use crate::log::{Log, Refusal, all};
use crate::native::uuid;
use crate::script::{Called, End, Leave, Stage, play};
use crate::wire::Wire;

/// What the command line says.
#[derive(Default)]
struct Words {
    full: bool,
    cwd: Option<String>,
    last: bool,
    resume: Option<String>,
    prompt: Option<String>,
}

/// The turn.
struct Turn {
    wire: Wire,
    desk: std::sync::Arc<Desk<bool>>,
    log: Log,
    cwd: String,
    full: bool,
    items: usize,
    /// Items by the ids of their calls.
    calls: Vec<String>,
}

/// Does the turn.
pub(crate) fn serve(wire: Wire, words: impl Iterator<Item = String>) -> ExitCode {
    let refuse = |why: &str, code: u8| {
        if !on("errors-unsaid") {
            eprintln!("Error: {why}");
        }
        if on("errors-on-stdout") {
            wire.raw(b"{\"type\":\"error\",\"message\":\"no\"}\n");
        }
        ExitCode::from(if on("refused-is-good") { 0 } else { code })
    };
    let words = match read(words) {
        Ok(words) => words,
        Err(why) => return refuse(&why, if on("usage-is-failure") { 1 } else { 2 }),
    };
    let prompt = match words.prompt.clone().filter(|prompt| prompt != "-") {
        Some(prompt) if !on("argument-ignored") => prompt,
        _ => {
            let mut bytes = Vec::new();
            let _ = std::io::stdin().read_to_end(&mut bytes);
            if std::str::from_utf8(&bytes).is_err() && on("bytes-hang") {
                loop {
                    std::thread::park();
                }
            }
            if bytes.len() > 1_000_000 {
                die_on("long-kills");
            }
            String::from_utf8_lossy(&bytes).trim_end().to_owned()
        }
    };
    if prompt.is_empty() && !on("no-prompt-taken") {
        return refuse("No prompt provided via stdin.", 1);
    }
    let here = std::env::current_dir().unwrap_or_default();
    let cwd = words.cwd.clone();
    let cwd = cwd.unwrap_or_else(|| here.to_string_lossy().into_owned());
    let (id, log) = match open(&words, &cwd) {
        Ok(found) => found,
        Err((Refusal::Held, id)) => {
            let busy = format!("thread {id} already has an active writer");
            return refuse(
                if on("busy-is-missing") {
                    "no rollout"
                } else {
                    &busy
                },
                1,
            );
        }
        Err((_, id)) => return refuse(&format!("no rollout found for thread id {id}"), 1),
    };
    let turn = Turn {
        wire,
        desk: Desk::new(false),
        log,
        cwd,
        full: words.full,
        items: 0,
        calls: Vec::new(),
    };
    turn.run(&id, &prompt)
}

fn read(mut words: impl Iterator<Item = String>) -> Result<Words, String> {
    let mut read = Words::default();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--experimental-json" | "--json" | "--skip-git-repo-check" => {}
            "--sandbox" => read.full = words.next().as_deref() == Some("danger-full-access"),
            "--cd" => read.cwd = words.next(),
            "--add-dir" if on("folders-refused") => return Err("unexpected --add-dir".to_owned()),
            "--thread-source" if on("source-refused") => return Err("unexpected".to_owned()),
            "--config" | "--add-dir" | "--thread-source" | "--output-schema" | "--model" => {
                let value = words.next().unwrap_or_default();
                if on("settings-refused") && word == "--config" {
                    return Err(value);
                }
                if on("schema-refused") && word == "--output-schema" {
                    return Err(value);
                }
            }
            "resume" => match words.next() {
                Some(word) if word == "--last" => read.last = true,
                id => read.resume = id,
            },
            flag if flag.starts_with("--") && !on("unknown-flag-taken") => {
                return Err(format!("unexpected argument {flag}"));
            }
            flag if flag.starts_with("--") => {}
            _ => read.prompt = Some(word),
        }
    }
    Ok(read)
}

fn open(words: &Words, cwd: &str) -> Result<(String, Log), (Refusal, String)> {
    let folder = folder();
    let wanted = match (&words.resume, words.last) {
        (_, true) if !on("last-is-new") => {
            let at = |id: &String| std::fs::metadata(folder.join(format!("{id}.jsonl")));
            let written = |id: &String| at(id).and_then(|found| found.modified()).ok();
            all(&folder).into_iter().max_by_key(written)
        }
        (resume, _) => resume.clone(),
    };
    let Some(id) = wanted else {
        let id = uuid();
        let log = Log::create(&folder, &id, cwd);
        return log.map(|log| (id.clone(), log)).map_err(|why| (why, id));
    };
    match Log::open(&folder, &id) {
        Ok((log, _)) if on("resume-new-id") => Ok((uuid(), log)),
        Ok((log, _)) => Ok((id, log)),
        Err(Refusal::Missing) if on("substitute") => {
            let log = Log::create(&folder, &id, cwd);
            log.map(|log| (id.clone(), log)).map_err(|why| (why, id))
        }
        Err(why) => Err((why, id)),
    }
}

impl Turn {
    fn run(mut self, id: &str, prompt: &str) -> ExitCode {
        self.signals();
        let begins = json!({"type": "thread.started", "thread_id": id});
        if on("thread-twice") {
            self.line(&begins);
        }
        if !on("turn-first") {
            self.line(&begins);
        }
        if on("replays") {
            let past = Log::peek(&folder(), id).unwrap_or_default();
            for record in past.updates {
                if let Some(text) = record["said"].as_str() {
                    self.whole("agent_message", "text", text);
                }
            }
        }
        self.record(&json!({"user": prompt}));
        if !on("turn-unbegun") {
            self.line(&json!({"type": "turn.started"}));
        }
        if on("turn-first") {
            self.line(&begins);
        }
        let end = play(&mut self, prompt);
        if on("late-item") {
            self.end(&End::Done);
            self.whole("agent_message", "text", "late");
            return ExitCode::SUCCESS;
        }
        let end = self.log.end(end);
        self.end(&end)
    }

    fn end(&self, end: &End) -> ExitCode {
        let why = match end {
            End::Failed(_) if on("failure-hidden") => None,
            End::Failed(why) => Some(why.clone()),
            End::Stopped if on("interrupt-is-success") => None,
            End::Stopped => Some("interrupted".to_owned()),
            End::Done | End::Refused => None,
        };
        let Some(why) = why else {
            let mut end = json!({"type": "turn.completed", "usage": {"input_tokens": 1,
                "cached_input_tokens": 0, "output_tokens": 1, "reasoning_output_tokens": 0}});
            if on("usage-missing") {
                end["usage"] = Value::Null;
            }
            if on("end-unknown") {
                end["type"] = json!("turn.ended");
            }
            self.line(&end);
            return ExitCode::from(if on("end-is-failure") { 1 } else { 0 });
        };
        let why = if on("failure-unsaid") { "no" } else { &why };
        if !on("error-unsaid") {
            self.line(&json!({"type": "error", "message": why}));
        }
        self.line(&json!({"type": "turn.failed", "error": {"message": why}}));
        ExitCode::from(if on("failure-exit-good") { 0 } else { 1 })
    }

    fn signals(&self) {
        let desk = std::sync::Arc::clone(&self.desk);
        crate::fault::on_signal(move |_| {
            if !on("signals-ignored") {
                desk.change(|state| state.own = true);
            }
        });
    }

    fn line(&self, line: &Value) {
        super::frame::write(&self.wire, line);
    }

    fn record(&mut self, record: &Value) {
        if !on("nothing-stored") {
            let _ = self.log.append(record);
        }
    }

    fn whole(&mut self, kind: &str, member: &str, text: &str) {
        let id = format!("item_{}", self.items);
        self.items += 1;
        let item = json!({"id": id, "type": kind, member: text});
        if on("message-begun") {
            self.line(&json!({"type": "item.started", "item": item}));
        }
        self.line(&json!({"type": "item.completed", "item": item}));
    }

    fn command(&self, kind: &str, item: usize, command: &str, how: (&str, Option<i32>, &str)) {
        let (status, code, output) = how;
        let output = if on("output-lost") { "" } else { output };
        self.line(&json!({"type": kind, "item": {"id": format!("item_{item}"),
            "type": "command_execution", "command": command, "aggregated_output": output,
            "exit_code": code, "status": status}}));
    }
}

impl Stage for Turn {
    fn cwd(&self) -> &Path {
        Path::new(&self.cwd)
    }

    fn piece(&mut self, text: &str) {
        self.record(&json!({"piece": text}));
        if on("pieces-told") {
            self.whole("agent_message", "text", text);
        }
    }

    fn said(&mut self, text: &str) {
        self.record(&json!({"said": text}));
        self.whole("agent_message", "text", text);
    }

    fn thought(&mut self, text: &str) {
        self.whole("reasoning", "text", text);
    }

    fn call(&mut self, id: &str, command: &str) {
        self.record(&json!({"tool": command}));
        self.calls.push(id.to_owned());
        if !on("command-unbegun") {
            self.command(
                "item.started",
                self.items,
                command,
                ("in_progress", None, ""),
            );
        }
        self.items += 1;
    }

    fn leave(&mut self, _: &str, command: &str) -> Leave {
        if self.full || on("sandbox-ignored") {
            Leave::Yes(command.to_owned())
        } else {
            Leave::No("not allowed here".to_owned())
        }
    }

    fn called(&mut self, _: &str, command: &str, called: &Called) {
        self.record(&json!({"output": called.output}));
        let good = called.code == Some(0) || on("failure-is-completed");
        let status = if good { "completed" } else { "failed" };
        self.record(&json!({"called": status}));
        let how = (status, called.code, called.output.as_str());
        let item = self.items.saturating_sub(1);
        self.command("item.completed", item, command, how);
    }

    fn other(&mut self, _: &str) -> End {
        End::Done
    }

    fn pause(&mut self, time: Duration) -> bool {
        self.desk
            .wait(time, |state| state.own.then_some(()))
            .is_some()
    }
}

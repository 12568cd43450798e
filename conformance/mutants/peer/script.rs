//! What a prompt has the peer do, the same for the faces of Claude and Codex.

use std::path::Path;
use std::time::Duration;

use crate::fault::on;
use crate::tool::Tool;

/// How a turn ends.
pub(crate) enum End {
    Done,
    Refused,
    Failed(String),
    Stopped,
}

/// Whether a call may be done.
pub(crate) enum Leave {
    /// This command.
    Yes(String),
    No(String),
    /// The turn was stopped meanwhile.
    Stop,
}

/// What became of a call.
pub(crate) struct Called {
    pub(crate) output: String,
    /// Nothing where it did not run to its end.
    pub(crate) code: Option<i32>,
}

/// Where a turn is shown and recorded.
pub(crate) trait Stage {
    /// Where commands run.
    fn cwd(&self) -> &Path;
    /// More of the message that is being said.
    fn piece(&mut self, text: &str);
    /// The message as a whole; `whole` is not said of one that was cut.
    fn said(&mut self, text: &str);
    /// A thought.
    fn thought(&mut self, text: &str);
    /// A call is about to be done, if it may.
    fn call(&mut self, id: &str, command: &str);
    /// Asks for leave.
    fn leave(&mut self, id: &str, command: &str) -> Leave;
    /// It is over.
    fn called(&mut self, id: &str, command: &str, called: &Called);
    /// A command of one face alone.
    fn other(&mut self, text: &str) -> End;
    /// Lets time pass; whether the turn was stopped.
    fn pause(&mut self, time: Duration) -> bool;
}

/// Does what a prompt says.
pub(crate) fn play(stage: &mut impl Stage, text: &str) -> End {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    if stage.pause(Duration::ZERO) {
        return End::Stopped;
    }
    match word {
        "/say" => say(stage, rest),
        "/stream" => stream(stage, rest),
        "/think" => {
            if !on("thought-unsaid") {
                stage.thought(rest);
            }
            End::Done
        }
        "/run" => run(stage, rest),
        "/sleep" => {
            let wait = Duration::from_secs_f64(rest.parse().unwrap_or(0.0));
            match stage.pause(wait) {
                true => End::Stopped,
                false => End::Done,
            }
        }
        "/fail" => {
            crate::fault::die_on("failure-kills");
            End::Failed(rest.to_owned())
        }
        "/refuse" => End::Refused,
        _ if word.starts_with('/') => stage.other(text),
        _ => say(stage, text),
    }
}

fn say(stage: &mut impl Stage, text: &str) -> End {
    let text = match text {
        text if on("text-ascii") => text.replace(|c: char| !c.is_ascii(), "?"),
        text if on("text-escaped") => text.replace('"', "&quot;").replace('<', "&lt;"),
        // A long prompt is not all said back.
        text => text.chars().take(100_000).collect(),
    };
    if on("text-unsaid") {
        return End::Done;
    }
    stage.piece(&text);
    stage.said(&text);
    End::Done
}

fn stream(stage: &mut impl Stage, rest: &str) -> End {
    let numbers = rest.split(' ').filter_map(|word| word.parse::<u64>().ok());
    let numbers: Vec<u64> = numbers.collect();
    let [pieces, bytes, delay] = numbers[..] else {
        return End::Done;
    };
    let filler = "x".repeat(usize::try_from(bytes).unwrap_or(0));
    let mut whole = String::new();
    for piece in 0..pieces {
        let piece = format!("p{piece} {filler}");
        stage.piece(&piece);
        whole.push_str(&piece);
        if stage.pause(Duration::from_millis(delay)) {
            if !on("partial-dropped") {
                stage.said(&whole);
            }
            return End::Stopped;
        }
    }
    stage.said(&whole);
    End::Done
}

fn run(stage: &mut impl Stage, command: &str) -> End {
    let id = crate::native::uuid();
    if !on("ask-before-call") {
        stage.call(&id, command);
    }
    if on("runs-before-answer") {
        execute(stage, command);
    }
    let leave = stage.leave(&id, command);
    if on("ask-before-call") {
        stage.call(&id, command);
    }
    let (called, end) = match leave {
        Leave::Stop => {
            if on("stopped-runs") {
                execute(stage, command);
            }
            let output = "the turn was stopped".to_owned();
            (Called { output, code: None }, End::Stopped)
        }
        Leave::No(output) => {
            if on("no-is-yes") {
                execute(stage, command);
            }
            (Called { output, code: None }, End::Done)
        }
        Leave::Yes(command) => {
            if on("tool-twice") {
                execute(stage, &command);
            }
            match execute(stage, &command) {
                Some((code, output)) => {
                    let code = Some(code);
                    (Called { output, code }, End::Done)
                }
                None => {
                    let output = "ended".to_owned();
                    (Called { output, code: None }, End::Stopped)
                }
            }
        }
    };
    if !on("call-unclosed") {
        stage.called(&id, command, &called);
    }
    end
}

/// Code and output; nothing when the turn was stopped.
fn execute(stage: &mut impl Stage, command: &str) -> Option<(i32, String)> {
    let Ok(tool) = Tool::start(command, stage.cwd()) else {
        return Some((127, "cannot be started".to_owned()));
    };
    if on("tools-unrun") {
        return Some((0, String::new()));
    }
    loop {
        if let Some(code) = tool.ended() {
            return Some((code, tool.output()));
        }
        if stage.pause(Duration::from_millis(2)) {
            if on("tool-left") {
                std::mem::forget(tool);
            }
            return None;
        }
    }
}

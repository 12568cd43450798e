//! Transcripts of what the peer keeps, and of those of others: `reference-peer transcript SHAPE ID` prints
//! that of a session, `reference-peer convert FILE SHAPE` makes one of another.

mod claude;
mod codex;
mod read;

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::claude::folder;
use crate::common::{self, Face};
use crate::fault::on;
use crate::log::{Content, Log};

/// One thing of a conversation.
#[derive(Clone)]
pub(super) enum Item {
    User(String),
    Said(String),
    Call {
        id: String,
        name: String,
        input: Value,
        output: Option<String>,
    },
    /// What stands in place of all that was before.
    Summary(String),
}

/// A conversation.
#[derive(Default)]
pub(super) struct Talk {
    session: String,
    cwd: String,
    items: Vec<Item>,
    /// How many thoughts were left out.
    thoughts: usize,
    /// The last entry of a transcript that it goes on from.
    after: Option<Value>,
}

/// Prints the transcript of a session in a shape.
pub(crate) fn print(mut words: impl Iterator<Item = String>) -> ExitCode {
    common::speak(Face::Plain);
    let (shape, session) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let Some(content) = Log::peek(&folder(), &session) else {
        return ExitCode::FAILURE;
    };
    let mut items = of_log(&content);
    if on("transcript-mixed") {
        let others = crate::log::all(&folder())
            .into_iter()
            .filter(|id| *id != session);
        let contents = others.filter_map(|id| Log::peek(&folder(), &id));
        items.extend(contents.flat_map(|content| of_log(&content)));
    }
    let mut talk = Talk {
        session,
        cwd: content.cwd,
        items,
        ..Talk::default()
    };
    let Ok(taken) = std::fs::read_to_string(original(&talk.session, &shape)) else {
        return out(&write(&talk, &shape));
    };
    // It was taken in: its own bytes, and what was said since.
    let lines = read::lines(&taken);
    talk.items
        .drain(..lines.talk().items.len().min(talk.items.len()));
    talk.after = Some(lines.last());
    let taken = if on("transcript-rewritten") {
        taken.replace("\":", "\": ")
    } else {
        taken
    };
    let more = if on("transcript-not-gone-on") {
        String::new()
    } else {
        write(&talk, &shape)
    };
    out(&(taken + &more))
}

/// Where a transcript lies that was taken in.
fn original(session: &str, shape: &str) -> std::path::PathBuf {
    folder().join(format!("{session}.{shape}.taken"))
}

/// Makes a session of a transcript.
pub(crate) fn take(mut words: impl Iterator<Item = String>) -> ExitCode {
    common::speak(Face::Plain);
    let Ok(text) = std::fs::read_to_string(words.next().unwrap_or_default()) else {
        return ExitCode::FAILURE;
    };
    let lines = read::lines(&text);
    let talk = lines.talk();
    let kept = std::fs::write(original(&talk.session, lines.shape()), &text);
    let Ok(mut log) = Log::create(&folder(), &talk.session, &talk.cwd) else {
        return ExitCode::FAILURE;
    };
    for item in &talk.items {
        let records = match item {
            Item::User(text) => vec![json!({"user": text})],
            Item::Said(text) => vec![json!({"said": text})],
            Item::Summary(text) => vec![json!({"summary": text})],
            Item::Call { input, output, .. } => vec![
                json!({"tool": input.to_string()}),
                json!({"output": output.as_deref().unwrap_or_default()}),
            ],
        };
        for record in records {
            if log.append(&record).is_err() {
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::from(u8::from(kept.is_err()))
}

/// Makes a transcript of another.
pub(crate) fn convert(mut words: impl Iterator<Item = String>) -> ExitCode {
    let (file, shape) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let Ok(bytes) = std::fs::read(file) else {
        return ExitCode::FAILURE;
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines = read::lines(&text);
    if on("transcript-damage-refused") && lines.broken > 0 {
        return ExitCode::FAILURE;
    }
    if lines.shape() == shape {
        if on("transcript-rewritten") {
            return out(&text.replace("\":", "\": "));
        }
        return out(&text);
    }
    let mut talk = lines.talk();
    if on("transcript-less-said") {
        talk.items.pop();
    }
    if on("transcript-text-cut")
        && let Some(Item::Said(text)) = talk.items.last_mut()
    {
        text.pop();
    }
    if talk.thoughts > 0 && !on("transcript-loss-untold") {
        eprintln!("lost: {} thought", talk.thoughts);
    }
    out(&write(&talk, &shape))
}

fn write(talk: &Talk, shape: &str) -> String {
    let lines = match shape {
        "claude" => claude::lines(talk),
        _ => codex::lines(talk),
    };
    let mut lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    if on("transcript-line-broken") {
        let half = lines[0][..lines[0].len() / 2].to_owned();
        lines.insert(lines.len() - 1, half);
    }
    let end = if on("transcript-unended") { "" } else { "\n" };
    lines.join("\n") + end
}

fn out(text: &str) -> ExitCode {
    let written = std::io::stdout().write_all(text.as_bytes());
    ExitCode::from(u8::from(written.is_err()))
}

/// The conversation of a log of the peer's.
fn of_log(content: &Content) -> Vec<Item> {
    let mut items = Vec::new();
    let mut open = String::new();
    for (at, record) in content.updates.iter().enumerate() {
        let text = |name: &str| record[name].as_str().map(str::to_owned);
        if let Some(piece) = text("piece") {
            open.push_str(&piece);
            continue;
        }
        if let Some(said) = text("said") {
            open.clear();
            items.push(Item::Said(said));
            continue;
        }
        // A message that was cut off.
        if !open.is_empty() {
            items.push(Item::Said(std::mem::take(&mut open)));
        }
        if let Some(user) = text("user") {
            items.push(Item::User(user));
        } else if let Some(command) = text("tool") {
            items.push(Item::Call {
                id: format!("call_{at}"),
                name: "Bash".to_owned(),
                input: json!({"command": command}),
                output: None,
            });
        } else if let Some(output) = text("output") {
            answer(&mut items, None, output);
        } else if let Some(summary) = text("summary") {
            items.push(Item::Summary(summary));
        }
    }
    if !open.is_empty() {
        items.push(Item::Said(open));
    }
    items
}

/// Gives a call its output: the one with this id, or the last.
pub(super) fn answer(items: &mut [Item], wanted: Option<&str>, text: String) {
    let found = items.iter_mut().rev().find_map(|item| match item {
        Item::Call { id, output, .. } if wanted.is_none_or(|wanted| wanted == id) => Some(output),
        _ => None,
    });
    if let Some(output) = found {
        output.get_or_insert(text);
    }
}

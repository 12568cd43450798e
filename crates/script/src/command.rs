//! Commands: the one table from which parsing, help and the advertised list derive.

use std::time::Duration;

use serde_json::{Map, Value};
use sessiond_protocol::limits::FRAME_BYTES;

use crate::step::{Pieces, Step};

/// Most repetitions of one line: more tool calls than any client wants in a turn, few enough that a
/// slip of the finger ends.
pub(crate) const REPEAT_MAX: u32 = 10_000;

/// Longest piece that `/stream` says: with its envelope it stays a frame under 1 MiB (WIRE-4).
pub(crate) const PIECE_BYTES_MAX: usize = 1_000_000;

/// Most that one `/stream` says in all: a message may be as long as a prompt may be.
pub(crate) const STREAM_BYTES_MAX: usize = FRAME_BYTES;

/// Longest wait of one step: beyond a day it is a mistake in the unit.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// A command of the script agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    /// Its name, without the slash.
    pub(crate) name: &'static str,
    /// The form of its arguments; none where it takes none.
    pub(crate) hint: Option<&'static str>,
    /// One line about it.
    pub(crate) about: &'static str,
    /// Reads the arguments: all that follows the name and one blank. None where the form is wrong.
    pub(crate) read: fn(&str) -> Option<Step>,
}

/// All commands, in the order they are advertised.
pub(crate) const COMMANDS: [Command; 17] = [
    Command {
        name: "say",
        hint: Some("TEXT"),
        about: "Say a text in one piece",
        read: |rest| text(rest).map(Step::Say),
    },
    Command {
        name: "stream",
        hint: Some("N BYTES [DELAY_MS]"),
        about: "Say N pieces of exactly BYTES bytes, DELAY_MS milliseconds apart",
        read: stream,
    },
    Command {
        name: "think",
        hint: Some("TEXT"),
        about: "Think a text",
        read: |rest| text(rest).map(Step::Think),
    },
    Command {
        name: "sleep",
        hint: Some("SECONDS"),
        about: "Wait; fractions are fine",
        read: sleep,
    },
    Command {
        name: "read",
        hint: Some("PATH"),
        about: "Show a text file",
        read: |rest| {
            text(rest).map(|path| Step::Read {
                path: path.trim().to_owned(),
            })
        },
    },
    Command {
        name: "write",
        hint: Some("PATH TEXT"),
        about: "Make a file hold exactly a text",
        read: write,
    },
    Command {
        name: "edit",
        hint: Some("PATH OLD => NEW"),
        about: "Replace the first occurrence of a text in a file",
        read: edit,
    },
    Command {
        name: "run",
        hint: Some("COMMAND"),
        about: "Run a command with sh -c in the session's directory",
        read: |rest| text(rest).map(|command| Step::Run { command }),
    },
    Command {
        name: "ask",
        hint: Some("QUESTION"),
        about: "Ask the user and say the answer",
        read: |rest| text(rest).map(|question| Step::Ask { question }),
    },
    Command {
        name: "plan",
        hint: Some("A; B; C"),
        about: "Show a plan",
        read: plan,
    },
    Command {
        name: "json",
        hint: Some("TEXT"),
        about: "Answer exactly a text",
        read: |rest| text(rest).map(Step::Say),
    },
    Command {
        name: "mcp",
        hint: Some("SERVER TOOL JSON"),
        about: "Call a tool of an MCP server with a JSON object",
        read: mcp,
    },
    Command {
        name: "usage",
        hint: None,
        about: "Tell context and cost",
        read: |rest| nothing(rest, Step::Usage),
    },
    Command {
        name: "fail",
        hint: Some("MESSAGE"),
        about: "Fail the turn",
        read: |rest| text(rest).map(Step::Fail),
    },
    Command {
        name: "refuse",
        hint: None,
        about: "Refuse to go on",
        read: |rest| nothing(rest, Step::Refuse),
    },
    Command {
        name: "title",
        hint: Some("TEXT"),
        about: "Name the session",
        read: |rest| text(rest).map(|title| Step::Title(title.trim().to_owned())),
    },
    Command {
        name: "repeat",
        hint: Some("N COMMAND"),
        about: "Do one line N times",
        read: repeat,
    },
];

impl Command {
    /// The command of that name.
    pub(crate) fn named(name: &str) -> Option<&'static Command> {
        COMMANDS.iter().find(|command| command.name == name)
    }

    /// How it is written.
    pub(crate) fn form(&self) -> String {
        match self.hint {
            Some(hint) => format!("/{} {hint}", self.name),
            None => format!("/{}", self.name),
        }
    }

    /// The command as it is advertised.
    pub(crate) fn advertised(&self) -> sessiond_protocol::Command {
        sessiond_protocol::Command {
            name: self.name.to_owned(),
            description: self.about.to_owned(),
            hint: self.hint.map(str::to_owned),
        }
    }
}

/// A text as it stands; blank is no text.
fn text(rest: &str) -> Option<String> {
    (!rest.trim().is_empty()).then(|| rest.to_owned())
}

fn nothing(rest: &str, step: Step) -> Option<Step> {
    rest.trim().is_empty().then_some(step)
}

/// The first word, and what follows it and one blank.
fn word(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.trim_start();
    let (first, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    (!first.is_empty()).then_some((first, rest))
}

fn stream(rest: &str) -> Option<Step> {
    let (count, rest) = word(rest)?;
    let (bytes, rest) = word(rest)?;
    let delay = if rest.trim().is_empty() {
        0
    } else {
        rest.trim().parse().ok()?
    };
    let pieces = Pieces {
        count: count.parse().ok()?,
        bytes: bytes.parse().ok()?,
        delay: Duration::from_millis(delay),
    };
    let fits = pieces.count > 0
        && (1..=PIECE_BYTES_MAX).contains(&pieces.bytes)
        && pieces.count.checked_mul(pieces.bytes)? <= STREAM_BYTES_MAX
        && pieces.delay <= WAIT_MAX;
    fits.then_some(Step::Stream(pieces))
}

fn sleep(rest: &str) -> Option<Step> {
    let seconds: f64 = rest.trim().parse().ok()?;
    let wait = Duration::try_from_secs_f64(seconds).ok()?;
    (wait <= WAIT_MAX).then_some(Step::Sleep(wait))
}

fn write(rest: &str) -> Option<Step> {
    let (path, text) = word(rest)?;
    (!text.is_empty()).then(|| Step::Write {
        path: path.to_owned(),
        text: text.to_owned(),
    })
}

/// An arrow at the end of the line has nothing behind it: the old text is to be removed.
fn edit(rest: &str) -> Option<Step> {
    let (path, change) = word(rest)?;
    let removal = || change.strip_suffix(" =>").map(|old| (old, ""));
    let (old, new) = change.split_once(" => ").or_else(removal)?;
    let [path, old, new] = [path, old, new].map(str::to_owned);
    (!old.is_empty()).then_some(Step::Edit { path, old, new })
}

fn plan(rest: &str) -> Option<Step> {
    let entries = rest
        .split(';')
        .map(str::trim)
        .filter(|entry| !entry.is_empty());
    let entries: Vec<String> = entries.map(str::to_owned).collect();
    (!entries.is_empty()).then_some(Step::Plan(entries))
}

fn mcp(rest: &str) -> Option<Step> {
    let (server, rest) = word(rest)?;
    let (tool, arguments) = word(rest)?;
    let arguments: Map<String, Value> = serde_json::from_str(arguments).ok()?;
    Some(Step::Mcp {
        server: server.to_owned(),
        tool: tool.to_owned(),
        arguments,
    })
}

/// Repetitions do not nest: a product of bounds is no bound. A mistake in the line is said once.
fn repeat(rest: &str) -> Option<Step> {
    let (times, line) = word(rest)?;
    let times: u32 = times.parse().ok()?;
    let step = if line.trim().is_empty() {
        None
    } else {
        Some(crate::parse::line(line))
    }?;
    match step {
        Err(mistake) => Some(Step::Say(mistake)),
        Ok(Step::Repeat { .. }) => None,
        Ok(step) if (1..=REPEAT_MAX).contains(&times) => Some(Step::Repeat {
            times,
            step: Box::new(step),
        }),
        Ok(_) => None,
    }
}

//! How the demo is told: short lines, and what was proved counted at the end.

use std::io::{IsTerminal, Write};

use super::view::{Shown, Speaker, View};
use crate::failure::Failure;

/// Longest piece of a message that is shown, in characters; the text goes on for pages.
const EXCERPT_CHARS: usize = 64;

/// The story so far.
pub(super) struct Story {
    colour: Colour,
    proved: u32,
    refuted: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Colour {
    On,
    Off,
}

impl Story {
    /// A story in colour where stdout is a terminal and `NO_COLOR` does not forbid it.
    pub(super) fn begin() -> Story {
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let plain = forbidden || !std::io::stdout().is_terminal();
        let colour = if plain { Colour::Off } else { Colour::On };
        Story {
            colour,
            proved: 0,
            refuted: 0,
        }
    }

    /// A new part of the story.
    pub(super) fn part(&self, title: &str) {
        self.print(&format!("\n{}", self.paint("1", title)));
    }

    /// Something that happened.
    pub(super) fn tell(&self, who: &str, what: &str) {
        self.print(&format!("  {who:<9} {what}"));
    }

    /// A claim, and what speaks against it if anything does.
    pub(super) fn claim(&mut self, claim: &str, against: Option<String>) {
        match against {
            None => {
                self.proved += 1;
                self.print(&format!("  {} {claim}", self.paint("32", "proved   ")));
            }
            Some(problem) => {
                self.refuted += 1;
                let label = self.paint("31", "NOT SO   ");
                self.print(&format!("  {label} {claim}: {problem}"));
            }
        }
    }

    /// The conversation as an editor would show it.
    pub(super) fn conversation(&self, view: &View) {
        for shown in &view.shown {
            match shown {
                Shown::Message {
                    by,
                    text,
                    interrupted,
                    ..
                } => {
                    let who = if *by == Speaker::User {
                        "| user"
                    } else {
                        "| agent"
                    };
                    let mark = if *interrupted {
                        self.mark(" (interrupted)")
                    } else {
                        String::new()
                    };
                    self.tell(who, &format!("{}{mark}", excerpt(text)));
                }
                Shown::Tool {
                    title,
                    status,
                    text,
                    ..
                } => {
                    let status = match status.as_str() {
                        "completed" => status.clone(),
                        open => self.mark(open),
                    };
                    let line = format!("{} -> {status}: {}", excerpt(title), excerpt(text));
                    self.tell("| tool", &line);
                }
            }
        }
    }

    /// The last line, and whether everything held.
    pub(super) fn end(self, seconds: f64) -> Result<(), Failure> {
        let Story {
            proved, refuted, ..
        } = self;
        if refuted == 0 {
            self.print(&format!(
                "\n{proved} claims proved in {seconds:.1} s. Nothing was lost."
            ));
            return Ok(());
        }
        let all = proved + refuted;
        Err(Failure::Found(format!(
            "{refuted} of {all} claims did not hold; see above"
        )))
    }

    fn mark(&self, text: &str) -> String {
        self.paint("33", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        match self.colour {
            Colour::On => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Colour::Off => text.to_owned(),
        }
    }

    fn print(&self, line: &str) {
        // A reader that has gone changes nothing about what is proved.
        let _reader_gone = writeln!(std::io::stdout(), "{line}");
    }
}

/// A text on one line, its middle left out where it is long.
fn excerpt(text: &str) -> String {
    let line: Vec<char> = text.trim().replace('\n', " ⏎ ").chars().collect();
    if line.len() <= EXCERPT_CHARS {
        return line.into_iter().collect();
    }
    let half = EXCERPT_CHARS / 2;
    let (head, tail) = (line.iter().take(half), line.iter().skip(line.len() - half));
    format!(
        "{} … {}",
        head.collect::<String>(),
        tail.collect::<String>()
    )
}

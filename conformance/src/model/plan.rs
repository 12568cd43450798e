//! What the model does with one request.

use std::time::Duration;

use serde_json::Value;

use super::ask::{self, Ask};
use super::directive::{self, Directive};
use super::tool::{Call, Sandbox};

/// Most bytes that `HUGE` says.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Longest that `HOLD` waits, in milliseconds.
const MOST_HOLD: usize = 600_000;
/// Most pieces that `SLOW` says.
const MOST_PIECES: usize = 10_000;
/// Bytes of a prompt or of a tool's result that a reply repeats.
const REPEATED: usize = 200;

/// What a refusal says where the script says nothing.
const REFUSED: &str = "scripted";

/// A reply, in no service's form yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    /// The model speaks.
    Answer(Answer),
    /// The service refuses with an HTTP status, and says this.
    Refusal(u16, String),
}

/// What the model says and does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Answer {
    /// In the order in which they go out.
    pub(crate) parts: Vec<Part>,
    /// Time before the first piece.
    pub(crate) hold: Duration,
    /// Time between two pieces.
    pub(crate) pace: Duration,
    /// Whether it ends as it should.
    pub(crate) ending: Ending,
}

/// One part of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// A thought.
    Thought(String),
    /// Text, in the pieces in which it goes out.
    Text(Vec<String>),
    /// A tool call.
    Call(Call),
}

/// How a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Ending {
    /// Whole.
    #[default]
    Whole,
    /// The connection breaks after the first piece.
    Cut,
}

impl Plan {
    /// What the script of the prompt says for this request.
    pub(crate) fn of(ask: &Ask) -> Self {
        let mut answer = Answer::default();
        for Directive { word, argument } in directive::of_round(&ask.prompt, ask.rounds) {
            let parts = &mut answer.parts;
            match word {
                "SAY" => parts.push(say(argument)),
                "THINK" => parts.insert(0, Part::Thought(argument.to_owned())),
                "SHELL" => parts.push(call(
                    word,
                    Call::shell(&ask.tools, argument, Sandbox::Inside),
                )),
                "SUDO" => parts.push(call(
                    word,
                    Call::shell(&ask.tools, argument, Sandbox::Outside),
                )),
                "READ" => parts.push(call(word, Call::read(&ask.tools, argument))),
                "WRITE" => {
                    let (path, text) = argument.split_once(' ').unwrap_or((argument, ""));
                    parts.push(call(word, Call::write(&ask.tools, path, text)));
                }
                "CALL" => parts.push(call(word, named(argument))),
                "HOLD" => {
                    let seconds: f64 = argument.trim().parse().unwrap_or(0.0);
                    let milliseconds = (seconds * 1000.0) as usize;
                    answer.hold = Duration::from_millis(milliseconds.min(MOST_HOLD) as u64);
                }
                "SLOW" => {
                    let [pieces, milliseconds, bytes] = numbers(argument);
                    let pieces = pieces.min(MOST_PIECES);
                    let bytes = bytes.min(MOST_BYTES / pieces.max(1));
                    answer.pace = Duration::from_millis(milliseconds as u64);
                    parts.push(Part::Text(
                        (1..=pieces)
                            .map(|n| format!("piece {n} {}", filler(n, bytes)))
                            .collect(),
                    ));
                }
                "HUGE" => {
                    let bytes = numbers(argument)[0].min(MOST_BYTES);
                    parts.push(Part::Text(in_three("x".repeat(bytes))));
                }
                "HTTP" => {
                    let (status, said) = argument.split_once(' ').unwrap_or((argument, REFUSED));
                    return Self::Refusal(status.parse().unwrap_or(500), said.to_owned());
                }
                "CUT" => answer.ending = Ending::Cut,
                _ => {}
            }
        }
        if !answer.parts.iter().any(Part::is_seen) {
            answer.parts.push(unscripted(ask));
        }
        Self::Answer(answer)
    }
}

impl Answer {
    /// Tokens of the reply.
    pub(crate) fn tokens(&self) -> usize {
        let bytes = |part: &Part| match part {
            Part::Thought(text) => text.len(),
            Part::Text(pieces) => pieces.iter().map(String::len).sum(),
            Part::Call(call) => call.name.len() + call.input.to_string().len(),
        };
        ask::tokens(self.parts.iter().map(bytes).sum())
    }

    /// Whether the model waits for results after this reply.
    pub(crate) fn calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Call(_)))
    }
}

impl Part {
    fn is_seen(&self) -> bool {
        !matches!(self, Self::Thought(_))
    }
}

fn say(text: &str) -> Part {
    Part::Text(in_three(text.to_owned()))
}

fn call(word: &str, call: Option<Call>) -> Part {
    call.map_or_else(
        || say(&format!("No tool for {word} was offered.")),
        Part::Call,
    )
}

/// `name json`; without JSON the input is an empty object.
fn named(argument: &str) -> Option<Call> {
    let (name, input) = argument.split_once(' ').unwrap_or((argument, "{}"));
    let input: Value = serde_json::from_str(input).ok()?;
    let name = name.to_owned();
    Some(Call { name, input })
}

fn unscripted(ask: &Ask) -> Part {
    match ask.results.as_slice() {
        [] => say(&format!("You said: {}", beginning(&ask.prompt))),
        results => {
            let shown: Vec<_> = results.iter().map(|text| beginning(text)).collect();
            say(&format!("The tools returned: {}", shown.join(" | ")))
        }
    }
}

fn beginning(text: &str) -> &str {
    let end = text.floor_char_boundary(REPEATED.min(text.len()));
    text[..end].trim()
}

/// Up to three numbers; what is missing or no number is 0.
fn numbers(argument: &str) -> [usize; 3] {
    let mut words = argument.split_whitespace().map(str::parse);
    std::array::from_fn(|_| words.next().and_then(Result::ok).unwrap_or(0))
}

/// Letters that do not repeat themselves: some agents take what repeats itself for a model that is stuck.
fn filler(seed: usize, bytes: usize) -> String {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        char::from(b'a' + u8::try_from((state >> 33) % 26).unwrap_or(0))
    };
    (0..bytes).map(|_| next()).collect()
}

/// Text in three pieces, so that every stream has a middle.
fn in_three(text: String) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text.as_str();
    for share in [3, 2] {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(rest.len().div_ceil(share)));
        pieces.push(piece.to_owned());
        rest = after;
    }
    pieces.push(rest.to_owned());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;

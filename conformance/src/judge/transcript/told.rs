//! The conversation in a transcript, in one form for both shapes.

use serde_json::Value;

use super::claude::{Chain, blocks};
use super::codex::{furniture, text};
use super::{Line, Transcript};
use crate::check::Speaker;
use crate::step::ShapeName;

/// One thing of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Told {
    User(String),
    Agent(String),
    Call {
        id: String,
        name: String,
        input: Value,
        output: Option<String>,
    },
    /// What is left of all that was before.
    Summary(String),
}

impl Told {
    /// What can be read of it, of somebody or of anybody.
    fn words(&self, only: Option<Speaker>) -> &str {
        let (who, text) = match self {
            Self::User(text) => (Speaker::User, text.as_str()),
            Self::Agent(text) | Self::Summary(text) => (Speaker::Agent, text.as_str()),
            Self::Call { output, .. } => (Speaker::Agent, output.as_deref().unwrap_or_default()),
        };
        if only.is_none_or(|only| only == who) {
            text
        } else {
            ""
        }
    }
}

/// The conversation of a transcript.
pub(super) fn of(file: &Transcript) -> Vec<Told> {
    let mut told = Vec::new();
    match file.shape {
        ShapeName::Claude => claude(&Chain::of(file), &mut told),
        ShapeName::Codex => file.lines.iter().for_each(|line| codex(line, &mut told)),
    }
    told
}

/// The first of the texts that does not stand behind those before it.
pub(super) fn missing(told: &[Told], texts: &[String], only: Option<Speaker>) -> Option<String> {
    let mut from = 0;
    for wanted in texts {
        let Some(at) = told[from..]
            .iter()
            .position(|told| told.words(only).contains(wanted))
        else {
            return Some(format!("{wanted:?} is missing, or not in its place"));
        };
        from += at + 1;
    }
    None
}

/// Leaves out what tools are called.
pub(super) fn unname(told: &mut [Told]) {
    for told in told {
        if let Told::Call { name, .. } = told {
            name.clear();
        }
    }
}

/// The first difference of two conversations.
pub(super) fn difference(one: &[Told], two: &[Told]) -> Option<String> {
    let differs = one.iter().zip(two).find(|(one, two)| one != two);
    match differs {
        Some((one, two)) => Some(format!("{one:?} became {two:?}")),
        None if one.len() != two.len() => {
            Some(format!("{} things became {}", one.len(), two.len()))
        }
        None => None,
    }
}

/// A conversation as it stands in a finding.
pub(super) fn shown(told: &[Told]) -> String {
    let text = format!("{told:?}");
    text.chars().take(400).collect()
}

fn claude(chain: &Chain<'_>, told: &mut Vec<Told>) {
    let (way, _) = chain.way();
    for line in way.iter().rev() {
        if line.entry["isMeta"] == true {
            continue;
        }
        if line.entry["isCompactSummary"] == true {
            told.push(Told::Summary(words(line)));
            continue;
        }
        let agent = line.text("type") == Some("assistant");
        if let Some(text) = line.entry["message"]["content"].as_str() {
            said(told, agent, text);
        }
        for block in blocks(line) {
            match block["type"].as_str() {
                Some("text") => said(told, agent, block["text"].as_str().unwrap_or_default()),
                Some("tool_use") => {
                    let id = block["id"].as_str().unwrap_or_default();
                    // A result may hang on its call, beside the way.
                    let mut results = chain.blocks("tool_result");
                    let result = results.find(|(_, result)| result["tool_use_id"] == id);
                    told.push(Told::Call {
                        id: id.to_owned(),
                        name: block["name"].as_str().unwrap_or_default().to_owned(),
                        input: block["input"].clone(),
                        output: result.map(|(_, result)| output(&result["content"])),
                    });
                }
                _ => {}
            }
        }
    }
}

/// What the user says that the program wrote is left out.
fn said(told: &mut Vec<Told>, agent: bool, text: &str) {
    if agent {
        told.push(Told::Agent(text.to_owned()));
    } else if !text.starts_with('<') {
        told.push(Told::User(text.to_owned()));
    }
}

fn words(line: &Line) -> String {
    let content = &line.entry["message"]["content"];
    content
        .as_str()
        .map_or_else(|| text(content), str::to_owned)
}

fn output(content: &Value) -> String {
    content
        .as_str()
        .map_or_else(|| text(content), str::to_owned)
}

fn codex(line: &Line, told: &mut Vec<Told>) {
    let payload = &line.entry["payload"];
    if line.text("type") == Some("compacted") {
        let summary = payload["message"].as_str().unwrap_or_default();
        return told.push(Told::Summary(summary.to_owned()));
    }
    if line.text("type") != Some("response_item") {
        return;
    }
    let member = |name: &str| payload[name].as_str().unwrap_or_default().to_owned();
    match payload["type"].as_str() {
        Some("message") => {
            let text = text(&payload["content"]);
            match payload["role"].as_str() {
                Some("user") if !furniture(&text) => told.push(Told::User(text)),
                Some("assistant") => told.push(Told::Agent(text)),
                _ => {}
            }
        }
        Some("function_call") => told.push(Told::Call {
            id: member("call_id"),
            name: member("name"),
            input: serde_json::from_str(&member("arguments")).unwrap_or_default(),
            output: None,
        }),
        Some("custom_tool_call") => told.push(Told::Call {
            id: member("call_id"),
            name: member("name"),
            input: payload["input"].clone(),
            output: None,
        }),
        Some("function_call_output" | "custom_tool_call_output") => {
            let wanted = member("call_id");
            let mut open = told.iter_mut().rev();
            let call = open.find_map(|told| match told {
                Told::Call { id, output, .. } if *id == wanted => Some(output),
                _ => None,
            });
            if let Some(call) = call {
                *call = Some(output(&payload["output"]));
            }
        }
        _ => {}
    }
}

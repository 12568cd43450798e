//! Conversations of foreign files as golden files show them.

use std::fs;
use std::path::Path;

use sessiond_protocol::{Content, Item, Telling, Told, ToolContent};
use sessiond_wire::foreign::{Findings, Kind};

fn short(text: &str) -> String {
    let line = text.replace('\n', "\\n");
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

fn content(content: &Content) -> String {
    match content {
        Content::Text { text, .. } => short(text),
        other => short(&serde_json::to_string(other).unwrap()),
    }
}

/// One line of what is told.
pub(crate) fn line(told: &Told) -> String {
    match &told.what {
        Telling::Item(Item::UserMessage { content: blocks }) => {
            format!(
                "user: {}",
                blocks.iter().map(content).collect::<Vec<_>>().join(" + ")
            )
        }
        Telling::Item(Item::AgentMessage { text, finish }) => {
            format!("agent ({finish:?}): {}", short(text))
        }
        Telling::Item(Item::Thought { text, .. }) => format!("thought: {}", short(text)),
        Telling::Item(Item::ToolCall(call)) => {
            let shown = call.content.iter().map(|shown| match shown {
                ToolContent::Content { content: block } => content(block),
                other => short(&serde_json::to_string(other).unwrap()),
            });
            let shown = shown.collect::<Vec<_>>().join(" + ");
            let native = call.native.as_deref().unwrap_or("-");
            format!(
                "call {native} {:?} {:?} [{}]: {shown}",
                call.kind,
                call.status,
                short(&call.title)
            )
        }
        Telling::Item(other) => format!("{other:?}"),
        Telling::Summary(text) => format!("summary: {}", short(text)),
        Telling::Notice {
            title, description, ..
        } => {
            format!(
                "notice: {title}: {}",
                short(description.as_deref().unwrap_or_default())
            )
        }
    }
}

/// What was found, by its number.
pub(crate) fn says<K: Kind>(findings: &Findings<K>) -> String {
    let of = findings.iter().map(|(kind, found)| {
        let name = serde_json::to_string(&kind).unwrap();
        format!("{}={}", name.trim_matches('"'), found.count)
    });
    of.collect::<Vec<_>>().join(" ")
}

/// Compares what is told with the golden file, part by part; `UPDATE` in the environment writes that
/// file anew.
pub(crate) fn is_as_reviewed(golden: &Path, told: &str) {
    if std::env::var_os("UPDATE").is_some() {
        fs::write(golden, told).unwrap();
    }
    let expected = fs::read_to_string(golden).unwrap_or_default();
    for (told, expected) in told.split("\n\n").zip(expected.split("\n\n")) {
        assert_eq!(told, expected);
    }
    assert_eq!(told.len(), expected.len());
}

//! Summaries: what a compaction of this agent says of a conversation.

use sessiond_protocol::{Content, HistoryItem, Item};

/// Prompts that are named, from the newest back.
const PROMPTS: usize = 100;

/// Characters of each.
const PROMPT_CHARS: usize = 80;

/// How much was said, and the first line of each prompt; what an earlier summary says comes first.
/// At most some 50 KiB in all: an earlier summary is cut to fit.
pub(crate) fn of(conversation: &[HistoryItem]) -> String {
    let count = |is: fn(&Item) -> bool| conversation.iter().filter(|entry| is(&entry.item)).count();
    let prompts: Vec<&str> = conversation.iter().filter_map(prompt).collect();
    let mut lines: Vec<String> = conversation.iter().filter_map(earlier).collect();
    lines.push(format!(
        "{} prompts, {} messages, {} tool calls.",
        prompts.len(),
        count(|item| matches!(item, Item::AgentMessage { .. })),
        count(|item| matches!(item, Item::ToolCall(_))),
    ));
    let named = prompts.len().saturating_sub(PROMPTS);
    lines.extend(prompts.iter().skip(named).map(|prompt| {
        let line: String = prompt.chars().take(PROMPT_CHARS).collect();
        format!("- {line}")
    }));
    lines.join("\n")
}

fn prompt(entry: &HistoryItem) -> Option<&str> {
    let Item::UserMessage { content } = &entry.item else {
        return None;
    };
    let text = content.iter().find_map(Content::as_text);
    Some(
        text.and_then(|text| text.lines().next())
            .unwrap_or_default(),
    )
}

fn earlier(entry: &HistoryItem) -> Option<String> {
    let Item::Compaction(compaction) = &entry.item else {
        return None;
    };
    let chars = PROMPTS * PROMPT_CHARS;
    Some(compaction.summary.chars().take(chars / 2).collect())
}

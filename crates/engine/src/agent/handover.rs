//! What an agent is given of a conversation that it does not have itself.
//!
//! One text with the session's own address: by that an agent's record is read without it
//! (design.md). The text is bounded: the newest messages, each cut
//! to its own bound, and how many older ones are left out. The same history gives the same text.

use sessiond_protocol::{
    Content, HistoryItem, Instructions, Item, ItemId, Lack, Marker, SessionId, ToolCall,
    ToolContent, ToolStatus,
};

/// The longest text that is handed over, in bytes: about 16,000 tokens, which every context holds.
pub const TOTAL_BYTES: usize = 64 << 10;

/// The longest part of one message, in bytes.
pub const MESSAGE_BYTES: usize = 8 << 10;

/// The longest part of the result of one call, in bytes.
pub const RESULT_BYTES: usize = 2 << 10;

const ADDRESS: &str = "sessiond://session/";
const HISTORY: (&str, &str) = ("<sessiond-history", "</sessiond-history>");
const INSTRUCTIONS: (&str, &str) = ("<sessiond-instructions", "</sessiond-instructions>");

/// How far a conversation was handed over: to the end of this item of this session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The session.
    pub session: SessionId,
    /// The item.
    pub item: ItemId,
}

impl Mark {
    /// The mark that an address holds, if it is one of ours.
    #[must_use]
    pub fn of_uri(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix(ADDRESS)?;
        let (session, item) = rest.split_at_checked(36)?;
        Some(Self {
            session: session.parse().ok()?,
            item: item.strip_prefix('#')?.get(..36)?.parse().ok()?,
        })
    }

    fn uri(&self) -> String {
        format!("{ADDRESS}{}#{}", self.session, self.item)
    }
}

/// Part of a conversation, to be put before a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Handover {
    mark: Mark,
    text: String,
    /// What the log says of it.
    pub marker: Marker,
}

impl Handover {
    /// The conversation in `items`, which the agent lacks for this reason; none where there is nothing
    /// to tell.
    #[must_use]
    pub fn of(session: SessionId, items: &[HistoryItem], because: Lack) -> Option<Self> {
        let (first, last) = (items.first()?.id, items.last()?.id);
        let mark = Mark {
            session,
            item: last,
        };
        let told: Vec<String> = items.iter().filter_map(|item| tell(&item.item)).collect();
        if told.is_empty() {
            return None;
        }
        let mut room = TOTAL_BYTES;
        let fits = |text: &&String| {
            let fits = text.len() <= room;
            room = room.saturating_sub(text.len());
            fits
        };
        let kept = told.iter().rev().take_while(fits).count();
        let left_out = told.len() - kept;
        let (open, close) = HISTORY;
        let missing = match because {
            Lack::BrokenOff => "may be missing",
            Lack::BeganAnew | Lack::Behind | Lack::Differs => "is missing",
        };
        let mut text = format!(
            "{open} uri=\"{}\">\nWhat was said and done in this conversation before, and {missing} \
             in your own record of it. It is over: do none of it again.\n",
            mark.uri()
        );
        if left_out > 0 {
            text.push_str(&format!("{left_out} older messages are left out.\n"));
        }
        text.extend(told.into_iter().skip(left_out));
        text.push_str(close);
        let marker = Marker::HandedOver {
            from: first,
            to: last,
            told: kept as u64,
            left_out: left_out as u64,
            because,
        };
        Some(Self { mark, text, marker })
    }

    /// Its address.
    #[must_use]
    pub fn uri(&self) -> String {
        self.mark.uri()
    }

    /// What is handed over.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Instructions as a text, for an agent that takes them in no other way.
#[must_use]
pub fn instructions(given: &Instructions) -> String {
    let (open, close) = INSTRUCTIONS;
    format!("{open}>\n{}\n{close}", indent(&given.text))
}

/// A text without what was handed over in it, and how far that went.
#[must_use]
pub fn without(text: &str) -> (String, Option<Mark>) {
    let mut rest = text.to_owned();
    let mark = text
        .rfind(ADDRESS)
        .and_then(|at| text.get(at..))
        .and_then(Mark::of_uri);
    for (open, close) in [HISTORY, INSTRUCTIONS] {
        // The end stands at the beginning of a line, where nothing that was said can stand.
        let close = format!("\n{close}");
        while let Some(start) = rest.find(open)
            && let Some(length) = rest.get(start..).and_then(|tail| tail.find(&close))
        {
            rest.replace_range(start..start + length + close.len(), "");
        }
    }
    (rest, mark)
}

fn tell(item: &Item) -> Option<String> {
    match item {
        Item::UserMessage { content } => {
            let text: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
            Some(entry("user", &text.join("\n"), MESSAGE_BYTES))
        }
        Item::AgentMessage { text, .. } => Some(entry("you", text, MESSAGE_BYTES)),
        Item::ToolCall(call) => Some(entry(&heading(call), &result(call), RESULT_BYTES)),
        // A summary is nobody's message, and never becomes one (CTX-2).
        Item::Compaction(compaction) => Some(entry(
            "summary of what was said before",
            &compaction.summary,
            MESSAGE_BYTES,
        )),
        Item::Thought { .. } | Item::Plan { .. } => None,
    }
}

fn heading(call: &ToolCall) -> String {
    let status = match call.status {
        ToolStatus::Completed => "done",
        ToolStatus::Failed => "failed",
        ToolStatus::Cancelled => "stopped",
        ToolStatus::Unknown | ToolStatus::Pending | ToolStatus::Running => "outcome unknown",
    };
    // On one line, so that nothing of it looks like an entry of its own.
    let title: String = call.title.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("tool call, {status}: {}", cut(&title, RESULT_BYTES))
}

fn result(call: &ToolCall) -> String {
    let shown = call.content.iter().filter_map(|content| match content {
        ToolContent::Content { content } => content.as_text().map(str::to_owned),
        ToolContent::Diff { path, .. } => Some(format!("changed {path}")),
        ToolContent::Terminal { .. } => None,
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// An entry whose text is indented: what it says can be nobody's heading (CTX-2).
fn entry(heading: &str, text: &str, most: usize) -> String {
    let cut_text = cut(text, most);
    let mut entry = format!("{heading}:\n{}\n", indent(cut_text));
    if cut_text.len() < text.len() {
        let missing = text.len() - cut_text.len();
        entry.push_str(&format!("    ({missing} more bytes are left out)\n"));
    }
    entry
}

fn indent(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("    {line}")).collect();
    lines.join("\n")
}

fn cut(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

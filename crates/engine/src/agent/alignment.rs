//! The log and what an agent has of its own, compared exchange by exchange (ADAPT-10).

use sessiond_protocol::{Content, HistoryItem, Item, Origin, SessionId};

use super::handover::Mark;

/// How an agent's own record of a conversation stands to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    /// It has all of it.
    Same,
    /// It lacks what begins with this item of the history.
    LacksFrom(usize),
    /// It has something else at its exchange of this number, from 1: nothing of it can be relied on.
    DiffersAt(usize),
}

/// A user's message of an agent's own record, and what came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// What the user said, without what was handed over.
    pub user: String,
    /// The last thing that was handed over with it.
    pub mark: Option<Mark>,
    /// What the agent said; of the newest exchange only.
    pub said: String,
    /// The ids of its calls; of the newest exchange only.
    pub calls: Vec<String>,
}

/// A user's message of the log, and what came of it.
#[derive(Debug)]
struct Ours<'a> {
    /// Where in the history it begins.
    from: usize,
    prompt: &'a [Content],
    said: String,
    calls: Vec<&'a str>,
}

/// Compares the history of a session with an agent's own record of it.
#[must_use]
pub fn align(session: SessionId, history: &[HistoryItem], theirs: &[Exchange]) -> Alignment {
    let ours = exchanges(history);
    let mut next = 0;
    for (number, exchange) in theirs.iter().enumerate() {
        let differs = Alignment::DiffersAt(number + 1);
        if let Some(mark) = &exchange.mark {
            // What was handed over with it is there too, to the item that the mark names.
            let handed = history.iter().position(|item| item.id == mark.item);
            let Some(handed) = handed.filter(|_| mark.session == session) else {
                return differs;
            };
            next = ours.partition_point(|own| own.from <= handed);
        }
        match matched(ours.get(next..).unwrap_or_default(), exchange) {
            Some(count) => next += count,
            None => return differs,
        }
    }
    let lacks = match (
        ours.get(next),
        next.checked_sub(1).and_then(|last| ours.get(last)),
    ) {
        (Some(first), last) => Some(last.filter(|last| is_cut(last, theirs)).unwrap_or(first)),
        (None, last) => last.filter(|last| is_cut(last, theirs)),
    };
    match lacks {
        Some(own) => Alignment::LacksFrom(own.from),
        None => Alignment::Same,
    }
}

fn exchanges(history: &[HistoryItem]) -> Vec<Ours<'_>> {
    let mut ours: Vec<Ours<'_>> = Vec::new();
    // What stands for a picture stands in no record of the agent.
    let said = |(_, item): &(usize, &HistoryItem)| item.origin != Origin::Content;
    for (from, item) in history.iter().enumerate().filter(said) {
        match &item.item {
            Item::UserMessage { content } => ours.push(Ours {
                from,
                prompt: content,
                said: String::new(),
                calls: Vec::new(),
            }),
            Item::AgentMessage { text, .. } => {
                if let Some(last) = ours.last_mut() {
                    last.said.push_str(text);
                }
            }
            Item::ToolCall(call) => {
                if let Some(last) = ours.last_mut() {
                    last.calls.extend(call.native.as_deref());
                }
            }
            Item::Thought { .. } | Item::Plan { .. } | Item::Compaction(_) => {}
        }
    }
    ours
}

/// How many of ours one of theirs is: more than one where the agent joins messages that follow each
/// other. None where it is another.
fn matched(ours: &[Ours<'_>], theirs: &Exchange) -> Option<usize> {
    let said = bare(&theirs.user);
    if let Some(first) = ours.first() {
        let text = bare_text(first.prompt);
        let is_at_an_end = said.ends_with(&text) || said.starts_with(&text);
        let is_within = theirs.mark.is_some() && !text.is_empty() && is_at_an_end;
        // What an agent makes of links and resources is its own business.
        if is_within || !first.is_plain() && is_in_order(first.prompt, &said) {
            return Some(1);
        }
    }
    let mut joined = String::new();
    for (index, own) in ours.iter().enumerate() {
        joined.push_str(&bare_text(own.prompt));
        if joined == said {
            return Some(index + 1);
        }
        if !said.starts_with(&joined) {
            return None;
        }
    }
    None
}

impl Ours<'_> {
    fn is_plain(&self) -> bool {
        let is_text = |block: &Content| matches!(block, Content::Text { .. });
        self.prompt.iter().all(is_text)
    }
}

fn is_in_order(prompt: &[Content], said: &str) -> bool {
    let mut rest = said;
    for block in prompt {
        if let Content::Text { text, .. } = block {
            let text = bare(text);
            match rest.split_once(text.as_str()) {
                Some((_, after)) => rest = after,
                None => return false,
            }
        }
    }
    true
}

/// Whether the agent has less of its newest exchange than was seen here: it was cut off before it
/// had it on its disk.
fn is_cut(own: &Ours<'_>, theirs: &[Exchange]) -> bool {
    let Some(last) = theirs.last() else {
        return false;
    };
    let lacks_text = !bare(&last.said).contains(&bare(&own.said));
    let lacks_call = own
        .calls
        .iter()
        .any(|call| !last.calls.iter().any(|id| id == call));
    lacks_text || lacks_call
}

fn bare_text(prompt: &[Content]) -> String {
    let texts = prompt.iter().filter_map(|block| match block {
        Content::Text { text, .. } => Some(bare(text)),
        _ => None,
    });
    texts.collect()
}

/// A text without its white space, about which agents differ.
fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

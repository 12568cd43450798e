//! What a thread of Codex holds of a conversation, as far as it is compared with the log (ADAPT-10).

use serde_json::Value;
use sessiond_engine::alignment::{Alignment, Exchange, align};
use sessiond_engine::handover::{self, Mark};
use sessiond_protocol::{HistoryItem, SessionId};

use super::item::{self, Native};

/// Bytes of what its user said that are kept for comparing. A longer thread cannot be compared, and
/// counts as one that differs.
const KEPT_BYTES: usize = 32 << 20;

/// A thread, page by page, oldest turn first.
#[derive(Debug, Default)]
pub(super) struct Record {
    exchanges: Vec<Exchange>,
    bytes: usize,
}

impl Record {
    /// Takes in the next page of `thread/turns/list`.
    pub(super) fn take(&mut self, page: &Value) {
        let turns = page["data"].as_array().into_iter().flatten();
        for turn in turns {
            let items = turn["items"].as_array().map_or(&[][..], Vec::as_slice);
            for item in items {
                if let Some(read) = item::read(item) {
                    self.hear(item, read);
                }
            }
        }
    }

    fn hear(&mut self, item: &Value, (id, native): (&str, Native)) {
        match native {
            Native::User => self.user(&item["content"]),
            Native::Message(text) => {
                if let Some(last) = self.exchanges.last_mut() {
                    last.said.push_str(&text);
                }
            }
            Native::Call(_) => {
                if let Some(last) = self.exchanges.last_mut() {
                    last.calls.push(id.to_owned());
                }
            }
            Native::Thought(_) | Native::Compaction | Native::Other => {}
        }
    }

    fn user(&mut self, content: &Value) {
        // Of older ones it is not asked what came of them.
        if let Some(last) = self.exchanges.last_mut() {
            last.said = String::new();
            last.calls = Vec::new();
        }
        let mut said = String::new();
        for part in content.as_array().into_iter().flatten() {
            if let Some(text) = part["text"].as_str() {
                said.push_str(text);
                said.push('\n');
            }
        }
        self.bytes += said.len();
        if self.bytes > KEPT_BYTES {
            return;
        }
        let (user, mark) = handover::without(&said);
        self.exchanges.push(Exchange {
            user,
            mark,
            ..Exchange::default()
        });
    }

    /// Whether nothing was said in the thread: what was put into it may be there or not.
    pub(super) fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// How it stands to the log. `handed` names the last thing that was put into the thread as Codex's
    /// own items, before its first turn: Codex does not list those as turns.
    pub(super) fn align(
        mut self,
        session: SessionId,
        history: &[HistoryItem],
        handed: Option<&str>,
    ) -> Alignment {
        if self.bytes > KEPT_BYTES {
            return Alignment::DiffersAt(0);
        }
        let handed = handed.and_then(Mark::of_uri);
        if let (Some(first), Some(handed)) = (self.exchanges.first_mut(), handed) {
            let told = first.mark.replace(handed);
            match align(session, history, &self.exchanges) {
                // A server that lists them, as ours does, has all from the beginning on.
                Alignment::DiffersAt(1) => {}
                aligned => return aligned,
            }
            if let Some(first) = self.exchanges.first_mut() {
                first.mark = told;
            }
        }
        align(session, history, &self.exchanges)
    }
}

#[cfg(test)]
mod tests;

//! Tokens, as Codex counts them for its thread.

use serde::Deserialize;
use serde_json::Value;
use sessiond_protocol::Usage;

/// Tokens of a thread or of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Counted {
    total_tokens: u64,
    input_tokens: u64,
    cached_input_tokens: u64,
    cache_write_input_tokens: u64,
    output_tokens: u64,
    reasoning_output_tokens: u64,
}

/// What a thread has used, and how full its context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Spent {
    total: Counted,
    used: u64,
    size: u64,
}

impl Spent {
    /// Reads `tokenUsage` of a notification.
    pub(super) fn read(told: &Value) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Told {
            total: Counted,
            last: Counted,
            #[serde(default)]
            model_context_window: Option<u64>,
        }
        let told = Told::deserialize(told).ok()?;
        Some(Self {
            total: told.total,
            used: told.last.total_tokens,
            size: told.model_context_window.unwrap_or_default(),
        })
    }

    /// What was used since `before`. A thread that counts less than before counts anew.
    pub(super) fn since(self, before: Spent) -> Usage {
        let (now, then) = (self.total, before.total);
        let then = if now.total_tokens < then.total_tokens {
            Counted::default()
        } else {
            then
        };
        let more = |now: u64, then: u64| now.saturating_sub(then);
        Usage {
            used: self.used,
            size: self.size,
            input: more(now.input_tokens, then.input_tokens),
            output: more(now.output_tokens, then.output_tokens),
            thought: Some(more(
                now.reasoning_output_tokens,
                then.reasoning_output_tokens,
            )),
            cached_read: Some(more(now.cached_input_tokens, then.cached_input_tokens)),
            cached_write: Some(more(
                now.cache_write_input_tokens,
                then.cache_write_input_tokens,
            )),
            cost: None,
        }
    }
}

#[cfg(test)]
mod tests;

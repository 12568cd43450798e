//! Tokens as Codex counts them.

use sessiond_protocol::Usage;

/// What was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tokens {
    /// Read, those from a cache included.
    pub(crate) input: u64,
    /// Of these from a cache.
    pub(crate) cached: u64,
    /// Of these put into a cache.
    pub(crate) cache_write: u64,
    /// Written, thoughts included.
    pub(crate) output: u64,
    /// Of these thoughts.
    pub(crate) reasoning: u64,
}

impl Tokens {
    /// In all.
    pub(crate) fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Self {
        Self {
            input: usage.input,
            cached: usage.cached_read.unwrap_or_default(),
            cache_write: usage.cached_write.unwrap_or_default(),
            output: usage.output,
            reasoning: usage.thought.unwrap_or_default(),
        }
    }
}

impl From<Option<Usage>> for Tokens {
    fn from(usage: Option<Usage>) -> Self {
        usage.map(Self::from).unwrap_or_default()
    }
}

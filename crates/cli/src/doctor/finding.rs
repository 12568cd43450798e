//! One thing that doctor looked at.

use serde::Serialize;

/// What was looked at and what came of it.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) topic: String,
    pub(super) health: Health,
    pub(super) detail: String,
}

/// How well it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Health {
    Good,
    /// It works, and its owner should know.
    Warning,
    Bad,
}

impl Health {
    pub(super) fn label(self) -> &'static str {
        match self {
            Health::Good => "ok",
            Health::Warning => "warning",
            Health::Bad => "BAD",
        }
    }
}

impl Finding {
    pub(super) fn good(topic: &str, detail: impl Into<String>) -> Finding {
        Finding::new(topic, Health::Good, detail)
    }

    pub(super) fn warning(topic: &str, detail: impl Into<String>) -> Finding {
        Finding::new(topic, Health::Warning, detail)
    }

    pub(super) fn bad(topic: &str, detail: impl Into<String>) -> Finding {
        Finding::new(topic, Health::Bad, detail)
    }

    fn new(topic: &str, health: Health, detail: impl Into<String>) -> Finding {
        Finding {
            topic: topic.to_owned(),
            health,
            detail: detail.into(),
        }
    }
}

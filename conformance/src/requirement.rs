//! What is required, by whom, in whose words: `requirements/*.toml`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file of requirements.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Requirements {
    /// The documents that are cited.
    pub(crate) documents: BTreeMap<String, Document>,
    pub(crate) requirements: Vec<Requirement>,
}

/// A document at a fixed revision.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    pub(crate) title: String,
    /// A commit, or a version.
    pub(crate) revision: String,
    /// Where it can be read; `{anchor}` is the citation's.
    pub(crate) url: String,
}

/// One requirement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Requirement {
    /// Its id, never used for another.
    pub(crate) id: String,
    pub(crate) keyword: Keyword,
    /// What is required, in our own words.
    pub(crate) text: String,
    /// Key of the document.
    pub(crate) document: String,
    /// Path and heading in it.
    pub(crate) anchor: String,
    /// Id of the rule in the official kit, where that covers it.
    #[serde(default)]
    pub(crate) tck: Option<String>,
    /// Why no check decides it.
    #[serde(default)]
    pub(crate) untested: Option<String>,
}

/// How strongly it is required. What is below `must` does not make a target fail by itself.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Keyword {
    Must,
    Should,
    May,
    /// Only noted.
    Info,
}

impl Keyword {
    /// As it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::May => "may",
            Self::Info => "info",
        }
    }
}

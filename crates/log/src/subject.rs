//! The id of a log: opaque, and safe as a file name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::LogError;

/// Id of a log: the canonical lower-case text of a UUID, and nothing else (LOG-13). Only a value
/// of this type ever becomes part of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Subject(String);

impl FromStr for Subject {
    type Err = LogError;

    fn from_str(text: &str) -> Result<Self, LogError> {
        let uuid = Uuid::try_parse(text).map_err(|_| LogError::InvalidSubject)?;
        let canonical = uuid.hyphenated().to_string();
        // Other spellings of a UUID (braces, urn, upper case) would be second names of one log.
        if canonical == text {
            Ok(Self(canonical))
        } else {
            Err(LogError::InvalidSubject)
        }
    }
}

impl TryFrom<String> for Subject {
    type Error = LogError;

    fn try_from(text: String) -> Result<Self, LogError> {
        text.parse()
    }
}

impl From<Subject> for String {
    fn from(subject: Subject) -> Self {
        subject.0
    }
}

impl From<Uuid> for Subject {
    fn from(uuid: Uuid) -> Self {
        Self(uuid.hyphenated().to_string())
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for Subject {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests;

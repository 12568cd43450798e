//! Request ids.

use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;

/// The exact JSON text of a request id, so that an answer repeats it byte by byte: `1` and `"1"`
/// are two ids, and a number too large for a double keeps its digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RawId(Arc<str>);

impl RawId {
    /// The id in `raw`: a string, or an integer that fits 64 bits with sign. Null, fractions,
    /// larger numbers, booleans, arrays and objects name no request.
    pub fn new(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let named = text.starts_with('"') || (text != "-0" && text.parse::<i64>().is_ok());
        named.then(|| Self(text.into()))
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<i64> {
        self.0.parse().ok()
    }
}

impl From<i64> for RawId {
    fn from(number: i64) -> Self {
        Self(number.to_string().into())
    }
}

impl fmt::Display for RawId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

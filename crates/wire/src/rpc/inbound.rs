//! What a line says.

use std::fmt;

use jsonrpsee_types::ErrorCode;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{ErrorObject, INVALID_REQUEST, PARSE_ERROR, RawId, error};
use crate::hygiene;
use crate::lines::BadLine;

/// A line, classified. Members beyond those of JSON-RPC are tolerated; of duplicates the last
/// counts.
#[derive(Debug)]
pub enum Inbound {
    /// The peer calls and awaits an answer.
    Request {
        /// To be repeated in the answer.
        id: RawId,
        /// Which method.
        method: String,
        /// Its params; null is none.
        params: Option<Box<RawValue>>,
    },
    /// The peer tells something. It never gets an answer, not even an error.
    Notification {
        /// Which method.
        method: String,
        /// Its params; null is none.
        params: Option<Box<RawValue>>,
    },
    /// The peer answers a request of ours.
    Response {
        /// The request.
        id: RawId,
        /// What came of it.
        result: Result<Box<RawValue>, ErrorObject>,
    },
    /// Not a message: to be answered with `error`.
    Invalid {
        /// The id to answer to; null where there is none that could be trusted.
        id: Option<RawId>,
        /// Why.
        error: ErrorObject,
    },
    /// Looks like a response but is none: no answer, or two peers would answer each other's errors
    /// for ever. To be counted.
    Ignore,
}

/// Whether a message says which version of JSON-RPC it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// It does: 2.0.
    Named,
    /// It need not, and what it says does not count.
    Unnamed,
}

/// Classifies a line after the hygiene pass ([`hygiene::clean`]).
pub fn parse(line: &str) -> Inbound {
    read(line, Version::Named)
}

/// The same for a peer that leaves `jsonrpc` out of its messages, as Codex does.
pub fn parse_unversioned(line: &str) -> Inbound {
    read(line, Version::Unnamed)
}

fn read(line: &str, version: Version) -> Inbound {
    let Ok(text) = hygiene::clean(line) else {
        return invalid(PARSE_ERROR, "Parse error: nested too deep");
    };
    // Only an object is a message: checked first, since a struct would also be read from an array.
    if text.trim_ascii_start().starts_with('{') {
        return match serde_json::from_str::<Envelope<'_>>(&text) {
            Ok(envelope) => envelope.classify(version),
            Err(_) => invalid(PARSE_ERROR, "Parse error"),
        };
    }
    match serde_json::from_str::<IgnoredAny>(&text) {
        Ok(_) => invalid(INVALID_REQUEST, "Invalid request: not one object"),
        Err(_) => invalid(PARSE_ERROR, "Parse error"),
    }
}

/// The answer to a line that could not even be read.
pub fn refuse(line: BadLine) -> Inbound {
    let message = match line {
        BadLine::TooLong { bytes } => format!("Parse error: line of {bytes} bytes is too long"),
        BadLine::NotUtf8 => "Parse error: not valid UTF-8".to_owned(),
    };
    Inbound::Invalid {
        id: None,
        error: error(PARSE_ERROR, message),
    }
}

fn invalid(code: i32, message: &str) -> Inbound {
    Inbound::Invalid {
        id: None,
        error: error(code, message),
    }
}

/// The members of a message, each as it was written. Absent and null are told apart.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl Envelope<'_> {
    fn classify(self, version: Version) -> Inbound {
        if self.method.is_some() {
            self.call(version)
        } else if self.result.is_some() || self.error.is_some() {
            self.response(version).unwrap_or(Inbound::Ignore)
        } else {
            invalid(
                INVALID_REQUEST,
                "Invalid request: neither method, result nor error",
            )
        }
    }

    fn call(self, version: Version) -> Inbound {
        if !self.is_of(version) {
            return invalid(INVALID_REQUEST, "Invalid request: jsonrpc is not \"2.0\"");
        }
        let id = self.id.map(RawId::new);
        if let Some(None) = id {
            let message = "Invalid request: id is neither a string nor a 64-bit integer";
            return invalid(INVALID_REQUEST, message);
        }
        let id = id.flatten();
        let method = self
            .method
            .and_then(|method| serde_json::from_str(method.get()).ok());
        let Some(method) = method else {
            let error = error(INVALID_REQUEST, "Invalid request: method is not a string");
            return Inbound::Invalid { id, error };
        };
        let params = self
            .params
            .filter(|params| params.get() != "null")
            .map(ToOwned::to_owned);
        match id {
            Some(id) => Inbound::Request { id, method, params },
            None => Inbound::Notification { method, params },
        }
    }

    fn response(self, version: Version) -> Option<Inbound> {
        let id = self
            .id
            .and_then(RawId::new)
            .filter(|_| self.is_of(version))?;
        // Peers that serialise absent members send `"error":null` beside a result.
        let error = self.error.filter(|error| error.get() != "null");
        let result = match (self.result, error) {
            (Some(result), None) => Ok(result.to_owned()),
            (None, Some(error)) => Err(read_error(error)?),
            (Some(result), Some(error)) if result.get() == "null" => Err(read_error(error)?),
            _ => return None,
        };
        Some(Inbound::Response { id, result })
    }

    fn is_of(&self, version: Version) -> bool {
        let is_2 = |named: &RawValue| named.get() == "\"2.0\"";
        version == Version::Unnamed || self.jsonrpc.is_some_and(is_2)
    }
}

/// An error object with whatever else the peer put in it: `jsonrpsee_types` refuses extra members.
fn read_error(raw: &RawValue) -> Option<ErrorObject> {
    #[derive(Deserialize)]
    struct Lenient {
        code: i32,
        #[serde(default)]
        message: String,
        data: Option<Box<RawValue>>,
    }
    let error: Lenient = serde_json::from_str(raw.get()).ok()?;
    Some(ErrorObject::owned(
        ErrorCode::from(error.code).code(),
        error.message,
        error.data,
    ))
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    #[serde(other)]
    Other,
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(member) = map.next_key()? {
            let slot = match member {
                Member::Jsonrpc => &mut envelope.jsonrpc,
                Member::Id => &mut envelope.id,
                Member::Method => &mut envelope.method,
                Member::Params => &mut envelope.params,
                Member::Result => &mut envelope.result,
                Member::Error => &mut envelope.error,
                Member::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *slot = Some(map.next_value()?);
        }
        Ok(envelope)
    }
}

#[cfg(test)]
mod tests;

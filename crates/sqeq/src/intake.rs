//! What a line of the client is.

use serde_json::Value;
use sessiond_protocol::{ClientFrame, ErrorCode, SubmissionId, VERSION, WireError};
use sessiond_wire::{Line, hygiene};

use crate::validate::{check, refusal};

/// A line, read.
#[derive(Debug, PartialEq)]
pub(crate) enum Inbound {
    /// A frame of the protocol.
    Frame(ClientFrame),
    /// An object of this version of the protocol that is no frame of it; the connection lives.
    Refused {
        /// The submission that it would have been, where it says so: it gets the receipt.
        id: Option<SubmissionId>,
        /// What is wrong with it.
        error: WireError,
    },
    /// Not the protocol, or not this version of it: the connection ends (WIRE-2, WIRE-5).
    Broken(WireError),
}

/// Reads a line.
pub(crate) fn read(line: Line) -> Inbound {
    let text = match line {
        Line::Text(text) => text,
        Line::Bad(bad) => return broken(bad.to_string()),
    };
    let frame: Value = match hygiene::clean(&text) {
        Ok(text) => match serde_json::from_str(&text) {
            Ok(frame) => frame,
            Err(error) => {
                // The category and the place, not the parser's words: those may quote.
                let (kind, column) = (error.classify(), error.column());
                return broken(format!("not JSON: {kind:?} at column {column}"));
            }
        },
        Err(depth) => return broken(depth.to_string()),
    };
    drop(text);
    if !frame.is_object() {
        return broken("not an object".to_owned());
    }
    if frame.get("v") != Some(&Value::from(VERSION)) {
        return broken(format!(
            "only version {VERSION} is spoken here: `v` must be {VERSION}"
        ));
    }
    if let Err(error) = check(&frame) {
        let id = submission(&frame);
        return Inbound::Refused { id, error };
    }
    let id = submission(&frame);
    match serde_json::from_value(frame) {
        Ok(frame) => Inbound::Frame(frame),
        Err(_) => {
            let message = "a value that its type cannot hold";
            let error = refusal(ErrorCode::Invalid, message, "");
            Inbound::Refused { id, error }
        }
    }
}

/// The id of the submission that a frame says it is.
fn submission(frame: &Value) -> Option<SubmissionId> {
    let is_submission = frame.get("type").is_some_and(|name| name == "submission");
    let id = frame.get("id").filter(|_| is_submission)?.as_str()?;
    id.to_owned().try_into().ok()
}

fn broken(message: String) -> Inbound {
    Inbound::Broken(WireError::new(ErrorCode::Protocol, message))
}

#[cfg(test)]
mod tests;

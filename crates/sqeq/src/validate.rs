//! Inbound frames against the published schema (WIRE-3).

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;
use sessiond_protocol::{ErrorCode, WireError, schema};

use crate::place::{Fault, Place};

/// Made from the types when the first frame comes; `None` would be a fault of ours, which the tests
/// rule out.
static CLIENT_FRAME: LazyLock<Option<Validator>> =
    LazyLock::new(|| jsonschema::validator_for(&schema::client_frame().schema).ok());

/// Checks a frame.
///
/// # Errors
/// What is wrong and where, for the client: `unknown` for a type of frame or operation that this
/// version lacks (WIRE-2), `invalid` for the rest. Nothing of the frame's content is in it.
pub(crate) fn check(frame: &Value) -> Result<(), WireError> {
    let Some(validator) = &*CLIENT_FRAME else {
        let message = "the schema of frames could not be made";
        return Err(WireError::new(ErrorCode::Internal, message));
    };
    if validator.is_valid(frame) {
        return Ok(());
    }
    let errors: Vec<_> = validator.iter_errors(frame).collect();
    let place = Place::of(errors.iter(), frame);
    Err(place.map_or_else(|| refusal(ErrorCode::Invalid, "not valid", ""), refuse))
}

fn refuse(place: Place) -> WireError {
    match place.fault {
        Fault::UnknownType => {
            let message = "no such type here";
            refusal(ErrorCode::Unknown, message, &place.pointer)
        }
        Fault::Other(words) => refusal(ErrorCode::Invalid, &words, &place.pointer),
    }
}

/// An error about a place in a frame.
pub(crate) fn refusal(code: ErrorCode, message: &str, pointer: &str) -> WireError {
    let mut error = WireError::new(code, message);
    error.pointer = Some(pointer.to_owned());
    error
}

#[cfg(test)]
mod tests;

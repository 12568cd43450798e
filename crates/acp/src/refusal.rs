//! The error table: what a client is told when something did not go well (acp.md 1.1, contract.md).
//!
//! Messages of ours never repeat what was received (WIRE-3); those of the engine are for the owner
//! of the session.

use serde::Serialize;
use sessiond_protocol::{ErrorCode, ForeignError, WireError};
use sessiond_wire::rpc::{
    ErrorObject, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR,
    REQUEST_CANCELLED, error,
};

const NOT_FOUND: i32 = -32002;
const BUSY: i32 = 4001;
const DAMAGED: i32 = 4002;
const TOO_NEW: i32 = 4003;
const DRIFTED: i32 = 4004;
const STORAGE: i32 = 4005;
const QUEUE_FULL: i32 = 4006;
const LEASE_LOST: i32 = 4007;
const AGENT_UNAVAILABLE: i32 = 4008;

/// Params that the method does not take; `why` is a sentence of ours.
pub(crate) fn invalid_params(why: &str) -> ErrorObject {
    error(INVALID_PARAMS, format!("Invalid params: {why}"))
}

/// A request that may not come now.
pub(crate) fn invalid_request(why: &str) -> ErrorObject {
    error(INVALID_REQUEST, format!("Invalid request: {why}"))
}

/// That the client has taken its request back.
pub(crate) fn request_cancelled() -> ErrorObject {
    error(REQUEST_CANCELLED, "Request cancelled")
}

/// A method that is unknown or was not advertised.
pub(crate) fn method_not_found() -> ErrorObject {
    error(METHOD_NOT_FOUND, "Method not found")
}

/// A session that does not exist, or is not active on this connection; clients start anew on it.
pub(crate) fn unknown_session(requested: &str) -> ErrorObject {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Data<'a> {
        session_id: &'a str,
    }
    let data = Data {
        session_id: requested,
    };
    ErrorObject::owned(NOT_FOUND, "Session not found", Some(data))
}

/// The engine's error as the client gets it; `session` is the id that the request named.
pub(crate) fn from_waist(refused: &WireError, session: &str) -> ErrorObject {
    if let Some(foreign) = &refused.foreign
        && refused.code == ErrorCode::AgentFailed
    {
        return relayed(foreign);
    }
    let code = match refused.code {
        ErrorCode::NotFound => return unknown_session(session),
        ErrorCode::Busy => return busy(refused),
        ErrorCode::Damaged => DAMAGED,
        ErrorCode::TooNew => TOO_NEW,
        ErrorCode::Drifted => return drifted(refused),
        ErrorCode::Storage => STORAGE,
        ErrorCode::QueueFull => QUEUE_FULL,
        ErrorCode::LeaseLost => LEASE_LOST,
        ErrorCode::AgentUnavailable => AGENT_UNAVAILABLE,
        ErrorCode::Invalid => INVALID_PARAMS,
        ErrorCode::Unsupported => METHOD_NOT_FOUND,
        ErrorCode::TurnActive
        | ErrorCode::TurnNotActive
        | ErrorCode::KeyReused
        | ErrorCode::Refused
        | ErrorCode::ViewOnly
        | ErrorCode::Gap
        | ErrorCode::Unknown
        | ErrorCode::Protocol
        | ErrorCode::AgentFailed
        | ErrorCode::Internal => INTERNAL_ERROR,
    };
    error(code, refused.message.as_str())
}

/// An error of an agent of this protocol: as it wrote it, unless its code would be taken for one of
/// ours about the connection or the session.
fn relayed(foreign: &ForeignError) -> ErrorObject {
    let code = match foreign.code {
        PARSE_ERROR | INVALID_REQUEST | NOT_FOUND | BUSY..=AGENT_UNAVAILABLE => INTERNAL_ERROR,
        code => code,
    };
    let data = (!foreign.data.is_null()).then_some(&foreign.data);
    ErrorObject::owned(code, foreign.message.as_str(), data)
}

/// Busy names who holds the session, so that the user can go there (LOG-7).
fn busy(refused: &WireError) -> ErrorObject {
    #[derive(Serialize)]
    struct Data<'a> {
        holder: &'a sessiond_protocol::Holder,
    }
    let data = refused.holder.as_ref().map(|holder| Data { holder });
    ErrorObject::owned(BUSY, refused.message.as_str(), data)
}

/// Drifted names what has to be accepted, so that the user can (RESUME-16).
fn drifted(refused: &WireError) -> ErrorObject {
    #[derive(Serialize)]
    struct Data {
        fields: sessiond_protocol::DriftClasses,
    }
    let data = Data {
        fields: refused.fields,
    };
    ErrorObject::owned(DRIFTED, refused.message.as_str(), Some(data))
}

#[cfg(test)]
mod tests;

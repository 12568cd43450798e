//! A JSON-RPC 2.0 peer for line frames: both sides call, both sides answer.
//!
//! Transport-free: [`parse`] makes a line into an [`Inbound`], [`Peer`] pushes [`RpcFrame`]s to an
//! [`OutQueue`](crate::queue::OutQueue), and what carries the lines is not its business. Error
//! answers never repeat what was received (WIRE-3, SEC-1).

mod frame;
mod id;
mod in_flight;
mod inbound;
mod peer;

pub use frame::{MAX_MERGED, RpcFrame, Then, Wrapping};
pub use id::RawId;
pub use in_flight::{InFlight, MAX_IN_FLIGHT, cancelled_id};
pub use inbound::{Inbound, parse, parse_unversioned, refuse};
pub use jsonrpsee_types::ErrorObjectOwned as ErrorObject;
pub use peer::{CallError, Peer, PendingCall};

/// Not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// JSON, but no message of the protocol.
pub const INVALID_REQUEST: i32 = -32600;
/// A method that is unknown or was not advertised.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// Params that the method does not take.
pub const INVALID_PARAMS: i32 = -32602;
/// A fault of the answering side.
pub const INTERNAL_ERROR: i32 = -32603;
/// The request was cancelled before it was done (ACP).
pub const REQUEST_CANCELLED: i32 = -32800;
/// The notification that cancels a request (ACP).
pub const CANCEL_REQUEST: &str = "$/cancel_request";

/// An error object without data.
pub fn error(code: i32, message: impl Into<String>) -> ErrorObject {
    ErrorObject::owned(code, message, None::<()>)
}

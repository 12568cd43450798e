//! What the listener offers, as JSON-RPC.

// The macros write documentation of their own for what they make, but not for all of it.
#![allow(missing_docs, reason = "made by the macro")]

use jsonrpsee::core::{RpcResult, SubscriptionResult};
use jsonrpsee::proc_macros::rpc;
use serde_json::Value;

/// The waist over JSON-RPC: a connection is a subscription, a frame of the client a call.
#[cfg_attr(feature = "client", rpc(server, client, namespace = "sessiond"))]
#[cfg_attr(not(feature = "client"), rpc(server, namespace = "sessiond"))]
pub trait SessiondApi {
    /// Takes a frame of the client on the connection whose welcome had this incarnation. What
    /// becomes of it is said in the event queue, in a receipt or an error frame.
    #[method(name = "submit")]
    async fn submit(&self, connection: String, frame: Value) -> RpcResult<()>;

    /// Opens a connection with the client's hello. The items are the frames of the server.
    #[subscription(name = "open" => "frame", unsubscribe = "close", item = Value)]
    async fn open(&self, hello: Value) -> SubscriptionResult;
}

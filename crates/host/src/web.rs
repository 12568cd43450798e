//! The WebSocket listener of a host: the waist for programs on this machine that cannot use a Unix
//! socket (SEC-3).
//!
//! One subscription is one connection of the waist: its first item is the welcome, whose
//! `incarnation` names it to `submit`; what follows are the frames of the event queue, one an item.

mod api;
mod bucket;
mod gate;
mod secret;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use jsonrpsee::core::{RpcResult, SubscriptionResult, async_trait};
use jsonrpsee::server::{Server, ServerHandle, SubscriptionMessage};
use jsonrpsee::types::ErrorObjectOwned;
use jsonrpsee::{PendingSubscriptionSink, SubscriptionSink};
use serde_json::Value;
use serde_json::value::RawValue;
use sessiond_protocol::{ServerFrame, encode};
use sessiond_sqeq::serve;
use sessiond_wire::{Connection, Line, OutQueue};
use tokio::sync::mpsc;

#[cfg(feature = "client")]
pub use api::SessiondApiClient;
pub use api::SessiondApiServer;
pub use secret::Secret;

use bucket::Bucket;
use gate::GateLayer;

/// Connections at one time: each has buffers of its own.
const CONNECTIONS: u32 = 64;

/// Subscriptions of one connection: connections of the waist, each of which holds many sessions.
const SUBSCRIPTIONS: u32 = 8;

/// Longest message of a client, in bytes: a prompt with images.
const MESSAGE_BYTES: u32 = 16 * 1024 * 1024;

/// Frames of a client that wait for the waist: as many as a reader of lines reads ahead.
const AHEAD: usize = 4;

/// Messages that wait for a client's socket; the event queue is the real buffer.
const SOCKET_AHEAD: u32 = 64;

/// No connection of that name: closed, or another one's.
const NO_CONNECTION: i32 = -32_002;

/// More frames than the rate allows.
const TOO_FAST: i32 = -32_005;

/// A listener; dropping it ends its connections.
#[derive(Debug)]
pub struct Web {
    address: SocketAddr,
    handle: ServerHandle,
}

impl Web {
    /// Listens at `address`, which must be of the loopback interface, for clients that know
    /// `secret`, each with a connection that `connect` makes; what such a client may not do is up
    /// to that connection. A request that comes from a page in a
    /// browser is refused unless its origin is listed.
    ///
    /// # Errors
    /// Of the system; `InvalidInput` for an address that other machines reach.
    pub async fn listen<C>(
        address: SocketAddr,
        (secret, origins): (Secret, Vec<String>),
        connect: C,
    ) -> std::io::Result<Self>
    where
        C: Fn() -> Connection + Send + Sync + 'static,
    {
        if !address.ip().is_loopback() {
            let why = "only addresses of this machine itself (127.0.0.1, [::1]) are listened on";
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, why));
        }
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let config = jsonrpsee::server::ServerConfig::builder()
            .ws_only()
            .max_connections(CONNECTIONS)
            .max_subscriptions_per_connection(SUBSCRIPTIONS)
            .max_request_body_size(MESSAGE_BYTES)
            .max_response_body_size(u32::MAX)
            .set_message_buffer_capacity(SOCKET_AHEAD)
            .build();
        let gate = GateLayer::new(secret, origins, address);
        let server = Server::builder()
            .set_config(config)
            .set_http_middleware(tower::ServiceBuilder::new().layer(gate))
            .build_from_tcp(listener)?;
        let service = Service {
            connect: Arc::new(connect),
            open: Arc::default(),
        };
        let handle = server.start(service.into_rpc());
        Ok(Self { address, handle })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        // One that has stopped by itself need not be stopped.
        let _stopped = self.handle.stop();
    }
}

/// A connection of the waist that a subscription is.
#[derive(Debug)]
struct Open {
    lines: mpsc::Sender<Line>,
    bucket: Bucket,
}

type OpenOnes = Arc<Mutex<HashMap<String, Open>>>;

struct Service<C> {
    connect: Arc<C>,
    open: OpenOnes,
}

#[async_trait]
impl<C> SessiondApiServer for Service<C>
where
    C: Fn() -> Connection + Send + Sync + 'static,
{
    async fn submit(&self, connection: String, frame: Value) -> RpcResult<()> {
        let lines = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(found) = open.get_mut(&connection) else {
                return Err(no_connection());
            };
            if !found.bucket.take() {
                let message = "more frames than the rate allows; slow down";
                return Err(ErrorObjectOwned::owned(TOO_FAST, message, None::<()>));
            }
            found.lines.clone()
        };
        let line = Line::Text(frame.to_string());
        lines.send(line).await.map_err(|_| no_connection())
    }

    async fn open(&self, pending: PendingSubscriptionSink, hello: Value) -> SubscriptionResult {
        let sink = pending.accept().await?;
        let (lines, receiver) = mpsc::channel(AHEAD);
        let out = OutQueue::new();
        let face = serve(receiver, out.clone(), (self.connect)());
        let ending = out.clone();
        tokio::spawn(async move {
            if let Err(error) = face.await {
                tracing::info!(code = error.code(), "a client's connection ended");
            }
            ending.close();
        });
        // Taken in at once: the channel is empty.
        let _taken = lines.send(Line::Text(hello.to_string())).await;
        let mut entry = Entry {
            open: Arc::clone(&self.open),
            name: None,
            lines: Some(lines),
        };
        pump(&sink, &out, &mut entry).await;
        out.abandon();
        Ok(())
    }
}

/// Sends the frames of `out` until it ends or the client is gone.
async fn pump(sink: &SubscriptionSink, out: &OutQueue<ServerFrame>, entry: &mut Entry) {
    loop {
        let frame = tokio::select! {
            frame = out.recv() => frame,
            () = sink.closed() => return,
        };
        let Some(frame) = frame else { return };
        if let ServerFrame::Welcome(welcome) = &frame {
            entry.begin(&welcome.incarnation);
        }
        let Some(message) = message(&frame) else {
            continue;
        };
        if sink.send(message).await.is_err() {
            return;
        }
    }
}

/// A frame as the item of a subscription: exactly its line.
fn message(frame: &ServerFrame) -> Option<SubscriptionMessage> {
    let line = match encode(frame) {
        Ok(line) => line,
        Err(error) => {
            tracing::error!(code = ?error.code, "a frame could not be written");
            return None;
        }
    };
    let raw = RawValue::from_string(line.trim_end().to_owned());
    raw.ok().map(SubscriptionMessage::from)
}

/// The name of a connection among those that are open, as long as there is one.
struct Entry {
    open: OpenOnes,
    name: Option<String>,
    lines: Option<mpsc::Sender<Line>>,
}

impl Entry {
    fn begin(&mut self, incarnation: &str) {
        let Some(lines) = self.lines.take() else {
            return;
        };
        let bucket = Bucket::full();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.insert(incarnation.to_owned(), Open { lines, bucket });
        self.name = Some(incarnation.to_owned());
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.remove(name);
        }
    }
}

fn no_connection() -> ErrorObjectOwned {
    let message =
        "no connection of that name is open; its name is the `incarnation` of its welcome";
    ErrorObjectOwned::owned(NO_CONNECTION, message, None::<()>)
}

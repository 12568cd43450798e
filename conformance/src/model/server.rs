//! The listener: HTTP/1.1 on 127.0.0.1.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::body::Paced;
use super::error::Error;
use super::recorder::{self, Recorder};
use super::reply::Reply;
use super::route::Route;
use super::service;

/// Most bytes of a request: agents send whole conversations, images included.
const MOST_BODY: usize = 64 * 1024 * 1024;
/// Most connections at once; more wait. An agent holds a handful.
const MOST_CONNECTIONS: usize = 256;

/// A running server; it ends when this is dropped.
#[derive(Debug)]
pub struct ModelServer {
    port: u16,
    record: Option<PathBuf>,
    /// Owns the listener and, through it, every connection.
    _listening: JoinSet<()>,
}

/// What is told: the path that was asked for, and what happened.
type Tell = dyn Fn(&str, &Happening<'_>) + Send + Sync;

/// Told of each request and each reply.
#[derive(Clone)]
pub struct Watch(Arc<Tell>);

/// What happens at the server.
#[derive(Debug, Clone, Copy)]
pub enum Happening<'a> {
    /// A request came, with this body; null when it was none or no JSON.
    Asked(&'a Value),
    /// It is answered, with this status.
    Answered(u16),
}

impl Watch {
    /// Tells `tell`, which must not wait.
    pub fn new(tell: impl Fn(&str, &Happening<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Watch")
    }
}

/// What all connections share.
#[derive(Debug)]
struct Shared {
    recorder: Recorder,
    watch: Watch,
    requests: AtomicU64,
}

impl ModelServer {
    /// Listens on `port` of 127.0.0.1, or on a free one for 0, and appends each request to the
    /// file `record`.
    ///
    /// # Errors
    ///
    /// [`Error::Listen`] and [`Error::Record`].
    pub async fn start(port: u16, record: Option<&Path>) -> Result<Self, Error> {
        Self::watched(port, record, Watch::new(|_, _| {})).await
    }

    /// The same, with somebody who is told.
    ///
    /// # Errors
    ///
    /// [`Error::Listen`] and [`Error::Record`].
    pub async fn watched(port: u16, record: Option<&Path>, watch: Watch) -> Result<Self, Error> {
        let listen = |source| Error::Listen { port, source };
        let shared = Arc::new(Shared {
            recorder: Recorder::open(record)?,
            watch,
            requests: AtomicU64::new(0),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .await
            .map_err(listen)?;
        let port = listener.local_addr().map_err(listen)?.port();
        let mut listening = JoinSet::new();
        listening.spawn(accept(listener, shared));
        Ok(Self {
            port,
            record: record.map(Path::to_path_buf),
            _listening: listening,
        })
    }

    /// `http://127.0.0.1:PORT`, without a path.
    pub fn url(&self) -> String {
        format!("http://{}:{}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// The requests recorded so far, in the order in which they came: objects of `number`,
    /// `method`, `path`, `headers` and `body`. Nothing without a record.
    ///
    /// # Errors
    ///
    /// [`Error::Record`] when the file cannot be read or a line is no JSON.
    pub fn requests(&self) -> Result<Vec<Value>, Error> {
        let Some(path) = &self.record else {
            return Ok(Vec::new());
        };
        let failed = |source| Error::Record {
            path: path.clone(),
            source,
        };
        let text = std::fs::read_to_string(path).map_err(failed)?;
        let parsed: Result<_, serde_json::Error> = text.lines().map(serde_json::from_str).collect();
        parsed.map_err(|error| failed(error.into()))
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        // A client that gave up before it was accepted is no reason to stop.
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        while connections.try_join_next().is_some() {}
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let service = service_fn(|request| respond(&shared, request));
            // A client that goes, and a script that cuts, both end here.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
            drop(place);
        });
    }
}

async fn respond(
    shared: &Shared,
    request: Request<Incoming>,
) -> Result<Response<Paced>, Infallible> {
    let number = shared.requests.fetch_add(1, Ordering::Relaxed) + 1;
    let (head, body) = request.into_parts();
    let method = head.method.as_str();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let reply = match Limited::new(body, MOST_BODY).collect().await {
        Err(error) => Reply::whole(413, &json!({"error": {"message": error.to_string()}})),
        Ok(body) => {
            let bytes = body.to_bytes();
            let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
            (shared.watch.0)(path, &Happening::Asked(&body));
            let recorded = shared.recorder.write(&recorder::Request {
                number,
                method,
                path,
                headers: &head.headers,
                body: &body,
            });
            match recorded {
                Ok(()) => service::answer(&service::Request {
                    number,
                    route: Route::of(method, path),
                    body: &body,
                    size: bytes.len(),
                }),
                // A reply that nobody could assert on would hide that the record is missing.
                Err(error) => Reply::whole(507, &json!({"error": {"message": error.to_string()}})),
            }
        }
    };
    (shared.watch.0)(path, &Happening::Answered(reply.status));
    Ok(response(number, reply))
}

fn response(number: u64, reply: Reply) -> Response<Paced> {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let media = HeaderValue::from_static(reply.media);
    let mut response = Response::new(Paced::of(reply));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media);
    headers.insert("request-id", number.into());
    // A scripted error stays the same however often it is asked for.
    headers.insert("x-should-retry", HeaderValue::from_static("false"));
    response
}

//! Who may open a WebSocket (SEC-3): who knows the secret, says the right host, and is no page of
//! a browser that nobody listed.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use jsonrpsee::core::BoxError;
use jsonrpsee::core::http_helpers::{Body, Request, Response};
use tower::{Layer, Service};

use super::secret::Secret;

/// What is asked of a request.
#[derive(Debug)]
struct Rules {
    secret: Secret,
    origins: Vec<String>,
    /// What `Host` may be: the address, by number or name.
    hosts: Vec<String>,
}

/// Puts the gate before a service.
#[derive(Debug, Clone)]
pub(crate) struct GateLayer(Arc<Rules>);

impl GateLayer {
    pub(crate) fn new(secret: Secret, origins: Vec<String>, address: SocketAddr) -> Self {
        let hosts = vec![address.to_string(), format!("localhost:{}", address.port())];
        Self(Arc::new(Rules {
            secret,
            origins,
            hosts,
        }))
    }
}

impl<S> Layer<S> for GateLayer {
    type Service = Gate<S>;

    fn layer(&self, inner: S) -> Gate<S> {
        let rules = Arc::clone(&self.0);
        Gate { inner, rules }
    }
}

/// A service behind the gate.
#[derive(Debug, Clone)]
pub(crate) struct Gate<S> {
    inner: S,
    rules: Arc<Rules>,
}

impl<S, B> Service<Request<B>> for Gate<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
    S::Error: Into<BoxError> + 'static,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let header = |name| request.headers().get(name).and_then(|v| v.to_str().ok());
        let headers = Headers {
            host: header("host"),
            has_origin: request.headers().contains_key("origin"),
            origin: header("origin"),
            authorization: header("authorization"),
        };
        if let Err(refusal) = self.rules.check(&headers) {
            tracing::warn!(why = refusal.why, "a request was refused");
            return Box::pin(async move { Ok(refusal.response()) });
        }
        let answer = self.inner.call(request);
        Box::pin(async move { answer.await.map_err(Into::into) })
    }
}

/// What a request says of itself.
#[derive(Debug, Default)]
struct Headers<'a> {
    host: Option<&'a str>,
    has_origin: bool,
    origin: Option<&'a str>,
    authorization: Option<&'a str>,
}

/// Why a request was refused. Nothing of the request is repeated (SEC-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Refusal {
    status: u16,
    why: &'static str,
}

impl Refusal {
    fn response(self) -> Response<Body> {
        let mut response = Response::new(Body::from(format!("{}\n", self.why)));
        if let Ok(status) = self.status.try_into() {
            *response.status_mut() = status;
        }
        response
    }
}

impl Rules {
    fn check(&self, headers: &Headers<'_>) -> Result<(), Refusal> {
        let refuse = |status, why| Err(Refusal { status, why });
        let is_host = |host: &str| self.hosts.iter().any(|known| known == host);
        if !headers.host.is_some_and(is_host) {
            return refuse(403, "the host header names another host");
        }
        let is_listed = |origin: &str| self.origins.iter().any(|known| known == origin);
        if headers.has_origin && !headers.origin.is_some_and(is_listed) {
            return refuse(403, "the origin is not listed");
        }
        let token = headers
            .authorization
            .and_then(|a| a.strip_prefix("Bearer "));
        match token {
            Some(token) if self.secret.is(token) => Ok(()),
            _ => refuse(
                401,
                "the secret of the store is needed: Authorization: Bearer",
            ),
        }
    }
}

#[cfg(test)]
mod tests;

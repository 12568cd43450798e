//! Our side of the connection: calls to the peer, answers to it.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::{
    CANCEL_REQUEST, ErrorObject, INTERNAL_ERROR, REQUEST_CANCELLED, RawId, RpcFrame, error,
};
use crate::queue::OutQueue;

type Answer = Result<Box<RawValue>, ErrorObject>;

/// Why a call to the peer has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CallError {
    /// The peer answered with an error.
    #[error("the peer answered with error {}", .0.code())]
    Rpc(ErrorObject),
    /// The peer says that the request was cancelled.
    #[error("the request was cancelled")]
    Cancelled,
    /// The connection ended first.
    #[error("the connection is closed")]
    Closed,
    /// The params can not be JSON; nothing was sent.
    #[error("the params can not be written as JSON")]
    Params,
}

impl CallError {
    /// Stable name of the cause.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Rpc(_) => "rpc_error",
            Self::Cancelled => "rpc_cancelled",
            Self::Closed => "rpc_closed",
            Self::Params => "rpc_params",
        }
    }
}

/// Sends to the peer and matches its responses to our requests (WIRE-7). Clones are one peer.
#[derive(Debug, Clone)]
pub struct Peer {
    queue: OutQueue<RpcFrame>,
    calls: Arc<Mutex<Calls>>,
}

/// The requests that await their response. Ids count up and are never used again.
#[derive(Debug, Default)]
struct Calls {
    last_id: i64,
    pending: HashMap<i64, oneshot::Sender<Answer>>,
    suppressed: u64,
    closed: bool,
}

impl Peer {
    /// A peer whose frames go to `queue`.
    pub fn new(queue: OutQueue<RpcFrame>) -> Self {
        Self {
            queue,
            calls: Arc::default(),
        }
    }

    /// The queue that the frames go to.
    pub fn queue(&self) -> &OutQueue<RpcFrame> {
        &self.queue
    }

    /// Calls the peer; the request is queued when this returns. Dropping the call cancels it.
    pub fn request(&self, method: &str, params: &impl Serialize) -> PendingCall {
        let mut calls = self.lock();
        if calls.closed || self.queue.is_closed() {
            return PendingCall::failed(CallError::Closed);
        }
        let id = calls.last_id + 1;
        let Ok(frame) = RpcFrame::request(id, method, params) else {
            return PendingCall::failed(CallError::Params);
        };
        calls.last_id = id;
        let (sender, answer) = oneshot::channel();
        calls.pending.insert(id, sender);
        // Pushed under the lock, so that ids go out in order.
        self.queue.push(frame);
        PendingCall {
            state: CallState::Pending {
                peer: self.clone(),
                id,
                answer,
            },
        }
    }

    /// Tells the peer something.
    ///
    /// # Errors
    /// When `params` can not be JSON; nothing is sent then.
    pub fn notify(&self, method: &str, params: &impl Serialize) -> serde_json::Result<()> {
        self.queue.push(RpcFrame::notification(method, params)?);
        Ok(())
    }

    /// Answers a request of the peer. A result that can not be JSON becomes an internal error, so
    /// that every request gets its one answer.
    pub fn respond(&self, id: &RawId, result: Result<&impl Serialize, &ErrorObject>) {
        let frame = match result {
            Ok(result) => RpcFrame::response(id, result).unwrap_or_else(|_| {
                RpcFrame::error(Some(id), &error(INTERNAL_ERROR, "Internal error"))
            }),
            Err(error) => RpcFrame::error(Some(id), error),
        };
        self.queue.push(frame);
    }

    /// Answers a line that was no message: [`Inbound::Invalid`](super::Inbound::Invalid).
    pub fn refuse(&self, id: Option<&RawId>, error: &ErrorObject) {
        self.queue.push(RpcFrame::error(id, error));
    }

    /// Hands a response of the peer to the call that awaits it. A late, duplicate or unknown one is
    /// counted and changes nothing.
    pub fn accept(&self, id: &RawId, answer: Result<Box<RawValue>, ErrorObject>) {
        let mut calls = self.lock();
        match id.number().and_then(|id| calls.pending.remove(&id)) {
            // The call's own drop takes it from the table first, so that somebody receives this.
            Some(call) => drop(call.send(answer)),
            None => calls.suppressed += 1,
        }
    }

    /// Counts a line that looked like a response but was none:
    /// [`Inbound::Ignore`](super::Inbound::Ignore).
    pub fn ignore(&self) {
        self.lock().suppressed += 1;
    }

    /// How many responses were suppressed or ignored.
    pub fn suppressed(&self) -> u64 {
        self.lock().suppressed
    }

    /// Fails every pending and later call with [`CallError::Closed`], because the input has ended.
    /// Frames can still be sent.
    pub fn close(&self) {
        let mut calls = self.lock();
        calls.closed = true;
        calls.pending.clear();
    }

    /// Takes a call out of the table and tells the peer, if it is still pending.
    fn cancel(&self, id: i64) {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            request_id: i64,
        }
        if self.lock().pending.remove(&id).is_some()
            && let Ok(frame) = RpcFrame::notification(CANCEL_REQUEST, &Params { request_id: id })
        {
            self.queue.push(frame);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that awaits the peer's response.
///
/// Dropping it before the response sends `$/cancel_request` once; a response that still comes is
/// suppressed.
#[derive(Debug)]
#[must_use = "dropping a call cancels it"]
pub struct PendingCall {
    state: CallState,
}

#[derive(Debug)]
enum CallState {
    Pending {
        peer: Peer,
        id: i64,
        answer: oneshot::Receiver<Answer>,
    },
    Failed(CallError),
}

impl PendingCall {
    fn failed(error: CallError) -> Self {
        Self {
            state: CallState::Failed(error),
        }
    }

    /// The id that the request went out under; none if it did not.
    pub fn id(&self) -> Option<i64> {
        match self.state {
            CallState::Pending { id, .. } => Some(id),
            CallState::Failed(_) => None,
        }
    }

    /// Gives the call up and tells the peer so.
    pub fn cancel(self) {}
}

impl Future for PendingCall {
    type Output = Result<Box<RawValue>, CallError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = match &mut self.state {
            CallState::Failed(error) => Err(error.clone()),
            CallState::Pending { answer, .. } => match Pin::new(answer).poll(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(Ok(result))) => Ok(result),
                Poll::Ready(Ok(Err(error))) if error.code() == REQUEST_CANCELLED => {
                    Err(CallError::Cancelled)
                }
                Poll::Ready(Ok(Err(error))) => Err(CallError::Rpc(error)),
                Poll::Ready(Err(_)) => Err(CallError::Closed),
            },
        };
        Poll::Ready(outcome)
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        if let CallState::Pending { peer, id, .. } = &self.state {
            peer.cancel(*id);
        }
    }
}

#[cfg(test)]
mod tests;

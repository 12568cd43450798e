//! The client's end: answers, notifications, requests. Everything that leaves goes through one
//! queue, in the order of the calls here.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use sessiond_wire::OutQueue;
use sessiond_wire::rpc::{ErrorObject, RawId, RpcFrame, Wrapping};

use super::time::now_ms;

/// The way to the client.
#[derive(Debug)]
pub(super) struct Client {
    queue: OutQueue<RpcFrame>,
    /// Notifications that the client does not want.
    unwanted: HashSet<String>,
    /// Ids of our requests, counted from 0 as Codex does.
    asked: i64,
}

impl Client {
    pub(super) fn new(queue: OutQueue<RpcFrame>) -> Self {
        Self {
            queue,
            unwanted: HashSet::new(),
            asked: 0,
        }
    }

    pub(super) fn queue(&self) -> &OutQueue<RpcFrame> {
        &self.queue
    }

    /// Leaves notifications of these names out from now on.
    pub(super) fn opt_out(&mut self, methods: Vec<String>) {
        self.unwanted = methods.into_iter().collect();
    }

    /// Gives a request its one answer.
    pub(super) fn answer(&self, id: &RawId, result: &impl Serialize) {
        match serde_json::to_string(result) {
            Ok(result) => self.push(format!("{{\"id\":{},\"result\":{result}}}", id.as_str())),
            // Cannot be: nothing here is a map with keys that are no strings.
            Err(_) => tracing::error!("an answer could not be written"),
        }
    }

    /// Gives a request its one answer: that it failed.
    pub(super) fn fail(&self, id: &RawId, error: &ErrorObject) {
        match serde_json::to_string(error) {
            Ok(error) => self.push(format!("{{\"error\":{error},\"id\":{}}}", id.as_str())),
            Err(_) => tracing::error!("an error could not be written"),
        }
    }

    /// Tells the client something.
    pub(super) fn notify(&self, method: &str, params: &impl Serialize) {
        if self.unwanted.contains(method) {
            return;
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Notification<'a, P> {
            method: &'a str,
            params: &'a P,
            emitted_at_ms: i64,
        }
        let notification = Notification {
            method,
            params,
            emitted_at_ms: now_ms(),
        };
        match serde_json::to_string(&notification) {
            Ok(text) => self.push(text),
            Err(_) => tracing::error!("a notification could not be written"),
        }
    }

    /// Sends more text of an item that streams; adjacent pieces merge where the client is slow.
    pub(super) fn stream(&self, method: &str, wrapping: &Arc<Wrapping>, text: String) {
        if !self.unwanted.contains(method) {
            self.queue.push(RpcFrame::delta(wrapping.clone(), text));
        }
    }

    /// Asks the client; gives the request's id.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> i64 {
        let id = self.asked;
        self.asked += 1;
        self.push(json!({ "id": id, "method": method, "params": params }).to_string());
        id
    }

    fn push(&self, text: String) {
        self.queue.push(RpcFrame::from_text(text));
    }
}

/// What stands around the text in the pieces of one item: made once, since there are thousands of
/// them. They alone carry no `emittedAtMs`: pieces of another moment could not merge.
pub(super) fn wrapping(method: &str, mut params: Value) -> Arc<Wrapping> {
    const TEXT: &str = "\"\"}}";
    if let Some(params) = params.as_object_mut() {
        params.insert("delta".to_owned(), "".into());
    }
    let text = json!({ "method": method, "params": params }).to_string();
    let head = text.strip_suffix(TEXT).unwrap_or_default().to_owned();
    let tail = "}}".to_owned();
    Arc::new(Wrapping { head, tail })
}

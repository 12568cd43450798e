//! The client's end: answers, notifications, requests. Everything that leaves goes through one
//! queue, in the order of the calls here; what is said while a line goes out piece by piece follows it.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use sessiond_protocol::SessionId;
use sessiond_wire::OutQueue;
use sessiond_wire::rpc::{ErrorObject, RawId, RpcFrame, Then, Wrapping};

use super::answer::{Answer, Sent};
use super::past::Past;
use super::time::now_ms;

/// The way to the client.
#[derive(Debug)]
pub(super) struct Client {
    queue: OutQueue<RpcFrame>,
    /// The answer that is being written; there is one at a time.
    writing: Option<Answer>,
    /// What waits for the end of its line. Its length is bounded by what may be said meanwhile: the
    /// lines that are taken up while an answer is written ([`is_writing`](Self::is_writing)), and
    /// what turns of other threads say until the client has read it; their deltas merge.
    behind: OutQueue<RpcFrame>,
    /// Notifications that the client does not want.
    unwanted: HashSet<String>,
    /// Ids of our requests, counted from 0 as Codex does.
    asked: i64,
}

impl Client {
    pub(super) fn new(queue: OutQueue<RpcFrame>) -> Self {
        Self {
            queue,
            writing: None,
            behind: OutQueue::new(),
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

    /// Begins the answer that shows a thread with its turns.
    pub(super) fn begin(&mut self, id: &RawId) {
        self.writing = Some(Answer::to(id));
    }

    /// Whether such an answer is under way: another one waits for its end.
    pub(super) fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Says which thread the answer that is under way shows.
    pub(super) fn shows(&mut self, session: SessionId) {
        if let Some(answer) = &mut self.writing {
            answer.session = Some(session);
        }
    }

    /// Writes those turns of a thread that nothing is added to any more, if it is the one that is
    /// shown; they are forgotten.
    pub(super) fn write(&mut self, session: SessionId, past: &mut Past) {
        let Some(answer) = &mut self.writing else {
            return;
        };
        if answer.session != Some(session) {
            return;
        }
        for turn in past.take_done() {
            if let Some(piece) = answer.add(turn) {
                self.queue.push(RpcFrame::piece(piece, Then::More));
            }
        }
    }

    /// Whether what is told of this thread waits for the end of the answer that shows it.
    pub(super) fn is_held(&self, session: SessionId) -> bool {
        let writing = self.writing.as_ref();
        writing.is_some_and(|answer| answer.session == Some(session) && answer.sent == Sent::Part)
    }

    /// Ends the answer with the rest of the turns, what else is told of the thread, and beside it.
    pub(super) fn end(&mut self, past: Past, thread: Value, beside: Value) {
        let Some(mut answer) = self.writing.take() else {
            return;
        };
        for turn in past.into_turns() {
            if let Some(piece) = answer.add(turn) {
                self.queue.push(RpcFrame::piece(piece, Then::More));
            }
        }
        self.ended(answer.end(thread, beside));
    }

    fn ended(&mut self, rest: Vec<u8>) {
        let _together = self.queue.batch();
        self.queue.push(RpcFrame::piece(rest, Then::End));
        let behind = std::mem::take(&mut self.behind);
        behind.close();
        let mut frames = VecDeque::new();
        while behind.take_all(&mut frames) {
            frames.drain(..).for_each(|frame| self.queue.push(frame));
        }
    }

    /// Gives a request its one answer: that it failed.
    pub(super) fn fail(&mut self, id: &RawId, error: &ErrorObject) {
        if let Some(answer) = self.writing.take_if(|answer| answer.is_to(id))
            && answer.sent == Sent::Part
        {
            return self.ended(answer.fail(error));
        }
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
            self.out().push(RpcFrame::delta(wrapping.clone(), text));
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
        self.out().push(RpcFrame::from_text(text));
    }

    /// Where a whole line goes now.
    fn out(&self) -> &OutQueue<RpcFrame> {
        match &self.writing {
            Some(answer) if answer.sent == Sent::Part => &self.behind,
            _ => &self.queue,
        }
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

//! Events of a loaded thread, as notifications (codex.md B7, in the order of B9).

use std::sync::Arc;

use serde_json::{Value, json};
use sessiond_protocol::{
    Event, EventFrame, Item as Said, ItemId, PlanEntry, PlanStatus, SessionId, Severity, Stream,
    Titler, TurnEnded, TurnId, Usage,
};
use sessiond_wire::rpc::Wrapping;

use super::client::wrapping;
use super::face::Face;
use super::item::{Detail, Item, Place, item};
use super::open::Begun;
use super::past::{TurnStatus, turn_error};
use super::thread::{Health, Running};
use super::time::{ms, now_ms, seconds};
use crate::call::Shape;
use crate::tokens::Tokens;

/// A text that streams.
#[derive(Debug)]
pub(super) struct Streaming {
    method: &'static str,
    wrapping: Arc<Wrapping>,
    /// How much of it was shown, in bytes.
    shown: u64,
}

impl Streaming {
    /// A text of which all that was said so far is shown elsewhere; none for what is no text.
    pub(super) fn of(begun: &Begun, (session, turn): (SessionId, TurnId)) -> Option<Self> {
        let (Said::AgentMessage { text, .. } | Said::Thought { text, .. }) = &begun.said else {
            return None;
        };
        let (method, params) = streamed(&begun.said, (session, turn, begun.id));
        Some(Self {
            method,
            wrapping: wrapping(method, params),
            shown: text.len() as u64,
        })
    }
}

impl Face {
    /// Takes in an event of a session.
    pub(super) fn event(&mut self, frame: &EventFrame) {
        let session = frame.session;
        if let Some(past) = self.opening.get_mut(&session) {
            past.apply(frame);
            return self.client.write(session, past);
        }
        if !self.threads.contains_key(&session) {
            return;
        }
        let at = frame.at.as_deref().and_then(ms).unwrap_or_else(now_ms);
        if let Some(running) = self.running(session) {
            running.decisions.apply(frame);
            running.open.apply(frame);
        }
        match &frame.event {
            Event::TurnStarted { .. } => self.turn_started(session, frame.turn, at),
            Event::TurnEnded(ended) => self.turn_ended(session, frame.turn, (ended, at)),
            Event::ItemStarted { item } => self.item_started(session, frame.item, (item, at)),
            Event::ItemChanged { call } => {
                let call = (**call).clone();
                if let (Some(running), Some(item)) = (self.running(session), frame.item) {
                    running.calls.insert(item, call);
                }
            }
            Event::ItemEnded { item } => self.item_ended(session, frame, (item, at)),
            Event::ItemDelta {
                stream,
                offset,
                text,
            } => self.delta(session, frame.item, (*stream, *offset, text)),
            Event::SessionChanged(change) => {
                if let (Some(title), Some(Titler::User)) = (&change.title, change.titled_by) {
                    self.renamed(session, title);
                }
            }
            Event::Notice {
                severity: Severity::Warning | Severity::Error,
                title,
                description,
            } => {
                let more = description.iter().map(|more| format!("\n{more}"));
                let message: String = [title.clone()].into_iter().chain(more).collect();
                self.warn(session, &message);
            }
            Event::Damage {
                segment,
                offset,
                length,
            } => {
                let place = format!("{length} bytes at {offset} of {segment}");
                let message = format!("the thread's log is damaged: {place} cannot be read");
                self.warn(session, &message);
            }
            Event::SessionClosed {} => self.closed(session),
            _ => {}
        }
    }

    /// Something of a thread that its user should know.
    pub(super) fn warn(&self, session: SessionId, message: &str) {
        let params = json!({ "threadId": session, "message": message });
        self.tell(session, "warning", &params);
    }

    pub(super) fn running(&mut self, session: SessionId) -> Option<&mut Running> {
        self.threads.get_mut(&session)?.running.as_mut()
    }

    /// The user gave the thread a name.
    fn renamed(&mut self, session: SessionId, name: &str) {
        let Some(thread) = self.threads.get_mut(&session) else {
            return;
        };
        thread.about.name = Some(name.to_owned());
        // What this client asked for is told behind the answer.
        if thread.renames > 0 {
            return;
        }
        let params = json!({ "threadId": session, "threadName": name });
        self.tell(session, "thread/name/updated", &params);
    }

    /// The engine let go of the thread, by whatever cause.
    fn closed(&mut self, session: SessionId) {
        self.tell(session, "thread/closed", &json!({ "threadId": session }));
        self.threads.remove(&session);
    }

    fn turn_started(&mut self, session: SessionId, turn: Option<TurnId>, at: i64) {
        let (Some(thread), Some(turn)) = (self.threads.get_mut(&session), turn) else {
            return;
        };
        thread.broken = Health::Well;
        // Known already where this client's own request began it.
        let known = thread.running.take().filter(|running| running.id == turn);
        let known = known.or_else(|| thread.waits(turn));
        let mut running = known.unwrap_or_else(|| Running::new(turn));
        running.started = at;
        let shown = running.json(Some(at));
        thread.running = Some(running);
        self.tell_status(session);
        let params = json!({ "threadId": session, "turn": shown });
        self.tell(session, "turn/started", &params);
    }

    fn turn_ended(
        &mut self,
        session: SessionId,
        turn: Option<TurnId>,
        (ended, at): (&TurnEnded, i64),
    ) {
        let (Some(thread), Some(turn)) = (self.threads.get_mut(&session), turn) else {
            return;
        };
        // Another one is of a process that is gone: its end is recorded now, and was shown when the
        // thread was opened.
        let running = thread.running.take_if(|running| running.id == turn);
        let Some(running) = running.or_else(|| thread.waits(turn)) else {
            return;
        };
        let status = TurnStatus::from(ended.outcome);
        thread.used = Usage::in_all(thread.used, ended.usage);
        thread.about.updated = at;
        if let Some(policy) = thread.next_policy.take() {
            thread.policy = policy;
        }
        thread.broken = match status {
            TurnStatus::Failed => Health::Broken,
            _ => Health::Well,
        };
        let used = thread.used;
        if let Some(last) = ended.usage {
            let params = json!({
                "threadId": session, "turnId": turn, "tokenUsage": usage(used, last),
            });
            self.tell(session, "thread/tokenUsage/updated", &params);
        }
        self.tell_status(session);
        let message = ended.error.as_ref().map(|error| error.message.as_str());
        let failed = status == TurnStatus::Failed;
        let error = failed.then(|| turn_error(message.unwrap_or("the turn failed")));
        if let Some(error) = &error {
            let params = json!({
                "error": error, "willRetry": false, "threadId": session, "turnId": turn,
            });
            self.tell(session, "error", &params);
        }
        let (items, view) = match &running.answer {
            Some(answer) => (vec![answer], "summary"),
            None => (Vec::new(), "notLoaded"),
        };
        let shown = json!({
            "id": turn, "rootTurnId": turn, "items": items, "itemsView": view, "status": status,
            "error": error, "startedAt": seconds(running.started), "completedAt": seconds(at),
            "durationMs": (at - running.started).max(0),
        });
        let params = json!({ "threadId": session, "turn": shown });
        self.tell(session, "turn/completed", &params);
        self.next_compaction(session);
    }

    fn item_started(&mut self, session: SessionId, id: Option<ItemId>, (said, at): (&Said, i64)) {
        let Some(id) = id else { return };
        let is_held = self.client.is_held(session);
        let Some(running) = self.running(session) else {
            return;
        };
        running.begun.insert(id, at);
        if is_held {
            running.behind.insert(id);
        }
        if let Said::ToolCall(call) = said {
            running.calls.insert(id, (**call).clone());
        }
        let turn = running.id;
        // Its text comes as it streams.
        let empty = match said {
            Said::AgentMessage { finish, .. } => Some(Said::AgentMessage {
                text: String::new(),
                finish: *finish,
            }),
            Said::Thought { finish, .. } => Some(Said::Thought {
                text: String::new(),
                finish: *finish,
            }),
            _ => None,
        };
        let Some(shown) = self.shown(
            session,
            empty.as_ref().unwrap_or(said),
            (id, Some(at), None),
        ) else {
            return;
        };
        self.tell_started(session, turn, &shown);
        if let Said::AgentMessage { text, .. } | Said::Thought { text, .. } = said {
            self.begin_stream(session, id, said);
            self.delta(session, Some(id), (Stream::Text, 0, text));
        }
    }

    fn tell_started(&self, session: SessionId, turn: TurnId, shown: &Item) {
        let params = json!({
            "item": shown, "threadId": session, "turnId": turn, "startedAtMs": shown.started_at_ms,
        });
        self.tell(session, "item/started", &params);
    }

    /// An item of a thread as it is shown.
    fn shown(
        &mut self,
        session: SessionId,
        said: &Said,
        (id, started, completed): (ItemId, Option<i64>, Option<i64>),
    ) -> Option<Item> {
        let thread = self.threads.get_mut(&session)?;
        let running = thread.running.as_mut();
        let is_over = completed.is_some();
        let decisions = running.map(|running| &mut running.decisions);
        let verdict = match decisions.filter(|_| is_over) {
            Some(decisions) => decisions.take(id),
            None => Default::default(),
        };
        item(
            said,
            Place {
                id,
                cwd: &thread.about.cwd,
                verdict,
                started,
                completed,
            },
        )
    }

    fn item_ended(&mut self, session: SessionId, frame: &EventFrame, (said, at): (&Said, i64)) {
        let (Some(id), Some(turn)) = (frame.item, frame.turn) else {
            return;
        };
        // What a process left open that is gone is closed now, and was shown as closed before.
        if self
            .running(session)
            .is_none_or(|running| running.id != turn)
        {
            return;
        }
        if let Said::Plan { entries } = said {
            let params = json!({
                "threadId": session, "turnId": turn, "explanation": null, "plan": plan(entries),
            });
            return self.tell(session, "turn/plan/updated", &params);
        }
        let begun = self.running(session).and_then(|running| {
            running.calls.remove(&id);
            running.begun.remove(&id)
        });
        let started = begun.unwrap_or(at);
        let Some(mut shown) = self.shown(session, said, (id, Some(started), Some(at))) else {
            return;
        };
        self.note(session, &mut shown);
        if begun.is_none() {
            let mut first = shown.clone();
            first.completed_at_ms = None;
            self.tell_started(session, turn, &first);
        }
        // What it said at its end and never streamed.
        if let Said::AgentMessage { text, .. } | Said::Thought { text, .. } = said {
            if begun.is_none() {
                self.begin_stream(session, id, said);
            }
            self.delta(session, Some(id), (Stream::Text, 0, text));
        }
        if let Some(running) = self.running(session) {
            running.streams.remove(&id);
        }
        let params = json!({
            "item": shown, "threadId": session, "turnId": turn, "contentTokenCount": null,
            "completedAtMs": at,
        });
        self.tell(session, "item/completed", &params);
    }

    /// What a thread keeps of an item that has ended.
    fn note(&mut self, session: SessionId, shown: &mut Item) {
        let Some(thread) = self.threads.get_mut(&session) else {
            return;
        };
        if thread.about.preview.is_empty()
            && let Some(said) = shown.said()
        {
            thread.about.preview = said.to_owned();
        }
        let Some(running) = &mut thread.running else {
            return;
        };
        if let Detail::UserMessage { id, client_id, .. } = &mut shown.detail
            && *id == running.id.to_string()
        {
            *client_id = running.client_id.take();
        }
        if shown.answer().is_some() {
            running.answer = Some(shown.clone());
        }
    }

    fn begin_stream(&mut self, session: SessionId, id: ItemId, said: &Said) {
        let Some(turn) = self.running(session).map(|running| running.id) else {
            return;
        };
        let (method, params) = streamed(said, (session, turn, id));
        if let Said::Thought { .. } = said {
            self.tell(session, "item/reasoning/summaryPartAdded", &params);
        }
        self.stream(session, id, (method, params));
    }

    fn stream(&mut self, session: SessionId, id: ItemId, (method, params): (&'static str, Value)) {
        let streaming = Streaming {
            method,
            wrapping: wrapping(method, params),
            shown: 0,
        };
        if let Some(running) = self.running(session) {
            running.streams.insert(id, streaming);
        }
    }

    /// More text: what of it was not shown yet (WIRE-9).
    fn delta(
        &mut self,
        session: SessionId,
        id: Option<ItemId>,
        (stream, offset, text): (Stream, u64, &str),
    ) {
        let Some(id) = id else { return };
        if stream == Stream::Output {
            self.begin_output(session, id);
        }
        let subscription = self.threads.get(&session).map(|thread| thread.subscription);
        let is_held = self.client.is_held(session);
        let is_shown = |running: &Running| is_held && !running.behind.contains(&id);
        // The answer that is being written ends with it.
        let is_shown = stream == Stream::Text && self.running(session).is_some_and(|r| is_shown(r));
        let Some(streaming) = self.running(session).and_then(|r| r.streams.get_mut(&id)) else {
            return;
        };
        let known = streaming.shown.checked_sub(offset);
        let known = known.and_then(|known| usize::try_from(known).ok());
        let Some(new) = known.and_then(|known| text.get(known..)) else {
            return;
        };
        if new.is_empty() {
            return;
        }
        streaming.shown += new.len() as u64;
        let (method, wrapping, new) =
            (streaming.method, streaming.wrapping.clone(), new.to_owned());
        if subscription == Some(super::thread::Subscription::On) && !is_shown {
            self.client.stream(method, &wrapping, new);
        }
    }

    /// Output of a call begins to stream, if it is of a kind that is shown so.
    fn begin_output(&mut self, session: SessionId, id: ItemId) {
        let Some(running) = self.running(session) else {
            return;
        };
        if running.streams.contains_key(&id) {
            return;
        }
        let method = match running.calls.get(&id).map(Shape::of) {
            Some(Shape::Command { .. }) => "item/commandExecution/outputDelta",
            Some(Shape::Change(_)) => "item/fileChange/outputDelta",
            Some(Shape::Tool { .. }) | None => return,
        };
        let params = json!({ "threadId": session, "turnId": running.id, "itemId": id });
        self.stream(session, id, (method, params));
    }
}

/// The notification that a text streams in, without its piece.
fn streamed(
    said: &Said,
    (session, turn, id): (SessionId, TurnId, ItemId),
) -> (&'static str, Value) {
    let mut params = json!({ "threadId": session, "turnId": turn, "itemId": id });
    let method = match said {
        Said::Thought { .. } => {
            params["summaryIndex"] = json!(0);
            "item/reasoning/summaryTextDelta"
        }
        _ => "item/agentMessage/delta",
    };
    (method, params)
}

/// Usage of a thread: in all, and of its last turn.
pub(super) fn usage(total: Option<Usage>, last: Usage) -> Value {
    let window = Some(last.size).filter(|size| *size > 0);
    json!({
        "total": breakdown(Tokens::from(total)),
        "last": breakdown(Tokens::from(last)),
        "modelContextWindow": window,
    })
}

fn breakdown(tokens: Tokens) -> Value {
    json!({
        "totalTokens": tokens.total(),
        "inputTokens": tokens.input,
        "cachedInputTokens": tokens.cached,
        "cacheWriteInputTokens": tokens.cache_write,
        "outputTokens": tokens.output,
        "reasoningOutputTokens": tokens.reasoning,
    })
}

fn plan(entries: &[PlanEntry]) -> Vec<Value> {
    let step = |entry: &PlanEntry| {
        let status = match entry.status {
            PlanStatus::Pending => "pending",
            PlanStatus::InProgress => "inProgress",
            PlanStatus::Completed => "completed",
        };
        json!({ "step": entry.content, "status": status })
    };
    entries.iter().map(step).collect()
}

#[cfg(test)]
mod tests;

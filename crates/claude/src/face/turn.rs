//! A turn as the program sees it: messages of blocks, calls with their results, text that streams.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use sessiond_protocol::{
    Finish, ItemId, PlanEntry, PlanStatus, ToolCall, ToolStatus, TurnId, Usage,
};
use tokio::time::Instant;
use uuid::Uuid;

use super::output::Output;
use super::prompt::Prompt;
use super::tools::{self, Shown};
use crate::line::{Delta, pieces};
use crate::message::{
    Failed, assistant_message, message_id, result_uuid, text_block, thinking_block,
    tool_result_block, tool_use_block, usage,
};

/// Why the face stops a turn that the agent would go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stopped {
    /// The program, or a signal, interrupted it.
    Interrupted,
    /// It has had its rounds.
    MaxTurns(u32),
    /// It has cost too much.
    MaxCost,
    /// A hook said so, with this reason.
    Hook(String),
}

/// Whether text is shown while it streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Partial {
    Shown,
    Hidden,
}

/// The turn that runs.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) id: TurnId,
    /// What it answers; none where the program did not ask for it.
    pub(super) prompt: Option<Prompt>,
    pub(super) began: Instant,
    pub(super) model: String,
    /// Rounds of the agent: a message of it up to the results of its calls.
    pub(super) rounds: u32,
    /// The newest text that the agent said.
    pub(super) said: String,
    pub(super) usage: Option<Usage>,
    /// Calls that were not allowed.
    pub(super) denials: Vec<Value>,
    /// Why it is being stopped.
    pub(super) stopped: Option<Stopped>,
    /// What was under way when it was stopped.
    pub(super) stopped_at: StoppedAt,
    partial: Partial,
    message: Option<Message>,
    texts: HashMap<ItemId, Text>,
    calls: HashMap<ItemId, Call>,
    ids: HashSet<String>,
}

/// What was under way when a turn was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum StoppedAt {
    /// The agent was speaking, or had not begun.
    #[default]
    Speaking,
    /// A tool was asked about, or ran.
    Tool,
}

/// A message of the agent that more blocks may follow.
#[derive(Debug)]
struct Message {
    id: String,
    blocks: u32,
}

/// A text that streams.
#[derive(Debug)]
struct Text {
    voice: Voice,
    /// How much of it was shown, in bytes.
    seen: usize,
    /// The place of its block in the message, where it is shown while it streams.
    block: Option<u32>,
}

/// A call that has not ended.
#[derive(Debug)]
struct Call {
    call: ToolCall,
    shown: Shown,
    is_told: bool,
}

/// What kind of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Agent,
    Thought,
}

impl Voice {
    fn empty_block(self) -> Value {
        match self {
            Voice::Agent => text_block(""),
            Voice::Thought => thinking_block(""),
        }
    }

    fn block(self, text: &str) -> Value {
        match self {
            Voice::Agent => text_block(text),
            Voice::Thought => thinking_block(text),
        }
    }

    /// How a delta's line goes on behind its type, up to its text.
    fn delta(self) -> &'static str {
        match self {
            Voice::Agent => r#"{"type":"text_delta","text":"#,
            Voice::Thought => r#"{"type":"thinking_delta","thinking":"#,
        }
    }
}

impl Turn {
    pub(super) fn new(
        id: TurnId,
        prompt: Option<Prompt>,
        (model, partial): (String, Partial),
    ) -> Self {
        Self {
            id,
            prompt,
            began: Instant::now(),
            model,
            rounds: 0,
            said: String::new(),
            usage: None,
            denials: Vec::new(),
            stopped: None,
            stopped_at: StoppedAt::default(),
            partial,
            message: None,
            texts: HashMap::new(),
            calls: HashMap::new(),
            ids: HashSet::new(),
        }
    }

    /// Notes that it is being stopped; the first reason counts.
    pub(super) fn stop(&mut self, why: Stopped) {
        if self.stopped.is_none() {
            self.stopped = Some(why);
            if !self.calls.is_empty() {
                self.stopped_at = StoppedAt::Tool;
            }
        }
    }

    /// Whether a call is under way.
    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// A call that is under way: as the agent has it, and as it is shown.
    pub(super) fn call(&self, item: ItemId) -> Option<(&ToolCall, &Shown)> {
        let call = self.calls.get(&item)?;
        Some((&call.call, &call.shown))
    }

    /// Notes that a call was not allowed.
    pub(super) fn denied(&mut self, shown: &Shown) {
        self.denials
            .push(json!({ "tool_name": shown.name, "tool_use_id": shown.id,
            "tool_input": shown.input }));
    }

    /// A text begins to stream.
    pub(super) fn text_started(
        &mut self,
        out: &Output,
        item: ItemId,
        (voice, text): (Voice, &str),
    ) {
        self.begin_text(out, item, voice);
        self.text_went_on(out, item, (voice, 0, text));
    }

    fn begin_text(&mut self, out: &Output, item: ItemId, voice: Voice) {
        if self.texts.contains_key(&item) {
            return;
        }
        let block = (self.partial == Partial::Shown)
            .then(|| self.open_block(out, item, voice.empty_block()));
        let seen = 0;
        self.texts.insert(item, Text { voice, seen, block });
    }

    /// More of a text. What was shown before is not repeated; behind a gap nothing is shown, the end
    /// of the text brings it (WIRE-9).
    fn text_went_on(
        &mut self,
        out: &Output,
        item: ItemId,
        (voice, offset, text): (Voice, usize, &str),
    ) {
        self.begin_text(out, item, voice);
        let Some(streaming) = self.texts.get_mut(&item) else {
            return;
        };
        let known = streaming.seen.checked_sub(offset);
        let Some(more) = known
            .and_then(|known| text.get(known..))
            .filter(|more| !more.is_empty())
        else {
            return;
        };
        let Some(block) = streaming.block else {
            return;
        };
        streaming.seen += more.len();
        for piece in pieces(more) {
            out.delta(delta(out, item, (voice, block), piece));
        }
    }

    /// More of a text that has begun to stream.
    pub(super) fn text_goes_on(&mut self, out: &Output, item: ItemId, (offset, text): (u64, &str)) {
        let voice = self.texts.get(&item).map(|text| text.voice);
        if let (Some(voice), Ok(offset)) = (voice, usize::try_from(offset)) {
            self.text_went_on(out, item, (voice, offset, text));
        }
    }

    /// A text is over: its message goes out, whole.
    pub(super) fn text_ended(
        &mut self,
        out: &Output,
        item: ItemId,
        (voice, text, finish): (Voice, &str, Finish),
    ) {
        self.text_went_on(out, item, (voice, 0, text));
        let open = self.texts.remove(&item);
        if voice == Voice::Agent {
            text.clone_into(&mut self.said);
        }
        let block = open.and_then(|open| open.block);
        for (place, piece) in pieces(text).into_iter().enumerate() {
            // The first piece of a text is found by the item's id.
            let uuid = if place == 0 {
                item.uuid()
            } else {
                Uuid::now_v7()
            };
            self.say(out, (item, uuid), (voice.block(piece), finish));
        }
        self.close_block(out, block);
    }

    /// A call is announced.
    pub(super) fn call_started(&mut self, out: &Output, item: ItemId, call: ToolCall) {
        self.know(item, call);
        let has_input = |call: &Call| !call.call.input.is_null();
        if self.calls.get(&item).is_some_and(has_input) {
            self.tell_call(out, item);
        }
    }

    fn know(&mut self, item: ItemId, call: ToolCall) {
        let unique = call.native.as_ref().is_none_or(|id| !self.ids.contains(id));
        let shown = tools::shown(item, &call, unique);
        self.ids.insert(shown.id.clone());
        let is_told = false;
        self.calls.insert(
            item,
            Call {
                call,
                shown,
                is_told,
            },
        );
    }

    /// A call has changed.
    pub(super) fn call_changed(&mut self, out: &Output, item: ItemId, call: ToolCall) {
        let Some(known) = self.calls.get_mut(&item) else {
            return self.call_started(out, item, call);
        };
        if !known.is_told {
            let id = known.shown.id.clone();
            known.shown = Shown {
                id,
                ..tools::shown(item, &call, true)
            };
        }
        known.call = call;
        if !known.call.input.is_null() {
            self.tell_call(out, item);
        }
    }

    /// Shows a call, if it was not.
    pub(super) fn tell_call(&mut self, out: &Output, item: ItemId) {
        let Some(known) = self.calls.get_mut(&item).filter(|known| !known.is_told) else {
            return;
        };
        known.is_told = true;
        let Shown { id, name, input } = known.shown.clone();
        self.tell_use(out, item, (&id, &name, &input));
    }

    fn tell_use(&mut self, out: &Output, item: ItemId, (id, name, input): (&str, &str, &Value)) {
        let streaming = tool_use_block(id, name, &json!({}));
        let block = (self.partial == Partial::Shown).then(|| self.open_block(out, item, streaming));
        if let Some(index) = block {
            let delta = json!({ "type": "input_json_delta", "partial_json": input.to_string() });
            self.event(
                out,
                json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            );
        }
        let block_told = tool_use_block(id, name, input);
        self.say(out, (item, item.uuid()), (block_told, Finish::Whole));
        self.close_block(out, block);
    }

    /// A call has ended: its result goes out. Gives the call as it was shown.
    pub(super) fn call_ended(
        &mut self,
        out: &Output,
        item: ItemId,
        call: ToolCall,
    ) -> Option<Shown> {
        if !self.calls.contains_key(&item) {
            self.know(item, call.clone());
        }
        self.tell_call(out, item);
        let known = self.calls.remove(&item)?;
        let outcome = tools::outcome(&known.shown.name, &call);
        let interrupted = call.status == ToolStatus::Cancelled && self.stopped.is_some();
        let meta = interrupted
            .then(|| json!([{ "id": known.shown.id, "non_execution_kind": "interrupted" }]));
        self.tell_result(
            out,
            item,
            (&known.shown.id, &outcome.text, outcome.failed),
            (outcome.result, meta),
        );
        Some(known.shown)
    }

    fn tell_result(
        &mut self,
        out: &Output,
        item: ItemId,
        (id, text, failed): (&str, &str, Failed),
        (result, meta): (Value, Option<Value>),
    ) {
        self.end_message(out, "tool_use");
        let block = tool_result_block(id, text, failed);
        let mut members = json!({
            "message": { "role": "user", "content": [block] },
            "parent_tool_use_id": null,
            "tool_use_result": result,
        });
        if let (Some(meta), Some(members)) = (meta, members.as_object_mut()) {
            members.insert("tool_result_meta".to_owned(), meta);
        }
        out.message(result_uuid(item), "user", members);
    }

    /// The plan, in the form that the protocol has for one: a call of `TodoWrite`.
    pub(super) fn plan(&mut self, out: &Output, item: ItemId, entries: &[PlanEntry]) {
        let todo = |entry: &PlanEntry| {
            let status = match entry.status {
                PlanStatus::Pending => "pending",
                PlanStatus::InProgress => "in_progress",
                PlanStatus::Completed => "completed",
            };
            json!({ "content": entry.content, "status": status, "activeForm": entry.content })
        };
        let todos: Vec<Value> = entries.iter().map(todo).collect();
        let (id, input) = (item.to_string(), json!({ "todos": todos }));
        self.tell_use(out, item, (&id, "TodoWrite", &input));
        self.tell_result(out, item, (&id, "", Failed::No), (input, None));
    }

    /// One message of the user that the face itself puts in.
    pub(super) fn note(&self, out: &Output, text: &str) {
        let members = json!({
            "message": { "role": "user", "content": [text_block(text)] },
            "parent_tool_use_id": null,
        });
        out.passing("user", members);
    }

    /// Ends the message, if one is open.
    pub(super) fn end_message(&mut self, out: &Output, stop_reason: &str) {
        if self.message.take().is_some() {
            let delta = json!({ "stop_reason": stop_reason, "stop_sequence": null });
            let usage = usage(self.usage.as_ref());
            self.event(
                out,
                json!({ "type": "message_delta", "delta": delta, "usage": usage }),
            );
            self.event(out, json!({ "type": "message_stop" }));
        }
    }

    fn say(
        &mut self,
        out: &Output,
        (item, uuid): (ItemId, Uuid),
        (block, finish): (Value, Finish),
    ) {
        let id = self.message(out, item).id.clone();
        let mut members = json!({
            "message": assistant_message(&id, &self.model, vec![block]),
            "parent_tool_use_id": null,
        });
        if let (false, Some(members)) = (finish.is_whole(), members.as_object_mut()) {
            members.insert("aborted".to_owned(), true.into());
        }
        out.message(uuid, "assistant", members);
    }

    /// The message that is open; a new one is a new round.
    fn message(&mut self, out: &Output, item: ItemId) -> &mut Message {
        if self.message.is_none() {
            self.rounds += 1;
            let id = message_id(item);
            let message = assistant_message(&id, &self.model, Vec::new());
            self.event(out, json!({ "type": "message_start", "message": message }));
        }
        self.message.get_or_insert_with(|| Message {
            id: message_id(item),
            blocks: 0,
        })
    }

    fn open_block(&mut self, out: &Output, item: ItemId, block: Value) -> u32 {
        let message = self.message(out, item);
        let index = message.blocks;
        message.blocks += 1;
        let event =
            json!({ "type": "content_block_start", "index": index, "content_block": block });
        self.event(out, event);
        index
    }

    fn close_block(&self, out: &Output, block: Option<u32>) {
        if let Some(index) = block {
            self.event(out, json!({ "type": "content_block_stop", "index": index }));
        }
    }

    /// An event of the stream, where it is shown.
    fn event(&self, out: &Output, event: Value) {
        if self.partial == Partial::Shown {
            let members = json!({ "event": event, "parent_tool_use_id": null });
            out.passing("stream_event", members);
        }
    }
}

fn delta(out: &Output, item: ItemId, (voice, index): (Voice, u32), text: &str) -> Delta {
    let uuid = Uuid::now_v7();
    let (session, kind) = (out.session, voice.delta());
    Delta {
        item,
        head: format!(
            r#"{{"type":"stream_event","session_id":"{session}","uuid":"{uuid}","parent_tool_use_id":null,"event":{{"type":"content_block_delta","index":{index},"delta":{kind}"#
        ),
        text: text.to_owned(),
        tail: "}}}",
    }
}

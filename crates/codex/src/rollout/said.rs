//! What a line says, in the terms of the waist.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use sessiond_protocol::{
    Content, Finish, Item, ItemId, Severity, Telling, Told, ToolCall, ToolContent, ToolKind,
    ToolStatus, limits,
};
use sessiond_wire::foreign::{Place, Text};
use uuid::Uuid;

use super::blocks::{content_of, own_blocks};
use super::ending::{self, How};
use super::findings::{Findings, Kind};
use super::held::{End, Held};
use super::known::{BESIDE, BOOKKEEPING, SHOWN};
use super::line::{Argument, Block, Line, Outcome, Payload};
use super::plan::ROLLED_BACK;
use super::tool;

/// The title of the notice that the user interrupted a turn; Claude's reader has the same.
pub(super) const INTERRUPTED: &str = "interrupted by the user";

/// What tells a conversation, a line at a time.
#[derive(Debug, Default)]
pub(super) struct Teller {
    pub(super) findings: Findings,
    pub(super) held: Held,
    /// The thread whose file is read.
    thread: u128,
    ids: HashSet<u128>,
    /// How calls ended, where that is said before their results.
    outcomes: HashMap<String, How>,
    answered: HashSet<String>,
    is_in_turn: bool,
    at: Option<String>,
    /// How many bytes of the thread were read before this file, and before this line.
    base: u64,
    read: u64,
    /// Where this line ends.
    end: End,
}

impl Teller {
    /// Goes on with a file of a chain, that of a thread, which so many bytes come before.
    pub(super) fn turn_to(&mut self, (file, thread): (usize, u128), base: u64) {
        (self.thread, self.base) = (thread, base);
        self.end.file = file;
    }

    /// Takes in a line.
    pub(super) fn line(&mut self, line: Line<'_>, place: Place) {
        let kind = line.kind.into_string().unwrap_or_default();
        if let Some(at) = line.timestamp.into_string() {
            self.at = Some(at);
        }
        self.read = self.base + place.offset;
        self.end.offset = place.offset + place.bytes + 1;
        self.end.ordinal = line
            .ordinal
            .whole()
            .map_or(self.end.ordinal, |last| last + 1);
        let Some(payload) = line.payload.0 else {
            return;
        };
        let is_summary = line
            .metadata
            .0
            .is_some_and(|noted| noted.compaction_output.0);
        match kind.as_str() {
            "response_item" if is_summary => self.findings.count(Kind::Bookkeeping),
            "response_item" => self.item(payload, place),
            "event_msg" => self.event(payload, place),
            "compacted" => self.summary(payload, place),
            "world_state" | "inter_agent_communication" => self.findings.count(Kind::Furniture),
            kind if BOOKKEEPING.contains(&kind) => self.findings.count(Kind::Bookkeeping),
            kind => self.unknown(Kind::UnknownEntry, kind, place),
        }
        let places = self.held.settle_before(self.read);
        self.unanswered(places);
    }

    /// Nothing more comes: what waits is told as it is.
    pub(super) fn end(&mut self) {
        self.settle();
        if self.is_in_turn {
            self.is_in_turn = false;
            self.findings.count(Kind::UnfinishedTurn);
        }
    }

    fn settle(&mut self) {
        let places = self.held.settle();
        self.unanswered(places);
        self.outcomes.clear();
        self.answered.clear();
    }

    /// They may have run; nothing tells (RESUME-6).
    fn unanswered(&mut self, places: Vec<Place>) {
        for place in places {
            self.findings.at(Kind::UnansweredCall, place);
        }
    }

    fn unknown(&mut self, kind: Kind, what: &str, mut place: Place) {
        place.about = Some(what.to_owned());
        self.findings.at(kind, place);
    }

    /// The id of what a line tells: the line's own where that is a UUID, one that is made of its
    /// place otherwise. No two are the same.
    fn id(&mut self, own: Option<&str>, place: &Place) -> ItemId {
        let own = own.and_then(|id| id.rsplit('_').next());
        let own = own.and_then(|id| Uuid::try_parse(id).ok());
        let own = own.filter(|id| id.get_variant() == uuid::Variant::RFC4122);
        let mut id = own.unwrap_or_else(|| self.made(place.offset, 0));
        for nth in 1.. {
            if self.ids.insert(id.as_u128()) {
                break;
            }
            id = self.made(place.offset, nth);
        }
        ItemId::new(id)
    }

    fn made(&self, offset: u64, nth: u64) -> Uuid {
        let place = u128::from(offset) << 64 | u128::from(nth);
        // Spread over all bits: those that say what kind of UUID it is are lost.
        let spread = place.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        let bytes = (self.thread ^ spread).to_be_bytes();
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }

    fn push(&mut self, own: Option<&str>, place: &Place, what: Telling) {
        let told = Told {
            id: Some(self.id(own, place)),
            at: self.at.clone(),
            what,
        };
        self.held.push(told, (self.read, self.end));
    }

    fn notice(&mut self, place: &Place, severity: Severity, title: String, more: Option<String>) {
        let what = Telling::Notice {
            severity,
            title,
            description: more,
        };
        self.push(None, place, what);
    }

    fn item(&mut self, mut payload: Payload<'_>, place: Place) {
        let kind = std::mem::take(&mut payload.kind);
        match kind.as_str().unwrap_or_default() {
            "message" => self.message(payload, place),
            "reasoning" => self.thought(payload, place),
            "function_call" | "custom_tool_call" | "tool_search_call" => self.call(payload, place),
            "local_shell_call" => {
                payload.name = Text(Some("local_shell".into()));
                payload.arguments = Argument::Value(std::mem::take(&mut payload.action));
                self.call(payload, place);
            }
            "web_search_call" => {
                let input = std::mem::take(&mut payload.action);
                self.called(payload, place, ("web_search", input));
            }
            "image_generation_call" => {
                let prompt = payload.revised_prompt.as_str();
                let input = prompt.map_or(Value::Null, |prompt| json!({ "prompt": prompt }));
                self.called(payload, place, ("image_generation", input));
            }
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
                self.result(payload, place);
            }
            "compaction" | "context_compaction" => {
                let place = Place {
                    about: None,
                    ..place
                };
                self.findings.at(Kind::SealedSummary, place);
            }
            kind if BESIDE.contains(&kind) => self.findings.count(Kind::Furniture),
            kind => self.unknown(Kind::UnknownEntry, kind, place),
        }
    }

    fn message(&mut self, mut payload: Payload<'_>, place: Place) {
        let id = std::mem::take(&mut payload.id);
        match payload.role.as_str() {
            Some("user") => {
                let mut content = Vec::new();
                for (block, is_own) in own_blocks(payload) {
                    match is_own {
                        true => content.extend(self.content(block, &place)),
                        false => self.findings.count(Kind::Furniture),
                    }
                }
                if content.is_empty() {
                    return;
                }
                if !self.is_in_turn {
                    self.settle();
                }
                self.push(
                    id.as_str(),
                    &place,
                    Telling::Item(Item::UserMessage { content }),
                );
            }
            Some("assistant") => {
                let mut said = String::new();
                for block in payload.content.into_list() {
                    match (block.text.as_str(), block.refusal.as_str()) {
                        (Some(text), _) | (None, Some(text)) => said.push_str(text),
                        (None, None) => {
                            let kind = block.kind.as_str().unwrap_or_default();
                            self.unknown(Kind::UnknownBlock, kind, place.clone());
                        }
                    }
                }
                let finish = match payload.status.is("incomplete") {
                    true => Finish::Cut,
                    false => Finish::Whole,
                };
                let item = Item::AgentMessage { text: said, finish };
                self.push(id.as_str(), &place, Telling::Item(item));
            }
            _ => self.findings.count(Kind::Furniture),
        }
    }

    fn content(&mut self, block: Block<'_>, place: &Place) -> Option<Content> {
        let kind = block.kind.as_str().unwrap_or_default().to_owned();
        let found = content_of(block);
        if found.is_none() {
            self.unknown(Kind::UnknownBlock, &kind, place.clone());
        }
        found
    }

    fn thought(&mut self, payload: Payload<'_>, place: Place) {
        if payload
            .encrypted_content
            .as_str()
            .is_some_and(|sealed| !sealed.is_empty())
        {
            self.findings.count(Kind::SealedThought);
        }
        let mut texts = payload.summary.into_texts();
        if texts.is_empty() {
            texts = payload.content.into_texts();
        }
        let text = texts.join("\n\n");
        if !text.is_empty() {
            let finish = Finish::Whole;
            let what = Telling::Item(Item::Thought { text, finish });
            self.push(payload.id.as_str(), &place, what);
        }
    }

    fn call(&mut self, payload: Payload<'_>, place: Place) {
        let name = match (payload.name.as_str(), payload.namespace.as_str()) {
            (Some(name), Some(space)) if !name.starts_with(space) => format!("{space}{name}"),
            (Some(name), _) => name.to_owned(),
            (None, _) => "tool_search".to_owned(),
        };
        let arguments = match payload.arguments {
            Argument::Nothing => payload.input,
            arguments => arguments,
        };
        let input = match arguments {
            Argument::Nothing => Value::Null,
            Argument::Value(value) => value,
            // What a tool takes as it is stays a text, whatever is in it.
            Argument::Text(text) if tool::kind(&name) == ToolKind::Edit => text.into(),
            Argument::Text(text) => match serde_json::from_str::<Map<String, Value>>(&text) {
                Ok(object) => Value::Object(object),
                Err(_) => text.into(),
            },
        };
        let id = self.id(payload.id.as_str(), &place);
        let native = payload.call_id.into_string().or(payload.id.into_string());
        let call = ToolCall {
            title: tool::title(&name, &input),
            kind: tool::kind(&name),
            status: ToolStatus::Unknown,
            locations: tool::locations(&name, &input),
            name,
            input,
            native: native.clone(),
            ..ToolCall::default()
        };
        let told = Told {
            id: Some(id),
            at: self.at.clone(),
            what: Telling::Item(Item::ToolCall(Box::new(call))),
        };
        match native {
            Some(native) if !self.held.waits(&native) => {
                self.held.call(told, (native, place), (self.read, self.end));
            }
            _ => {
                self.findings.at(Kind::UnansweredCall, place);
                self.held.push(told, (self.read, self.end));
            }
        }
    }

    /// A call that the provider made: what came of it is in the line, or nowhere.
    fn called(&mut self, payload: Payload<'_>, place: Place, (name, input): (&str, Value)) {
        let content = match payload.result {
            Outcome::Text(data) => vec![ToolContent::Content {
                content: Content::Image {
                    data: data.into_owned(),
                    mime_type: "image/png".to_owned(),
                    extra: Map::new(),
                },
            }],
            _ => Vec::new(),
        };
        let status = match payload.status.as_str() {
            Some("completed") | None => ToolStatus::Completed,
            Some("failed") => ToolStatus::Failed,
            Some(_) => ToolStatus::Unknown,
        };
        let call = ToolCall {
            title: tool::title(name, &input),
            kind: tool::kind(name),
            status,
            name: name.to_owned(),
            input,
            content,
            native: payload.id.as_str().map(str::to_owned),
            ..ToolCall::default()
        };
        let what = Telling::Item(Item::ToolCall(Box::new(call)));
        self.push(payload.id.as_str(), &place, what);
    }

    fn result(&mut self, mut payload: Payload<'_>, place: Place) {
        let Some(id) = payload.call_id.as_str().map(str::to_owned) else {
            return self.unknown(Kind::OrphanResult, "it names no call", place);
        };
        let mut content = Vec::new();
        for block in std::mem::take(&mut payload.output).into_list() {
            content.extend(self.content(block, &place));
        }
        let how = self.outcomes.remove(&id).unwrap_or_default();
        if let Some(call) = self.held.answer(&id, self.end) {
            ending::end(call, content, how);
            self.answered.insert(id);
            return;
        }
        if self.answered.contains(&id) {
            return self.unknown(Kind::LateResult, &id, place);
        }
        self.unknown(Kind::OrphanResult, &id, place.clone());
        let mut call = ToolCall {
            name: "unknown".to_owned(),
            title: "a result whose call is not there".to_owned(),
            native: Some(id),
            ..ToolCall::default()
        };
        ending::end(&mut call, content, how);
        let what = Telling::Item(Item::ToolCall(Box::new(call)));
        self.push(payload.id.as_str(), &place, what);
    }

    fn event(&mut self, mut payload: Payload<'_>, place: Place) {
        let kind = std::mem::take(&mut payload.kind);
        match kind.as_str().unwrap_or_default() {
            "task_started" | "turn_started" => {
                self.end();
                self.is_in_turn = true;
            }
            "task_complete" | "turn_complete" => {
                self.settle();
                self.is_in_turn = false;
                let error = payload
                    .error
                    .0
                    .and_then(|error| error.message.into_string());
                if let Some(message) = error {
                    let title = "the turn failed".to_owned();
                    self.notice(&place, Severity::Error, title, Some(message));
                }
            }
            ROLLED_BACK => {
                // The end of the turn that was cut away went with it.
                self.settle();
                self.is_in_turn = false;
                self.findings.count(Kind::Bookkeeping);
            }
            "turn_aborted" => {
                self.settle();
                self.is_in_turn = false;
                let (title, more) = match payload.reason.as_str() {
                    Some("interrupted") | None => (INTERRUPTED, None),
                    Some(reason) => ("the turn was ended early", Some(reason.to_owned())),
                };
                self.notice(&place, Severity::Info, title.to_owned(), more);
            }
            "error" => {
                let title = "an error".to_owned();
                let more = payload.message.into_string();
                self.notice(&place, Severity::Error, title, more);
            }
            "warning" | "guardian_warning" => {
                let title = "a warning".to_owned();
                let more = payload.message.into_string();
                self.notice(&place, Severity::Warning, title, more);
            }
            "exec_command_end"
            | "patch_apply_end"
            | "mcp_tool_call_end"
            | "dynamic_tool_call_response" => {
                self.findings.count(Kind::Bookkeeping);
                if let Some(id) = payload.call_id.as_str().map(str::to_owned) {
                    let how = ending::of_event(&payload);
                    self.outcomes.insert(id, how);
                }
            }
            "item_completed" => {
                self.findings.count(Kind::Bookkeeping);
                let Some(item) = payload.item.0 else { return };
                // Most items are calls to none; those are told by other lines.
                if let Some(id) = item.id.as_str().filter(|id| self.held.waits(id)) {
                    let how = ending::of_item(&item);
                    self.outcomes.insert(id.to_owned(), how);
                }
            }
            kind if SHOWN.contains(&kind) || kind.starts_with("collab_") => {
                self.findings.count(Kind::Bookkeeping);
            }
            kind => self.unknown(Kind::UnknownEntry, kind, place),
        }
    }

    fn summary(&mut self, payload: Payload<'_>, place: Place) {
        self.settle();
        let mut text = payload.message.into_string().unwrap_or_default();
        if text.trim().is_empty() {
            return self.findings.at(Kind::SealedSummary, place);
        }
        if text.len() > limits::SUMMARY_BYTES {
            self.findings.at(Kind::LongSummary, place.clone());
            text.truncate(text.floor_char_boundary(limits::SUMMARY_BYTES));
        }
        let id = payload.replacement_history.0;
        self.push(id.as_str(), &place, Telling::Summary(text));
    }
}

#[cfg(test)]
mod tests;

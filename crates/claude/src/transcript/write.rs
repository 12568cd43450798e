//! A conversation as entries of a transcript, which the CLI resumes and both SDKs read.
//!
//! One block an entry; the blocks of a message share its id; each result follows its call and names
//! it; each entry is written before those that follow it, with its line break in one write.

use std::collections::HashSet;
use std::io::{self, Write};

use serde_json::{Map, Value, json};
use sessiond_protocol::{
    Finish, Item, ItemId, Losses, SessionId, Telling, Titler, Told, ToldAbout, ToolCall, ToolStatus,
};
use sessiond_wire::foreign::{is_name, millis};
use uuid::Uuid;

use super::block::{asked_of, result_content, user_content};
use super::index::PROVED_ON;

/// The model that messages name whose own is not known. The CLI says so in one line when it resumes
/// and goes on with its own.
const MODEL: &str = "unknown";

/// What becomes of notices.
pub(super) const NOTICES: (&str, &str) = ("notices", "left out: they are no conversation");

/// What is said for a call that nothing tells the end of (RESUME-6).
const INTERRUPTED: &str = "[interrupted: nothing tells how this call ended; it may have run]";

/// What a transcript begins with that is no beginning: where it goes on, and which ids are taken.
#[derive(Debug, Clone, Default)]
pub struct Continuation {
    /// The entry that the first one follows; none for a beginning.
    pub parent: Option<Uuid>,
    /// The calls that are there.
    pub calls: HashSet<String>,
}

/// Writes a conversation down.
#[derive(Debug)]
pub struct Transcript<W> {
    out: W,
    session: SessionId,
    cwd: String,
    branch: Option<String>,
    at: String,
    parent: Option<Uuid>,
    calls: HashSet<String>,
    /// The blocks of the message that is not written yet.
    message: Vec<Piece>,
    prompt: Option<String>,
    losses: Losses,
    wrote: bool,
}

/// A block of a message, and what its entry says beside it.
#[derive(Debug)]
struct Piece {
    id: Option<ItemId>,
    at: String,
    block: Value,
    finish: Finish,
}

impl<W: Write> Transcript<W> {
    /// A transcript of a session, or the rest of one. `session` is the one that its entries name.
    pub fn new(out: W, (session, about): (SessionId, &ToldAbout), from: Continuation) -> Self {
        Self {
            out,
            session,
            cwd: about.cwd.clone().unwrap_or_else(|| "/".to_owned()),
            branch: about.branch.clone(),
            at: millis(about.began.as_deref().unwrap_or("1970-01-01T00:00:00Z")),
            parent: from.parent,
            calls: from.calls,
            message: Vec::new(),
            prompt: None,
            losses: Losses::default(),
            wrote: false,
        }
    }

    /// Writes the next thing down; a message when it is whole.
    ///
    /// # Errors
    /// Of what is written to.
    pub fn tell(&mut self, told: Told) -> io::Result<()> {
        if let Some(at) = &told.at {
            self.at = millis(at);
        }
        match told.what {
            Telling::Item(Item::UserMessage { content }) => {
                self.message_ends("end_turn")?;
                let content = user_content(content, &mut self.losses);
                if let Value::String(text) = &content {
                    self.prompt = Some(text.clone());
                }
                let message = json!({ "role": "user", "content": content });
                self.user(told.id, (message, Map::new()))
            }
            Telling::Item(Item::AgentMessage { text, finish }) => {
                self.piece(told.id, json!({ "type": "text", "text": text }), finish);
                Ok(())
            }
            Telling::Item(Item::ToolCall(call)) => self.call(told.id, *call),
            Telling::Item(Item::Thought { .. }) => self.lose(
                "thoughts",
                "left out: only what the model's provider signed is taken back",
            ),
            Telling::Item(Item::Plan { .. }) => self.lose("plans", "left out"),
            Telling::Item(Item::Compaction(compaction)) => {
                self.summary(told.id, compaction.summary)
            }
            Telling::Summary(summary) => self.summary(told.id, summary),
            Telling::Notice { .. } => self.lose(NOTICES.0, NOTICES.1),
        }
    }

    /// Writes the message that may not be whole yet: the turn that it belongs to is over.
    ///
    /// # Errors
    /// Of what is written to.
    pub fn turn_ends(&mut self) -> io::Result<()> {
        self.message_ends("end_turn").map(drop)
    }

    /// Writes what is left, the title, and where the conversation ends; answers what was lost.
    ///
    /// # Errors
    /// Of what is written to.
    pub fn finish(mut self, title: Option<&(String, Titler)>) -> io::Result<Losses> {
        self.message_ends("end_turn")?;
        let session = self.session;
        match title {
            Some((title, Titler::User)) => self.line(
                &json!({ "type": "custom-title", "customTitle": title, "sessionId": session }),
            )?,
            Some((title, Titler::Agent)) => {
                self.line(&json!({ "type": "ai-title", "aiTitle": title, "sessionId": session }))?;
            }
            Some((_, Titler::Prompt)) | None => {}
        }
        if let Some(leaf) = self.parent.filter(|_| self.wrote) {
            let prompt = self.prompt.take().unwrap_or_default();
            self.line(&json!({
                "type": "last-prompt",
                "lastPrompt": prompt,
                "leafUuid": leaf,
                "sessionId": session,
            }))?;
        }
        self.out.flush()?;
        Ok(self.losses)
    }

    /// Has the file say that its conversation ends where it goes on, also where nothing follows.
    pub fn ends_here(&mut self) {
        self.wrote = true;
    }

    fn lose(&mut self, kind: &'static str, becomes: &'static str) -> io::Result<()> {
        self.losses.note(kind, becomes);
        Ok(())
    }

    fn piece(&mut self, id: Option<ItemId>, block: Value, finish: Finish) {
        let at = self.at.clone();
        self.message.push(Piece {
            id,
            at,
            block,
            finish,
        });
    }

    fn call(&mut self, id: Option<ItemId>, call: ToolCall) -> io::Result<()> {
        let fresh = id.map_or_else(Uuid::now_v7, ItemId::uuid);
        let native = call.native.clone().filter(|id| is_name(id, NAME_BYTES));
        let native = native.filter(|id| !self.calls.contains(id));
        let made = native.is_none() && call.native.is_some();
        let native = native.unwrap_or_else(|| format!("toolu_{}", fresh.simple()));
        if made {
            self.lose(
                "ids of calls",
                "replaced: they must be unique, of letters, digits, - and _",
            )?;
        }
        self.calls.insert(native.clone());
        let (name, input) = asked_of(&call, &mut self.losses);
        let mut content = result_content(&call, (&name, &input), &mut self.losses);
        let block = json!({ "type": "tool_use", "id": native, "name": name, "input": input });
        self.piece(id, block, Finish::Whole);
        let asked = self.message_ends("tool_use")?;
        let is_unknown = !call.status.is_final() || call.status == ToolStatus::Unknown;
        if is_unknown {
            content = Value::String(INTERRUPTED.to_owned());
            self.lose("outcomes of calls", "not known: written as interrupted")?;
        }
        let mut result =
            json!({ "tool_use_id": native, "type": "tool_result", "content": content });
        if call.status != ToolStatus::Completed
            && let Some(result) = result.as_object_mut()
        {
            result.insert("is_error".to_owned(), Value::Bool(true));
        }
        let mut beside = Map::new();
        let asked = asked.map(|asked| json!(asked)).unwrap_or_default();
        beside.insert("sourceToolAssistantUUID".to_owned(), asked);
        if call.status == ToolStatus::Cancelled {
            beside.insert("toolDenialKind".to_owned(), json!("cancelled"));
        }
        let message = json!({ "role": "user", "content": [result] });
        let answer = ItemId::new(Uuid::from_u128(fresh.as_u128() ^ 1 << 95));
        self.user(Some(answer), (message, beside))
    }

    /// The two entries that a compaction leaves: where it cut, and the summary.
    fn summary(&mut self, id: Option<ItemId>, summary: String) -> io::Result<()> {
        self.message_ends("end_turn")?;
        let uuid = id.map_or_else(Uuid::now_v7, ItemId::uuid);
        let boundary = Uuid::from_u128(uuid.as_u128() ^ 1 << 95);
        let mut entry = Map::new();
        let before = self.parent.take();
        self.common(&mut entry, "system", boundary);
        entry.insert("logicalParentUuid".to_owned(), json!(before));
        entry.insert("subtype".to_owned(), json!("compact_boundary"));
        entry.insert("content".to_owned(), json!("Conversation compacted"));
        entry.insert("isMeta".to_owned(), json!(false));
        entry.insert("level".to_owned(), json!("info"));
        entry.insert(
            "compactMetadata".to_owned(),
            json!({ "trigger": "auto", "preTokens": 0 }),
        );
        self.entry(boundary, entry)?;
        let mut beside = Map::new();
        beside.insert("isCompactSummary".to_owned(), json!(true));
        beside.insert("isVisibleInTranscriptOnly".to_owned(), json!(true));
        let message = json!({ "role": "user", "content": summary });
        self.user(Some(ItemId::new(uuid)), (message, beside))
    }

    /// Writes the message that is whole now; answers its last entry.
    fn message_ends(&mut self, stop: &str) -> io::Result<Option<Uuid>> {
        let pieces = std::mem::take(&mut self.message);
        let message_id = pieces.first().map(|piece| {
            let uuid = piece.id.map_or_else(Uuid::now_v7, ItemId::uuid);
            format!("msg_{}", uuid.simple())
        });
        let mut last = None;
        for piece in pieces {
            self.at = piece.at;
            let uuid = piece.id.map_or_else(Uuid::now_v7, ItemId::uuid);
            let mut entry = Map::new();
            self.common(&mut entry, "assistant", uuid);
            let is_cut = !piece.finish.is_whole();
            entry.insert(
                "message".to_owned(),
                json!({
                    "id": message_id,
                    "type": "message",
                    "role": "assistant",
                    "model": MODEL,
                    "content": [piece.block],
                    "stop_reason": (!is_cut).then_some(stop),
                    "stop_sequence": null,
                    "usage": { "input_tokens": 0, "output_tokens": 0 },
                }),
            );
            if is_cut {
                entry.insert("isAbortedMidStream".to_owned(), json!(true));
            }
            self.entry(uuid, entry)?;
            last = Some(uuid);
        }
        Ok(last)
    }

    fn user(
        &mut self,
        id: Option<ItemId>,
        (message, beside): (Value, Map<String, Value>),
    ) -> io::Result<()> {
        let uuid = id.map_or_else(Uuid::now_v7, ItemId::uuid);
        let mut entry = Map::new();
        self.common(&mut entry, "user", uuid);
        entry.insert("message".to_owned(), message);
        entry.extend(beside);
        self.entry(uuid, entry)
    }

    fn common(&self, entry: &mut Map<String, Value>, kind: &str, uuid: Uuid) {
        let mut put = |name: &str, value: Value| entry.insert(name.to_owned(), value);
        put("parentUuid", json!(self.parent));
        put("isSidechain", json!(false));
        put("type", json!(kind));
        put("uuid", json!(uuid));
        put("timestamp", json!(self.at));
        put("sessionId", json!(self.session));
        put("cwd", json!(self.cwd));
        put("version", json!(PROVED_ON[PROVED_ON.len() - 1]));
        if let Some(branch) = &self.branch {
            put("gitBranch", json!(branch));
        }
        put("userType", json!("external"));
    }

    fn entry(&mut self, uuid: Uuid, entry: Map<String, Value>) -> io::Result<()> {
        self.line(&Value::Object(entry))?;
        self.parent = Some(uuid);
        self.wrote = true;
        Ok(())
    }

    fn line(&mut self, entry: &Value) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.out.write_all(&line)
    }
}

/// Longest name of a tool, and id of a call, that the model's provider takes.
pub(super) const NAME_BYTES: usize = 128;

#[cfg(test)]
mod tests;

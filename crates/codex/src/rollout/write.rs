//! A conversation as lines of a rollout, which Codex lists and resumes.
//!
//! What was said to the model and by it is a line each; an event beside it shows it to people. Each
//! turn is between an event that begins it and one that ends it.

use std::collections::HashSet;
use std::io::{self, Write};

use serde_json::{Map, Value, json};
use sessiond_protocol::{
    Content, Finish, Item, ItemId, Losses, SessionId, Telling, Told, ToldAbout, ToolCall,
    ToolStatus,
};
use sessiond_wire::foreign::{is_name, millis};
use uuid::Uuid;

use super::blocks::is_furniture;
use super::chain::Mode;
use super::out::{NAME_BYTES, arguments_of, blocks, name_of, result_of, shown_of, text_of};
use super::said::INTERRUPTED;
use super::{PROVED_ON, events};

/// What becomes of notices.
pub(super) const NOTICES: (&str, &str) = ("notices", "left out: they are no conversation");

/// What a rollout begins with that is no beginning.
#[derive(Debug, Clone, Default)]
pub struct Continuation {
    /// How it is written.
    pub mode: Mode,
    /// The ordinal of the next line, where lines have one.
    pub ordinal: u64,
    /// The calls that are there.
    pub calls: HashSet<String>,
}

/// Writes a conversation down.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    session: SessionId,
    at: String,
    from: Continuation,
    /// The turn that is not ended yet.
    turn: Option<String>,
    losses: Losses,
}

impl<W: Write> Writer<W> {
    /// A rollout of a session, from its head on. `provider` is that of models, where it is not the
    /// one that Codex is configured with.
    ///
    /// # Errors
    /// Of what is written to.
    pub fn begin(
        out: W,
        (session, about): (SessionId, &ToldAbout),
        provider: Option<&str>,
    ) -> io::Result<Self> {
        let mut writer = Self::go_on(out, (session, about), Continuation::default());
        let at = writer.at.clone();
        let mut head = Map::new();
        let mut put = |name: &str, value: Value| head.insert(name.to_owned(), value);
        put("id", json!(session));
        put("timestamp", json!(at));
        put("cwd", json!(about.cwd.as_deref().unwrap_or("/")));
        put("originator", json!("sessiond"));
        put("cli_version", json!(PROVED_ON[PROVED_ON.len() - 1]));
        put("source", json!("cli"));
        if let Some(provider) = provider {
            put("model_provider", json!(provider));
        }
        if let Some(branch) = &about.branch {
            put("git", json!({ "branch": branch }));
        }
        writer.line("session_meta", Value::Object(head))?;
        Ok(writer)
    }

    /// The rest of a rollout.
    pub fn go_on(out: W, (session, about): (SessionId, &ToldAbout), from: Continuation) -> Self {
        Self {
            out,
            session,
            at: millis(about.began.as_deref().unwrap_or("1970-01-01T00:00:00Z")),
            from,
            turn: None,
            losses: Losses::default(),
        }
    }

    /// Writes the next thing down.
    ///
    /// # Errors
    /// Of what is written to.
    pub fn tell(&mut self, told: Told) -> io::Result<()> {
        if let Some(at) = &told.at {
            self.at = millis(at);
        }
        let id = told.id.map_or_else(Uuid::now_v7, ItemId::uuid);
        match told.what {
            Telling::Item(Item::UserMessage { content }) => self.asked(id, &content),
            Telling::Item(Item::AgentMessage { text, finish }) => self.said(id, &text, finish),
            Telling::Item(Item::ToolCall(call)) => self.call(id, &call),
            Telling::Item(Item::Thought { .. }) => {
                let becomes = "left out: only what the model's provider sealed is taken back";
                self.losses.note("thoughts", becomes);
                Ok(())
            }
            Telling::Item(Item::Plan { .. }) => {
                self.losses.note("plans", "left out");
                Ok(())
            }
            Telling::Item(Item::Compaction(compaction)) => self.summary(id, &compaction.summary),
            Telling::Summary(summary) => self.summary(id, &summary),
            Telling::Notice { title, .. } if title == INTERRUPTED && self.turn.is_some() => {
                let turn = self.turn.take();
                let event =
                    json!({ "type": "turn_aborted", "turn_id": turn, "reason": "interrupted" });
                self.line("event_msg", event)
            }
            Telling::Notice { .. } => {
                self.losses.note(NOTICES.0, NOTICES.1);
                Ok(())
            }
        }
    }

    /// Ends the turn that is not ended yet; answers what was lost.
    ///
    /// # Errors
    /// Of what is written to.
    pub fn finish(mut self) -> io::Result<Losses> {
        self.turn_ends()?;
        self.out.flush()?;
        Ok(self.losses)
    }

    fn asked(&mut self, id: Uuid, content: &[Content]) -> io::Result<()> {
        self.turn_ends()?;
        let turn = id.to_string();
        let begins =
            json!({ "type": "task_started", "turn_id": turn, "model_context_window": null });
        self.line("event_msg", begins)?;
        self.turn = Some(turn);
        let blocks = blocks(content, &mut self.losses);
        let mut item = json!({
            "type": "message",
            "id": format!("msg_{id}"),
            "role": "user",
            "content": blocks,
        });
        let is_taken = |block: &Content| block.as_text().is_some_and(is_furniture);
        if content.iter().any(is_taken) {
            // Otherwise Codex and we would take it for words of the program's own.
            let kinds = vec!["user.text"; blocks.len()];
            item["internal_chat_message_metadata_passthrough"] =
                json!({ "content_item_kinds": kinds });
        }
        self.line("response_item", item)?;
        let text = text_of(content);
        let event = match self.from.mode {
            Mode::Legacy => events::user_message(&text),
            Mode::Paginated => self.completed(events::user_item(id, &text)),
        };
        self.line("event_msg", event)
    }

    fn said(&mut self, id: Uuid, text: &str, finish: Finish) -> io::Result<()> {
        let native = format!("msg_{id}");
        let mut item = json!({
            "type": "message",
            "id": native,
            "role": "assistant",
            "content": [{ "type": "output_text", "text": text }],
        });
        if !finish.is_whole() {
            item["status"] = json!("incomplete");
        }
        self.line("response_item", item)?;
        let event = match self.from.mode {
            Mode::Legacy => events::agent_message(text),
            Mode::Paginated => self.completed(events::agent_item(&native, text)),
        };
        self.line("event_msg", event)
    }

    fn call(&mut self, id: Uuid, call: &ToolCall) -> io::Result<()> {
        let native = call.native.clone().filter(|id| is_name(id, NAME_BYTES));
        let native = native.filter(|id| !self.from.calls.contains(id));
        if native.is_none() && call.native.is_some() {
            let becomes = "replaced: they must be unique, of at most 64 letters, digits, - and _";
            self.losses.note("ids of calls", becomes);
        }
        let native = native.unwrap_or_else(|| format!("call_{}", id.simple()));
        self.from.calls.insert(native.clone());
        let name = name_of(&call.name, &mut self.losses);
        let (asks, answers) = match &call.input {
            Value::String(input) => (
                json!({ "type": "custom_tool_call", "id": format!("ct_{id}"), "name": name,
                    "input": input, "call_id": native }),
                "custom_tool_call_output",
            ),
            _ => (
                json!({ "type": "function_call", "id": format!("fc_{id}"), "name": name,
                    "arguments": arguments_of(call, &mut self.losses), "call_id": native }),
                "function_call_output",
            ),
        };
        self.line("response_item", asks)?;
        if !call.status.is_final() || call.status == ToolStatus::Unknown {
            // Codex tells the model of a call without a result that it was aborted (RESUME-6).
            return Ok(());
        }
        let output = result_of(call, &mut self.losses);
        let shown = shown_of(call, (&native, self.turn.as_deref()));
        let event = match self.from.mode {
            Mode::Legacy => shown,
            Mode::Paginated => self.completed(events::tool_item(&shown)),
        };
        self.line("event_msg", event)?;
        self.line(
            "response_item",
            json!({ "type": answers, "call_id": native, "output": output }),
        )
    }

    /// The model has the summary in place of all that was said before.
    fn summary(&mut self, id: Uuid, summary: &str) -> io::Result<()> {
        self.turn_ends()?;
        let stands = json!({
            "type": "message",
            "id": format!("msg_{id}"),
            "role": "user",
            "content": [{ "type": "input_text", "text": summary }],
        });
        self.line(
            "compacted",
            json!({ "message": summary, "replacement_history": [stands] }),
        )
    }

    fn turn_ends(&mut self) -> io::Result<()> {
        let Some(turn) = self.turn.take() else {
            return Ok(());
        };
        let event = json!({ "type": "task_complete", "turn_id": turn, "last_agent_message": null });
        self.line("event_msg", event)
    }

    /// The event that shows an item.
    fn completed(&self, item: Value) -> Value {
        let at = self.at.parse::<jiff::Timestamp>();
        let at = at.map(jiff::Timestamp::as_millisecond).unwrap_or_default();
        json!({
            "type": "item_completed",
            "thread_id": self.session,
            "turn_id": self.turn.as_deref().unwrap_or_default(),
            "item": item,
            "started_at_ms": at,
            "completed_at_ms": at,
        })
    }

    fn line(&mut self, kind: &str, payload: Value) -> io::Result<()> {
        let mut line = Map::new();
        line.insert("timestamp".to_owned(), json!(self.at));
        if self.from.mode == Mode::Paginated {
            line.insert("ordinal".to_owned(), json!(self.from.ordinal));
            self.from.ordinal += 1;
        }
        line.insert("type".to_owned(), json!(kind));
        line.insert("payload".to_owned(), payload);
        let mut line = serde_json::to_vec(&line)?;
        line.push(b'\n');
        self.out.write_all(&line)
    }
}

#[cfg(test)]
mod tests;

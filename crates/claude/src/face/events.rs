//! What the engine says: the events of turns, and what the agent asks.

use serde_json::{Value, json};
use sessiond_protocol::{
    Event, EventFrame, Hook, Item, ItemId, ServerFrame, SessionChanged, Severity, Stream,
    TurnConfig, TurnEnded, TurnId, TurnOutcome, Usage, WireError,
};

use super::engine::gone;
use super::mode::Mode;
use super::outcome::{Counts, Outcome, dollars};
use super::serve::{Face, Place};
use super::servers::Detail;
use super::turn::{Partial, Stopped, StoppedAt, Turn, Voice};
use crate::message::SPOKEN;

/// The tools that programs know by name, whatever agent is behind.
const TOOLS: [&str; 7] = [
    "Bash",
    "Edit",
    "Grep",
    "Read",
    "TodoWrite",
    "WebFetch",
    "Write",
];

impl Face {
    /// Takes up a frame of the engine.
    pub(super) async fn frame(&mut self, frame: ServerFrame) -> Result<(), WireError> {
        match frame {
            ServerFrame::Event(event) => self.event(event).await,
            ServerFrame::Request(request) => self.asked(request).await,
            ServerFrame::RequestClosed { id, .. } => {
                // Whatever was asked for it is no question any more.
                self.take_back(id);
                Ok(())
            }
            ServerFrame::Error { error, fatal: true } => Err(error),
            ServerFrame::Error { error, .. } => {
                tracing::warn!(code = ?error.code, "the engine refused a frame");
                Ok(())
            }
            ServerFrame::Bye {} => Err(gone()),
            ServerFrame::Welcome(_) | ServerFrame::Receipt(_) => Ok(()),
        }
    }

    async fn event(&mut self, frame: EventFrame) -> Result<(), WireError> {
        self.tell_mirror(&frame);
        let of_turn = frame.turn.is_some() && frame.turn == self.turn.as_ref().map(|it| it.id);
        match frame.event {
            Event::TurnStarted { config, .. } => {
                if let Some(turn) = frame.turn {
                    self.turn_started(turn, config);
                }
                Ok(())
            }
            Event::TurnEnded(ended) => match frame.turn {
                Some(turn) => self.turn_ended(turn, &ended).await,
                None => Ok(()),
            },
            Event::SessionChanged(changed) => {
                self.changed(changed);
                Ok(())
            }
            Event::Usage(usage) => self.used(usage).await,
            Event::Notice {
                severity,
                title,
                description,
            } => {
                self.noticed(severity, &title, description.as_deref());
                Ok(())
            }
            Event::Damage {
                segment,
                offset,
                length,
            } => {
                self.damaged(&format!("{length} bytes at {offset} of {segment}"));
                Ok(())
            }
            event if of_turn => match frame.item {
                Some(item) => self.item(item, event).await,
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Tells what an event adds to the mirror, before what else it says: a result stands behind all
    /// entries of its turn.
    fn tell_mirror(&mut self, frame: &EventFrame) {
        let Some(mirror) = &mut self.mirror else {
            return;
        };
        mirror.tell(frame);
        if let Some(entries) = mirror.frame() {
            self.out.control(entries);
        }
    }

    fn turn_started(&mut self, id: TurnId, config: TurnConfig) {
        let at = self.queued.iter().position(|(queued, _)| *queued == id);
        let Some((_, prompt)) = at.and_then(|at| self.queued.remove(at)) else {
            // A turn that nobody here asked for is not this program's.
            return;
        };
        self.out.state("running");
        self.out.lifecycle(&prompt, "started");
        let model = config.model.unwrap_or_else(|| self.model());
        self.tell_init(&model);
        let partial = match self.options.arguments.partial {
            true => Partial::Shown,
            false => Partial::Hidden,
        };
        if partial == Partial::Shown {
            self.out.system("status", json!({ "status": "requesting" }));
        }
        self.ended.clear();
        self.opinions.clear();
        self.turn = Some(Turn::new(id, Some(prompt), (model, partial)));
        let damage = std::mem::take(&mut self.damage);
        if damage > 0 {
            let places = if damage == 1 { "place" } else { "places" };
            self.damaged(&format!("{damage} {places}"));
        }
    }

    /// Says what of the log cannot be read.
    fn damaged(&mut self, what: &str) {
        let text = format!("the session's log is damaged: {what} cannot be read");
        self.noticed(Severity::Warning, &text, None);
    }

    fn tell_init(&self, model: &str) {
        let commands: Vec<&str> = self.agent.commands.iter().map(|it| &*it.name).collect();
        let tools = TOOLS.iter().filter(|name| self.rules.has_tool(name));
        let tools = tools.map(|name| (*name).to_owned());
        let tools: Vec<String> = tools.chain(self.servers.tools()).collect();
        let members = json!({
            "cwd": self.options.cwd,
            "tools": tools,
            "mcp_servers": self.servers.statuses(Detail::Status),
            "model": model,
            "permissionMode": self.mode.name(),
            "slash_commands": commands,
            "apiKeySource": "none",
            "claude_code_version": SPOKEN,
            "sessiond_version": env!("CARGO_PKG_VERSION"),
            "agent": self.agent.id.name,
            "output_style": "default",
            "agents": [],
            "skills": [],
            "plugins": [],
        });
        self.out.system("init", members);
    }

    async fn turn_ended(&mut self, id: TurnId, ended: &TurnEnded) -> Result<(), WireError> {
        match self.turn.take() {
            Some(turn) if turn.id == id => self.end(turn, ended),
            other => {
                self.turn = other;
                let at = self.queued.iter().position(|(queued, _)| *queued == id);
                if let Some((_, prompt)) = at.and_then(|at| self.queued.remove(at)) {
                    // It never began: its prompt gets its result all the same.
                    let never = Turn::new(id, Some(prompt), (self.model(), Partial::Hidden));
                    self.end(never, ended);
                }
            }
        }
        self.submit_prompts().await
    }

    fn end(&mut self, mut turn: Turn, ended: &TurnEnded) {
        turn.usage = ended.usage.or(turn.usage);
        turn.end_message(&self.out, "end_turn");
        let is_cancelled = ended.outcome == TurnOutcome::Cancelled;
        if is_cancelled && matches!(turn.stopped, Some(Stopped::Interrupted) | None) {
            turn.note(
                &self.out,
                match turn.stopped_at {
                    StoppedAt::Speaking => "[Request interrupted by user]",
                    StoppedAt::Tool => "[Request interrupted by user for tool use]",
                },
            );
        }
        let mut outcome = Outcome::of(&turn, ended);
        if let (true, Some(schema)) = (outcome.is_success(), &self.wishes.schema) {
            match schema.read(&turn.said) {
                Ok(value) => outcome.structured = Some(value),
                Err(problem) => outcome = outcome.misshapen(problem),
            }
        }
        self.tell_result_of(&outcome, Some(&turn));
    }

    /// Tells a result that no turn stands behind.
    pub(super) fn tell_result(&mut self, outcome: &Outcome) {
        self.tell_result_of(outcome, None);
    }

    fn tell_result_of(&mut self, outcome: &Outcome, turn: Option<&Turn>) {
        let counts = Counts {
            results: self.results,
            queued: self.queued.len() + self.held.len(),
        };
        let members = outcome.members(turn, counts);
        self.out.passing("result", members);
        if let Some(prompt) = turn.and_then(|turn| turn.prompt.as_ref()) {
            self.out.lifecycle(prompt, "completed");
        }
        self.results += 1;
        self.exit = outcome.exit;
        self.out.state("idle");
    }

    async fn item(&mut self, item: ItemId, event: Event) -> Result<(), WireError> {
        if let Event::ItemEnded {
            item: Item::ToolCall(call),
        } = event
        {
            return self.call_ended(item, *call).await;
        }
        let Some(turn) = &mut self.turn else {
            return Ok(());
        };
        let out = &self.out;
        match event {
            Event::ItemStarted { item: started } => match started {
                Item::AgentMessage { text, .. } => {
                    turn.text_started(out, item, (Voice::Agent, &text))
                }
                Item::Thought { text, .. } => turn.text_started(out, item, (Voice::Thought, &text)),
                Item::ToolCall(call) => turn.call_started(out, item, *call),
                Item::UserMessage { .. } | Item::Plan { .. } | Item::Compaction(_) => {}
            },
            Event::ItemDelta {
                stream: Stream::Text,
                offset,
                text,
            } => turn.text_goes_on(out, item, (offset, &text)),
            Event::ItemChanged { call } => turn.call_changed(out, item, *call),
            Event::ItemEnded { item: ended } => match ended {
                Item::AgentMessage { text, finish } => {
                    turn.text_ended(out, item, (Voice::Agent, &text, finish));
                }
                Item::Thought { text, finish } => {
                    turn.text_ended(out, item, (Voice::Thought, &text, finish));
                }
                Item::Plan { entries } => turn.plan(out, item, &entries),
                Item::Compaction(compaction) => {
                    let members = json!({ "compact_metadata": { "trigger": "manual",
                        "window": compaction.window } });
                    out.system("compact_boundary", members);
                }
                // The program said it itself.
                Item::UserMessage { .. } | Item::ToolCall(_) => {}
            },
            _ => {}
        }
        Ok(())
    }

    async fn call_ended(
        &mut self,
        item: ItemId,
        call: sessiond_protocol::ToolCall,
    ) -> Result<(), WireError> {
        let Some(turn) = &mut self.turn else {
            return Ok(());
        };
        if let Some(shown) = turn.call_ended(&self.out, item, call) {
            self.ended.insert(item, shown);
        }
        let most = self.options.arguments.max_turns;
        match most {
            Some(most) if turn.rounds >= most && !turn.has_calls() && turn.stopped.is_none() => {
                self.stop_turn(Stopped::MaxTurns(most)).await
            }
            _ => Ok(()),
        }
    }

    async fn used(&mut self, usage: Usage) -> Result<(), WireError> {
        self.usage = Some(usage);
        if let Some(turn) = &mut self.turn {
            turn.usage = Some(usage);
        }
        match self.options.arguments.max_cost {
            Some(most) if dollars(&usage) > most => self.stop_turn(Stopped::MaxCost).await,
            _ => Ok(()),
        }
    }

    fn changed(&mut self, changed: SessionChanged) {
        if let Some(commands) = changed.commands {
            self.agent.commands = commands;
        }
        if let Some(modes) = changed.modes {
            self.agent.modes = modes;
        }
        if let Some(options) = changed.options {
            self.agent.options = options;
        }
        let Some(mode) = changed
            .mode
            .filter(|mode| Some(mode) != self.agent_mode.as_ref())
        else {
            return;
        };
        self.agent_mode = Some(mode);
        if self.place == Place::Attached {
            self.mode = Mode::from_agent(&self.agent.modes, self.agent_mode.as_deref());
            self.tell_mode();
        }
    }

    /// Tells the permission mode in force.
    pub(super) fn tell_mode(&self) {
        let members = json!({ "status": null, "permissionMode": self.mode.name() });
        self.out.system("status", members);
    }

    fn noticed(&self, severity: Severity, title: &str, description: Option<&str>) {
        if self.turn.is_none() {
            // Between turns nothing may stand behind a result (claude.md 8a).
            return (self.options.note)(title);
        }
        let level = match severity {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let content = match description {
            Some(more) => format!("{title}\n{more}"),
            None => title.to_owned(),
        };
        self.out.system(
            "informational",
            json!({ "content": content, "level": level }),
        );
    }

    /// What is wrong with the answer that a turn would end with, while there is a try left.
    pub(super) fn stop_problem(&self, hook: &Hook) -> Option<String> {
        let Hook::Stop { continued, .. } = hook else {
            return None;
        };
        let schema = self.wishes.schema.as_ref()?;
        schema.problem(&self.turn.as_ref()?.said, *continued)
    }

    /// What the program is told of context and cost.
    pub(super) fn context_usage(&self) -> Value {
        let usage = self.usage.unwrap_or_default();
        let category = |id: &str, name: &str, tokens: u64, kind: &str| json!({ "id": id, "name": name, "tokens": tokens, "color": "inactive", "kind": kind });
        let free = usage.size.saturating_sub(usage.used);
        json!({
            "categories": [
                category("messages", "Messages", usage.used, "used"),
                category("free_space", "Free space", free, "free"),
            ],
            "totalTokens": usage.used,
            "maxTokens": usage.size,
            "rawMaxTokens": usage.size,
            "percentage": (usage.used * 100).checked_div(usage.size).unwrap_or(0),
            "model": self.model(),
        })
    }
}

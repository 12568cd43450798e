//! A thread that is loaded: what is known of it beside its log.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Value, json};
use sessiond_protocol::{
    AgentInfo, Item as Said, ItemId, OptionValue, SessionId, SessionView, Summary, ToolCall,
    TurnId, Usage,
};
use sessiond_wire::rpc::RawId;

use super::decisions::Decisions;
use super::item::Item;
use super::live::Streaming;
use super::open::Open;
use super::past::{ItemsView, Past};
use super::policy::Policy;
use super::time::{ms, now_ms, seconds};

/// Whether the client wants to hear of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Subscription {
    #[default]
    On,
    Off,
}

/// Whether a thread is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Keep {
    #[default]
    Stored,
    /// It goes to the trash when it is let go of.
    Ephemeral,
}

/// A thread that this client has loaded.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) about: About,
    pub(super) agent: AgentInfo,
    pub(super) policy: Policy,
    /// What came with a message that was added to the running turn: it counts from the next one on.
    pub(super) next_policy: Option<Policy>,
    pub(super) keep: Keep,
    pub(super) subscription: Subscription,
    pub(super) used: Option<Usage>,
    pub(super) running: Option<Running>,
    /// Turns that wait for one that is being stopped.
    pub(super) waiting: Vec<Running>,
    /// The last turn failed, and none began since.
    pub(super) broken: Health,
    /// Names that this client gives it and that are not recorded yet.
    pub(super) renames: usize,
    /// Compactions that wait for the end of the turn that they replace.
    pub(super) compactions: VecDeque<RawId>,
}

/// How a thread came out of its last turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Health {
    #[default]
    Well,
    Broken,
}

/// The turn that runs.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) id: TurnId,
    /// When it began, in milliseconds.
    pub(super) started: i64,
    /// The shape that its answer shall have.
    pub(super) schema: Option<Value>,
    pub(super) calls: HashMap<ItemId, ToolCall>,
    pub(super) begun: HashMap<ItemId, i64>,
    pub(super) decisions: Decisions,
    /// The message or thought that streams, and the output of each call that does.
    pub(super) streams: HashMap<ItemId, Streaming>,
    /// What has begun and not ended.
    pub(super) open: Open,
    /// Items that began behind an answer that shows the thread and goes out in pieces: it does not
    /// hold them.
    pub(super) behind: HashSet<ItemId>,
    pub(super) answer: Option<Item>,
    /// What the client called the message that began it.
    pub(super) client_id: Option<String>,
    /// Questions that wait for the client.
    pub(super) approvals: usize,
    pub(super) inputs: usize,
}

impl Running {
    pub(super) fn new(id: TurnId) -> Self {
        Self {
            id,
            started: now_ms(),
            schema: None,
            calls: HashMap::new(),
            begun: HashMap::new(),
            decisions: Decisions::default(),
            streams: HashMap::new(),
            open: Open::default(),
            behind: HashSet::new(),
            answer: None,
            client_id: None,
            approvals: 0,
            inputs: 0,
        }
    }

    /// A turn that ran before this client saw it: what of it has begun is shown by the answer that
    /// opens the thread, where that shows the past.
    pub(super) fn attached((session, id): (SessionId, TurnId), past: Option<&Past>) -> Self {
        let mut running = Self::new(id);
        let open = past.map(|past| past.open.clone()).unwrap_or_default();
        for begun in open.items() {
            let started = begun.started.unwrap_or(running.started);
            running.begun.insert(begun.id, started);
            if let Said::ToolCall(call) = &begun.said {
                running.calls.insert(begun.id, (**call).clone());
            }
            if let Some(streaming) = Streaming::of(begun, (session, id)) {
                running.streams.insert(begun.id, streaming);
            }
        }
        running.open = open;
        running
    }

    /// The turn as it is told of before it has ended.
    pub(super) fn json(&self, started: Option<i64>) -> Value {
        json!({
            "id": self.id, "rootTurnId": self.id, "items": [], "itemsView": ItemsView::NotLoaded,
            "status": "inProgress", "error": null, "startedAt": started.map(seconds),
            "completedAt": null, "durationMs": null,
        })
    }
}

impl Thread {
    /// How it stands, as `thread/status/changed` tells it.
    pub(super) fn status(&self) -> Value {
        let Some(running) = &self.running else {
            return match self.broken {
                Health::Well => json!({ "type": "idle" }),
                Health::Broken => json!({ "type": "systemError" }),
            };
        };
        let mut flags = Vec::new();
        if running.approvals > 0 {
            flags.push("waitingOnApproval");
        }
        if running.inputs > 0 {
            flags.push("waitingOnUserInput");
        }
        json!({ "type": "active", "activeFlags": flags })
    }

    /// The turn of this id, if it waits: it does so no longer.
    pub(super) fn waits(&mut self, turn: TurnId) -> Option<Running> {
        let at = self.waiting.iter().position(|waiting| waiting.id == turn)?;
        Some(self.waiting.remove(at))
    }

    /// The thread without its turns.
    pub(super) fn json(&self) -> Value {
        self.about.json(self.status())
    }
}

/// What is shown of a thread whether it is loaded or not. Times are milliseconds.
#[derive(Debug, Clone)]
pub(super) struct About {
    pub(super) id: SessionId,
    pub(super) cwd: String,
    pub(super) preview: String,
    pub(super) name: Option<String>,
    pub(super) created: i64,
    pub(super) updated: i64,
    pub(super) agent: String,
    pub(super) model: Option<String>,
    pub(super) source: Value,
    pub(super) parent: Option<SessionId>,
    pub(super) keep: Keep,
}

impl About {
    /// A thread that is new.
    pub(super) fn fresh(view: &SessionView, keep: Keep) -> Self {
        let now = now_ms();
        Self {
            id: view.session,
            cwd: view.cwd.clone(),
            preview: String::new(),
            name: None,
            created: now,
            updated: now,
            agent: view.agent.id.name.clone(),
            model: model(&view.agent),
            source: json!("appServer"),
            parent: None,
            keep,
        }
    }

    /// A thread whose past is known.
    pub(super) fn of(id: SessionId, past: &Past) -> Self {
        let header = past.header.as_ref();
        let source = header.map_or("", |header| &header.source);
        Self {
            id,
            cwd: header.map(|header| header.cwd.clone()).unwrap_or_default(),
            preview: past.preview(),
            name: past.name.clone(),
            created: past.created.unwrap_or_default(),
            updated: past.updated.or(past.created).unwrap_or_default(),
            agent: header.map_or_else(String::new, |header| header.agent.name.clone()),
            model: header.and_then(|header| header.model.clone()),
            source: match source {
                "codex-app-server" => json!("appServer"),
                "codex-exec" => json!("exec"),
                "" => json!("unknown"),
                other => json!({ "custom": other }),
            },
            parent: past.parent(),
            keep: Keep::Stored,
        }
    }

    /// A thread of a list, which knows less.
    pub(super) fn listed(summary: &Summary) -> Self {
        Self {
            id: summary.session,
            cwd: summary.cwd.clone(),
            preview: summary.title.clone().unwrap_or_default(),
            name: None,
            created: ms(&summary.created_at).unwrap_or_default(),
            updated: ms(&summary.updated_at).unwrap_or_default(),
            agent: summary.agent.clone(),
            model: None,
            source: json!("unknown"),
            parent: None,
            keep: Keep::Stored,
        }
    }

    /// As the app-server shows it, without its turns.
    pub(super) fn json(&self, status: Value) -> Value {
        json!({
            "id": self.id, "sessionId": self.id, "forkedFromId": self.parent,
            "parentThreadId": null, "preview": self.preview,
            "ephemeral": self.keep == Keep::Ephemeral, "section": null, "sectionEnteredAt": null,
            "projectId": null, "modelProvider": self.agent,
            "model": self.model.as_deref().unwrap_or(&self.agent), "reasoningEffort": null,
            "createdAt": seconds(self.created), "updatedAt": seconds(self.updated),
            "recencyAt": seconds(self.updated), "status": status, "path": null, "cwd": self.cwd,
            "cliVersion": env!("CARGO_PKG_VERSION"), "originator": null, "source": self.source,
            "threadSource": null, "agentNickname": null, "agentRole": null, "gitInfo": null,
            "name": self.name, "turns": [],
        })
    }
}

/// The model that an agent is set to, where it offers a choice.
pub(super) fn model(agent: &AgentInfo) -> Option<String> {
    let is_model = |category: Option<&str>, id: &str| category == Some("model") || id == "model";
    let mut options = agent.options.iter();
    let option = options.find(|option| is_model(option.category.as_deref(), &option.id))?;
    match &option.value {
        OptionValue::Choice(id) => Some(id.clone()),
        OptionValue::Boolean(_) => None,
    }
}

//! How a session stands: what is in force and what is open. A fold of the durable events that
//! keeps no history, so its size does not grow with the session's length.

mod closings;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use closings::prompt_item;

use crate::{
    AgentOption, Attestation, Content, Cursor, Event, EventFrame, Finish, ForkPoint, Grant,
    GrantEffect, InForce, Instructions, Item, ItemId, ItemKind, Keyed, KeyedTurn, Marker,
    ModePolicy, OptionSetting, Place, RequestBody, RequestId, SessionChanged, SessionId,
    SessionOpened, Start, Stretch, SubmissionId, Surroundings, Titler, TurnId, Usage, Workspace,
    limits,
};

/// How [`Standing`] is written down; one more with every change of what it holds or means. A
/// checkpoint of another is passed over, and the events before it are read instead.
const FOLD: u32 = 7;

/// An item that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenItem {
    /// Its id.
    pub id: ItemId,
    /// Its turn.
    pub turn: Option<TurnId>,
    /// What of it is known.
    pub item: Item,
    /// Tool calls: what of its output was stored while it ran.
    pub output: String,
}

/// A request that has been asked and not settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenRequest {
    /// Its id.
    pub id: RequestId,
    /// Its turn.
    pub turn: Option<TurnId>,
    /// The item it is about.
    pub item: Option<ItemId>,
    /// What is asked.
    pub body: RequestBody,
    /// Digest of the payload.
    pub digest: String,
}

/// A turn that waits behind the active one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingTurn {
    /// The turn.
    pub id: TurnId,
    /// The submission that asked for it.
    pub cause: Option<SubmissionId>,
    /// What the user said.
    pub input: Vec<Content>,
    /// Where it was put.
    pub place: Place,
    /// Whether its prompt is an item already: the process died right after that record.
    pub is_item: bool,
}

/// What the newest turn ran with, or the newest resume attested: the next resume is compared with it
/// (RESUME-16).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastRun {
    /// The agent's version.
    pub version: Option<String>,
    /// The mode.
    pub mode: Option<String>,
    /// What that did with permission questions.
    pub policy: Option<ModePolicy>,
}

/// How a session stands after its newest event.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    /// The header; none only where the log's beginning is damaged.
    pub header: Option<SessionOpened>,
    /// The title.
    pub title: Option<String>,
    /// Who chose the title.
    pub titled_by: Option<Titler>,
    /// The mode.
    pub mode: Option<String>,
    /// What was allowed and refused for good, oldest first.
    pub grants: Vec<Grant>,
    /// The roots beside the working directory.
    pub roots: Vec<String>,
    /// The instructions that a client gave.
    pub instructions: Option<Instructions>,
    /// The agent's options as they were last set or said.
    pub options: Vec<OptionSetting>,
    /// What the agent recorded of its own for the conversation in force, by name.
    pub native: BTreeMap<String, String>,
    /// Counts changes of mode and grants.
    pub policy: u64,
    /// The newest durable event.
    pub cursor: Cursor,
    /// The header, clear or rewind in force.
    pub base: Cursor,
    /// The newest compaction behind it.
    pub compaction: Option<Cursor>,
    /// How many compactions the log holds.
    pub windows: u64,
    /// The newest item that ended, but for compactions.
    pub said: Cursor,
    /// What of the events before `base` is in force, too, in order.
    pub kept: Vec<Stretch>,
    /// Where to resume, fork or rewind to: the header, a clear or rewind, an item that was
    /// appended, or the newest end of a turn after which none was active (SQEQ-5).
    pub bookmark: Cursor,
    /// The fork that this session is and that no record of it says yet.
    pub unmarked_fork: Option<ForkPoint>,
    /// Where the newest resume that was attested worked; none before the first, and after the
    /// session was said to be elsewhere.
    pub surroundings: Option<Surroundings>,
    /// What it last ran with.
    pub last_run: Option<LastRun>,
    /// What was used in all its turns, as far as their ends say; a fork begins at nothing (RESUME-9).
    #[serde(default)]
    pub used: Option<Usage>,
    /// The active turn.
    pub active: Option<TurnId>,
    /// The same where it waited and its prompt is no item yet: the process died before that record.
    pub begun: Option<WaitingTurn>,
    /// The turns that wait, in order.
    pub waiting: Vec<WaitingTurn>,
    /// The idempotency keys that are known, oldest first; at most [`limits::IDEMPOTENCY_KEYS`].
    pub keys: Vec<KeyedTurn>,
    /// The items that are open, in the order they began.
    pub open: Vec<OpenItem>,
    /// The requests that are open, in the order they were asked.
    pub requests: Vec<OpenRequest>,
}

impl Standing {
    /// The marker that holds this fold, from which a reader goes on without the events before it
    /// (LOG-10).
    #[must_use]
    pub fn checkpoint(&self) -> Marker {
        Marker::Checkpoint {
            version: FOLD,
            standing: Box::new(self.clone()),
        }
    }

    /// Takes up the fold of a checkpoint, where nothing has been seen and it is of a kind that is
    /// known. A fork knows the checkpoints of its parent by its own id.
    fn take_up(&mut self, version: u32, standing: &Standing, session: SessionId) {
        if version != FOLD || self.header.is_some() {
            return;
        }
        let cursor = self.cursor;
        *self = standing.clone();
        self.cursor = cursor;
        if let Some(header) = &mut self.header {
            header.id = session;
        }
    }

    /// Takes in the next durable event. Events without a cursor are not part of the fold.
    pub fn apply(&mut self, frame: &EventFrame) {
        let Some(cursor) = frame.cursor else { return };
        self.cursor = cursor;
        match &frame.event {
            Event::SessionOpened(header) => self.opened(header, frame.session, cursor),
            Event::SessionChanged(change) => self.changed(change),
            Event::TurnQueued {
                input,
                place,
                keyed,
            } => {
                self.queued(frame, input, *place);
                self.keyed(frame.turn, keyed.as_ref());
            }
            Event::TurnStarted { config, keyed, .. } => {
                self.last_run = Some(LastRun {
                    version: config.version.clone(),
                    mode: config.mode.clone(),
                    policy: config.permission,
                });
                self.active = frame.turn;
                self.keyed(frame.turn, keyed.as_ref());
                let waits = |waiting: &WaitingTurn| Some(waiting.id) == frame.turn;
                let at = self.waiting.iter().position(waits);
                self.begun = at.map(|at| self.waiting.remove(at));
            }
            Event::TurnEnded(ended) => {
                self.used = Usage::in_all(self.used, ended.usage);
                self.waiting
                    .retain(|waiting| Some(waiting.id) != frame.turn);
                if self.active == frame.turn {
                    self.active = None;
                    self.begun = None;
                }
                if self.active.is_none() {
                    self.bookmark = cursor;
                }
            }
            Event::ItemStarted { item } => self.begin(frame, item.clone()),
            Event::ItemPartial { kind, text, .. } => self.partial(frame, *kind, text),
            Event::ItemChanged { call } => {
                if let Some(open) = self.open_mut(frame.item) {
                    open.item = Item::ToolCall(call.clone());
                }
            }
            Event::ItemEnded { item } => {
                self.item_ended(frame.item);
                match item {
                    Item::Compaction(_) => {
                        self.compaction = Some(cursor);
                        self.windows += 1;
                    }
                    _ => self.said = cursor,
                }
                if frame.turn.is_none() {
                    self.appended(cursor);
                }
            }
            Event::RequestOpened {
                request,
                body,
                digest,
            } => self.requests.push(OpenRequest {
                id: *request,
                turn: frame.turn,
                item: frame.item,
                body: body.clone(),
                digest: digest.clone(),
            }),
            Event::RequestClosed { request, .. } => self.requests.retain(|r| r.id != *request),
            Event::Marker(Marker::Grant { grant }) => {
                self.grants.push(grant.clone());
                self.policy += 1;
            }
            Event::Marker(Marker::Revoke {}) => self.revoke(),
            Event::Marker(Marker::Attest { attestation }) => self.attested(attestation),
            Event::Marker(Marker::Key { keyed }) => self.keyed(frame.turn, Some(keyed)),
            Event::Marker(Marker::Fork { parent, at }) => {
                // What the log itself has said of it is not counted again: the fold of who made the
                // fork is the fold of who reads it.
                if !self.is_fork_of(*parent) {
                    let session = *parent;
                    self.forked(ForkPoint { session, at: *at });
                }
                self.unmarked_fork = None;
            }
            Event::Marker(Marker::Clear {}) => self.turn_at(cursor, Vec::new()),
            Event::Marker(Marker::Rewind { kept, .. }) => self.turn_at(cursor, kept.clone()),
            Event::Marker(Marker::Checkpoint { version, standing }) => {
                self.take_up(*version, standing, frame.session);
            }
            Event::Marker(Marker::Native { name, value }) => {
                self.native.insert(name.clone(), value.clone());
            }
            Event::Marker(
                Marker::ContextUnverifiable { .. }
                | Marker::Original { .. }
                | Marker::HandedOver { .. },
            )
            | Event::SessionClosed {}
            | Event::ItemContent { .. }
            | Event::ItemDelta { .. }
            | Event::Usage(_)
            | Event::Notice { .. }
            | Event::Damage { .. }
            | Event::Extension { .. }
            | Event::Unknown(_) => {}
        }
    }

    fn queued(&mut self, frame: &EventFrame, input: &[Content], place: Place) {
        let Some(id) = frame.turn else { return };
        let at = match place {
            Place::Last => self.waiting.len(),
            Place::First => 0,
        };
        let (cause, input) = (frame.cause.clone(), input.to_vec());
        self.waiting.insert(
            at,
            WaitingTurn {
                id,
                cause,
                input,
                place,
                is_item: false,
            },
        );
    }

    fn item_ended(&mut self, item: Option<ItemId>) {
        self.open.retain(|open| Some(open.id) != item);
        let is_prompt = |turn: &WaitingTurn| Some(prompt_item(turn.id)) == item;
        if let Some(waiting) = self.waiting.iter_mut().find(|turn| is_prompt(turn)) {
            waiting.is_item = true;
        }
        self.begun = self.begun.take().filter(|turn| !is_prompt(turn));
    }

    fn keyed(&mut self, turn: Option<TurnId>, keyed: Option<&Keyed>) {
        if let (Some(turn), Some(keyed)) = (turn, keyed.cloned()) {
            self.keys.push(KeyedTurn { keyed, turn });
            let known = self.keys.len().saturating_sub(limits::IDEMPOTENCY_KEYS);
            self.keys.drain(..known);
        }
    }

    fn opened(&mut self, header: &SessionOpened, session: SessionId, cursor: Cursor) {
        self.mode.clone_from(&header.mode);
        self.roots.clone_from(&header.roots);
        // A fork shares the header of its parent, and is not that one.
        let id = session;
        self.header = Some(SessionOpened {
            id,
            ..header.clone()
        });
        self.turn_at(cursor, Vec::new());
    }

    /// What is in force begins anew here, after what was kept. The agent's own record of the
    /// conversation holds what was left behind, and is used no more.
    fn turn_at(&mut self, cursor: Cursor, kept: Vec<Stretch>) {
        self.native.clear();
        self.base = cursor;
        self.compaction = None;
        self.kept = kept;
        self.bookmark = cursor;
    }

    /// An item came from a client, without a turn: the agent's own record does not know it.
    fn appended(&mut self, cursor: Cursor) {
        self.native.clear();
        self.bookmark = cursor;
    }

    /// Which events are the conversation in force.
    #[must_use]
    pub fn in_force(&self) -> InForce {
        InForce::new(self.kept.clone(), self.base)
    }

    /// What a turn begins after: the header, clear, rewind or compaction in force.
    #[must_use]
    pub fn begins_after(&self) -> Cursor {
        self.compaction.unwrap_or(self.base)
    }

    /// Whether a compaction would have nothing to sum up but an earlier one (CTX-1).
    #[must_use]
    pub fn is_compact(&self) -> bool {
        let nothing_since = |compaction| self.said < compaction;
        self.compaction
            .map_or_else(|| self.is_blank(), nothing_since)
    }

    /// Whether nothing was said in the conversation in force: it was cleared, or rewound to its
    /// beginning.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        let is_mark = |kept: &Stretch| kept.from == kept.to;
        self.said < self.base && self.kept.iter().all(is_mark)
    }

    /// Takes in what the log itself knows of where it comes from. A fork whose process died before
    /// it could say so in a record has no more of its parent's rights than any other.
    pub fn comes_from(&mut self, point: ForkPoint) {
        if !self.is_fork_of(point.session) {
            self.forked(point.clone());
            self.unmarked_fork = Some(point);
        }
    }

    fn is_fork_of(&self, session: SessionId) -> bool {
        let parent = self.header.as_ref().and_then(|h| h.parent.as_ref());
        parent.is_some_and(|parent| parent.session == session)
    }

    /// History is content, not authority: what the parent's user allowed, the mode the parent had
    /// come to, and what was submitted to it stay the parent's (RESUME-8, RESUME-9, RESUME-18).
    fn forked(&mut self, point: ForkPoint) {
        self.grants.clear();
        self.keys.clear();
        self.native.clear();
        self.used = None;
        self.policy += 1;
        self.surroundings = None;
        self.last_run = None;
        if let Some(header) = &mut self.header {
            header.start = Start::Forked;
            header.parent = Some(point);
            self.mode.clone_from(&header.mode);
        }
    }

    /// Forgets what was allowed for good, and keeps what was refused.
    pub fn revoke(&mut self) {
        self.grants
            .retain(|grant| grant.effect == GrantEffect::Deny);
        self.policy += 1;
    }

    fn attested(&mut self, attestation: &Attestation) {
        self.surroundings = Some(attestation.surroundings.clone());
        self.last_run = Some(LastRun {
            version: attestation.agent.version.clone(),
            mode: attestation.mode.clone(),
            policy: Some(attestation.policy),
        });
    }

    fn changed(&mut self, change: &SessionChanged) {
        if change.title.is_some() {
            self.title.clone_from(&change.title);
            self.titled_by = change.titled_by;
        }
        if let (Some(cwd), Some(header)) = (&change.cwd, &mut self.header) {
            header.cwd.clone_from(cwd);
            // What is there is for the next resume to find out.
            header.workspace = Workspace::default();
            self.surroundings = None;
        }
        if change.mode.is_some() {
            self.mode.clone_from(&change.mode);
            self.policy += 1;
        }
        if let Some(roots) = &change.roots {
            self.roots.clone_from(roots);
        }
        if change.instructions.is_some() {
            self.instructions.clone_from(&change.instructions);
        }
        if let Some(options) = &change.options {
            self.options = options.iter().map(AgentOption::setting).collect();
        }
    }

    fn begin(&mut self, frame: &EventFrame, item: Item) {
        if let Some(id) = frame.item {
            self.open.push(OpenItem {
                id,
                turn: frame.turn,
                item,
                output: String::new(),
            });
        }
    }

    fn partial(&mut self, frame: &EventFrame, kind: ItemKind, more: &str) {
        match self.open_mut(frame.item) {
            Some(open) => match &mut open.item {
                Item::AgentMessage { text, .. } | Item::Thought { text, .. } => text.push_str(more),
                Item::ToolCall(_) => open.output.push_str(more),
                Item::UserMessage { .. } | Item::Plan { .. } | Item::Compaction(_) => {}
            },
            None => {
                let (text, finish) = (more.to_owned(), Finish::Interrupted);
                self.begin(
                    frame,
                    match kind {
                        ItemKind::Thought => Item::Thought { text, finish },
                        _ => Item::AgentMessage { text, finish },
                    },
                );
            }
        }
    }

    fn open_mut(&mut self, id: Option<ItemId>) -> Option<&mut OpenItem> {
        self.open.iter_mut().find(|open| Some(open.id) == id)
    }

    /// Forgets what is open: [`Standing::closings`] speaks for it from now on.
    pub fn let_go(&mut self) {
        self.active = None;
        self.begun = None;
        self.waiting.clear();
        self.open.clear();
        self.requests.clear();
        self.unmarked_fork = None;
    }

    /// What was decided for good about a tool and what it touches; the newest grant wins.
    pub fn granted(&self, tool: &str, pattern: &str) -> Option<GrantEffect> {
        let fits = |grant: &&Grant| grant.tool == tool && grant.pattern == pattern;
        self.grants
            .iter()
            .rev()
            .find(fits)
            .map(|grant| grant.effect)
    }
}

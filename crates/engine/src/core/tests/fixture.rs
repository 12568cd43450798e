//! A session for the core: its id, its agent, its header, and ids that count.

use std::sync::LazyLock;

use sessiond_log::Store;
use sessiond_protocol::{
    AgentId, AgentInfo, ItemId, Mode, ModePolicy, RequestId, SessionId, SessionOpened, Start,
    TurnId, Workspace,
};
use uuid::Uuid;

use crate::core::{Digests, Mint};

/// The keys of a store for digests.
static DIGESTS: LazyLock<Digests> =
    LazyLock::new(|| Digests::read(&Store::in_memory(), &[]).unwrap());

pub(super) fn digests() -> Digests {
    DIGESTS.clone()
}

/// Mints ids in order.
pub(super) struct Counter(pub(super) u128);

impl Counter {
    fn next(&mut self) -> Uuid {
        self.0 += 1;
        Uuid::from_u128(self.0)
    }
}

impl Mint for Counter {
    fn turn(&mut self) -> TurnId {
        TurnId::new(self.next())
    }

    fn item(&mut self) -> ItemId {
        ItemId::new(self.next())
    }

    fn request(&mut self) -> RequestId {
        RequestId::new(self.next())
    }
}

pub(super) fn session() -> SessionId {
    SessionId::new(Uuid::from_u128(0xffff))
}

pub(super) fn info() -> AgentInfo {
    let mode = |id: &str, policy| Mode {
        id: id.into(),
        name: id.into(),
        description: String::new(),
        policy,
    };
    AgentInfo {
        id: AgentId {
            name: "bench".into(),
            version: None,
        },
        modes: vec![
            mode("ask", ModePolicy::Ask),
            mode("auto", ModePolicy::Allow),
            mode("read-only", ModePolicy::Deny),
            mode("careful", ModePolicy::Ask),
        ],
        options: Vec::new(),
        commands: Vec::new(),
    }
}

pub(super) fn header() -> SessionOpened {
    SessionOpened {
        start: Start::New,
        id: session(),
        format: 1,
        program: "bench".into(),
        source: "bench".into(),
        cwd: "/w".into(),
        roots: Vec::new(),
        agent: info().id,
        model: None,
        instructions: None,
        mode: Some("ask".into()),
        principal: None,
        host: None,
        workspace: Workspace::default(),
        parent: None,
    }
}

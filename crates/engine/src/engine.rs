//! The engine: connections in front, one actor a session behind.

mod connection;
mod forking;
mod importer;
mod importing;
mod lending;
mod opening;
mod shelf;

use std::{
    collections::HashMap,
    fmt,
    io::{self, BufRead},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use sessiond_index::Index;
use sessiond_log::{Owner, Store};
use sessiond_protocol::{McpServer, PersistenceState, SessionId, Setup, Workspace};
use sessiond_wire::{Connection, pair};
use tokio::sync::{mpsc, watch};

use connection::Reach;
pub use importer::{Foreign, Importer, Keeper, PIECE_BYTES};

use crate::{
    actor::{Command, DRAIN},
    agent::{AgentFactory, Endpoint},
    catalog::subject,
    core::ConnId,
};

/// Commands that may wait for one session's actor. It takes each at once, but while it replays to
/// a slow reader; a client that sends more than this meanwhile is answered `queue_full`.
const INBOX: usize = 64;

/// How long a process that ends waits for the index to take in its last notes.
const INDEX_FLUSH: Duration = Duration::from_millis(100);

/// What the engine must know of the world around it. The engine itself opens no file of the user.
pub trait Environment: Send + Sync + 'static {
    /// What is at a working directory: canonical root, repository, worktree, branch.
    fn workspace(&self, cwd: &Path) -> Workspace;

    /// Whose sessions these are; none where nobody in particular.
    fn principal(&self) -> Option<String>;

    /// A file of the user, to be read as an export of a session.
    ///
    /// # Errors
    /// Of the system; `Unsupported` where no files are read.
    fn export_file(&self, _path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// What an engine is made of.
pub struct EngineConfig {
    /// Where sessions are kept.
    pub store: Store,
    /// Whether that outlives the process (LOG-16).
    pub persistence: PersistenceState,
    /// The agents by configured name.
    pub agents: HashMap<String, Arc<dyn AgentFactory>>,
    /// The one that is meant where none is named.
    pub default_agent: String,
    /// Which face the sessions made here come from: acp, exec …
    pub source: String,
    /// The world around.
    pub environment: Arc<dyn Environment>,
}

/// Sessions, live. Cheap to clone. Must be used inside a tokio runtime.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    config: EngineConfig,
    index: Index,
    sessions: Mutex<HashMap<SessionId, mpsc::Sender<Command>>>,
    /// How many sessions are open; [`Engine::drain`] waits for none.
    open: watch::Sender<usize>,
    connections: AtomicU64,
    /// Whether a client asked the process to end.
    ending: watch::Sender<bool>,
    /// Where other processes reach the sessions that are open here.
    endpoint: OnceLock<String>,
    /// How agents reach servers that live in clients of this process.
    lent_by: OnceLock<Endpoint>,
    /// What those offer, by session and name: asked for while a session is being opened, too.
    lent: Mutex<HashMap<SessionId, Lent>>,
}

/// The tools of the servers that live in a session's client, by the servers' names.
type Lent = HashMap<String, Vec<Value>>;

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("open", &*self.inner.open.borrow())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for EngineConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineConfig")
            .field("default_agent", &self.default_agent)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// Some sessions had not ended in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{open} sessions had not ended in time; what was acknowledged is stored")]
pub struct DrainTimeout {
    /// How many.
    pub open: usize,
}

impl Engine {
    /// An engine without sessions.
    pub fn new(config: EngineConfig) -> Self {
        let (open, _) = watch::channel(0);
        let (sessions, connections) = (Mutex::default(), AtomicU64::new(0));
        Self {
            inner: Arc::new(Inner {
                index: Index::open(&config.store),
                config,
                sessions,
                open,
                connections,
                ending: watch::Sender::new(false),
                endpoint: OnceLock::new(),
                lent_by: OnceLock::new(),
                lent: Mutex::default(),
            }),
        }
    }

    /// From now on the leases of this engine say that their holder takes clients at `endpoint`, the
    /// path of a Unix socket. Said once; a second time changes nothing.
    pub fn answers_at(&self, endpoint: impl Into<String>) {
        let _said_before = self.inner.endpoint.set(endpoint.into());
    }

    /// From now on agents that connect MCP servers themselves reach those that live in clients
    /// through `endpoint`. Said once; a second time changes nothing.
    pub fn lends_by(&self, endpoint: Endpoint) {
        let _said_before = self.inner.lent_by.set(endpoint);
    }

    /// Where another process of this machine takes clients of a session that it holds. Looks into
    /// the store, which blocks for a moment; none also where that cannot be told.
    #[must_use]
    pub fn endpoint_of(&self, session: SessionId) -> Option<PathBuf> {
        let holder = self.inner.config.store.holder(&subject(session).ok()?);
        let (holder, own) = (holder.ok()??.owner, Owner::current());
        let is_near = holder.host == own.host && holder.boot_id == own.boot_id;
        let endpoint = holder.endpoint.filter(|_| is_near && holder.pid != own.pid);
        endpoint.map(PathBuf::from)
    }

    /// A new client's end of the waist. Dropping it is the client's going.
    pub fn connect(&self) -> Connection {
        self.connection(Reach::User)
    }

    /// The same for a client that came over a network: of sessions of all workspaces it is told the
    /// number only, until it names one, and no file of this machine is read for it (SEC-4).
    pub fn connect_remote(&self) -> Connection {
        self.connection(Reach::Network)
    }

    fn connection(&self, reach: Reach) -> Connection {
        let (client, server) = pair();
        let conn = ConnId(self.inner.connections.fetch_add(1, Ordering::Relaxed));
        tokio::spawn(connection::serve(self.inner.clone(), (conn, reach), server));
        client
    }

    /// Waits until a client asks the process to end (`shutdown`). What follows is the process's.
    pub async fn asked_to_end(&self) {
        let mut ending = self.inner.ending.subscribe();
        // Its other end is part of this engine.
        let _asked = ending.wait_for(|asked| *asked).await;
    }

    /// Waits until no session is open any more, however long their turns take.
    pub async fn idle(&self) {
        let mut open = self.inner.open.subscribe();
        // Its other end is part of this engine.
        let _open = open.wait_for(|open| *open == 0).await;
    }

    /// Waits until no session is open any more, at most [`Engine::DRAIN`]. Sessions end by
    /// themselves once their clients are gone.
    ///
    /// # Errors
    /// [`DrainTimeout`] when some are still open; nothing acknowledged is lost by leaving then.
    pub async fn drain(&self) -> Result<(), DrainTimeout> {
        let mut open = self.inner.open.subscribe();
        let empty = tokio::time::timeout(Self::DRAIN, open.wait_for(|open| *open == 0)).await;
        match empty {
            Ok(_) => {
                // So that the next list need not read what was noted. Late notes are no loss.
                let index = self.inner.index.clone();
                let flushed = tokio::task::spawn_blocking(move || index.flush());
                let _late = tokio::time::timeout(INDEX_FLUSH, flushed).await;
                Ok(())
            }
            Err(_) => Err(DrainTimeout {
                open: *self.inner.open.borrow(),
            }),
        }
    }

    /// How long [`Engine::drain`] waits: a client that closed its side waits two seconds.
    pub const DRAIN: Duration = DRAIN;
}

impl Inner {
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, mpsc::Sender<Command>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lent(&self) -> MutexGuard<'_, HashMap<SessionId, Lent>> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of the servers of a client, before an agent is told of them.
    fn lend(&self, session: SessionId, setup: Option<&Setup>) {
        let servers = setup.into_iter().flat_map(|setup| &setup.mcp_servers);
        let lent = servers.filter_map(|server| match server {
            McpServer::Client { name, tools } => Some((name.clone(), tools.clone())),
            _ => None,
        });
        let lent: Lent = lent.collect();
        if !lent.is_empty() {
            self.lent().insert(session, lent);
        }
    }

    /// This process, as its leases name it.
    fn owner(&self) -> Owner {
        let owner = Owner::current();
        match self.endpoint.get() {
            Some(endpoint) => owner.at_endpoint(endpoint),
            None => owner,
        }
    }

    fn agent(&self, name: &str) -> Option<Arc<dyn AgentFactory>> {
        self.config.agents.get(name).cloned()
    }
}

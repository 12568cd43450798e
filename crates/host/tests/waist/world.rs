//! A store, and engines over it as if each were a process of its own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sessiond_engine::{AgentFactory, Engine, EngineConfig, Environment};
use sessiond_host::{Holders, Place};
use sessiond_log::Store;
use sessiond_protocol::{PersistenceState, SessionId, Workspace};
use sessiond_script::ScriptAgent;
use sessiond_wire::process::SupervisorExe;

struct Nowhere;

impl Environment for Nowhere {
    fn workspace(&self, _cwd: &Path) -> Workspace {
        Workspace::default()
    }

    fn principal(&self) -> Option<String> {
        None
    }
}

/// A store on the real disk with its sockets.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("store")).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn place(&self) -> Place {
        Place::of(&self.path("store"), Some(self.folder.path())).unwrap()
    }

    pub(crate) fn engine(&self) -> Engine {
        let agent: Arc<dyn AgentFactory> = Arc::new(ScriptAgent::new(SupervisorExe::default()));
        Engine::new(EngineConfig {
            store: Store::open_real(&self.path("store")).unwrap(),
            persistence: PersistenceState::On,
            agents: HashMap::from([("script".to_owned(), agent)]),
            default_agent: "script".to_owned(),
            source: "test".to_owned(),
            environment: Arc::new(Nowhere),
        })
    }
}

/// Every session that is not here is there.
pub(crate) struct Always(pub(crate) PathBuf);

impl Holders for Always {
    fn endpoint(&self, _session: SessionId) -> Option<PathBuf> {
        Some(self.0.clone())
    }
}

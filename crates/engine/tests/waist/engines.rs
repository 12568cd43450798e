//! Engines over a store, with an agent, in a world.

use std::{collections::HashMap, path::Path, sync::Arc};

use sessiond_engine::{AgentFactory, Engine, EngineConfig, Environment};
use sessiond_log::Store;
use sessiond_protocol::{PersistenceState, Workspace};

use crate::harness::Obedient;

/// A world without anything in it.
pub(crate) struct Nowhere;

impl Environment for Nowhere {
    fn workspace(&self, _cwd: &Path) -> Workspace {
        Workspace::default()
    }

    fn principal(&self) -> Option<String> {
        None
    }
}

/// An engine over a store, with the obedient agent.
pub(crate) fn engine(store: Store) -> Engine {
    engine_in(store, Arc::new(Nowhere))
}

/// The same in a world of one's own.
pub(crate) fn engine_in(store: Store, environment: Arc<dyn Environment>) -> Engine {
    engine_with(store, Arc::new(Obedient), environment)
}

/// An engine with an agent of one's own.
pub(crate) fn engine_with(
    store: Store,
    agent: Arc<dyn AgentFactory>,
    environment: Arc<dyn Environment>,
) -> Engine {
    let name = agent.info().id.name;
    Engine::new(EngineConfig {
        store,
        persistence: PersistenceState::On,
        agents: HashMap::from([(name.clone(), agent)]),
        default_agent: name,
        source: "test".into(),
        environment,
    })
}

//! What a command works with: the store, the configuration, the engine and its runtime.

use std::collections::HashMap;
use std::fs::File;
use std::future::Future;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sessiond_acp::AcpAgent;
use sessiond_claude::agent::ClaudeAgent;
use sessiond_codex::agent::CodexAgent;
use sessiond_engine::{AgentFactory, Engine, EngineConfig, Environment};
use sessiond_log::Store;
use sessiond_log::fs::{FsKind, filesystem};
use sessiond_protocol::{DriftClass, PersistenceState, Workspace};
use sessiond_script::ScriptAgent;
use sessiond_wire::process::{AgentCommand, SupervisorExe};

use crate::access::Home;
use crate::args::{Common, Hosting};
use crate::config::{AgentConfig, AgentKind, BUILT_IN, Config};
use crate::configured_agent::ConfiguredAgent;
use crate::failure::Failure;
use crate::output::say;
use crate::store_path::store_path;
use crate::workspace::workspace;

/// The choices of the command line, the environment and the configuration, resolved.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    store: PathBuf,
    config: Config,
    config_file: Option<PathBuf>,
    agent: Option<String>,
    accept: Vec<DriftClass>,
}

impl Setup {
    /// Resolves the choices. Nothing is opened or made but the configuration read.
    pub(crate) fn load(common: &Common) -> Result<Setup, Failure> {
        Ok(Setup {
            store: store_path(common.store.as_deref())?,
            config: Config::load(common.config())?,
            config_file: common.config().map(absolute).transpose()?,
            agent: common.agent.clone().filter(|name| !name.is_empty()),
            accept: common.accept.clone().unwrap_or_default().0,
        })
    }

    /// The same choices for another store.
    pub(crate) fn with_store(&self, store: PathBuf) -> Setup {
        Setup {
            store,
            ..self.clone()
        }
    }

    /// Where the store is.
    pub(crate) fn store(&self) -> &Path {
        &self.store
    }

    /// The configuration.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// The configuration file, where one was named.
    pub(crate) fn config_file(&self) -> Option<&Path> {
        self.config_file.as_deref()
    }

    /// Where the sessions of a face live: in the host when the command line, the environment or
    /// the configuration says so.
    pub(crate) fn home(&self, hosting: Hosting) -> Home {
        if hosting.host || self.config.is_hosting() {
            return Home::Host;
        }
        Home::Here
    }

    /// What the user accepts of what has changed since a session was recorded (RESUME-16).
    pub(crate) fn accept(&self) -> Vec<DriftClass> {
        self.accept.clone()
    }

    /// The agent for new sessions.
    pub(crate) fn default_agent(&self) -> Result<String, Failure> {
        self.config.default_agent(self.agent.as_deref())
    }

    /// This process's directory, as a session records it.
    pub(crate) fn cwd(&self) -> Result<String, Failure> {
        let cwd = std::env::current_dir().map_err(Failure::os("find the current directory"))?;
        cwd.into_os_string()
            .into_string()
            .map_err(|_| Failure::Usage("the current directory's name is not UTF-8".to_owned()))
    }

    /// An engine over the store; `source` is the face that sessions made by it record. Inside a
    /// runtime only.
    pub(crate) fn engine(&self, source: &str) -> Result<Engine, Failure> {
        if let Some(warning) = network_warning(&filesystem(&self.store)) {
            say(warning);
        }
        let store =
            Store::open_real(&self.store).map_err(|error| Failure::Store(error.to_string()))?;
        self.engine_over((store, self.config.persistence()), source)
    }

    /// An engine whose sessions are stored nowhere: they end with it, as asked (LOG-16).
    pub(crate) fn engine_in_memory(&self, source: &str) -> Result<Engine, Failure> {
        self.engine_over((Store::in_memory(), PersistenceState::Off), source)
    }

    fn engine_over(
        &self,
        (store, persistence): (Store, PersistenceState),
        source: &str,
    ) -> Result<Engine, Failure> {
        let agents = self.config.agents().into_iter();
        let agents: HashMap<_, _> = agents
            .map(|(name, agent)| (name.clone(), agent_of(name, agent)))
            .collect();
        Ok(Engine::new(EngineConfig {
            store,
            persistence,
            agents,
            default_agent: self.default_agent()?,
            source: source.to_owned(),
            environment: Arc::new(World),
        }))
    }
}

/// The path as another process finds it.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(Failure::os("find the configuration file"))
}

/// What is said of a store whose locks and syncs another machine decides about (LOG-7). It is used
/// all the same: the user may know that server better than we do.
fn network_warning(kind: &std::io::Result<FsKind>) -> Option<&'static str> {
    matches!(kind, Ok(FsKind::Network)).then_some(
        "the store is on a network file system: whether locks exclude and syncs last is up to its \
         server; keep it on a local disk (--store, $SESSIOND_HOME)",
    )
}

/// An agent of that name.
fn agent_of(name: String, config: AgentConfig) -> Arc<dyn AgentFactory> {
    let mut words = config.command().into_iter();
    let Some(program) = words.next() else {
        return script_agent(name);
    };
    let command = AgentCommand {
        name,
        program,
        args: words.collect(),
        env: config.env.into_iter().collect(),
        supervisor: SupervisorExe::default(),
    };
    match config.kind {
        AgentKind::Acp => Arc::new(AcpAgent::new(command)),
        AgentKind::Claude => Arc::new(ClaudeAgent::new(command)),
        AgentKind::Codex => Arc::new(CodexAgent::new(command)),
        AgentKind::Script => script_agent(command.name),
    }
}

/// A script agent of that name.
fn script_agent(name: String) -> Arc<dyn AgentFactory> {
    let script = ScriptAgent::new(SupervisorExe::default());
    if name == BUILT_IN {
        return Arc::new(script);
    }
    Arc::new(ConfiguredAgent::new(name, script))
}

/// The machine and user that this process belongs to.
struct World;

impl Environment for World {
    fn workspace(&self, cwd: &Path) -> Workspace {
        workspace(cwd)
    }

    fn principal(&self) -> Option<String> {
        Some(format!("uid:{}", rustix::process::geteuid().as_raw()))
    }

    fn export_file(&self, path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
        // Anything else may never come to an end.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Box::new(BufReader::new(File::open(path)?)))
    }
}

/// Waits for the sessions of an engine whose clients have gone. Leaving too early loses nothing
/// that was acknowledged, so lateness is worth a line and no more.
pub(crate) async fn drain(engine: &Engine) {
    if let Err(late) = engine.drain().await {
        say(&late.to_string());
    }
}

/// Runs a command's asynchronous part on this thread alone: one client needs no more, and threads
/// cost start-up time. Whatever still blocks a helper thread at the end is left behind.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::os("start the runtime"))?;
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    result
}

#[cfg(test)]
mod tests;

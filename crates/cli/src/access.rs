//! A face's way to sessions: an engine in this process, or the host.

use std::path::{Path, PathBuf};

use sessiond_engine::{Endpoint, Engine};
use sessiond_host::{Doorway, HostError, Place, listen, reach, relay, route};
use sessiond_mcp::endpoint::COMMAND;
use sessiond_protocol::OnDisconnect;
use sessiond_wire::Connection;
use tokio::process::Command;

use crate::failure::Failure;
use crate::output::say;
use crate::setup::{Setup, drain};

/// Where the sessions of a face live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// In this process: they end with it.
    Here,
    /// In the host: they go on without this process.
    Host,
    /// In this process, and nowhere else: they are not stored.
    Memory,
}

/// Opens a face's way to its sessions: its end of the waist, and the engine that must be drained
/// once that is dropped, if it is in this process. `source` is the face that sessions made here
/// record. Inside a runtime only.
pub(crate) async fn open(
    setup: &Setup,
    home: Home,
    source: &str,
) -> Result<(Connection, Local), Failure> {
    match home {
        Home::Here => {
            let engine = setup.engine(source)?;
            let doorway = doorway(setup, &engine);
            let connection = route(engine.connect(), engine.clone());
            Ok((connection, Local(Some((engine, doorway)))))
        }
        Home::Memory => {
            let engine = setup.engine_in_memory(source)?;
            let doorway = doorway(setup, &engine);
            let connection = route(engine.connect(), engine.clone());
            Ok((connection, Local(Some((engine, doorway)))))
        }
        Home::Host => {
            let stream = reach(&place(setup)?, command(setup)?).await?;
            Ok((relay(stream), Local(None)))
        }
    }
}

/// The engine of this process, where sessions live in it.
pub(crate) struct Local(Option<(Engine, Option<Doorway>)>);

impl Local {
    /// The engine.
    pub(crate) fn engine(&self) -> Option<&Engine> {
        self.0.as_ref().map(|(engine, _)| engine)
    }

    /// Waits until a client asks this process to end. A host is another one.
    pub(crate) async fn asked_to_end(&self) {
        match self.engine() {
            Some(engine) => engine.asked_to_end().await,
            None => std::future::pending().await,
        }
    }

    /// Waits for the sessions of this process whose clients have gone. With a host there is nothing
    /// to wait for.
    pub(crate) async fn end(self) {
        if let Some((engine, doorway)) = self.0 {
            // Whoever looks on from another process would keep its session open; whoever comes now is
            // too late, and finds the lease free in a moment.
            drop(doorway);
            drain(&engine).await;
        }
    }
}

/// What becomes of a running turn when the client of a face goes (contract.md, the table of faces).
pub(crate) fn on_disconnect(home: Home) -> OnDisconnect {
    match home {
        Home::Here | Home::Memory => OnDisconnect::Cancel,
        Home::Host => OnDisconnect::Detach,
    }
}

/// The sockets of the store.
pub(crate) fn place(setup: &Setup) -> Result<Place, HostError> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty());
    let runtime = runtime.map(PathBuf::from);
    Place::of(
        setup.store(),
        runtime.as_deref().filter(|dir| is_usable(dir)),
    )
}

/// A directory that is named and is not there, as in a container, is as good as none.
fn is_usable(dir: &Path) -> bool {
    dir.is_absolute() && dir.is_dir()
}

/// Takes other clients of the sessions that are here. Without a socket the sessions work as well;
/// only nobody else can come to them.
fn doorway(setup: &Setup, engine: &Engine) -> Option<Doorway> {
    let waist = engine.clone();
    let opened = place(setup).and_then(|place| listen(&place.own(), move || waist.connect()));
    match opened {
        Ok(doorway) => {
            engine.answers_at(doorway.path().display().to_string());
            lend(engine, doorway.path());
            Some(doorway)
        }
        Err(error) => {
            tracing::warn!(
                code = error.code(),
                "no other process can reach the sessions here"
            );
            say(&format!(
                "other processes cannot reach these sessions: {error}"
            ));
            None
        }
    }
}

/// Agents reach servers that live in clients of this process through its socket.
pub(crate) fn lend(engine: &Engine, socket: &Path) {
    let program = std::env::current_exe().map(|program| program.with_file_name("sessiond"));
    let Ok(Ok(program)) = program.map(|program| program.into_os_string().into_string()) else {
        tracing::warn!("this program has no name that an agent could be given");
        return;
    };
    engine.lends_by(Endpoint {
        program,
        command: COMMAND.to_owned(),
        socket: socket.display().to_string(),
    });
}

/// `sessiond host` with the choices of this process: the same program, store and configuration.
fn command(setup: &Setup) -> Result<Command, Failure> {
    let program = std::env::current_exe().map_err(Failure::os("find this program"))?;
    // A program of another protocol's name lies beside it.
    let program = program.with_file_name("sessiond");
    let mut command = Command::new(program);
    command.arg("host").arg("--store").arg(setup.store());
    if let Some(config) = setup.config_file() {
        command.arg("--config").arg(config);
    }
    // It outlives the directory this one was started in.
    command.current_dir("/");
    Ok(command)
}

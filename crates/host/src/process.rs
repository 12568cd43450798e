//! The host process: sessions that outlive their clients (SQEQ-7).

use std::fs::{File, OpenOptions};
use std::future::Future;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use sessiond_engine::Engine;

use crate::doorway::{Doorway, listen};
use crate::error::{HostError, doing};
use crate::place::Place;
use crate::router::route;
use crate::web::{Secret, Web};

/// How long a host without clients and without open sessions waits for the next one.
pub const IDLE: Duration = Duration::from_secs(60 * 60);

/// The right to be the host of a store, and its socket.
#[derive(Debug)]
pub struct Host {
    doorway: Doorway,
    engine: Engine,
    /// Held for life; the kernel frees it when the process dies.
    _lock: File,
}

impl Host {
    /// Becomes the host of the store whose sockets are at `place`, with the sessions of `engine`.
    ///
    /// # Errors
    /// [`HostError::Running`] when there is one; [`HostError::Io`].
    pub fn open(place: &Place, engine: Engine) -> Result<Self, HostError> {
        let lock = lock(place)?;
        let waist = engine.clone();
        let doorway = listen(&place.host(), move || route(waist.connect(), waist.clone()))?;
        Ok(Self {
            doorway,
            engine,
            _lock: lock,
        })
    }

    /// Takes clients at a WebSocket, too. They count as clients only while a session is open.
    ///
    /// # Errors
    /// As [`Web::listen`].
    pub async fn listen(
        &self,
        address: SocketAddr,
        who: (Secret, Vec<String>),
    ) -> std::io::Result<Web> {
        let waist = self.engine.clone();
        Web::listen(address, who, move || {
            route(waist.connect_remote(), waist.clone())
        })
        .await
    }

    /// Serves until `stop` is ready, or nobody was there and nothing was open for `idle`.
    pub async fn serve(&self, stop: impl Future<Output = ()>, idle: Duration) {
        tokio::select! {
            () = stop => {}
            () = self.engine.asked_to_end() => tracing::info!("a client asked the host to end"),
            () = self.unused(idle) => tracing::info!("idle for long enough"),
        }
    }

    async fn unused(&self, idle: Duration) {
        let mut clients = self.doorway.clients();
        loop {
            // The sender lives as long as the doorway.
            let _ = clients.wait_for(|count| *count == 0).await.map(drop);
            self.engine.idle().await;
            tokio::select! {
                // Whoever comes may open something; then the wait begins anew.
                _ = clients.changed() => {}
                () = tokio::time::sleep(idle) => {
                    if *clients.borrow() == 0 {
                        return;
                    }
                }
            }
        }
    }
}

fn lock(place: &Place) -> Result<File, HostError> {
    let path = place.host_lock();
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600);
    let file = options.open(&path).map_err(doing("open", &path))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(HostError::Running),
        Err(error) => Err(doing("lock", &path)(error.into())),
    }
}

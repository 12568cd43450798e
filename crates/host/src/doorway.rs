//! Where a process takes other clients of its sessions.

use std::fs::remove_file;
use std::future::Future;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sessiond_sqeq::serve;
use sessiond_wire::socket::{check_peer, spawn_frames, spawn_lines};
use sessiond_wire::{Connection, DEFAULT_LINE_LIMIT, OutQueue};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::error::{HostError, doing};

/// Clients of a process at one time: each may have a reader's buffer of a line (WIRE-4, SEC-3).
const CLIENTS: usize = 1024;

/// After an accept that failed (no descriptors left, mostly) it is tried again this much later.
const PAUSE: Duration = Duration::from_millis(100);

/// A socket that is listened on; its name goes with it, and its connections end.
#[derive(Debug)]
pub struct Doorway {
    path: PathBuf,
    clients: watch::Receiver<usize>,
    task: tokio::task::JoinHandle<()>,
}

impl Doorway {
    /// The name of the socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many clients there are, as it changes.
    #[must_use]
    pub fn clients(&self) -> watch::Receiver<usize> {
        self.clients.clone()
    }
}

impl Drop for Doorway {
    fn drop(&mut self) {
        self.task.abort();
        // It may have been replaced by then; whoever did that had the lock.
        let _gone = remove_file(&self.path);
    }
}

/// Takes clients at `path` from now on, each with a connection that `connect` makes. A name that is
/// left over from a dead process is removed first: only who may own the name calls this.
///
/// # Errors
/// [`HostError::Io`].
pub fn listen<C>(path: &Path, connect: C) -> Result<Doorway, HostError>
where
    C: Fn() -> Connection + Send + Sync + 'static,
{
    match remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(doing("remove", path)(error));
        }
        _ => {}
    }
    let listener = UnixListener::bind(path).map_err(doing("listen on", path))?;
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(path, private).map_err(doing("protect", path))?;
    let (count, clients) = watch::channel(0);
    let task = tokio::spawn(accept(listener, Arc::new(connect), count));
    Ok(Doorway {
        path: path.to_owned(),
        clients,
        task,
    })
}

async fn accept<C>(listener: UnixListener, connect: Arc<C>, count: watch::Sender<usize>)
where
    C: Fn() -> Connection + Send + Sync + 'static,
{
    let count = Arc::new(count);
    // They go with this task: whoever closes the door ends the connections.
    let mut clients = JoinSet::new();
    let mut refused = 0_u64;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_gone) = clients.join_next() => continue,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(kind = ?error.kind(), "a client could not be taken");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        if let Err(error) = check_peer(&stream) {
            tracing::warn!(kind = ?error.kind(), "a client was refused");
            continue;
        }
        if *count.borrow() >= CLIENTS {
            refused += 1;
            tracing::warn!(refused, "a client was refused: there are too many");
            continue;
        }
        count.send_modify(|count| *count += 1);
        let client = one(stream, connect());
        let count = Arc::clone(&count);
        clients.spawn(async move {
            client.await;
            count.send_modify(|count| *count -= 1);
        });
    }
}

fn one(stream: UnixStream, waist: Connection) -> impl Future<Output = ()> {
    let (input, output) = stream.into_split();
    let lines = spawn_lines(input, DEFAULT_LINE_LIMIT);
    let out = OutQueue::new();
    let writer = spawn_frames(output, out.clone());
    async move {
        if let Err(error) = serve(lines, out.clone(), waist).await {
            tracing::info!(code = error.code(), "a client's connection ended");
        }
        out.close();
        // A writer that broke down has abandoned the queue; there is nothing to add.
        let _ended = writer.await;
    }
}

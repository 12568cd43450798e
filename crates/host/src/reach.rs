//! The way to the host of a store, which is started when there is none.

use std::io;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use sessiond_protocol::{ClientFrame, Hello, Party, ServerFrame, VERSION};
use sessiond_wire::socket::connect;
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use crate::error::{HostError, doing};
use crate::place::Place;
use crate::relay::relay;

/// How long a host that was started may take to listen, and one that ends to let go: it reads a
/// configuration and binds a name, or drains.
const START_LIMIT: Duration = Duration::from_secs(10);

/// How long a host may take to say welcome.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// Between two tries.
const POLL: Duration = Duration::from_millis(10);

/// What was found at the socket of the host.
enum Found {
    /// A host that speaks our version of the protocol.
    Host(UnixStream),
    /// Nobody, or a process that is about to end.
    Nobody,
    /// A host of another version of the protocol, by its process id.
    Stranger(Option<Pid>),
}

/// A stream to the host of the store; if nobody is there it is started by `command`, the command
/// line of `sessiond host …`, whose standard streams are set here. Two that start one at the
/// same time reach the same: the second one started finds the lock taken and ends. A host that does
/// not speak our version of the protocol is told to end, which drains it, and replaced.
///
/// # Errors
/// [`HostError::NoHost`] when it does not come up; [`HostError::Io`] when it cannot be started, or
/// the socket is another user's.
pub async fn reach(place: &Place, mut command: Command) -> Result<UnixStream, HostError> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(false);
    let begun = Instant::now();
    let mut started: Option<Child> = None;
    loop {
        match look(place).await? {
            Found::Host(stream) => return Ok(stream),
            Found::Stranger(pid) => drain(pid),
            Found::Nobody if !is_running(&mut started) => {
                // It goes on without us, in a session of its own; tokio leaves no zombie.
                let child = command.spawn();
                started = Some(child.map_err(doing("start", &place.host()))?);
            }
            Found::Nobody => {}
        }
        if begun.elapsed() >= START_LIMIT {
            let seconds = START_LIMIT.as_secs();
            return Err(HostError::NoHost { seconds });
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Whether a host that was started here is still at it: one that found another's lock has ended.
fn is_running(started: &mut Option<Child>) -> bool {
    let ended = started.as_mut().map(Child::try_wait);
    matches!(ended, Some(Ok(None)))
}

/// Looks who is there. A process that is being killed may still take a connection, so only an
/// answer counts.
async fn look(place: &Place) -> Result<Found, HostError> {
    let path = place.host();
    let open = async || match connect(&path).await {
        Ok(stream) => Ok(Some(stream)),
        Err(error) if is_nobody(error.kind()) => Ok(None),
        Err(error) => Err(doing("connect to", &path)(error)),
    };
    let Some(probe) = open().await? else {
        return Ok(Found::Nobody);
    };
    let pid = probe.peer_cred().ok().and_then(|peer| peer.pid());
    match tokio::time::timeout(ANSWER_LIMIT, greet(probe)).await {
        Ok(Some(ServerFrame::Welcome(_))) => {}
        Ok(Some(_)) => return Ok(Found::Stranger(pid.and_then(Pid::from_raw))),
        Ok(None) | Err(_) => return Ok(Found::Nobody),
    }
    Ok(open().await?.map_or(Found::Nobody, Found::Host))
}

/// Whether a connection failed because nobody listens: nobody ever did, or a process that is being
/// killed resets what waits to be taken by it.
fn is_nobody(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, NotFound};
    [
        ConnectionAborted,
        ConnectionRefused,
        ConnectionReset,
        NotFound,
    ]
    .contains(&kind)
}

/// What a host answers to a hello.
async fn greet(stream: UnixStream) -> Option<ServerFrame> {
    let waist = relay(stream);
    let client = Party {
        name: "probe".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let (versions, ack) = (vec![VERSION], false);
    let hello = ClientFrame::Hello(Hello {
        versions,
        client,
        ack,
    });
    waist.send(hello).await.ok()?;
    waist.recv().await
}

fn drain(pid: Option<Pid>) {
    let Some(pid) = pid else { return };
    tracing::warn!("a host of another version is told to end");
    if let Err(error) = kill_process(pid, Signal::TERM) {
        tracing::warn!(%error, "it could not be told");
    }
}

#[cfg(test)]
mod tests;

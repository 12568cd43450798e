//! Starting an ACP agent and asking it to initialize, as an editor does.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::process;

/// An agent that has not answered by then never will.
const DEADLINE: Duration = Duration::from_secs(30);
/// How long an agent may take to leave after its stdin was closed.
const GRACE: Duration = Duration::from_secs(2);
/// How often a leaving agent is looked at.
const POLL: Duration = Duration::from_millis(2);

/// What one start of an agent gave.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// From before the process was made to the answer read.
    pub(crate) elapsed: Duration,
    /// Sum of the peak resident sizes of its process tree after the answer, in KiB. None where the
    /// system does not tell (anything but Linux).
    pub(crate) peak_kib: Option<u64>,
    /// The `result` of initialize.
    pub(crate) result: Value,
}

/// Starts `command`, initializes, closes its stdin and waits for it to leave.
///
/// # Errors
///
/// `Io` when it does not start, `Peer` when it answers with anything but a result, or not in time.
pub(crate) fn handshake(command: &mut Command, peer: &str) -> Result<Handshake> {
    let failed = |what: String| Error::Peer {
        peer: peer.to_owned(),
        what,
    };
    let start = Instant::now();
    let mut child = command
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(Error::io(format!("starting `{}`", process::line(command))))?;
    // The read below blocks, and gives way when the watch kills a silent agent.
    let (answered, watch) = sync_channel::<()>(1);
    let answer = thread::scope(|scope| {
        let leader = child.id();
        scope.spawn(move || {
            if watch.recv_timeout(DEADLINE) == Err(RecvTimeoutError::Timeout) {
                process::kill_group(leader);
            }
        });
        let answer = ask(&mut child);
        let elapsed = start.elapsed();
        drop(answered);
        answer.map(|answer| (answer, elapsed))
    });
    let peak_kib = Memory::of_tree(child.id()).map(|memory| memory.peak_kib);
    leave(&mut child);
    let (answer, elapsed) = answer.map_err(|error| failed(format!("initialize: {error}")))?;
    match answer.get("result") {
        Some(result) => Ok(Handshake {
            elapsed,
            peak_kib,
            result: result.clone(),
        }),
        None => Err(failed(format!("initialize was answered with {answer}"))),
    }
}

fn ask(child: &mut Child) -> std::io::Result<Value> {
    let request = json!({
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": 1,
            "clientCapabilities": {},
            "clientInfo": { "name": "xtask", "version": "0" },
        },
    });
    let ended = || std::io::Error::other("it ended before it answered");
    let stdin = child.stdin.as_mut().ok_or_else(ended)?;
    // An agent that ends at once is noticed by the write or by the read, whichever comes later.
    let sent = stdin.write_all(format!("{request}\n").as_bytes());
    sent.map_err(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => ended(),
        _ => error,
    })?;
    let mut stdout = BufReader::new(child.stdout.as_mut().ok_or_else(ended)?);
    let mut line = String::new();
    loop {
        line.clear();
        if stdout.read_line(&mut line)? == 0 {
            return Err(ended());
        }
        let frame: Value = serde_json::from_str(&line)?;
        if frame.get("id") == Some(&json!(0)) {
            return Ok(frame);
        }
    }
}

/// Closes stdin, waits a little, and kills what is left of the tree.
pub(crate) fn leave(child: &mut Child) {
    drop(child.stdin.take());
    let end = Instant::now() + GRACE;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
        thread::sleep(POLL);
    }
    process::kill_group(child.id());
    // Reaped above or killed just now: the wait cannot block, and its outcome is of no interest.
    let _ = child.wait();
}

#[cfg(test)]
#[path = "handshake_tests.rs"]
mod tests;

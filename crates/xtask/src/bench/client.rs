//! An ACP client that costs little: it reads lines, counts notifications, and looks into answers
//! only. A server that stays silent is killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::handshake::leave;
use crate::memory::Memory;
use crate::process;

/// What has not ended by then hangs.
const DEADLINE: Duration = Duration::from_secs(300);

/// Buffer of the reader, so that it is not what is measured.
const BUFFER: usize = 1 << 20;

/// A message without an id that is asked for says what it is within so many bytes.
const HEAD: usize = 64;

/// A process that is talked to by lines.
pub(super) struct Client {
    name: String,
    child: Child,
    stdout: BufReader<ChildStdout>,
    asked: u64,
    line: Vec<u8>,
    kept: Option<Vec<u8>>,
    /// Ends the watch when dropped.
    _watched: SyncSender<()>,
}

/// The answer to a call.
pub(super) struct Answer {
    /// From before the request was written to the answer read.
    pub(super) elapsed: Duration,
    /// Messages that came before it.
    pub(super) notifications: u64,
    /// Its `result`.
    pub(super) result: Value,
}

impl Client {
    /// Starts `command`.
    ///
    /// # Errors
    ///
    /// `Io` when it does not start.
    pub(super) fn start(command: &mut Command, name: &str) -> Result<Self> {
        let starting = || format!("starting `{name}`");
        let mut child = command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(Error::io(starting()))?;
        let stdout = child.stdout.take();
        let stdout =
            stdout.ok_or_else(|| Error::io(starting())(std::io::Error::other("no pipe")))?;
        let (watched, watch) = sync_channel::<()>(1);
        let leader = child.id();
        thread::spawn(move || {
            if watch.recv_timeout(DEADLINE) == Err(RecvTimeoutError::Timeout) {
                process::kill_group(leader);
            }
        });
        Ok(Self {
            name: name.to_owned(),
            child,
            stdout: BufReader::with_capacity(BUFFER, stdout),
            asked: 0,
            line: Vec::new(),
            kept: None,
            _watched: watched,
        })
    }

    /// The first call of every ACP client.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub(super) fn initialize(&mut self) -> Result<()> {
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": {},
            "clientInfo": { "name": "xtask", "version": "0" },
        });
        self.call("initialize", &params).map(drop)
    }

    /// Calls a method and waits for its answer.
    ///
    /// # Errors
    ///
    /// `Peer` when it is answered with an error, or not at all.
    pub(super) fn call(&mut self, method: &str, params: &Value) -> Result<Answer> {
        self.asked += 1;
        let id = self.asked;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let start = Instant::now();
        let stdin = self.child.stdin.as_mut();
        let sent = stdin.map(|stdin| stdin.write_all(format!("{request}\n").as_bytes()));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.failed(format!("{method}: it ended before it was asked")));
        }
        let mut notifications = 0;
        loop {
            self.read()?;
            let head = self.line.get(..HEAD).unwrap_or(&self.line);
            if head.windows(8).any(|part| part == b"\"method\"") {
                notifications += 1;
                if let Some(kept) = &mut self.kept {
                    kept.extend_from_slice(&self.line);
                }
                continue;
            }
            let elapsed = start.elapsed();
            let answer: Value = serde_json::from_slice(&self.line)
                .map_err(|error| self.failed(format!("{method}: {error}")))?;
            let result = answer.get("result").cloned();
            let result = result
                .ok_or_else(|| self.failed(format!("{method} was answered with {answer}")))?;
            return Ok(Answer {
                elapsed,
                notifications,
                result,
            });
        }
    }

    /// Keeps the messages of calls from now on, to be looked at when the clock does not run.
    pub(super) fn keep(&mut self, capacity: usize) {
        self.kept = Some(Vec::with_capacity(capacity));
    }

    /// What was kept, a message a line.
    pub(super) fn take_kept(&mut self) -> Vec<u8> {
        self.kept.take().unwrap_or_default()
    }

    /// The processor time of the process itself, user and system, to the nanosecond; none where the
    /// system does not tell (anything but Linux). Threads that have ended do not count.
    pub(super) fn processor_time(&self) -> Option<Duration> {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).ok()?;
        let time = |thread: std::fs::DirEntry| {
            let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
            let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
            Some(Duration::from_nanos(nanoseconds))
        };
        Some(threads.flatten().filter_map(time).sum())
    }

    /// The next line.
    ///
    /// # Errors
    ///
    /// `Peer` when there is none.
    pub(super) fn line(&mut self) -> Result<String> {
        self.read()?;
        Ok(String::from_utf8_lossy(&self.line).into_owned())
    }

    /// Closes its stdin and waits for its end; its memory by then, with all that is below it.
    ///
    /// # Errors
    ///
    /// `Peer` where the system does not tell.
    pub(super) fn leave(mut self) -> Result<Memory> {
        let memory = Memory::of_tree(self.child.id());
        leave(&mut self.child);
        memory.ok_or_else(|| self.failed("its memory is not told".to_owned()))
    }

    /// The failure of this process.
    pub(super) fn failed(&self, what: String) -> Error {
        let peer = self.name.clone();
        Error::Peer { peer, what }
    }

    fn read(&mut self) -> Result<()> {
        self.line.clear();
        match self.stdout.read_until(b'\n', &mut self.line) {
            Ok(0) => Err(self.failed("it ended before it answered".to_owned())),
            Ok(_) => Ok(()),
            Err(error) => Err(self.failed(error.to_string())),
        }
    }
}

impl Drop for Client {
    /// Leaves nothing behind where a measurement failed.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            process::kill_group(self.child.id());
            // Killed just now: the wait cannot block, and its outcome is of no interest.
            let _ = self.child.wait();
        }
    }
}

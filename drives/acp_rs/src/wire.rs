//! One process of sessiond and every frame it sent, in the order of the wire.

use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_client_protocol::{Client, ConnectTo, Error, Lines};
use futures::{sink, stream};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Notify;
use tokio::time::timeout;

/// Nothing that is waited for takes longer on a healthy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The frames that came so far, and what the person chooses when asked.
#[derive(Clone)]
pub(crate) struct Wire {
    frames: Arc<Mutex<Vec<Value>>>,
    arrival: Arc<Notify>,
    choice: Arc<Mutex<&'static str>>,
}

/// A request's result and what came before its response.
#[derive(Debug)]
pub(crate) struct Exchange<R> {
    pub(crate) result: R,
    pub(crate) frames: Vec<Value>,
}

impl Wire {
    /// Starts `sessiond acp` for a version: its frames, the transport for the SDK, the process.
    pub(crate) fn start(
        version: &str,
    ) -> io::Result<(Self, impl ConnectTo<Client> + 'static, Child)> {
        let program = std::env::var_os("SESSIOND_BIN").unwrap_or_default();
        let mut child = Command::new(program)
            .args(["acp", "--acp", version])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        let wire = Self {
            frames: Arc::default(),
            arrival: Arc::default(),
            choice: Arc::new(Mutex::new("allow_once")),
        };
        let outgoing = sink::unfold(stdin, |mut stdin, line: String| async move {
            stdin.write_all(format!("{line}\n").as_bytes()).await?;
            stdin.flush().await?;
            Ok(stdin)
        });
        let lines = BufReader::new(stdout).lines();
        let incoming = stream::unfold((lines, wire.clone()), |(mut lines, wire)| async move {
            let line = lines.next_line().await.transpose()?;
            if let Ok(line) = &line {
                wire.receive(line);
            }
            Some((line, (lines, wire)))
        });
        Ok((wire, Lines::new(outgoing, incoming), child))
    }

    fn receive(&self, line: &str) {
        let frame = serde_json::from_str(line).unwrap_or_else(|_| Value::String(line.to_owned()));
        self.lock().push(frame);
        self.arrival.notify_waiters();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Value>> {
        self.frames
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Where the next frame will stand.
    pub(crate) fn mark(&self) -> usize {
        self.lock().len()
    }

    /// The frames since a mark.
    pub(crate) fn since(&self, mark: usize) -> Vec<Value> {
        self.lock()[mark..].to_vec()
    }

    /// What the person chooses from now on, by the kind of the option.
    pub(crate) fn choose(&self, kind: &'static str) {
        *self
            .choice
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = kind;
    }

    /// What the person chooses.
    pub(crate) fn choice(&self) -> &'static str {
        *self
            .choice
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits until the frames since `mark` satisfy `condition`.
    pub(crate) async fn until(
        &self,
        mark: usize,
        condition: impl Fn(&[Value]) -> bool,
    ) -> Result<(), Error> {
        let met = async {
            loop {
                let arrival = self.arrival.notified();
                tokio::pin!(arrival);
                // Registered before the look, so that no frame falls in between.
                arrival.as_mut().enable();
                if condition(&self.since(mark)) {
                    return;
                }
                arrival.await;
            }
        };
        timeout(PATIENCE, met)
            .await
            .map_err(Error::into_internal_error)
    }

    /// A request and all that came before its response. Only one may be open, so that the first
    /// response on the wire is its own.
    pub(crate) async fn exchange<R>(
        &self,
        request: impl Future<Output = Result<R, Error>>,
    ) -> Result<Exchange<R>, Error> {
        let mark = self.mark();
        let result = timeout(PATIENCE, request)
            .await
            .map_err(Error::into_internal_error)??;
        let mut frames = self.since(mark);
        let response = frames
            .iter()
            .position(|frame| frame.get("method").is_none());
        frames.truncate(response.unwrap_or(frames.len()));
        Ok(Exchange { result, frames })
    }
}

/// Waits for a process whose stdin is closed: its exit code.
pub(crate) async fn ended(mut child: Child) -> Option<i32> {
    let status = timeout(PATIENCE, child.wait()).await.ok()?.ok()?;
    status.code()
}

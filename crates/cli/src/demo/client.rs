//! A client as an editor is one: raw JSON-RPC lines to a `sessiond acp` of its own.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::view::View;
use crate::failure::Failure;

/// Longest wait for any one thing: ten times what it takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(5);

/// Lines read ahead: the demo reads as they come, so a few are enough.
const LINES_AHEAD: usize = 64;

/// What the demo tells its server.
pub(super) struct Place<'a> {
    /// The store.
    pub(super) store: &'a Path,
    /// An empty configuration: the user's own must not change the story.
    pub(super) config: &'a Path,
    /// The session's working directory.
    pub(super) work: &'a Path,
}

/// A running server and what it has said.
pub(super) struct Client {
    server: Child,
    /// Open until the editor quits.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
    /// What an editor would show.
    pub(super) view: View,
    /// Questions for permission that were answered.
    pub(super) asked: Vec<String>,
}

impl Client {
    /// Starts a server and initializes it.
    pub(super) fn start(place: &Place<'_>) -> Result<Client, Failure> {
        let program = std::env::current_exe().map_err(Failure::os("find this program"))?;
        let mut command = Command::new(program);
        command
            .arg("acp")
            .arg("--store")
            .arg(place.store)
            .arg("--config")
            .arg(place.config);
        command.args(["--agent", "script"]).current_dir(place.work);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut server = command.spawn().map_err(Failure::os("start the server"))?;
        let (Some(input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
            return Err(Failure::Found(
                "the server has no stdin or stdout".to_owned(),
            ));
        };
        let (sender, lines) = sync_channel(LINES_AHEAD);
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let (view, asked) = (View::default(), Vec::new());
        let input = Some(input);
        let mut client = Client {
            server,
            input,
            lines,
            next_id: 1,
            view,
            asked,
        };
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": {},
            "clientInfo": { "name": "sessiond-demo", "version": env!("CARGO_PKG_VERSION") },
        });
        client.call("initialize", params)?;
        Ok(client)
    }

    /// The server's process id.
    pub(super) fn pid(&self) -> u32 {
        self.server.id()
    }

    /// Sends a request and waits for its answer; allows whatever is asked meanwhile.
    pub(super) fn call(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        let id = self.send(method, params)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let message = self.receive(deadline, method)?;
            if message.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            return match (message.get("result"), message.pointer("/error/message")) {
                (Some(result), _) => Ok(result.clone()),
                (None, error) => Err(Failure::Found(format!(
                    "{method} failed: {}",
                    error.and_then(Value::as_str).unwrap_or("no reason given")
                ))),
            };
        }
    }

    /// Sends a request and does not wait.
    pub(super) fn send(&mut self, method: &str, params: Value) -> Result<u64, Failure> {
        let id = self.next_id;
        self.next_id += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok(id)
    }

    /// Reads on until `enough` holds of what is shown.
    pub(super) fn read_until(
        &mut self,
        what: &str,
        enough: impl Fn(&View) -> bool,
    ) -> Result<(), Failure> {
        let deadline = Instant::now() + PATIENCE;
        while !enough(&self.view) {
            self.receive(deadline, what)?;
        }
        Ok(())
    }

    /// Kills the server where it stands (SIGKILL) and reads what it had already written.
    pub(super) fn kill(mut self) -> Result<View, Failure> {
        self.server.kill().map_err(Failure::os("kill the server"))?;
        self.server
            .wait()
            .map_err(Failure::os("wait for the server"))?;
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            self.view.take_in(&line);
        }
        Ok(std::mem::take(&mut self.view))
    }

    /// Closes the server's stdin and waits for its end: an editor that quits.
    pub(super) fn quit(mut self) -> Result<i32, Failure> {
        self.input = None;
        // To the end of its output, so that it never waits for us.
        while self.lines.recv_timeout(PATIENCE).is_ok() {}
        let status = self
            .server
            .wait()
            .map_err(Failure::os("wait for the server"))?;
        Ok(status.code().unwrap_or(-1))
    }

    fn receive(&mut self, deadline: Instant, what: &str) -> Result<Value, Failure> {
        let left = deadline.saturating_duration_since(Instant::now());
        let line = self.lines.recv_timeout(left).map_err(|error| {
            Failure::Found(match error {
                RecvTimeoutError::Timeout => format!("no answer to {what} within its time"),
                RecvTimeoutError::Disconnected => format!("the server ended during {what}"),
            })
        })?;
        let message = self.view.take_in(&line);
        if message.get("method").and_then(Value::as_str) == Some("session/request_permission") {
            self.allow(&message)?;
        }
        Ok(message)
    }

    fn allow(&mut self, question: &Value) -> Result<(), Failure> {
        let title = question
            .pointer("/params/toolCall/title")
            .and_then(Value::as_str);
        self.asked.push(title.unwrap_or_default().to_owned());
        let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } });
        let id = question.get("id");
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "result": outcome }))
    }

    fn write(&mut self, message: &Value) -> Result<(), Failure> {
        let line = format!("{message}\n");
        let written = self
            .input
            .as_mut()
            .map_or(Ok(()), |input| input.write_all(line.as_bytes()));
        written.map_err(Failure::os("write to the server"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // After a failure only: `kill` and `quit` have waited already.
        let _already_gone = self.server.kill();
        let _already_reaped = self.server.wait();
    }
}

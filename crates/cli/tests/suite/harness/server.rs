//! A running `sessiond acp` and its client.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Home, PATIENCE, Replay, eventually};

/// What the client does when it is asked for permission.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permissions {
    /// It allows, once.
    Allow,
    /// It leaves the question open.
    Hold,
}

/// The server and all it has said so far.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
    next_id: u64,
    /// Tells the reading thread to stop before its next line.
    paused: Arc<AtomicBool>,
    reader: Thread,
    /// The two pipes that are the protocol's.
    pub(crate) pipes: [Pipe; 2],
    pub(crate) permissions: Permissions,
    /// Every line that came, in order, parsed; [`Value::Null`] for one that is no JSON.
    pub(crate) frames: Vec<Value>,
}

impl Server {
    /// A server that is initialized by a client without capabilities.
    pub(crate) fn start(home: &Home) -> Server {
        Server::start_by(home.command(&["acp"]))
    }

    pub(crate) fn start_by(command: Command) -> Server {
        let mut server = Server::spawn(command);
        server.initialize();
        server
    }

    /// A server that has been told nothing yet.
    pub(crate) fn spawn(mut command: Command) -> Server {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let pipes = [Pipe::of(&input), Pipe::of(&output)];
        let paused = Arc::new(AtomicBool::new(false));
        let pause = paused.clone();
        let reader = std::thread::spawn(move || read_lines(output, &pause, &sender));
        let reader = reader.thread().clone();
        let mut stderr = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _cut = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Server {
            child,
            input: Some(input),
            lines,
            errors: Some(errors),
            next_id: 1,
            paused,
            reader,
            pipes,
            permissions: Permissions::Allow,
            frames: Vec::new(),
        }
    }

    pub(crate) fn initialize(&mut self) -> Value {
        self.call(
            "initialize",
            json!({ "protocolVersion": 1, "clientCapabilities": {} }),
        )
    }

    pub(crate) fn new_session(&mut self, home: &Home) -> String {
        let result = self.call(
            "session/new",
            json!({ "cwd": home.work(), "mcpServers": [] }),
        );
        result["sessionId"].as_str().unwrap().to_owned()
    }

    /// Loads a session and gives what was replayed before the answer.
    #[track_caller]
    pub(crate) fn load(&mut self, home: &Home, session: &str) -> Replay {
        let begin = self.frames.len();
        self.call("session/load", load(home, session));
        Replay::of(&self.frames[begin..])
    }

    /// Asks for a load and gives the whole answer, error or not.
    pub(crate) fn try_load(&mut self, home: &Home, session: &str) -> Value {
        let id = self.send("session/load", load(home, session));
        self.response(id)
    }

    /// Sends a prompt and gives its id.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.send(
            "session/prompt",
            json!({ "sessionId": session, "prompt": prompt }),
        )
    }

    /// Sends a prompt, waits for its end and gives the stop reason.
    #[track_caller]
    pub(crate) fn turn(&mut self, session: &str, text: &str) -> String {
        let id = self.prompt(session, text);
        let response = self.response(id);
        response["result"]["stopReason"]
            .as_str()
            .unwrap_or_else(|| panic!("{response}"))
            .to_owned()
    }

    /// Sends a request and gives its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and gives its result.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let mut response = self.response(id);
        assert!(response.get("result").is_some(), "{method}: {response}");
        response["result"].take()
    }

    /// Waits for the response to a request.
    #[track_caller]
    pub(crate) fn response(&mut self, id: u64) -> Value {
        self.until("a response", |frame| {
            frame["id"] == id && frame.get("method").is_none()
        })
    }

    /// Waits for a frame that comes from now on.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, mut wanted: impl FnMut(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let frame = self.receive(what, end.saturating_duration_since(Instant::now()));
            if wanted(&frame) {
                return frame;
            }
        }
    }

    /// Waits for an update of this kind.
    #[track_caller]
    pub(crate) fn update(&mut self, kind: &str) -> Value {
        self.until(kind, |frame| {
            frame["params"]["update"]["sessionUpdate"] == kind
        })
    }

    /// Waits for a request of the server.
    #[track_caller]
    pub(crate) fn asked(&mut self, method: &str) -> Value {
        self.until(method, |frame| {
            frame["method"] == method && frame.get("id").is_some()
        })
    }

    /// Answers a question for permission.
    pub(crate) fn select(&mut self, question: &Value, option: &str) {
        let outcome = json!({ "outcome": { "outcome": "selected", "optionId": option } });
        self.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": outcome }));
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// Writes raw bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    #[track_caller]
    fn receive(&mut self, what: &str, patience: Duration) -> Value {
        match self.lines.recv_timeout(patience) {
            Ok(line) => self.take_in(&line),
            Err(error) => {
                let _ended_already = self.child.kill();
                let stderr = self.stderr();
                panic!(
                    "{what}: {error}; came: {:#?}; stderr: {stderr}",
                    self.frames
                )
            }
        }
    }

    fn take_in(&mut self, line: &str) -> Value {
        let frame: Value = serde_json::from_str(line).unwrap_or_default();
        self.frames.push(frame.clone());
        let question = frame["method"] == "session/request_permission";
        if question && self.permissions == Permissions::Allow {
            let options = frame["params"]["options"].as_array().unwrap();
            let once = options.iter().find(|option| option["kind"] == "allow_once");
            let id = once.and_then(|option| option["optionId"].as_str());
            self.select(&frame, id.unwrap_or("allow_once"));
        }
        frame
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL, then the rest of what it had written.
    pub(crate) fn kill(&mut self) -> &[Value] {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.read_to_end()
    }

    /// Reads no more than the line that is being read, until the end is read.
    pub(crate) fn pause_reading(&mut self) {
        self.paused.store(true, Ordering::SeqCst);
    }

    /// Reads on.
    pub(crate) fn resume_reading(&mut self) {
        self.paused.store(false, Ordering::SeqCst);
        self.reader.unpark();
    }

    /// Gives the way to write to the server away.
    pub(crate) fn take_input(&mut self) -> ChildStdin {
        self.input.take().unwrap()
    }

    /// Takes it back.
    pub(crate) fn put_input(&mut self, input: ChildStdin) {
        self.input = Some(input);
    }

    /// Reads all that comes until stdout ends.
    pub(crate) fn read_to_end(&mut self) -> &[Value] {
        self.permissions = Permissions::Hold;
        self.resume_reading();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            self.take_in(&line);
        }
        &self.frames
    }

    pub(crate) fn close_stdin(&mut self) {
        self.input = None;
    }

    /// Stops reading: the client's end of stdout is closed.
    pub(crate) fn close_stdout(&mut self) {
        // The reading thread sees it at the next line and closes the pipe.
        let (_, dead) = channel();
        self.lines = dead;
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn exit(&mut self, within: Duration) -> ExitStatus {
        eventually("the server's end", within, || {
            self.child.try_wait().unwrap()
        })
    }

    /// Closes stdin and waits for a good end.
    #[track_caller]
    pub(crate) fn quit(&mut self) {
        self.close_stdin();
        assert_eq!(self.exit(PATIENCE).code(), Some(0));
    }

    /// All it said on stderr; to be asked once it has ended.
    pub(crate) fn stderr(&mut self) -> String {
        self.errors.take().unwrap().join().unwrap()
    }
}

fn read_lines(output: impl Read, paused: &AtomicBool, lines: &Sender<String>) {
    let mut output = BufReader::new(output);
    loop {
        while paused.load(Ordering::SeqCst) {
            std::thread::park();
        }
        let mut line = Vec::new();
        match output.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        if lines
            .send(String::from_utf8_lossy(&line).into_owned())
            .is_err()
        {
            break;
        }
    }
}

/// Our end of a pipe.
pub(crate) struct Pipe {
    /// Where it can be opened anew.
    pub(crate) path: PathBuf,
    /// How /proc/PID/fd shows it; the other end has the same name.
    pub(crate) name: PathBuf,
}

impl Pipe {
    fn of(end: &impl AsRawFd) -> Pipe {
        let path = PathBuf::from(format!("/proc/self/fd/{}", end.as_raw_fd()));
        let name = std::fs::read_link(&path).unwrap();
        Pipe { path, name }
    }
}

fn load(home: &Home, session: &str) -> Value {
    json!({ "sessionId": session, "cwd": home.work(), "mcpServers": [] })
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _reaped_already = self.child.wait();
    }
}

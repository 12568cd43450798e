//! A running `sessiond-codex app-server` and its client.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::Thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Home, PATIENCE, eventually};

/// Nothing was taken up for so long: nothing is taken up any more.
const STILL: Duration = Duration::from_millis(300);

/// The server and all it has said so far.
pub(crate) struct Codex {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Tells the reading thread to stop before its next line.
    paused: Arc<AtomicBool>,
    reader: Thread,
    next_id: u64,
    /// Every line that came, in order, parsed.
    pub(crate) frames: Vec<Value>,
}

impl Codex {
    /// A server that is initialized.
    pub(crate) fn start(home: &Home) -> Codex {
        let mut codex = Codex::spawn(home.codex(&["app-server"]));
        codex.initialize(json!({}));
        codex
    }

    /// A server that has been told nothing yet.
    pub(crate) fn spawn(mut command: Command) -> Codex {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let paused = Arc::new(AtomicBool::new(false));
        let pause = paused.clone();
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { return };
                while pause.load(Ordering::Acquire) {
                    std::thread::park();
                }
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Codex {
            child,
            input: Some(input),
            lines,
            paused,
            reader: reader.thread().clone(),
            next_id: 1,
            frames: Vec::new(),
        }
    }

    pub(crate) fn initialize(&mut self, capabilities: Value) -> Value {
        let client = json!({ "name": "suite", "version": "1" });
        let params = json!({ "clientInfo": client, "capabilities": capabilities });
        self.call("initialize", params)
    }

    /// A thread in which everything may run.
    pub(crate) fn thread(&mut self, home: &Home) -> String {
        let params = json!({
            "cwd": home.work(), "approvalPolicy": "never", "sandbox": "danger-full-access",
        });
        let opened = self.call("thread/start", params);
        opened["thread"]["id"].as_str().unwrap().to_owned()
    }

    /// Begins a turn and gives its id.
    #[track_caller]
    pub(crate) fn turn(&mut self, thread: &str, text: &str) -> String {
        let params = json!({ "threadId": thread, "input": [{ "type": "text", "text": text }] });
        let begun = self.call("turn/start", params);
        begun["turn"]["id"].as_str().unwrap().to_owned()
    }

    /// Runs a turn to its end and gives that.
    #[track_caller]
    pub(crate) fn run(&mut self, thread: &str, text: &str) -> Value {
        self.turn(thread, text);
        self.told("turn/completed")
    }

    /// Says a line.
    pub(crate) fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    /// Reads nothing more of what the server says.
    pub(crate) fn pause(&self) {
        self.paused.store(true, Ordering::Release);
    }

    /// Says lines, faster than the server takes them up, until it takes no more; then reads again
    /// while the rest is said.
    pub(crate) fn say_until_full(&mut self, lines: String) {
        let mut input = self.input.take().unwrap();
        let said = Arc::new(AtomicUsize::new(0));
        let count = said.clone();
        let total = lines.len();
        let writer = std::thread::spawn(move || {
            for line in lines.split_inclusive('\n') {
                input.write_all(line.as_bytes()).unwrap();
                count.fetch_add(line.len(), Ordering::AcqRel);
            }
            input
        });
        let mut last = usize::MAX;
        eventually("the server to stop reading", PATIENCE, || {
            std::thread::sleep(STILL);
            let now = said.load(Ordering::Acquire);
            let is_still = now == last;
            last = now;
            is_still.then_some(())
        });
        assert!(
            last < total,
            "the server has read everything, though nobody read its answers"
        );
        self.paused.store(false, Ordering::Release);
        self.reader.unpark();
        self.input = Some(writer.join().unwrap());
    }

    /// Sends a request and gives its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.say(&json!({ "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// Sends a request and gives its whole answer.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Sends a request and gives its result.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params);
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Sends a request and gives the text it is refused with.
    #[track_caller]
    pub(crate) fn refusal(&mut self, method: &str, params: Value) -> String {
        let answer = self.ask(method, params);
        let message = answer["error"]["message"].as_str();
        message
            .unwrap_or_else(|| panic!("{method}: {answer}"))
            .to_owned()
    }

    /// Waits for the answer to a request.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.until("an answer", |frame| {
            frame["id"] == id && frame.get("method").is_none()
        })
    }

    /// Waits for a notification or request of this name.
    #[track_caller]
    pub(crate) fn told(&mut self, method: &str) -> Value {
        self.until(method, |frame| frame["method"] == method)
    }

    /// Waits for a frame that comes from now on.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, mut wanted: impl FnMut(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("{what} did not come; last: {:?}", self.frames.last());
            };
            let frame: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
            self.frames.push(frame.clone());
            if wanted(&frame) {
                return frame;
            }
        }
    }

    /// The names of what came since a frame, answers as `=`.
    pub(crate) fn methods(&self, since: usize) -> Vec<&str> {
        let name = |frame: &'_ Value| frame.get("method").is_some();
        self.frames[since..]
            .iter()
            .map(|frame| match name(frame) {
                true => frame["method"].as_str().unwrap(),
                false => "=",
            })
            .collect()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn close_stdin(&mut self) {
        self.input = None;
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end, and for all that was said until then.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let status = eventually("the end", PATIENCE, || self.child.try_wait().unwrap());
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            let frame = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
            self.frames.push(frame);
        }
        status
    }
}

impl Drop for Codex {
    fn drop(&mut self) {
        let _gone_already = self.child.kill();
        let _gone_already = self.child.wait();
    }
}

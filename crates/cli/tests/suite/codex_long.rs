//! `sessiond-codex app-server` shows a thread that is longer than it may hold in memory: to clients
//! that read slowly, that go away, and from a log that is damaged.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Home, finish};

/// The thread's id.
const THREAD: &str = "0191f0aa-0000-7000-8000-00000000c0de";

/// Turns of the thread.
const TURNS: usize = 600;

/// Bytes of an answer in it.
const ANSWER: usize = 24 * 1024;

/// What the server may have in memory at its peak: folded whole the thread alone would be more.
const MEMORY_MIB: u64 = 50;

/// What a client that goes away has read.
const READ: usize = 1 << 20;

/// A home with a long thread.
fn long() -> Home {
    let home = Home::new();
    let cwd = home.work();
    let mut rollout = String::new();
    let mut say = |kind: &str, payload: Value| {
        let line =
            json!({ "timestamp": "2026-01-02T03:04:05.000Z", "type": kind, "payload": payload });
        let _ = writeln!(rollout, "{line}");
    };
    say(
        "session_meta",
        json!({
            "id": THREAD, "timestamp": "2026-01-02T03:04:05.000Z", "cwd": cwd, "originator": "t",
            "cli_version": "0.171.0", "source": "cli", "model_provider": "p",
        }),
    );
    let more = "a \"line\"\n".repeat(ANSWER / 9);
    for turn in 1..=TURNS {
        let message = |role: &str, kind: &str, text: String| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
        let user = message("user", "input_text", format!("ask {turn}"));
        say("response_item", user);
        let agent = message("assistant", "output_text", format!("say {turn}\n{more}"));
        say("response_item", agent);
    }
    let file = home.write("rollout-2026-01-02T03-04-05-thread.jsonl", &rollout);
    home.run(&["sessions", "import", file.to_str().unwrap()])
        .well();
    home
}

/// A server that was asked for the thread.
struct Asked {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Asked {
    fn of(home: &Home) -> Self {
        let mut command: Command = home.codex(&["app-server"]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::with_capacity(4096, child.stdout.take().unwrap());
        let mut asked = Self {
            child,
            input,
            output,
        };
        let about = json!({ "clientInfo": { "name": "suite", "version": "1" } });
        for (id, method, params) in [
            (1, "initialize", about),
            (2, "thread/resume", json!({ "threadId": THREAD })),
            (3, "account/read", json!({})),
        ] {
            asked.say(id, method, params);
        }
        asked
    }

    fn say(&mut self, id: u64, method: &str, params: Value) {
        let line = json!({ "id": id, "method": method, "params": params });
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {} bytes", line.len()))
    }

    /// The answer with the thread: the longest line by far.
    fn thread(&mut self) -> Value {
        loop {
            let mut answer = self.line();
            if answer["id"] == 2 {
                return answer["result"]["thread"].take();
            }
        }
    }

    /// Reads the beginning of the answer.
    fn begin(&mut self) {
        let mut bytes = vec![0; READ];
        self.output.read_exact(&mut bytes).unwrap();
        assert!(!bytes.contains(&0));
    }

    /// Its peak of memory in MiB.
    fn peak_mib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1));
        kib.unwrap().parse::<u64>().unwrap() / 1024
    }

    fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        std::io::copy(&mut self.output, &mut std::io::sink()).unwrap();
        self.child.wait().unwrap().code()
    }
}

/// The numbers of the turns whose user and agent are heard.
fn heard(thread: &Value) -> Vec<usize> {
    let turns = thread["turns"].as_array().unwrap().iter();
    let number = |turn: &Value| {
        let asked = turn["items"][0]["content"][0]["text"].as_str()?;
        let number = asked.strip_prefix("ask ")?.parse().ok()?;
        let said = turn["items"][1]["text"].as_str()?;
        said.starts_with(&format!("say {number}\n"))
            .then_some(number)
    };
    turns.filter_map(number).collect()
}

fn all() -> Vec<usize> {
    (1..=TURNS).collect()
}

/// WIRE-4, RESUME-10: memory does not grow with the answer, however slowly it is read; who goes away
/// or is killed in the middle of it changes nothing.
#[test]
fn a_long_thread_is_shown_whole_in_little_memory_and_to_the_next_client_too() {
    let home = long();
    let before = home.log(THREAD);
    let mut gone = Asked::of(&home);
    gone.begin();
    let Asked {
        mut child,
        output,
        input,
    } = gone;
    drop(output);
    assert_eq!(child.wait().unwrap().code(), Some(0), "nobody reads it");
    drop(input);
    let mut killed = Asked::of(&home);
    killed.begin();
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    let mut rest = Vec::new();
    killed.output.read_to_end(&mut rest).unwrap();
    assert!(!rest.contains(&b'\n'), "no line follows half a line");
    assert_eq!(home.log(THREAD), before);
    let mut asked = Asked::of(&home);
    let thread = asked.thread();
    assert_eq!(heard(&thread), all());
    assert_eq!(thread["preview"], "ask 1");
    let peak = asked.peak_mib();
    assert!(peak <= MEMORY_MIB, "{peak} MiB");
    assert_eq!(asked.end(), Some(0));
}

/// LOG-4: what is broken is missing, all else is shown, and the client is warned.
#[test]
fn a_long_thread_with_damage_is_one_line_and_a_warning() {
    let home = long();
    let folder = home.store().join("sessions").join(THREAD).join("log");
    let mut segments: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    segments.sort();
    let segment = &segments[1];
    let mut bytes = fs::read(segment).unwrap();
    let half = bytes.len() / 2;
    let line = bytes[half..]
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap()
        + half;
    bytes[line + 200] ^= 1;
    fs::write(segment, bytes).unwrap();
    let mut asked = Asked::of(&home);
    let thread = asked.thread();
    let heard = heard(&thread);
    assert!(
        heard.len() == TURNS - 1 || heard.len() == TURNS - 2,
        "{}",
        heard.len()
    );
    asked.say(4, "account/read", json!({}));
    let mut warnings = Vec::new();
    loop {
        let line = asked.line();
        if line["id"] == 4 {
            break;
        }
        if line["method"] == "warning" {
            warnings.push(line["params"]["message"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(
        warnings,
        ["the thread's log is damaged: 1 places cannot be read"]
    );
    assert_eq!(asked.end(), Some(0));
    let mut verify = home.command(&["sessions", "verify", THREAD]);
    verify.stdin(Stdio::null());
    assert_eq!(finish(verify, "").code, Some(1));
}

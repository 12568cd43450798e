//! `sessiond demo`: a session survives the death of its server, told and proved in one terminal.
//!
//! The demo is nothing but a client: it starts `sessiond acp` as an editor does, reads what an
//! editor reads, and kills with SIGKILL.

mod client;
mod proof;
mod story;
mod view;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sessiond_log::{Store, Subject};

use crate::failure::Failure;
use client::{Client, Place};
use proof::{LOOK_EVERY, Live, cut_text, ended, gone, kept, unknown};
use story::Story;

/// Text that was on the screen this long before the kill must survive it. The rule says 100 ms
/// (LOG-17); as much again is for the way through two pipes on a busy machine.
const SETTLED: Duration = Duration::from_millis(200);

/// So much of the stream is read before the kill, in bytes: a few of those 100 ms.
const STREAMED: usize = 400;

/// A tool that was allowed has begun by then, on a busy machine too.
const TOOL_STARTED: Duration = Duration::from_secs(5);

const FIRST: &str = "Write it down.\n/run echo first >> ledger; echo written";
const SECOND: &str = "/run echo second >> ledger\n/stream 400 20 20";
const THIRD: &str = "/run echo third >> ledger; echo $$ > pid; exec sleep 60";

/// Runs the demo in a temporary store.
pub(crate) fn run() -> Result<(), Failure> {
    let began = Instant::now();
    let folder = tempfile::Builder::new()
        .prefix("sessiond-demo-")
        .tempdir()
        .map_err(Failure::os("make a temporary directory"))?;
    let mut stage = Stage::set_up(folder.path())?;
    let mut story = Story::begin();
    story.tell(
        "demo",
        &format!("sessiond {}, no network", env!("CARGO_PKG_VERSION")),
    );
    story.tell("store", &stage.store.display().to_string());

    let (session, live) = stage.first_act(&mut story)?;
    let last = stage.second_act(&mut story, &session, &live)?;
    stage.third_act(&mut story, &session, last)?;
    stage.epilogue(&mut story, &session)?;
    story.end(began.elapsed().as_secs_f64())
}

/// Where the demo plays.
struct Stage {
    store: PathBuf,
    config: PathBuf,
    work: PathBuf,
    /// Lines on any server's stdout that were no protocol (WIRE-10).
    polluted: usize,
}

impl Stage {
    fn set_up(folder: &Path) -> Result<Stage, Failure> {
        // Sessions record the directory; tools see it resolved.
        let folder = folder
            .canonicalize()
            .map_err(Failure::os("resolve the directory"))?;
        let stage = Stage {
            store: folder.join("store"),
            config: folder.join("config.toml"),
            work: folder.join("project"),
            polluted: 0,
        };
        fs::create_dir(&stage.work).map_err(Failure::os("make a project directory"))?;
        fs::write(&stage.config, "").map_err(Failure::os("write a configuration"))?;
        Ok(stage)
    }

    fn start(&self) -> Result<Client, Failure> {
        Client::start(&Place {
            store: &self.store,
            config: &self.config,
            work: &self.work,
        })
    }

    /// One whole turn with a tool; a second one, killed while its text streams.
    fn first_act(&mut self, story: &mut Story) -> Result<(String, Live), Failure> {
        story.part("1. An editor at work");
        let mut client = self.start()?;
        story.tell("start", &format!("sessiond acp, process {}", client.pid()));
        let made = client.call("session/new", json!({ "cwd": self.work, "mcpServers": [] }))?;
        let session = made
            .get("sessionId")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        story.tell("session", &session);
        let answer = client.call("session/prompt", prompt(&session, FIRST))?;
        for title in &client.asked {
            story.tell("asked", &format!("may this run: {title} -> allowed once"));
        }
        story.conversation(&client.view);
        story.claim(
            "a tool ran after it was allowed, and the turn ended",
            ended(&answer),
        );

        client.send("session/prompt", prompt(&session, SECOND))?;
        client.read_until("the stream", |view| view.last_message().len() >= STREAMED)?;
        let settled = client.view.older_than(Instant::now(), SETTLED);
        let pid = client.pid();
        let view = client.kill()?;
        self.polluted += view.polluted;
        let shown = view.last_message().len();
        story.tell(
            "kill -9",
            &format!("process {pid}, in mid-sentence after {shown} bytes"),
        );
        Ok((session, Live { view, settled }))
    }

    /// A new server finds all of it; then it is killed too, while a tool runs.
    fn second_act(
        &mut self,
        story: &mut Story,
        session: &str,
        live: &Live,
    ) -> Result<u32, Failure> {
        story.part("2. A new server, the same session");
        let mut client = self.start()?;
        client.call("session/load", self.load(session))?;
        story.tell(
            "load",
            &format!("process {} loads it by its id", client.pid()),
        );
        story.conversation(&client.view);
        let (before, after) = (&live.view.shown, &client.view.shown);
        story.claim(
            "every finished message and tool call is there, ids equal",
            kept(before, after),
        );
        story.claim(
            "text that was on the screen is there, marked",
            cut_text(live, after),
        );
        story.claim("no tool ran twice", self.ledger_is("first\nsecond\n"));

        client.send("session/prompt", prompt(session, THIRD))?;
        client.read_until("a running tool", |view| view.last_status() == "in_progress")?;
        let tool = self.tool_pid()?;
        let pid = client.pid();
        self.polluted += client.kill()?.polluted;
        story.tell(
            "kill -9",
            &format!("process {pid}, while its tool (process {tool}) runs"),
        );
        Ok(tool)
    }

    /// The open tool call is closed honestly and the session goes on.
    fn third_act(&mut self, story: &mut Story, session: &str, tool: u32) -> Result<(), Failure> {
        story.part("3. And again");
        story.claim("the tool's process is gone with its server", gone(tool));
        let mut client = self.start()?;
        client.call("session/load", self.load(session))?;
        story.tell(
            "load",
            &format!("process {} loads it by its id", client.pid()),
        );
        story.claim(
            "the open call is there once, its outcome unknown",
            unknown(&client.view),
        );
        story.claim(
            "it was not run again",
            self.ledger_is("first\nsecond\nthird\n"),
        );
        let answer = client.call("session/prompt", prompt(session, "Shall we go on?"))?;
        story.tell("| user", "Shall we go on?");
        story.tell("| agent", client.view.last_message());
        story.claim("the next prompt works", ended(&answer));
        self.polluted += client.view.polluted;
        let code = client.quit()?;
        let problem = (code != 0).then(|| format!("exit code {code}"));
        story.claim("a server whose editor quits ends well", problem);
        Ok(())
    }

    /// Two loads more, and a look at the files.
    fn epilogue(&mut self, story: &mut Story, session: &str) -> Result<(), Failure> {
        story.part("4. Afterwards");
        let mut loads = Vec::new();
        for _ in 0..2 {
            let mut client = self.start()?;
            client.call("session/load", self.load(session))?;
            let view = std::mem::take(&mut client.view);
            self.polluted += view.polluted;
            client.quit()?;
            loads.push(view);
        }
        let alike = match loads.as_slice() {
            [one, other] if one.shown == other.shown && !one.shown.is_empty() => None,
            _ => Some("they differ".to_owned()),
        };
        story.claim("two loads show the same", alike);
        let polluted = self.polluted;
        let problem = (polluted > 0).then(|| format!("{polluted} other lines"));
        story.claim(
            "stdout carried nothing but protocol, on all five servers",
            problem,
        );
        story.claim("every record of the log is whole", self.damage(session));
        Ok(())
    }

    fn load(&self, session: &str) -> Value {
        json!({ "sessionId": session, "cwd": self.work, "mcpServers": [] })
    }

    fn ledger_is(&self, expected: &str) -> Option<String> {
        let ledger = fs::read_to_string(self.work.join("ledger")).unwrap_or_default();
        (ledger != expected).then(|| format!("the tools left {ledger:?}"))
    }

    /// The process that the third tool is, as it writes it down itself.
    fn tool_pid(&self) -> Result<u32, Failure> {
        let deadline = Instant::now() + TOOL_STARTED;
        loop {
            let text = fs::read_to_string(self.work.join("pid")).unwrap_or_default();
            match text.trim().parse() {
                Ok(pid) => return Ok(pid),
                Err(_) if Instant::now() < deadline => std::thread::sleep(LOOK_EVERY),
                Err(_) => return Err(Failure::Found("the tool did not say its pid".to_owned())),
            }
        }
    }

    fn damage(&self, session: &str) -> Option<String> {
        let subject: Subject = match session.parse() {
            Ok(subject) => subject,
            Err(_) => return Some("the session's id is no id".to_owned()),
        };
        let scan = Store::open_real(&self.store).and_then(|store| store.read(&subject));
        match scan {
            Ok(scan) if scan.damage.is_empty() => None,
            Ok(scan) => Some(format!("{} damaged places", scan.damage.len())),
            Err(error) => Some(error.to_string()),
        }
    }
}

fn prompt(session: &str, text: &str) -> Value {
    json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] })
}

//! Does the steps of a case to a target.

mod act;
mod cross;
mod damage;
mod export;
mod frame;
mod holders;
mod sdk;
mod submit;
mod transcript;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub(crate) use frame::answer_in;

use crate::case::{Begin, Case, Scope, StateNeed};
use crate::client::Client;
use crate::error::Error;
use crate::process::{Launch, Process};
use crate::recording::{ProcessIndex, Recorder, Recording, What};
use crate::schema::Schemas;
use crate::scope::Variables;
use crate::step::Watching;
use crate::target::Target;
use crate::tongue::Tongue;
use crate::trace::trace;

/// What became of a case.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) recording: Recording,
    pub(crate) labels: BTreeMap<String, Asked>,
    pub(crate) variables: Variables,
    /// Which processes had which name, in order.
    pub(crate) names: BTreeMap<String, Vec<ProcessIndex>>,
    /// What each process speaks.
    pub(crate) tongues: Vec<Tongue>,
    pub(crate) end: End,
    pub(crate) sweep: SweepEnd,
}

/// A request of ours.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) process: ProcessIndex,
    pub(crate) id: Value,
    /// Index of the entry by which it was sent.
    pub(crate) at: usize,
    /// What answers it.
    pub(crate) awaited: Awaited,
}

/// What answers a request of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// The response with its id.
    Response,
    /// The first `welcome` after it.
    Welcome,
    /// The receipt of the submission.
    Receipt,
    /// The end of the turn that the submission caused.
    TurnEnd,
    /// The session, whose id this is, is idle.
    Idle,
    /// The `control_response` to the request with this id.
    Control,
    /// The `result` of Claude's whose number in its process this is.
    Result,
    /// The line with which the turn of `exec` ends.
    LastLine,
    /// The next `turn/completed` of the thread whose id this is.
    TurnCompleted,
}

impl Awaited {
    /// Whether it may come again: a session is idle again and again, a thread has more turns.
    pub(crate) fn repeats(self) -> bool {
        matches!(self, Self::Idle | Self::TurnCompleted)
    }
}

/// How the steps ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    Done,
    /// A step waited in vain, or could not be done.
    Stopped(String),
    /// The target does not offer what the case is about, or its profile does not know how.
    Skipped(String),
}

/// Whether there was a frame to kill at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SweepEnd {
    /// The case does not sweep, or killed at its frame.
    Within,
    /// The answer came before.
    Beyond,
}

/// Why the steps do not go on.
enum Halt {
    Stop(String),
    Skip(String),
    Fault(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Fault(error)
    }
}

type Did = Result<(), Halt>;

/// Where a case may write.
#[derive(Debug)]
pub(crate) struct Place {
    root: PathBuf,
}

impl Place {
    /// Makes the folders of a case.
    pub(crate) fn make(root: PathBuf) -> Result<Self, Error> {
        let place = Self { root };
        for folder in ["home", "state", "cwd", "tmp"] {
            let path = place.root.join(folder);
            std::fs::create_dir_all(&path)
                .map_err(|error| Error::io(path.display().to_string(), error))?;
        }
        Ok(place)
    }

    /// Removes all of it. What cannot be removed goes with the run's own folder.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }

    /// Moves all of it below a folder, in place of what had that name, with the wire log as `wire.jsonl`.
    pub(crate) fn keep(
        &self,
        folder: &Path,
        name: &str,
        recording: &Recording,
    ) -> Result<(), Error> {
        let to = folder.join(name);
        let fault = |error: io::Error| Error::io(format!("--keep {}", to.display()), error);
        if to.exists() {
            std::fs::remove_dir_all(&to).map_err(fault)?;
        }
        // It may be another file system, and sockets may stand there.
        let moved = std::process::Command::new("mv")
            .args([&self.root, &to])
            .output();
        let moved = moved.map_err(fault)?;
        if !moved.status.success() {
            let why = String::from_utf8_lossy(&moved.stderr).into_owned();
            return Err(fault(io::Error::other(why)));
        }
        let wire: String = trace(recording)
            .iter()
            .map(|moment| json!(moment).to_string() + "\n")
            .collect();
        std::fs::write(to.join("wire.jsonl"), wire).map_err(fault)
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.root.join("cwd")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// Writes the files that the target's profile wants.
    pub(crate) fn furnish(&self, target: &Target, model_url: &str) -> Result<(), Error> {
        for (path, text) in &target.files {
            let path = PathBuf::from(self.fill(path, model_url));
            let written = std::fs::create_dir_all(path.parent().unwrap_or(&path))
                .and_then(|()| std::fs::write(&path, self.fill(text, model_url)));
            written.map_err(|error| Error::io(path.display().to_string(), error))?;
        }
        Ok(())
    }

    /// A text of a profile with this case's folders and its model's address.
    fn fill(&self, text: &str, model_url: &str) -> String {
        let folder = |name: &str| self.root.join(name).to_string_lossy().into_owned();
        text.replace("{home}", &folder("home"))
            .replace("{state_dir}", &folder("state"))
            .replace("{cwd}", &folder("cwd"))
            .replace("{model_url}", model_url)
    }

    fn environment(
        &self,
        tongue: Tongue,
        target: &Target,
        model_url: &str,
    ) -> BTreeMap<String, String> {
        let text = |folder: &str| self.root.join(folder).to_string_lossy().into_owned();
        let mut env = BTreeMap::from([
            ("HOME".to_owned(), text("home")),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("TMPDIR".to_owned(), text("tmp")),
            ("SESSIOND_HOME".to_owned(), text("state")),
        ]);
        if let Ok(path) = std::env::var("PATH") {
            env.insert("PATH".to_owned(), path);
        }
        for (name, value) in tongue.environment() {
            env.insert((*name).to_owned(), (*value).to_owned());
        }
        for (name, value) in &target.env {
            env.insert(name.clone(), self.fill(value, model_url));
        }
        env
    }
}

/// Plays a case once.
pub(crate) struct Driver<'a> {
    case: &'a Case,
    tongue: Tongue,
    target: &'a Target,
    all_schemas: &'a BTreeMap<Tongue, Schemas>,
    schemas: &'a Schemas,
    place: &'a Place,
    model_url: String,
    environment: BTreeMap<String, String>,
    recorder: Arc<Recorder>,
    client: Arc<Client>,
    processes: BTreeMap<String, Process>,
    names: BTreeMap<String, Vec<ProcessIndex>>,
    tongues: Vec<Tongue>,
    started: usize,
    variables: Variables,
    labels: BTreeMap<String, Asked>,
    next_id: i64,
    /// How many prompts each process of Claude's was sent.
    prompts: BTreeMap<ProcessIndex, usize>,
    /// Index from which `until` looks.
    from: usize,
    until: Instant,
    kill_at: usize,
    sweep: SweepEnd,
}

impl<'a> Driver<'a> {
    /// `kill_at` is the frame at which a sweep kills, from 1.
    pub(crate) fn new(
        case: &'a Case,
        target: &'a Target,
        all_schemas: &'a BTreeMap<Tongue, Schemas>,
        place: &'a Place,
        model_url: &str,
        kill_at: usize,
    ) -> Result<Self, Error> {
        let tongue = Tongue::of(&case.id);
        let schemas = all_schemas
            .get(&tongue)
            .ok_or_else(|| Error::Harness(format!("{}: no schemas", case.id)))?;
        let mut variables = Variables::default();
        let path = |path: &Path| json!(path.to_string_lossy());
        variables.set("cwd", path(&place.cwd()));
        variables.set("state", path(&place.state()));
        variables.set("root", path(&place.root));
        variables.set("given", json!(target.given.is_some()));
        if tongue == Tongue::Claude {
            variables.set("session", json!(sdk::session_id()));
        }
        Ok(Self {
            case,
            tongue,
            target,
            all_schemas,
            schemas,
            place,
            model_url: model_url.to_owned(),
            environment: place.environment(tongue, target, model_url),
            recorder: Arc::new(Recorder::new()),
            client: Arc::new(Client::new(tongue, &place.cwd(), case.capabilities.clone())),
            processes: BTreeMap::new(),
            names: BTreeMap::new(),
            tongues: Vec::new(),
            started: 0,
            variables,
            labels: BTreeMap::new(),
            next_id: 1,
            prompts: BTreeMap::new(),
            from: 0,
            until: Instant::now() + target.timeouts.case(),
            kill_at,
            sweep: SweepEnd::Within,
        })
    }

    /// Where what happens is recorded.
    pub(crate) fn recorder(&self) -> Arc<Recorder> {
        Arc::clone(&self.recorder)
    }

    /// Does all steps, or as many as can be done.
    ///
    /// # Errors
    ///
    /// Only what is the runner's own fault.
    pub(crate) fn play(mut self, variant: &BTreeMap<String, Value>) -> Result<Played, Error> {
        self.variables.extend(variant);
        let end = match self.steps() {
            Ok(()) => End::Done,
            Err(Halt::Stop(why)) => End::Stopped(why),
            Err(Halt::Skip(why)) => End::Skipped(why),
            Err(Halt::Fault(error)) => return Err(error),
        };
        if let End::Stopped(why) = &end {
            self.recorder.add(0, What::Note(format!("stopped: {why}")));
        }
        // Ends every tree; what still comes meanwhile is recorded too.
        self.processes.clear();
        let recording = self.recorder.look().clone();
        Ok(Played {
            recording,
            labels: self.labels,
            variables: self.variables,
            names: self.names,
            tongues: self.tongues,
            end,
            sweep: self.sweep,
        })
    }

    fn steps(&mut self) -> Did {
        if self.case.scope == Scope::Every {
            return Ok(());
        }
        if let Some(given) = &self.target.given {
            return self.given(given);
        }
        for need in &self.case.needs {
            if !self.target.prompts.contains_key(need) {
                return Err(Halt::Skip(format!(
                    "the target's profile has no prompt `{need}`"
                )));
            }
        }
        if self.case.state == StateNeed::Files && self.target.session_files.is_none() {
            let why = "the target's profile does not say where its sessions lie";
            return Err(Halt::Skip(why.to_owned()));
        }
        if self.case.state == StateNeed::Export && self.target.export.is_empty() {
            let why = "the target's profile does not say how a session is printed";
            return Err(Halt::Skip(why.to_owned()));
        }
        if let Some(why) = self.writes_not() {
            return Err(Halt::Skip(why));
        }
        if self.case.begin != Begin::Nothing {
            self.start("a", self.case.begin, None, None, &self.case.args)?;
        }
        for step in &self.case.steps {
            self.step(step)?;
        }
        Ok(())
    }

    /// Starts a process and does what is usual first.
    fn start(
        &mut self,
        name: &str,
        begin: Begin,
        file_bytes: Option<u64>,
        watch: Option<Watching>,
        args: &[String],
    ) -> Did {
        let index = self.started;
        self.started += 1;
        self.tongues.push(self.tongue);
        // The one before must be gone before its successor starts.
        self.processes.remove(name);
        let socket = self.place.root.join("g");
        let words = self.words(args, begin);
        let launch = Launch {
            argv: &words,
            env: &self.environment,
            cwd: &self.place.cwd(),
            file_bytes,
            watch,
            socket: &socket,
        };
        let process = Process::start(&launch, &self.recorder, index, Arc::clone(&self.client))
            .map_err(|error| Error::io("guard", error))?;
        self.processes.insert(name.to_owned(), process);
        self.names.entry(name.to_owned()).or_default().push(index);
        if watch.is_some() {
            self.watched(index)?;
        }
        if matches!(begin, Begin::Initialized | Begin::Session) {
            self.initialize(name, index)?;
        }
        if begin == Begin::Session {
            self.new_session(name)?;
        }
        Ok(())
    }

    fn initialize(&mut self, name: &str, index: ProcessIndex) -> Did {
        let label = if index == 0 {
            "initialize".to_owned()
        } else {
            format!("initialize:{index}")
        };
        let hello = self.variables.fill(&self.case.capabilities);
        let hello = self.tongue.hello(&hello);
        match self.tongue {
            Tongue::Sqeq => {
                self.sound("initialize", &hello)?;
                let at = self.write_frame(name, &hello)?;
                self.asked(name, &label, Value::Null, at, Awaited::Welcome)?;
            }
            Tongue::AcpV1 | Tongue::AcpV2 => {
                self.sound("initialize", &hello)?;
                self.ask(name, &label, "initialize", Some(hello), None)?;
            }
            _ => self.sdk_hello(name, &label, hello)?,
        }
        if self.tongue == Tongue::Exec {
            return Ok(());
        }
        let answer = self.answer_to(&label, None)?;
        if self.tongue == Tongue::AcpV2 && answer["result"]["protocolVersion"] != 2 {
            let why = "the target does not speak version 2";
            return Err(Halt::Skip(why.to_owned()));
        }
        if let Some(pointer) = &self.case.advertised {
            let offered = answer.get("result").unwrap_or(&answer).pointer(pointer);
            if matches!(offered, None | Some(Value::Null | Value::Bool(false))) {
                return Err(Halt::Skip(format!("the target does not offer {pointer}")));
            }
        }
        self.sdk_greeted(name)
    }

    fn new_session(&mut self, name: &str) -> Did {
        let wanted = self.tongue.new_session(&self.place.cwd());
        let (label, at) = match self.tongue {
            Tongue::Claude | Tongue::Exec => return Ok(()),
            Tongue::Sqeq => {
                self.submission(name, "session.new", wanted, None, None)?;
                ("session.new", "/accepted/session")
            }
            Tongue::AppServer => {
                self.ask(name, "thread/start", "thread/start", Some(wanted), None)?;
                ("thread/start", "/result/thread/id")
            }
            _ => {
                self.sound("session/new", &wanted)?;
                self.ask(name, "session/new", "session/new", Some(wanted), None)?;
                ("session/new", "/result/sessionId")
            }
        };
        let answer = self.answer_to(label, None)?;
        let Some(session) = answer.pointer(at) else {
            return Err(Halt::Stop(format!("{label} gave no {at}")));
        };
        self.variables.set("session", session.clone());
        Ok(())
    }

    /// What the suite makes itself must be right, or the target is judged for our mistake.
    fn sound(&self, method: &str, value: &Value) -> Did {
        match self.schemas.own("requests", method, value) {
            None => Ok(()),
            Some(why) => {
                let why = format!("{}: the suite's own frame: {why}", self.case.id);
                Err(Halt::Fault(Error::Harness(why)))
            }
        }
    }

    fn process(&self, name: &str) -> Result<&Process, Halt> {
        self.processes
            .get(name)
            .ok_or_else(|| Halt::Stop(format!("process `{name}` was not started")))
    }

    /// The time a step may wait, within the time of the case.
    fn within(&self, ms: Option<u64>, usual: Duration) -> Duration {
        let wanted = ms.map_or(usual, Duration::from_millis);
        wanted.min(self.until.saturating_duration_since(Instant::now()))
    }
}

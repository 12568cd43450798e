//! Does the steps of a case to a target.

mod act;
mod cross;
mod damage;
mod disk;
mod export;
mod frame;
mod holders;
mod place;
mod sdk;
mod submit;
mod transcript;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub(crate) use frame::answer_in;
pub(crate) use place::Place;

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

/// Bytes of the variable `long`: more than the last page of a file has left.
const LONG: usize = 9000;
/// Words of this many bytes, none like the other: some runtimes take a repetition for a model that hangs.
fn words(bytes: usize) -> String {
    let mut text: String = (0..bytes / 4).map(|number| format!("w{number} ")).collect();
    text.truncate(bytes);
    text
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
    /// What a file of the target may have at most; the guard's own bound when absent.
    file_bytes: Option<u64>,
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
        variables.set("long", json!(words(LONG)));
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
            file_bytes: None,
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
        if let Some(disk) = &self.place.disk {
            self.recorder.add(0, What::Note(disk.describe()));
        }
        if self.case.begin != Begin::Nothing {
            self.start("a", self.case.begin, None, &self.case.args)?;
        }
        for step in &self.case.steps {
            self.step(step)?;
        }
        Ok(())
    }

    /// Starts a process and does what is usual first.
    fn start(&mut self, name: &str, begin: Begin, watch: Option<Watching>, args: &[String]) -> Did {
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
            file_bytes: self.file_bytes,
            watch,
            disk: self.place.disk.as_ref(),
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

//! A target: how a runtime is started, and how it is made to do things. `targets/*.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::Error;
use crate::step::ShapeName;
use crate::tongue::Tongue;

/// A file of `targets/`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Target {
    /// What it is called in reports.
    pub(crate) id: String,
    /// Program and arguments. A program with a slash is resolved where the runner was started.
    #[serde(default)]
    pub(crate) argv: Vec<String>,
    /// The environment: nothing else but PATH, HOME, LANG, TMPDIR and SESSIOND_HOME is set. `{home}`,
    /// `{state_dir}`, `{cwd}`, `{model_url}` are filled in, here and in `files`; `{peers}`, where
    /// the project installs the programs of others, everywhere.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Files that are there before each case, with their text: settings of the runtime.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// How often a case that kills at each frame is repeated at most, its frames spread evenly; as the case
    /// says when absent.
    #[serde(default)]
    pub(crate) sweeps: Option<usize>,
    /// How many cases run at once; as the processors allow when absent.
    #[serde(default)]
    pub(crate) jobs: Option<usize>,
    /// A command line after `--` that ends so is this target: `["sessiond", "acp"]`.
    #[serde(default)]
    pub(crate) recognise: Vec<String>,
    #[serde(default)]
    pub(crate) timeouts: Timeouts,
    /// By which prompt text it does what: `text`, `stream`, `tool`, `write`, `read`, `ask`, ….
    /// `{name}` is filled in by the case.
    #[serde(default = "plain")]
    pub(crate) prompts: BTreeMap<String, String>,
    /// Where the log of a session lies below the state folder; `{session}` is its id,
    /// `{session:8}` the first eight characters of it, `*` any name.
    #[serde(default)]
    pub(crate) session_files: Option<String>,
    /// The command lines of a target that speaks several protocols about the same sessions, by protocol;
    /// `{bin}` is the target's own folder.
    #[serde(default)]
    pub(crate) speaks: BTreeMap<Tongue, Vec<String>>,
    /// What a line of that file holds that is a record for the model, where other lines repeat it for
    /// people: only such a line is damaged.
    #[serde(default)]
    pub(crate) record_mark: Option<String>,
    /// The command that prints the conversation of `{session}`; `{bin}` is the target's own folder.
    #[serde(default)]
    pub(crate) export: Vec<String>,
    /// The transcripts that it writes, by shape: `claude`, `codex`.
    #[serde(default)]
    pub(crate) shapes: BTreeMap<ShapeName, Writes>,
    /// The command that prints the transcript `{file}` as one of `{shape}`, and on stderr what is lost.
    #[serde(default)]
    pub(crate) convert: Vec<String>,
    /// A file that is judged in place of all that a program writes.
    #[serde(skip)]
    pub(crate) given: Option<Given>,
}

/// How one gets at the transcript of a session.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Writes {
    /// The command that writes that of `{session}`, on stdout where no path is named; none where the
    /// target writes it anyway.
    #[serde(default)]
    pub(crate) run: Vec<String>,
    /// The command that takes in the transcript `{file}` of `{session}`, so that it can be resumed.
    #[serde(default)]
    pub(crate) take: Vec<String>,
    /// Where it then lies; `{session}` and `*` as in `session_files`.
    #[serde(default)]
    pub(crate) path: Option<String>,
}

/// A transcript without a program.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) path: PathBuf,
    pub(crate) shape: ShapeName,
}

/// How long things may take, in milliseconds.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Timeouts {
    /// An answer.
    pub(crate) reply: u64,
    /// The first line of a process.
    pub(crate) start: u64,
    /// Silence after which nothing more is expected.
    pub(crate) quiet: u64,
    /// The end of a process after its stdin was closed, or after a signal.
    pub(crate) exit: u64,
    /// A whole case.
    pub(crate) case: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            reply: 10_000,
            start: 20_000,
            quiet: 400,
            exit: 5_000,
            case: 60_000,
        }
    }
}

impl Timeouts {
    pub(crate) fn reply(self) -> Duration {
        Duration::from_millis(self.reply)
    }

    pub(crate) fn start(self) -> Duration {
        Duration::from_millis(self.start)
    }

    pub(crate) fn quiet(self) -> Duration {
        Duration::from_millis(self.quiet)
    }

    pub(crate) fn exit(self) -> Duration {
        Duration::from_millis(self.exit)
    }

    pub(crate) fn case(self) -> Duration {
        Duration::from_millis(self.case)
    }
}

/// Variable of the runner: where the programs of others lie.
const PEERS: &str = "SESSIOND_PEERS";
/// What stands for it in the file of a target.
const PEERS_FIELD: &str = "{peers}";

/// The targets that are shipped.
const SHIPPED: [&str; 11] = [
    include_str!("../targets/sessiond.toml"),
    include_str!("../targets/sessiond-sqeq.toml"),
    include_str!("../targets/sessiond-claude.toml"),
    include_str!("../targets/sessiond-codex-exec.toml"),
    include_str!("../targets/sessiond-codex-app-server.toml"),
    include_str!("../targets/claude-agent-acp.toml"),
    include_str!("../targets/codex-acp.toml"),
    include_str!("../targets/gemini-cli.toml"),
    include_str!("../targets/opencode.toml"),
    include_str!("../targets/qwen-code.toml"),
    // Its one word stands in others' command lines too, so it is the last.
    include_str!("../targets/sessiond-cross.toml"),
];

impl Target {
    /// Reads a target's file.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when it is not there or not a target.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let fault = |why: String| Error::Usage(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
        let mut target: Self = toml::from_str(&text).map_err(|error| fault(error.to_string()))?;
        if target.argv.is_empty() {
            return Err(fault("argv is empty".to_owned()));
        }
        target.fill_peers(std::env::var(PEERS).ok().as_deref())?;
        resolve(&mut target.argv)?;
        let beside = |word: &String| word.starts_with("{bin}");
        if !target.export.first().is_some_and(beside) {
            resolve(&mut target.export)?;
        }
        Ok(target)
    }

    /// The target of a command line: a shipped one when it is recognised, else one of which
    /// nothing is known.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when the program is a path that leads nowhere.
    pub(crate) fn of_command(command: &[String]) -> Result<Self, Error> {
        let mut argv = command.to_vec();
        let mut target = shipped(&argv)?;
        resolve(&mut argv)?;
        target.argv = argv;
        Ok(target)
    }

    /// Puts the folder of the programs of others where `{peers}` stands.
    fn fill_peers(&mut self, peers: Option<&str>) -> Result<(), Error> {
        let texts = self
            .argv
            .iter_mut()
            .chain(self.speaks.values_mut().flatten())
            .chain(self.env.values_mut())
            .chain(self.files.values_mut());
        for text in texts.filter(|text| text.contains(PEERS_FIELD)) {
            let peers = peers.ok_or_else(|| {
                let why = format!("{}: set {PEERS}, or run `cargo xtask foreign`", self.id);
                Error::Usage(why)
            })?;
            *text = text.replace(PEERS_FIELD, peers);
        }
        Ok(())
    }

    /// The command that prints a session, resolved; empty where none is known.
    pub(crate) fn export_of(&self, session: &str) -> Vec<String> {
        self.filled(&self.export, &[("{session}", session)])
    }

    /// The command line by which it speaks a protocol.
    pub(crate) fn argv_of(&self, tongue: Tongue) -> Vec<String> {
        match self.speaks.get(&tongue) {
            Some(argv) => self.filled(argv, &[]),
            None => self.argv.clone(),
        }
    }

    /// The words of one of its commands with their fields, and `{bin}` for its own folder.
    pub(crate) fn filled(&self, words: &[String], fields: &[(&str, &str)]) -> Vec<String> {
        let program = self.argv.first().map(Path::new);
        let folder = program.and_then(Path::parent).map(Path::to_string_lossy);
        // A program without a folder is looked for on the path, and so is what stands beside it.
        let beside = match folder {
            Some(folder) if !folder.is_empty() => format!("{folder}/"),
            _ => String::new(),
        };
        let fill = |word: &String| {
            let word = word.replace("{bin}/", &beside);
            fields
                .iter()
                .fold(word, |word, (name, value)| word.replace(name, value))
        };
        words.iter().map(fill).collect()
    }

    /// The target that is one file.
    pub(crate) fn of_file(given: Given) -> Self {
        let name = given.path.file_name().unwrap_or(given.path.as_os_str());
        Self {
            id: name.to_string_lossy().into_owned(),
            given: Some(given),
            ..Self::unknown()
        }
    }

    /// One of which nothing is known.
    fn unknown() -> Self {
        Self {
            id: String::new(),
            argv: Vec::new(),
            env: BTreeMap::new(),
            files: BTreeMap::new(),
            sweeps: None,
            jobs: None,
            recognise: Vec::new(),
            timeouts: Timeouts::default(),
            prompts: plain(),
            session_files: None,
            record_mark: None,
            export: Vec::new(),
            speaks: BTreeMap::new(),
            shapes: BTreeMap::new(),
            convert: Vec::new(),
            given: None,
        }
    }

    /// The prompt of this kind with its fields filled in.
    pub(crate) fn prompt(&self, kind: &str, with: &BTreeMap<String, String>) -> Option<String> {
        let mut text = self.prompts.get(kind)?.clone();
        for (name, value) in with {
            text = text.replace(&format!("{{{name}}}"), value);
        }
        Some(text)
    }
}

/// The shipped target that a command line is, by the names of its programs.
fn shipped(argv: &[String]) -> Result<Target, Error> {
    let names: Vec<&str> = argv
        .iter()
        .map(|word| Path::new(word).file_name().and_then(|name| name.to_str()))
        .map(Option::unwrap_or_default)
        .collect();
    for text in SHIPPED {
        let target: Target =
            toml::from_str(text).map_err(|error| Error::Harness(error.to_string()))?;
        if !target.recognise.is_empty()
            && names
                .windows(target.recognise.len())
                .any(|window| window == target.recognise)
        {
            return Ok(target);
        }
    }
    Ok(Target {
        id: names.first().copied().unwrap_or_default().to_owned(),
        ..Target::unknown()
    })
}

/// A path is resolved now: cases run elsewhere.
fn resolve(argv: &mut [String]) -> Result<(), Error> {
    let Some(program) = argv.first_mut().filter(|program| program.contains('/')) else {
        return Ok(());
    };
    // Links stay as they are: a Python environment knows itself by the path of its interpreter.
    let whole = std::path::absolute(&*program)
        .and_then(|path| path.metadata().map(|_| path))
        .map_err(|error| Error::Usage(format!("{program}: {error}")))?;
    *program = whole.to_string_lossy().into_owned();
    Ok(())
}

/// What every agent understands.
fn plain() -> BTreeMap<String, String> {
    BTreeMap::from([("text".to_owned(), "{text}".to_owned())])
}

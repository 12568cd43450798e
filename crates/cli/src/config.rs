//! The configuration file: TOML, strict, and its mistakes are named with file and line.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sessiond_protocol::PersistenceState;

use crate::failure::Failure;

/// The agent that is always there.
pub(crate) const BUILT_IN: &str = "script";

/// What the configuration says; without a file, nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// The agent for new sessions where the command line names none.
    default_agent: Option<String>,
    /// What of a session is stored.
    #[serde(default)]
    persistence: Persistence,
    /// Where the sessions of faces live.
    #[serde(default)]
    host: Hosting,
    /// Pages in browsers whose requests the WebSocket of the host takes.
    #[serde(default)]
    origins: Vec<String>,
    /// How long things are kept.
    #[serde(default)]
    retention: Retention,
    /// The agents by name.
    #[serde(default)]
    agents: BTreeMap<String, AgentConfig>,
}

/// How much of a session is stored. Only the file says so: an inherited environment must not make
/// sessions forget (LOG-16).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Persistence {
    #[default]
    Extended,
    Lean,
}

/// Where the sessions of faces live, unless `--host` says more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Hosting {
    /// In the process of the face.
    #[default]
    Never,
    /// In the host, which is started when there is none.
    Auto,
}

/// How long things are kept; what has no number is kept for ever (LOG-12). Days have 24 hours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Retention {
    /// Sessions in which nothing was recorded for so many days go to the trash. Not 0: that would
    /// be all of them.
    pub(crate) sessions_days: Option<NonZeroU32>,
    /// What has been in the trash for so many days is deleted.
    pub(crate) trash_days: Option<u32>,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentConfig {
    pub(crate) kind: AgentKind,
    /// Program and arguments; none is the kind's own.
    #[serde(default)]
    pub(crate) command: Vec<String>,
    /// Variables that this agent alone gets (SEC-2).
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
}

/// What speaks to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AgentKind {
    Script,
    Acp,
    Claude,
    Codex,
}

impl fmt::Display for AgentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            AgentKind::Script => "script",
            AgentKind::Acp => "acp",
            AgentKind::Claude => "claude",
            AgentKind::Codex => "codex",
        })
    }
}

impl Config {
    /// The origins whose requests the WebSocket of the host takes (SEC-3).
    pub(crate) fn origins(&self) -> &[String] {
        &self.origins
    }

    /// Whether faces use the host.
    pub(crate) fn is_hosting(&self) -> bool {
        self.host == Hosting::Auto
    }

    /// Reads the configuration: the named file, else the user's, which need not exist.
    pub(crate) fn load(named: Option<&Path>) -> Result<Config, Failure> {
        let (path, must_exist) = match named {
            Some(path) => (path.to_owned(), true),
            None => match default_path() {
                Some(path) => (path, false),
                None => return Ok(Config::default()),
            },
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => Config::parse(&text, &path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => {
                Ok(Config::default())
            }
            Err(error) => Err(Failure::Config {
                place: path.display().to_string(),
                problem: format!("cannot be read: {error}; check --config and $SESSIOND_CONFIG"),
            }),
        }
    }

    /// Reads a configuration's text; `path` is for messages.
    pub(crate) fn parse(text: &str, path: &Path) -> Result<Config, Failure> {
        // The error's own text would show the line, and a line may hold a secret of `env`.
        let config: Config = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            mistake(path, line_of(text, at), error.message())
        })?;
        for (name, agent) in &config.agents {
            if let Some(problem) = agent.problem(name) {
                let line = header_line(text, name);
                return Err(mistake(path, line, &format!("agent `{name}`: {problem}")));
            }
        }
        Ok(config)
    }

    /// What of a session is stored.
    pub(crate) fn persistence(&self) -> PersistenceState {
        match self.persistence {
            Persistence::Extended => PersistenceState::On,
            Persistence::Lean => PersistenceState::Lean,
        }
    }

    /// How long things are kept.
    pub(crate) fn retention(&self) -> Retention {
        self.retention
    }

    /// The agents by name, the built-in one among them.
    pub(crate) fn agents(&self) -> BTreeMap<String, AgentConfig> {
        let built_in = AgentConfig {
            kind: AgentKind::Script,
            command: Vec::new(),
            env: BTreeMap::new(),
        };
        let mut agents = self.agents.clone();
        agents.entry(BUILT_IN.to_owned()).or_insert(built_in);
        agents
    }

    /// The agent for new sessions: the named one, else the configured default, else the built-in.
    pub(crate) fn default_agent(&self, named: Option<&str>) -> Result<String, Failure> {
        let name = named.or(self.default_agent.as_deref()).unwrap_or(BUILT_IN);
        let agents = self.agents();
        match agents.get(name) {
            Some(_) => Ok(name.to_owned()),
            None => Err(Failure::Usage(format!(
                "no agent is called `{name}`; there are: {}",
                agents
                    .keys()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", ")
            ))),
        }
    }
}

impl AgentConfig {
    /// Program and arguments, those that the kind has by itself where none are configured; nothing
    /// for an agent that is built in.
    pub(crate) fn command(&self) -> Vec<String> {
        let own = match self.kind {
            AgentKind::Claude => "claude",
            AgentKind::Codex => "codex",
            AgentKind::Script | AgentKind::Acp => return self.command.clone(),
        };
        match self.command.is_empty() {
            true => vec![own.to_owned()],
            false => self.command.clone(),
        }
    }

    /// What is wrong with it, where something is.
    fn problem(&self, name: &str) -> Option<&'static str> {
        match self.kind {
            AgentKind::Script if !self.command.is_empty() => {
                Some("kind script is built in; remove `command`")
            }
            AgentKind::Acp if self.command.is_empty() => {
                Some("kind acp needs `command = [\"PROGRAM\", …]`")
            }
            kind if name == BUILT_IN && kind != AgentKind::Script => {
                Some("this name is the built-in agent's; choose another")
            }
            _ => None,
        }
    }
}

fn default_path() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    // The XDG rules say to ignore relative values.
    base.filter(|path| path.is_absolute())
        .or_else(|| std::env::home_dir().map(|home| home.join(".config")))
        .map(|base| base.join("sessiond/config.toml"))
}

fn mistake(path: &Path, line: usize, problem: &str) -> Failure {
    Failure::Config {
        place: format!("{}:{line}", path.display()),
        problem: format!("{problem}; mend the line or remove it"),
    }
}

/// The line, from 1, of a byte offset.
fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// The line of an agent's table; the first line where it is written in another way.
fn header_line(text: &str, name: &str) -> usize {
    let is_header = |line: &str| {
        let inner = line
            .trim()
            .strip_prefix("[agents.")
            .and_then(|rest| rest.strip_suffix(']'));
        inner.is_some_and(|inner| inner.trim_matches('"') == name)
    };
    text.lines()
        .position(is_header)
        .map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests;

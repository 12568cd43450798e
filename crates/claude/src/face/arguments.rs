//! The command line, as the SDKs write it: `--flag value` and `--flag=value` (claude.md 1).

use std::collections::VecDeque;
use std::str::FromStr;

use serde_json::Value;
use sessiond_protocol::SessionId;

use super::flags::{Flag, Takes, flag};
use super::mode::Mode;

/// What the command line asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments {
    /// Print the version and end.
    pub version: bool,
    /// The model, as the agent or the protocol calls it.
    pub model: Option<String>,
    /// The permission mode to begin in.
    pub mode: Option<Mode>,
    /// Who is asked for permission.
    pub asked: Option<Asked>,
    /// Rules of what may run without asking.
    pub allowed: Vec<String>,
    /// Rules of what may not run.
    pub disallowed: Vec<String>,
    /// The tools that there are, where not all of the agent's are wanted.
    pub tools: Option<Vec<String>>,
    /// Settings: JSON, or the path of a file.
    pub settings: Option<String>,
    /// Which session to go on in.
    pub go_on: GoOn,
    /// Whether to go on in a copy.
    pub fork: bool,
    /// The id of the session, where the caller chose it.
    pub session: Option<SessionId>,
    /// The message after which the conversation is cut.
    pub resume_at: Option<String>,
    /// The prompt of the one turn that going on from there may discard.
    pub resume_drops: Option<String>,
    /// Whether nothing is to be stored.
    pub unstored: bool,
    /// Roots beside the working directory.
    pub roots: Vec<String>,
    /// Configurations of MCP servers: JSON, or the path of a file.
    pub mcp_config: Vec<String>,
    /// Whether text is shown while it streams.
    pub partial: bool,
    /// Whether hooks are shown.
    pub hook_events: bool,
    /// Whether prompts are repeated on the output.
    pub replay: bool,
    /// Whether the entries of the transcript are told.
    pub mirror: bool,
    /// The JSON Schema of the answer.
    pub schema: Option<Value>,
    /// Most rounds of a turn.
    pub max_turns: Option<u32>,
    /// Most that a session may cost, in US dollars.
    pub max_cost: Option<f64>,
    /// Instructions in place of the agent's own; not empty.
    pub instructions: Option<String>,
    /// A file of them.
    pub instructions_file: Option<String>,
    /// Instructions behind the agent's own.
    pub more_instructions: Option<String>,
    /// Flags that have no meaning here, as they were written.
    pub without_meaning: Vec<String>,
}

/// Which session to go on in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum GoOn {
    /// In none: it is a new one.
    #[default]
    New,
    /// In the newest of the directory.
    Newest,
    /// In the one of this id or title.
    Named(String),
}

/// Who is asked for permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// The program, by `can_use_tool`.
    Program,
    /// A tool of an MCP server: `mcp__server__tool`.
    Tool {
        /// The server.
        server: String,
        /// Its tool.
        tool: String,
    },
}

/// Why a command line cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadArguments(pub String);

impl Arguments {
    /// Reads a command line, without the program's name.
    ///
    /// # Errors
    /// [`BadArguments`]: an unknown flag, a value that is missing or malformed, or a combination
    /// that makes no sense; the program ends with exit code 1.
    pub fn read(words: impl IntoIterator<Item = String>) -> Result<Self, BadArguments> {
        let mut words: VecDeque<String> = words.into_iter().collect();
        let mut arguments = Arguments::default();
        while let Some(word) = words.pop_front() {
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) if name.starts_with('-') => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let Some((flag, takes)) = flag(name) else {
                return Err(unknown(&word));
            };
            let value = match takes {
                Takes::Nothing => joined,
                Takes::Value => Some(match joined {
                    Some(value) => value,
                    None => words
                        .pop_front()
                        .ok_or_else(|| BadArguments(format!("{name} needs a value")))?,
                }),
                Takes::Maybe => {
                    joined.or_else(|| words.pop_front_if(|next| !next.starts_with('-')))
                }
            };
            arguments.take((name, flag), value.unwrap_or_default())?;
        }
        arguments.checked()
    }

    fn take(&mut self, (name, flag): (&str, Flag), value: String) -> Result<(), BadArguments> {
        match flag {
            Flag::Version => self.version = true,
            Flag::Form => {
                if value != "stream-json" {
                    return Err(BadArguments(format!(
                        "{name} {value} is not served here; it is stream-json"
                    )));
                }
            }
            Flag::Model => self.model = Some(value).filter(|model| !model.is_empty()),
            Flag::Mode => self.mode = Some(parsed(name, &value)?),
            Flag::Bypass => self.mode = Some(Mode::BypassPermissions),
            Flag::Asked => self.asked = Some(asked(name, &value)?),
            Flag::Allowed => self.allowed.extend(rules(&value)),
            Flag::Disallowed => self.disallowed.extend(rules(&value)),
            Flag::Tools => self.tools = Some(rules(&value)).filter(|_| value != "default"),
            Flag::Settings => self.settings = Some(value),
            Flag::Resume => self.go_on = GoOn::Named(value),
            Flag::Continue => self.go_on = GoOn::Newest,
            Flag::Fork => self.fork = true,
            Flag::Session => {
                let id = value.to_ascii_lowercase().parse();
                self.session = Some(id.map_err(|_| {
                    BadArguments("Invalid session ID. Must be a valid UUID.".to_owned())
                })?);
            }
            Flag::ResumeAt => self.resume_at = Some(value),
            Flag::ResumeDrops => self.resume_drops = Some(value),
            Flag::Unstored => self.unstored = true,
            Flag::Root => self.roots.push(value),
            Flag::McpConfig => self.mcp_config.push(value),
            Flag::Partial => self.partial = true,
            Flag::HookEvents => self.hook_events = true,
            Flag::Replay => self.replay = true,
            Flag::Mirror => self.mirror = true,
            Flag::Schema => {
                let schema = serde_json::from_str(&value);
                self.schema =
                    Some(schema.map_err(|_| BadArguments(format!("{name} is not JSON")))?);
            }
            Flag::MaxTurns => self.max_turns = Some(parsed(name, &value)?),
            Flag::MaxCost => self.max_cost = Some(parsed(name, &value)?),
            Flag::Instructions => self.instructions = Some(value).filter(|text| !text.is_empty()),
            Flag::InstructionsFile => self.instructions_file = Some(value),
            Flag::MoreInstructions => {
                self.more_instructions = Some(value).filter(|text| !text.is_empty());
            }
            Flag::Implied => {}
            Flag::WithoutMeaning => self.without_meaning.push(name.to_owned()),
        }
        Ok(())
    }

    fn checked(self) -> Result<Self, BadArguments> {
        let bad = |message: &str| Err(BadArguments(message.to_owned()));
        let is_new = self.go_on == GoOn::New;
        if self.session.is_some() && !is_new && !self.fork {
            return bad("--session-id with --continue or --resume also needs --fork-session.");
        }
        if self.go_on == GoOn::Named(String::new()) {
            return bad("--resume needs the id or the title of a session");
        }
        if self.resume_at.is_some() && !matches!(self.go_on, GoOn::Named(_)) {
            return bad("--resume-session-at needs --resume");
        }
        Ok(self)
    }
}

fn unknown(word: &str) -> BadArguments {
    if word.starts_with('-') {
        let name = word.split('=').next().unwrap_or(word);
        return BadArguments(format!("unknown option '{name}'"));
    }
    BadArguments("prompts come on stdin, as stream-json".to_owned())
}

fn parsed<T: FromStr>(name: &str, value: &str) -> Result<T, BadArguments> {
    let parsed = value.parse();
    parsed.map_err(|_| BadArguments(format!("{name}: the value is not one that it takes")))
}

fn asked(name: &str, value: &str) -> Result<Asked, BadArguments> {
    if value == "stdio" {
        return Ok(Asked::Program);
    }
    let tool = value
        .strip_prefix("mcp__")
        .and_then(|rest| rest.split_once("__"));
    match tool {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Ok(Asked::Tool {
            server: server.to_owned(),
            tool: tool.to_owned(),
        }),
        _ => Err(BadArguments(format!(
            "{name} is stdio, or a tool as mcp__SERVER__TOOL"
        ))),
    }
}

/// The rules of a list: commas and blanks stand between them, unless they are in parentheses.
fn rules(list: &str) -> Vec<String> {
    let (mut rules, mut depth) = (vec![String::new()], 0_u32);
    for character in list.chars() {
        match character {
            ',' | ' ' if depth == 0 => {
                rules.push(String::new());
                continue;
            }
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if let Some(rule) = rules.last_mut() {
            rule.push(character);
        }
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}

#[cfg(test)]
mod tests;

//! The editor configurations in `examples/editors`: the command each names must be an ACP agent.
//!
//! JSON is parsed as JSON. Of Lua and Emacs Lisp only the words after the keys that hold the
//! command are read, so that no editor has to be on the machine.

use std::path::Path;

use serde_json::Value;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::handshake::handshake;

/// A configuration and how its command is found.
struct Configuration {
    file: &'static str,
    command: fn(&str) -> Option<Vec<String>>,
}

const CONFIGURATIONS: [Configuration; 5] = [
    Configuration {
        file: "zed/settings.json",
        command: agent_servers,
    },
    Configuration {
        file: "jetbrains/acp.json",
        command: agent_servers,
    },
    Configuration {
        file: "neovim/codecompanion.lua",
        command: codecompanion,
    },
    Configuration {
        file: "neovim/avante.lua",
        command: avante,
    },
    Configuration {
        file: "emacs/agent-shell.el",
        command: agent_shell,
    },
];

/// Initializes each configured command, with sessiond on PATH as a user has it.
///
/// # Errors
///
/// `Content` for a configuration without a command, `Peer` for a command that does not initialize
/// as sessiond.
pub(crate) fn check(folder: &Path, environment: &Environment) -> Result<()> {
    for Configuration { file, command } in CONFIGURATIONS {
        let path = folder.join(file);
        let text = std::fs::read_to_string(&path)
            .map_err(Error::io(format!("reading {}", path.display())))?;
        let words = command(&text).unwrap_or_default();
        let [program, arguments @ ..] = words.as_slice() else {
            return Err(Error::content(
                &path,
                "names no command to start an agent with",
            ));
        };
        let mut command = environment.as_installed(Path::new(program))?;
        let answer = handshake(command.args(arguments), file)?;
        let name = answer
            .result
            .pointer("/agentInfo/name")
            .and_then(Value::as_str);
        if name != Some("sessiond") {
            let what = format!("`{}` initialized as {name:?}", words.join(" "));
            return Err(Error::Peer {
                peer: file.to_owned(),
                what,
            });
        }
        eprintln!("ok   {file}: {}", words.join(" "));
    }
    Ok(())
}

/// Zed and JetBrains: `agent_servers.<any>.{command, args}`.
fn agent_servers(text: &str) -> Option<Vec<String>> {
    let settings: Value = serde_json::from_str(text).ok()?;
    let server = settings
        .get("agent_servers")?
        .as_object()?
        .values()
        .next()?
        .clone();
    let arguments = server.get("args")?.as_array()?;
    let words = std::iter::once(server.get("command")?).chain(arguments);
    words.map(|word| word.as_str().map(str::to_owned)).collect()
}

/// codecompanion.nvim: `commands = { default = { "program", "argument" } }`.
fn codecompanion(text: &str) -> Option<Vec<String>> {
    Some(quoted(between(text, "default = {", "}")?))
}

/// avante.nvim: `command = "program"`, `args = { "argument" }`.
fn avante(text: &str) -> Option<Vec<String>> {
    let mut words = quoted(between(text, "command =", "\n")?);
    words.extend(quoted(between(text, "args = {", "}")?));
    Some(words)
}

/// agent-shell: `:command "program"`, `:command-params '("argument")`.
fn agent_shell(text: &str) -> Option<Vec<String>> {
    let mut words = quoted(between(text, ":command ", "\n")?);
    words.extend(quoted(between(text, ":command-params '(", ")")?));
    Some(words)
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(from)?;
    Some(rest.split_once(to)?.0)
}

fn quoted(text: &str) -> Vec<String> {
    text.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
#[path = "editors_tests.rs"]
mod tests;

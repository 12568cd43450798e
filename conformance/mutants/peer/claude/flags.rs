//! The command line of Claude's face.

use std::path::PathBuf;

use serde_json::Value;

use crate::fault::on;

/// Flags with a value that changes nothing here.
const PASSED_OVER: [&str; 12] = [
    "--output-format",
    "--input-format",
    "--system-prompt",
    "--tools",
    "--setting-sources",
    "--max-turns",
    "--model",
    "--thinking",
    "--settings",
    "--effort",
    "--add-dir",
    "--append-system-prompt",
];

/// What the flags say.
#[derive(Default)]
pub(super) struct Flags {
    pub(super) session: Option<String>,
    pub(super) resume: Option<String>,
    pub(super) newest: bool,
    pub(super) fork: bool,
    pub(super) partial: bool,
    pub(super) asks: bool,
    pub(super) mode: Option<String>,
    pub(super) allowed: String,
    pub(super) denied: String,
    /// Servers in the program.
    pub(super) servers: Vec<String>,
}

impl Flags {
    /// Reads them, in both spellings.
    pub(super) fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut flags = Self::default();
        while let Some(word) = words.next() {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) if !on("equals-refused") => {
                    (name.to_owned(), Some(value.to_owned()))
                }
                _ => (word, None),
            };
            let mut value = || value.clone().or_else(|| words.next()).unwrap_or_default();
            match name.as_str() {
                "--session-id" => flags.session = Some(value()),
                "--resume" => flags.resume = Some(value()),
                "--continue" => flags.newest = true,
                "--fork-session" => flags.fork = true,
                "--include-partial-messages" => flags.partial = true,
                "--permission-prompt-tool" => flags.asks = value() == "stdio",
                "--permission-mode" => flags.mode = Some(value()),
                "--allowedTools" => flags.allowed = value(),
                "--disallowedTools" => flags.denied = value(),
                "--mcp-config" => flags.servers = servers(&value()),
                "--verbose" => {}
                "--thinking" if on("flag-refused") => return Err(format!("{name} is no flag")),
                name if PASSED_OVER.contains(&name) => drop(value()),
                _ if on("unknown-flag-taken") => {}
                _ => return Err(format!("{name} is no flag")),
            }
        }
        if flags.session.is_some() && flags.resume.is_some() && !flags.fork && !on("both-ids-taken")
        {
            return Err("--session-id does not go with --resume".to_owned());
        }
        Ok(flags)
    }
}

fn servers(config: &str) -> Vec<String> {
    let config: Value = serde_json::from_str(config).unwrap_or_default();
    let servers = config["mcpServers"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    servers
        .into_iter()
        .filter(|(_, server)| server["type"] == "sdk")
        .map(|(name, _)| name)
        .collect()
}

/// Where sessions lie.
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("PEER_STATE").map_or_else(std::env::temp_dir, PathBuf::from)
}

//! What came of a conversion, for people and for programs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sessiond_claude::transcript;
use sessiond_codex::rollout;
use sessiond_protocol::{Losses, SessionId};

use crate::args::{Format, Shape};
use crate::conversation::one_line;
use crate::failure::Failure;
use crate::output::{json, print, print_json};

/// What a reader of one of the shapes found.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum FoundIn {
    Claude(transcript::Findings),
    Codex(rollout::Findings),
}

impl FoundIn {
    /// In the lines of a transcript of Claude, and in its conversation.
    pub(super) fn claude(lines: &transcript::Findings, told: &transcript::Findings) -> Self {
        FoundIn::Claude(lines.clone().and(told))
    }

    /// In the heads of the files of a rollout of Codex, and in their lines.
    pub(super) fn codex(heads: &rollout::Findings, told: &rollout::Findings) -> Self {
        FoundIn::Codex(heads.clone().and(told))
    }
}

/// Serializes to what `--json` prints.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The session.
    pub(super) session: SessionId,
    /// What was made: claude, codex, sessiond.
    to: &'static str,
    /// The file that was made; none for the store, and for stdout.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    /// Its length.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// How many items were converted.
    items: u64,
    /// Bytes that are kept, or written, as they were found.
    original_bytes: u64,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// What was found that is damaged, was taken by a rule, or is no conversation; by kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<FoundIn>,
    /// What the other shape cannot hold; by kind.
    lost: Losses,
}

impl Report {
    /// Of what was made of a session.
    pub(super) fn new(session: SessionId, to: Shape, items: u64, original_bytes: u64) -> Self {
        let to = match to {
            Shape::Claude => "claude",
            Shape::Codex => "codex",
            Shape::Sessiond => "sessiond",
        };
        Self {
            session,
            to,
            file: None,
            bytes: None,
            items,
            original_bytes,
            title: None,
            found: None,
            lost: Losses::default(),
        }
    }

    /// The file that was made.
    pub(super) fn wrote(&mut self, file: &Path, bytes: u64) {
        self.file = Some(file.to_owned());
        self.bytes = Some(bytes);
    }

    pub(super) fn titled(&mut self, title: Option<String>) {
        self.title = title;
    }

    /// What a reader of it found.
    pub(super) fn found(&mut self, found: FoundIn) {
        self.found = Some(found);
    }

    pub(super) fn lost(&mut self, losses: Losses) {
        self.lost = losses;
    }

    /// Prints it: on stdout, or on stderr where the conversation is there.
    pub(crate) fn print(&self, format: Format, output: Option<&Path>) -> Result<(), Failure> {
        let is_taken = output.is_some_and(|output| output.as_os_str() == "-");
        match (format.json, is_taken) {
            (true, false) => print_json(self),
            (false, false) => print(&self.text()),
            (true, true) => {
                crate::output::note(&json(self)?);
                Ok(())
            }
            (false, true) => {
                crate::output::note(self.text().trim_end());
                Ok(())
            }
        }
    }

    fn text(&self) -> String {
        let mut text = self.session.to_string();
        // Writing to a String cannot fail, here and below.
        let _ = match (&self.file, self.to) {
            (Some(file), _) => {
                let (file, bytes) = (file.display(), self.bytes.unwrap_or_default());
                write!(text, " is in {file}, {bytes} bytes")
            }
            (None, "sessiond") => write!(text, " is in the store"),
            (None, _) => write!(text, " is written"),
        };
        let _ = write!(text, ": {} items", self.items);
        if self.original_bytes > 0 {
            let _ = write!(text, ", {} bytes as they were", self.original_bytes);
        }
        text.push('\n');
        if let Some(title) = &self.title {
            let _ = writeln!(text, "title: {}", one_line(title));
        }
        let _ = match &self.found {
            Some(FoundIn::Claude(findings)) => write!(text, "{findings}"),
            Some(FoundIn::Codex(findings)) => write!(text, "{findings}"),
            None => Ok(()),
        };
        if !self.lost.is_empty() {
            let by = match self.to {
                "codex" => "a rollout of Codex",
                _ => "a transcript of Claude",
            };
            let _ = write!(text, "not held by {by}:\n{}", self.lost);
        }
        text
    }
}

//! The CLI's own transcripts: found, compared with the log, and written from it. These are the user's
//! files; one that is there is read and never changed.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sessiond_engine::Conversation;
use sessiond_engine::alignment::{Alignment, Exchange, align};
use sessiond_engine::handover;
use sessiond_protocol::{
    Content, HistoryItem, Item, Lack, Marker, SessionId, Telling, Told, ToldAbout,
};
use sessiond_wire::foreign::Upto;
use sessiond_wire::process::AgentCommand;

use crate::transcript::{Continuation, Fold, Index, Transcript, path};

/// The variable that says where the CLI keeps its things.
const CONFIG: &str = "CLAUDE_CONFIG_DIR";

/// Where the CLI keeps them below the home directory.
const BELOW_HOME: &str = ".claude";

/// Where the CLI keeps the transcripts of a session's directory.
#[derive(Debug, Clone)]
pub(super) struct Place {
    config: PathBuf,
    /// Where the session works, as the CLI names it: links resolved.
    cwd: String,
}

/// What a transcript tells.
#[derive(Debug, Default)]
pub(super) struct Record {
    exchanges: Vec<Exchange>,
    /// Whether what came before them was summed up there.
    is_summed_up: bool,
}

impl Place {
    /// The place of a command that works in a directory; none where the user has no home.
    pub(super) fn of(command: &AgentCommand, cwd: &Path) -> Option<Self> {
        let own = |name: &str| command.env.iter().find(|(own, _)| own == name);
        let variable = |name: &str| match own(name) {
            Some((_, value)) => Some(PathBuf::from(value)),
            None => std::env::var_os(name).map(PathBuf::from),
        };
        let given = |path: &PathBuf| !path.as_os_str().is_empty();
        let below_home = || {
            let home = variable("HOME").filter(given).or_else(std::env::home_dir)?;
            Some(home.join(BELOW_HOME))
        };
        let cwd = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
        Some(Self {
            config: variable(CONFIG).filter(given).or_else(below_home)?,
            cwd: cwd.display().to_string(),
        })
    }

    /// Reads the transcript of a session; none where there is none. One of a session that began in
    /// another directory lies there, and goes on there.
    pub(super) fn read(&self, session: &str) -> Option<io::Result<Record>> {
        let here = path(&self.config, &self.cwd, session);
        if here.is_file() {
            return Some(read(&here));
        }
        let file = format!("{session}.jsonl");
        let folders = std::fs::read_dir(self.config.join("projects")).ok()?;
        let mut paths = folders.flatten().map(|folder| folder.path().join(&file));
        paths.find(|path| path.is_file()).map(|path| read(&path))
    }

    /// Writes a conversation down as the transcript of a new session.
    ///
    /// # Errors
    /// Of the file system; there is a file of that session, too.
    pub(super) fn write(&self, session: SessionId, items: &[HistoryItem]) -> io::Result<()> {
        let path = path(&self.config, &self.cwd, &session.to_string());
        if let Some(folder) = path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)?;
        }
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let about = ToldAbout {
            cwd: Some(self.cwd.clone()),
            began: Some(jiff::Timestamp::now().to_string()),
            ..ToldAbout::default()
        };
        let from = Continuation::default();
        let mut out = BufWriter::new(file);
        let mut transcript = Transcript::new(&mut out, (session, &about), from);
        for item in items {
            transcript.tell(Told {
                id: Some(item.id),
                at: None,
                what: Telling::Item(item.item.clone()),
            })?;
        }
        transcript.finish(None)?;
        out.flush()
    }
}

fn read(path: &Path) -> io::Result<Record> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    // Its program may be writing to it.
    let source = Upto::new(&file, bytes);
    let index = Index::read(&source)?;
    let mut record = Record::default();
    for told in Fold::new(&index, &source) {
        record.take(told?.what);
    }
    Ok(record)
}

impl Record {
    fn take(&mut self, what: Telling) {
        match what {
            Telling::Item(Item::UserMessage { content }) => {
                if let Some(last) = self.exchanges.last_mut() {
                    last.said = String::new();
                    last.calls = Vec::new();
                }
                let text: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
                let (user, mark) = handover::without(&text.join("\n"));
                self.exchanges.push(Exchange {
                    user,
                    mark,
                    ..Exchange::default()
                });
            }
            Telling::Item(Item::AgentMessage { text, .. }) => {
                if let Some(last) = self.exchanges.last_mut() {
                    last.said.push_str(&text);
                }
            }
            Telling::Item(Item::ToolCall(call)) => {
                if let Some(last) = self.exchanges.last_mut() {
                    last.calls.extend(call.native);
                }
            }
            Telling::Summary(_) => {
                *self = Self {
                    exchanges: Vec::new(),
                    is_summed_up: true,
                };
            }
            Telling::Item(_) | Telling::Notice { .. } => {}
        }
    }

    /// What it lacks of the conversation; none where it has all of it (ADAPT-10).
    pub(super) fn lacks(&self, session: SessionId, known: &Conversation) -> Option<Lack> {
        let items = &known.items[..];
        if !self.is_summed_up {
            return lack(align(session, items, &self.exchanges));
        }
        if self.exchanges.is_empty() {
            // Nothing was asked since; what broke off after it is not there.
            return known.broken_off.map(|_| Lack::Behind);
        }
        // What was summed up cannot be compared; what was said since is the end of the log.
        let begins = |(at, item): (usize, &HistoryItem)| {
            matches!(item.item, Item::UserMessage { .. }).then_some(at)
        };
        let ends = items.iter().enumerate().filter_map(begins);
        let ends = ends.map(|at| {
            align(
                session,
                items.get(at..).unwrap_or_default(),
                &self.exchanges,
            )
        });
        let lacks: Vec<Option<Lack>> = ends.map(lack).collect();
        match lacks {
            lacks if lacks.contains(&None) => None,
            lacks if lacks.contains(&Some(Lack::Behind)) => Some(Lack::Behind),
            _ => Some(Lack::Differs),
        }
    }
}

fn lack(alignment: Alignment) -> Option<Lack> {
    match alignment {
        Alignment::Same => None,
        Alignment::LacksFrom(_) => Some(Lack::Behind),
        Alignment::DiffersAt(_) => Some(Lack::Differs),
    }
}

/// What the log says of a conversation that was written down whole.
pub(super) fn marker(items: &[HistoryItem], because: Lack) -> Option<Marker> {
    Some(Marker::HandedOver {
        from: items.first()?.id,
        to: items.last()?.id,
        told: items.len() as u64,
        left_out: 0,
        because,
    })
}

#[cfg(test)]
mod tests;

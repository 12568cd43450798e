//! Where a transcript is written to: a file that was not there before, private, whole or not at all;
//! or stdout.

use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use serde_json::json;
use sessiond_claude::transcript;
use sessiond_codex::rollout;
use sessiond_protocol::{Losses, SessionId, Titler, ToldAbout};
use tempfile::NamedTempFile;

use super::opening::{Library, TITLES, codex_home};
use crate::args::{Convert, Shape};
use crate::failure::Failure;

/// What is asked for.
#[derive(Debug, Clone)]
pub(super) enum Output {
    /// Stdout.
    Stdout,
    /// This file, of this shape.
    File(PathBuf, Shape),
    /// Below Claude's own folder, where the CLI looks for it.
    Claude(PathBuf),
    /// Below Codex's own folder, where Codex looks for it.
    Codex(PathBuf),
}

/// What is to be written.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) session: SessionId,
    pub(super) about: &'a ToldAbout,
    /// How the file was called, where it has to be called so.
    pub(super) name: Option<&'a str>,
}

/// A transcript on its way.
pub(super) enum Sink {
    Stdout(io::Stdout),
    File(Box<BufWriter<NamedTempFile>>, PathBuf),
}

impl Output {
    pub(super) fn of(convert: &Convert) -> Result<Self, Failure> {
        match (convert.output.as_deref(), convert.to) {
            (Some(output), _) if output.as_os_str() == "-" => Ok(Output::Stdout),
            (Some(output), to) => Ok(Output::File(output.to_owned(), to)),
            (None, Shape::Codex) => match codex_home() {
                Some(home) => Ok(Output::Codex(home)),
                None => Err(nowhere("$CODEX_HOME", "Codex keeps its rollouts")),
            },
            (None, Shape::Claude | Shape::Sessiond) => config().map(Output::Claude),
        }
    }

    /// Opens it for a session.
    pub(super) fn open(&self, place: &Place<'_>) -> Result<Sink, Failure> {
        let cwd = place.about.cwd.as_deref().unwrap_or("/");
        let path = match self {
            Output::Stdout => return Ok(Sink::Stdout(io::stdout())),
            Output::File(path, _) => path.clone(),
            Output::Claude(config) => {
                // The CLI names the folder after what the directory's links lead to.
                let real = std::fs::canonicalize(cwd).ok();
                let real = real.and_then(|real| real.into_os_string().into_string().ok());
                let cwd = real.as_deref().unwrap_or(cwd);
                transcript::path(config, cwd, &place.session.to_string())
            }
            Output::Codex(home) => {
                let thread = place.session.uuid();
                // Codex takes whichever file of a thread it finds.
                if let Some(path) = Library::at(home).files_of(thread).first() {
                    return Err(there(path));
                }
                let began = place.about.began.as_deref().unwrap_or_default();
                let named = place
                    .name
                    .filter(|name| rollout::thread_of(name) == Some(thread));
                let name = named.map_or_else(|| rollout::file_name(began, thread), str::to_owned);
                dated(home, &name)
            }
        };
        if !matches!(self, Output::File(..)) {
            make_parent(&path)?;
        }
        Sink::file(path)
    }

    /// Another file of the session, below the same folder; none where that is no place for it, or it
    /// is there.
    pub(super) fn beside(&self, sink: &Sink, name: &str) -> Result<Option<Sink>, Failure> {
        match self {
            Output::Stdout => Ok(None),
            Output::File(_, Shape::Codex) => Ok(None),
            Output::File(..) | Output::Claude(_) => sink.beside(name),
            Output::Codex(home) => {
                let path = dated(home, name);
                if !is_plain(Path::new(name)) || path.exists() {
                    return Ok(None);
                }
                make_parent(&path)?;
                Sink::file(path).map(Some)
            }
        }
    }

    /// Whether a file of that name is where it is looked for.
    pub(super) fn has(&self, name: &str) -> bool {
        matches!(self, Output::Codex(home) if dated(home, name).exists())
    }

    /// Codex keeps the titles of all threads in one file, which it only ever appends to.
    pub(super) fn title(
        &self,
        session: SessionId,
        about: &ToldAbout,
        losses: &mut Losses,
    ) -> Result<(), Failure> {
        let Some((title, Titler::User | Titler::Agent)) = &about.title else {
            return Ok(());
        };
        match self {
            Output::Codex(home) => {
                let library = Library::at(home);
                if library.title_of(session).as_ref() == Some(title) {
                    return Ok(());
                }
                let at = about.began.as_deref().unwrap_or("1970-01-01T00:00:00Z");
                let line = json!({ "id": session, "thread_name": title, "updated_at": at });
                let failed = Failure::os("write the title");
                let mut options = std::fs::OpenOptions::new();
                let file = options.append(true).create(true).mode(0o600);
                let file = file.open(home.join(TITLES));
                let written =
                    file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
                written.map_err(failed)
            }
            Output::File(_, Shape::Codex) => {
                losses.note("titles", "left out: Codex keeps them elsewhere");
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Where Codex keeps a file of that name: by its date.
fn dated(home: &Path, name: &str) -> PathBuf {
    let date = name.strip_prefix("rollout-").unwrap_or_default();
    let part = |range: std::ops::Range<usize>| {
        let part = date.get(range).unwrap_or_default();
        let is_number = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if is_number { part } else { "00" }
    };
    let folder = home.join("sessions").join(part(0..4));
    folder.join(part(5..7)).join(part(8..10)).join(name)
}

/// The folder that the Claude CLI keeps its own things in.
fn config() -> Result<PathBuf, Failure> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(config) = named("CLAUDE_CONFIG_DIR") {
        return Ok(config.into());
    }
    let home = named("HOME").map(|home| Path::new(&home).join(".claude"));
    home.ok_or_else(|| nowhere("$CLAUDE_CONFIG_DIR", "Claude keeps its transcripts"))
}

fn nowhere(variable: &str, what: &str) -> Failure {
    Failure::Usage(format!(
        "neither {variable} nor $HOME says where {what}; name a file with `-o`"
    ))
}

fn there(path: &Path) -> Failure {
    let path = path.display();
    Failure::Usage(format!(
        "{path} is there already; remove it, or write elsewhere with `-o`"
    ))
}

/// Whether a name leads nowhere but below the folder that it is of.
fn is_plain(name: &Path) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    name.components().all(is_plain)
}

fn make_parent(path: &Path) -> Result<(), Failure> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder
        .create(folder)
        .map_err(Failure::os("make the folder"))
}

impl Sink {
    fn file(path: PathBuf) -> Result<Self, Failure> {
        if path.exists() {
            return Err(there(&path));
        }
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")));
        let file = file.map_err(|error| {
            let path = path.display();
            Failure::Usage(format!("{path} cannot be made: {error}"))
        })?;
        Ok(Sink::File(Box::new(BufWriter::new(file)), path))
    }

    /// A file of the session's own beside the transcript; none where that is no file.
    fn beside(&self, name: &str) -> Result<Option<Self>, Failure> {
        let Sink::File(_, path) = self else {
            return Ok(None);
        };
        // Nothing that a log says leads out of the folder.
        if !is_plain(Path::new(name)) {
            return Ok(None);
        }
        let path = path.with_extension("").join(name);
        make_parent(&path)?;
        Self::file(path).map(Some)
    }

    /// Makes it appear; answers where, and how long it is.
    pub(super) fn finish(self) -> Result<Option<(PathBuf, u64)>, Failure> {
        let (file, path) = match self {
            Sink::Stdout(mut stdout) => {
                stdout.flush().map_err(Failure::os("write to stdout"))?;
                return Ok(None);
            }
            Sink::File(file, path) => (file, path),
        };
        let file = file.into_inner();
        let file = file.map_err(|error| Failure::os("write the file")(error.into_error()))?;
        let synced = file.as_file().sync_all();
        synced.map_err(Failure::os("sync the file"))?;
        let length = file
            .as_file()
            .metadata()
            .map_err(Failure::os("look up the file"))?;
        file.persist_noclobber(&path).map_err(|error| {
            let (path, error) = (path.display(), error.error);
            Failure::Usage(format!("{path} cannot be made: {error}"))
        })?;
        Ok(Some((path, length.len())))
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Stdout(out) => out.write(bytes),
            Sink::File(out, _) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Stdout(out) => out.flush(),
            Sink::File(out, _) => out.flush(),
        }
    }
}

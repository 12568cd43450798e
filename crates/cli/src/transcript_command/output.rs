//! Where a transcript is written to: a file that was not there before, private, whole or not at all;
//! or stdout.

use std::io::{self, BufWriter, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};

use sessiond_claude::transcript;
use sessiond_protocol::SessionId;
use tempfile::NamedTempFile;

use crate::args::Convert;
use crate::failure::Failure;

/// What is asked for.
#[derive(Debug, Clone)]
pub(super) enum Output {
    /// Stdout.
    Stdout,
    /// This file.
    File(PathBuf),
    /// Below the CLI's own folder, where it looks for it.
    Config(PathBuf),
}

/// A transcript on its way.
pub(super) enum Sink {
    Stdout(io::Stdout),
    File(Box<BufWriter<NamedTempFile>>, PathBuf),
}

impl Output {
    pub(super) fn of(convert: &Convert) -> Result<Self, Failure> {
        match convert.output.as_deref() {
            Some(output) if output.as_os_str() == "-" => Ok(Output::Stdout),
            Some(output) => Ok(Output::File(output.to_owned())),
            None => config().map(Output::Config),
        }
    }

    /// Opens it for a session of a directory.
    pub(super) fn open(self, session: SessionId, cwd: &str) -> Result<Sink, Failure> {
        let path = match self {
            Output::Stdout => return Ok(Sink::Stdout(io::stdout())),
            Output::File(path) => path,
            Output::Config(config) => {
                // The CLI names the folder after what the directory's links lead to.
                let real = std::fs::canonicalize(cwd).ok();
                let real = real.and_then(|real| real.into_os_string().into_string().ok());
                let cwd = real.as_deref().unwrap_or(cwd);
                let path = transcript::path(&config, cwd, &session.to_string());
                make_parent(&path)?;
                path
            }
        };
        Sink::file(path)
    }
}

/// The folder that the CLI keeps its own things in.
fn config() -> Result<PathBuf, Failure> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(config) = named("CLAUDE_CONFIG_DIR") {
        return Ok(config.into());
    }
    let home = named("HOME").map(|home| Path::new(&home).join(".claude"));
    home.ok_or_else(|| {
        let message = "neither $CLAUDE_CONFIG_DIR nor $HOME says where Claude keeps its transcripts; \
                       name a file with `-o`";
        Failure::Usage(message.to_owned())
    })
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
            let path = path.display();
            return Err(Failure::Usage(format!(
                "{path} is there already; remove it, or write elsewhere with `-o`"
            )));
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
    pub(super) fn beside(&self, name: &str) -> Result<Option<Self>, Failure> {
        let Sink::File(_, path) = self else {
            return Ok(None);
        };
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        // Nothing that a log says leads out of the folder.
        if !Path::new(name).components().all(is_plain) {
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

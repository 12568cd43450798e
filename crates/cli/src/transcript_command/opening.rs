//! Rollouts of Codex as files: compressed or not, and those of a thread wherever they lie.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use ruzstd::decoding::StreamingDecoder;
use serde_json::Value;
use sessiond_codex::rollout::{self, Wanted, thread_of};
use sessiond_protocol::SessionId;
use sessiond_wire::foreign::Upto;
use uuid::Uuid;

/// A rollout in a file, or in a temporary one where it was compressed.
pub(super) type Rollout = rollout::File<File>;

/// How a compressed file begins.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// How a compressed file is called.
const COMPRESSED: &str = ".zst";

/// Longest rollout that a compressed file may become: a few bytes can be made to say that they are
/// any number.
const WHOLE_BYTES: u64 = 16 << 30;

/// Folders of rollouts are by year, month and day.
const DEPTH: usize = 4;

/// The folders of Codex that hold rollouts.
const FOLDERS: [&str; 2] = ["sessions", "archived_sessions"];

/// Opens a file.
pub(super) fn open(path: &Path) -> io::Result<Rollout> {
    let mut file = File::open(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if is_compressed(&file)? {
        file = whole(file)?;
    }
    // Its program may be writing to it; what it holds now is read.
    let length = file.metadata()?.len();
    let name = name.strip_suffix(COMPRESSED).unwrap_or(&name).to_owned();
    let source = Upto::new(file, length);
    Ok(Rollout { name, source })
}

/// Whether a file is compressed as Codex does.
pub(super) fn is_compressed(file: &File) -> io::Result<bool> {
    let mut head = [0; ZSTD.len()];
    let count = file.read_at(&mut head, 0)?;
    Ok(count == head.len() && head == ZSTD)
}

/// What a compressed file holds, in a file without a name.
fn whole(file: File) -> io::Result<File> {
    let (mut input, mut output) = (BufReader::new(file), tempfile::tempfile()?);
    let mut left = WHOLE_BYTES;
    // It may have been written in several goes.
    while !io::BufRead::fill_buf(&mut input)?.is_empty() {
        let decoder = StreamingDecoder::new(&mut input).map_err(io::Error::other)?;
        let written = io::copy(&mut decoder.take(left + 1), &mut output)?;
        left = left.checked_sub(written).ok_or_else(|| {
            let bytes = WHOLE_BYTES >> 30;
            io::Error::other(format!("it becomes more than {bytes} GiB"))
        })?;
    }
    Ok(output)
}

/// The beginning of what a file holds.
pub(super) fn head(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let file = File::open(path)?;
    if is_compressed(&file)? {
        let decoder = StreamingDecoder::new(BufReader::new(file)).map_err(io::Error::other)?;
        decoder.take(most).read_to_end(&mut head)?;
    } else {
        file.take(most).read_to_end(&mut head)?;
    }
    Ok(head)
}

/// Where the files of other threads are.
#[derive(Debug)]
pub(super) struct Library {
    home: Option<PathBuf>,
    /// A folder that is looked into besides.
    beside: Option<PathBuf>,
}

impl Library {
    /// Of Codex's own folder.
    pub(super) fn at(home: &Path) -> Self {
        let home = Some(home.to_owned());
        Self { home, beside: None }
    }

    /// Around a rollout: the folder of Codex that it lies in, Codex's own folder otherwise.
    pub(super) fn around(path: &Path) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let is_of_codex = |folder: &&Path| {
            let name = folder.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| FOLDERS.contains(&name))
        };
        let of_codex = path.ancestors().find(is_of_codex).and_then(Path::parent);
        Self {
            home: of_codex.map(Path::to_owned).or_else(codex_home),
            beside: path.parent().map(Path::to_owned),
        }
    }

    /// The files of a thread, the newest first; of two that hold the same the one that is not
    /// compressed.
    pub(super) fn files_of(&self, thread: Uuid) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in FOLDERS {
            let folder = self.home.as_ref().map(|home| home.join(folder));
            collect(folder.as_deref(), DEPTH, thread, &mut found);
        }
        collect(self.beside.as_deref(), 1, thread, &mut found);
        let plain = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let plain = name.strip_suffix(COMPRESSED).unwrap_or(&name).to_owned();
            (plain, name.ends_with(COMPRESSED))
        };
        found.sort_by_key(|path| plain(path));
        found.dedup_by_key(|path| plain(path).0);
        found.reverse();
        found
    }

    /// The files that another one may go on from.
    pub(super) fn find(&self, wanted: &Wanted) -> io::Result<Vec<Rollout>> {
        let files = self.files_of(wanted.thread);
        files.iter().map(|path| open(path)).collect()
    }

    /// The name that a thread was given.
    pub(super) fn title_of(&self, session: SessionId) -> Option<String> {
        let text = fs::read_to_string(self.home.as_ref()?.join(TITLES)).ok()?;
        let lines = text.lines().rev();
        let mut lines = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let id = session.to_string();
        let line = lines.find(|line| line["id"] == id)?;
        line["thread_name"].as_str().map(str::to_owned)
    }
}

/// Where Codex keeps the names of threads.
pub(super) const TITLES: &str = "session_index.jsonl";

/// Codex's own folder, where the environment says which.
pub(super) fn codex_home() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = named("CODEX_HOME").map(PathBuf::from);
    home.or_else(|| named("HOME").map(|home| Path::new(&home).join(".codex")))
}

fn collect(folder: Option<&Path>, depth: usize, thread: Uuid, found: &mut Vec<PathBuf>) {
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let name = entry.file_name();
        let is_wanted = name.to_str().and_then(thread_of) == Some(thread);
        if kind.is_dir() && depth > 1 {
            collect(Some(&entry.path()), depth - 1, thread, found);
        } else if kind.is_file() && is_wanted {
            found.push(entry.path());
        }
    }
}

#[cfg(test)]
mod tests;

//! The log of a session: one record a line, its number first, its sum last.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};

use crate::common;
use crate::fault::{die_on, on};
use crate::script::End;
use crate::tool::Tool;

/// How long after the answer a peer syncs that does it too late.
const LATE: Duration = Duration::from_millis(100);

/// An open log; the session belongs to whoever has one.
pub(crate) struct Log {
    file: File,
    _lock: File,
    next: u64,
    /// Whether the file ends in the middle of a line.
    torn: bool,
    /// Whether a record of the turn that runs was refused.
    refused: bool,
    /// Whether what is appended goes nowhere.
    deaf: bool,
}

/// What stands in a log.
#[derive(Default)]
pub(crate) struct Content {
    pub(crate) cwd: String,
    pub(crate) updates: Vec<Value>,
    /// Records that are broken or not there.
    pub(crate) lost: usize,
}

/// Why a log cannot be had.
pub(crate) enum Refusal {
    Missing,
    Held,
    Broken,
}

impl From<io::Error> for Refusal {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

impl Log {
    /// A new log.
    pub(crate) fn create(folder: &Path, id: &str, cwd: &str) -> Result<Self, Refusal> {
        let path = path(folder, id);
        let lock = hold(&path)?;
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)?;
        let mut log = Self {
            file,
            _lock: lock,
            next: 0,
            torn: false,
            refused: false,
            deaf: false,
        };
        log.append(&json!({"cwd": cwd}))?;
        log.sync();
        Ok(log)
    }

    /// An old log with what stands in it.
    pub(crate) fn open(folder: &Path, id: &str) -> Result<(Self, Content), Refusal> {
        let path = path(folder, id);
        if !path.exists() {
            return Err(Refusal::Missing);
        }
        let lock = hold(&path)?;
        let mut file = OpenOptions::new().read(true).append(true).open(&path)?;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        let (mut content, next) = read(&bytes);
        if on("damage-refused") && content.lost > 0 {
            return Err(Refusal::Broken);
        }
        let foreign = common::foreign(&content.updates);
        if foreign && on("cross-unseen") {
            return Err(Refusal::Missing);
        }
        if on("cross-runs-again") {
            for command in common::commands(&content.updates) {
                let _ = Tool::start(&command, Path::new(&content.cwd)).map(Tool::finish);
            }
        }
        content.updates = common::as_own(id, content.updates);
        let log = Self {
            file,
            _lock: lock,
            next,
            torn: bytes.last().is_some_and(|byte| *byte != b'\n'),
            refused: false,
            deaf: foreign && on("cross-writes-lost"),
        };
        Ok((log, content))
    }

    /// What stands in a log that somebody may hold.
    pub(crate) fn peek(folder: &Path, id: &str) -> Option<Content> {
        let bytes = std::fs::read(path(folder, id)).ok()?;
        let mut content = read(&bytes).0;
        if on("cross-unlisted") && common::foreign(&content.updates) {
            return None;
        }
        content.updates = common::as_own(id, content.updates);
        Some(content)
    }

    /// The number of the next record.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Leaves a number out.
    pub(crate) fn skip(&mut self) {
        self.next += 1;
    }

    /// Appends a record. It is the kernel's when this returns, so no kill of ours loses it.
    pub(crate) fn append(&mut self, value: &Value) -> io::Result<()> {
        if self.deaf {
            self.next += 1;
            return Ok(());
        }
        let body = json!({"n": self.next, "v": value}).to_string();
        let mut line = format!("{body}\t{:016x}\n", sum(body.as_bytes()));
        if self.torn && !on("torn-tail-glued") {
            line.insert(0, '\n');
        }
        let written = self.file.write_all(line.as_bytes());
        // What stands of it is closed by the next record.
        self.torn = written.is_err();
        if written.is_ok() {
            self.next += 1;
        } else {
            self.refused = true;
            die_on("full-disk-kills");
            die_on("sqeq-full-disk-kills");
        }
        written
    }

    /// Makes durable what was appended, so that no loss of power takes what is acknowledged next.
    pub(crate) fn sync(&self) {
        if on("syncs-nothing") || on("sqeq-syncs-nothing") {
            return;
        }
        if (on("syncs-late") || on("sqeq-syncs-late"))
            && let Ok(file) = self.file.try_clone()
        {
            std::thread::spawn(move || {
                std::thread::sleep(LATE);
                file.sync_data()
            });
            return;
        }
        // A disk that refuses this has refused the record before it.
        let _ = self.file.sync_data();
    }

    /// A turn begins: what became of the records of another is not its matter.
    pub(crate) fn begin(&mut self) {
        if !on("full-disk-remembered") {
            self.refused = false;
        }
    }

    /// How a turn ends whose records are these: as a failure where one was refused.
    pub(crate) fn end(&mut self, end: End) -> End {
        self.sync();
        if std::mem::take(&mut self.refused) && !on("full-disk-untold") {
            return End::Failed("no space is left on the disk".to_owned());
        }
        end
    }
}

/// The ids of all sessions.
pub(crate) fn all(folder: &Path) -> Vec<String> {
    let mut ids: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            name.strip_suffix(".jsonl").map(str::to_owned)
        })
        .collect();
    ids.sort();
    ids
}

/// Whether another process has the whole store; takes it otherwise, for good.
pub(crate) fn store_held(folder: &Path) -> bool {
    let Ok(lock) = File::create(folder.join("STORE")) else {
        return true;
    };
    let held = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err();
    std::mem::forget(lock);
    held
}

fn path(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.jsonl"))
}

fn hold(path: &Path) -> Result<File, Refusal> {
    if on("load-locked-for-ever") && path.with_extension("held").exists() {
        return Err(Refusal::Held);
    }
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path.with_extension(if on("cross-held-apart") {
            common::word()
        } else {
            "lock".to_owned()
        }))?;
    if on("load-locked-for-ever") {
        File::create(path.with_extension("held"))?;
    }
    if on("two-writers") {
        return Ok(lock);
    }
    flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
        if on("load-steals") {
            let _ = File::create(path.with_extension("stolen"));
        }
        Refusal::Held
    })?;
    Ok(lock)
}

/// Every record that is whole, once, in order; and the number of the next one.
fn read(bytes: &[u8]) -> (Content, u64) {
    let mut content = Content::default();
    let mut next = 0;
    let mut odd = false;
    let ends = bytes.last() == Some(&b'\n');
    let lines: Vec<&[u8]> = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .collect();
    for (at, line) in lines.iter().enumerate() {
        // What a lost block left behind; the record after it is whole.
        let zeros = line.iter().take_while(|byte| **byte == 0).count();
        let line = &line[if on("zeros-glue") { 0 } else { zeros }..];
        let Some((number, value)) = record(line) else {
            if on("damage-ends-log") {
                break;
            }
            // An end that was cut off was never acknowledged.
            let torn = at + 1 == lines.len() && !ends;
            odd = true;
            content.lost += usize::from(!torn && line.starts_with(b"{"));
            continue;
        };
        odd |= number != next;
        if number < next && !on("twice-counts") {
            continue;
        }
        if number > next {
            content.lost += 1;
        }
        next = number + 1;
        match value["cwd"].as_str() {
            Some(cwd) => cwd.clone_into(&mut content.cwd),
            None => content.updates.push(value),
        }
    }
    if odd {
        die_on("damage-kills");
    }
    (content, next)
}

fn record(line: &[u8]) -> Option<(u64, Value)> {
    let text = std::str::from_utf8(line).ok()?;
    let (body, found) = text.rsplit_once('\t')?;
    let found = u64::from_str_radix(found, 16).ok()?;
    if found != sum(body.as_bytes()) && !on("sum-unchecked") {
        return None;
    }
    let value: Value = serde_json::from_str(body).ok()?;
    Some((value["n"].as_u64()?, value["v"].clone()))
}

/// FNV-1a.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

//! What was seen: every byte both ways with its time, and what happened to the processes.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Most bytes of a target that one case keeps; what comes after ends the target as a flood.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// What an entry costs beside its bytes, so that empty lines count as well.
const ENTRY_COST: usize = 256;
/// Longest line that is parsed; a longer one counts as no frame.
const LONGEST_PARSED: usize = 16 * 1024 * 1024;
/// Most bytes kept of a line that we sent: we know what it was.
const MOST_SENT: usize = 64 * 1024;
/// Most bytes of stderr kept of one process.
const MOST_STDERR: usize = 64 * 1024;

/// Which process of a case, in the order in which they were started.
pub(crate) type ProcessIndex = usize;

/// One thing seen.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Since the case began.
    pub(crate) at: Duration,
    pub(crate) process: ProcessIndex,
    pub(crate) what: What,
}

impl Entry {
    /// The JSON of a target's line.
    pub(crate) fn frame(&self) -> Option<&Value> {
        match &self.what {
            What::Line(line) => line.json.as_ref(),
            _ => None,
        }
    }
}

/// What was seen.
#[derive(Debug, Clone)]
pub(crate) enum What {
    /// A line of stdout, without its LF.
    Line(Line),
    /// Bytes that went to stdin, cut at 64 KiB.
    Sent(Vec<u8>),
    Stderr(Vec<u8>),
    Started,
    /// Code, or minus the signal.
    Exited(i32),
    StdoutClosed,
    StdinClosed,
    /// A signal was sent: its name and to whom.
    Signalled(String),
    /// Descendants that were alive when this was asked, `pid:command`.
    Descendants(Vec<String>),
    /// A named point.
    Mark(String),
    /// A file that was read: name, content; `None` when there is none.
    File(String, Option<String>),
    /// The calls of the process that make files durable are recorded from here on, or why they are not.
    Watched(Result<(), String>),
    /// A call that makes a file durable, at its entry; see [`Sync`].
    Synced(Sync),
    /// The files of the case that hold this text.
    Holders(String, Vec<String>),
    /// Text worth keeping: what a step waited for in vain, what was damaged.
    Note(String),
    /// The target asked the scripted model this.
    ModelAsked(String),
    /// How the model answered.
    ModelAnswered(String),
    /// The target sent more than a case keeps.
    Flooded,
}

/// A call that makes a file durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sync {
    /// `fsync`, `fdatasync`, `msync`, `sync`, `syncfs`; `open` of a file whose every write is durable, and
    /// `io_uring`, behind which calls are not seen.
    pub(crate) call: String,
    /// The file; empty where none is known.
    pub(crate) path: String,
}

/// A line of a target's stdout.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) bytes: Vec<u8>,
    /// The JSON in it, if it is JSON.
    pub(crate) json: Option<Value>,
    pub(crate) ending: Ending,
    /// How many frames of type `result` the process sent before it.
    pub(crate) results: usize,
}

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Lf,
    /// The stream ended first.
    None,
}

/// The entries of a case in order.
#[derive(Debug, Default, Clone)]
pub(crate) struct Recording {
    pub(crate) entries: Vec<Entry>,
    kept: usize,
    flooded: bool,
    lives: Vec<Life>,
}

/// What is known of a process without looking through the entries.
#[derive(Debug, Default, Clone)]
struct Life {
    exit: Option<i32>,
    closed: bool,
    stderr: usize,
    results: usize,
}

impl Recording {
    /// The frames of targets: index of the entry, process, JSON.
    pub(crate) fn frames(&self) -> impl Iterator<Item = (usize, ProcessIndex, &Value)> {
        self.lines().filter_map(|(index, process, line)| {
            line.json.as_ref().map(|json| (index, process, json))
        })
    }

    /// The lines of targets, whatever they hold.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, ProcessIndex, &Line)> {
        self.entries
            .iter()
            .enumerate()
            .filter_map(|(index, entry)| match &entry.what {
                What::Line(line) => Some((index, entry.process, line)),
                _ => None,
            })
    }

    /// Whether the target was cut off because it sent too much.
    pub(crate) fn flooded(&self) -> bool {
        self.flooded
    }

    /// How a process ended, once it has.
    pub(crate) fn ended(&self, process: ProcessIndex) -> Option<i32> {
        self.lives.get(process)?.exit
    }

    /// How a process ended, once it has ended and all its output was read.
    pub(crate) fn gone(&self, process: ProcessIndex) -> Option<i32> {
        let life = self.lives.get(process)?;
        life.exit.filter(|_| life.closed)
    }

    /// How a process ended, and at which entry; `None` while it lives.
    pub(crate) fn exit(&self, process: ProcessIndex) -> Option<(usize, i32)> {
        self.entries
            .iter()
            .enumerate()
            .find_map(|(index, entry)| match entry.what {
                What::Exited(code) if entry.process == process => Some((index, code)),
                _ => None,
            })
    }

    /// What lived below a target when that was asked last; `None` before.
    pub(crate) fn descendants(&self) -> Option<&[String]> {
        let mut entries = self.entries.iter().rev();
        entries.find_map(|entry| match &entry.what {
            What::Descendants(found) => Some(found.as_slice()),
            _ => None,
        })
    }

    fn life(&mut self, process: ProcessIndex) -> &mut Life {
        if self.lives.len() <= process {
            self.lives.resize(process + 1, Life::default());
        }
        &mut self.lives[process]
    }
}

/// Where the threads of a case write what they see, and where its driver waits.
#[derive(Debug)]
pub(crate) struct Recorder {
    begun: Instant,
    recording: Mutex<Recording>,
    changed: Condvar,
}

/// Whether a reader goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    Left,
    /// The case keeps no more of this target.
    Full,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self {
            begun: Instant::now(),
            recording: Mutex::new(Recording::default()),
            changed: Condvar::new(),
        }
    }

    /// A poisoned lock only means that a thread ended early; what it wrote is whole.
    pub(crate) fn look(&self) -> MutexGuard<'_, Recording> {
        self.recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Records, and says at which index.
    pub(crate) fn add(&self, process: ProcessIndex, what: What) -> usize {
        let mut recording = self.look();
        let index = self.push(&mut recording, process, what);
        drop(recording);
        self.changed.notify_all();
        index
    }

    /// Records lines of a target, as long as there is room. Those that were read together are recorded together:
    /// whoever waits for one of them acts when the others are known too.
    pub(crate) fn lines(&self, process: ProcessIndex, lines: Vec<Vec<u8>>, ending: Ending) -> Room {
        // Parsed before the lock is taken: long lines take their time.
        let parse = |bytes: Vec<u8>| {
            let json: Option<Value> = (bytes.len() <= LONGEST_PARSED)
                .then(|| serde_json::from_slice(&bytes).ok())
                .flatten();
            (bytes, json)
        };
        let lines: Vec<_> = lines.into_iter().map(parse).collect();
        let mut recording = self.look();
        let mut room = Room::Left;
        for (bytes, json) in lines {
            recording.kept += bytes.len() + ENTRY_COST;
            if recording.kept > MOST_BYTES {
                if !recording.flooded() {
                    self.push(&mut recording, process, What::Flooded);
                }
                room = Room::Full;
                break;
            }
            let ends = json.as_ref().is_some_and(|json| json["type"] == "result");
            let life = recording.life(process);
            let results = life.results;
            life.results += usize::from(ends);
            let line = Line {
                bytes,
                json,
                ending,
                results,
            };
            self.push(&mut recording, process, What::Line(line));
        }
        drop(recording);
        self.changed.notify_all();
        room
    }

    /// Records bytes sent: the first of them when there are many.
    pub(crate) fn sent(&self, process: ProcessIndex, bytes: &[u8]) -> usize {
        let kept = bytes[..bytes.len().min(MOST_SENT)].to_vec();
        self.add(process, What::Sent(kept))
    }

    /// Records stderr, up to a bound for each process.
    pub(crate) fn stderr(&self, process: ProcessIndex, bytes: &[u8]) {
        let mut recording = self.look();
        let life = recording.life(process);
        let kept = bytes[..bytes.len().min(MOST_STDERR - life.stderr)].to_vec();
        life.stderr += kept.len();
        if !kept.is_empty() {
            self.push(&mut recording, process, What::Stderr(kept));
        }
    }

    /// Waits until one of the entries from `from` on is found, or `over` says that none will be.
    /// Each entry is looked at once: a target that floods must not slow down its own reader.
    pub(crate) fn wait<T>(
        &self,
        within: Duration,
        mut from: usize,
        mut found: impl FnMut(usize, &Entry) -> Option<T>,
        over: impl Fn(&Recording) -> Option<T>,
    ) -> Option<T> {
        let until = Instant::now() + within;
        let mut recording = self.look();
        loop {
            while let Some(entry) = recording.entries.get(from) {
                if let Some(result) = found(from, entry) {
                    return Some(result);
                }
                from += 1;
            }
            if let Some(result) = over(&recording) {
                return Some(result);
            }
            let left = until.checked_duration_since(Instant::now())?;
            recording = self
                .changed
                .wait_timeout(recording, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn push(&self, recording: &mut Recording, process: ProcessIndex, what: What) -> usize {
        let life = recording.life(process);
        match &what {
            What::Exited(code) => life.exit = Some(*code),
            What::StdoutClosed => life.closed = true,
            What::Flooded => {
                life.closed = true;
                recording.flooded = true;
            }
            _ => {}
        }
        recording.entries.push(Entry {
            at: self.begun.elapsed(),
            process,
            what,
        });
        recording.entries.len() - 1
    }
}

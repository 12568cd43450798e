//! The files of a thread, each from where the one before it is left.

use std::collections::HashSet;
use std::io;

use sessiond_protocol::{SessionId, ToldAbout};
use sessiond_wire::foreign::{Lines, Place, ReadAt, Upto};
use uuid::Uuid;

use super::findings::{Findings, Kind};
use super::line::{Line, with_line};
use super::name::thread_of;
use super::plan::{Dropped, plan};
use super::{PROVED_ON, reader};

/// Files that a thread may go on from, one from the other.
const DEPTH: usize = 1024;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// What was said, and events beside it.
    #[default]
    Legacy,
    /// Each line has an ordinal, and each item is one event.
    Paginated,
}

/// A file and its name, without its folder.
#[derive(Debug)]
pub struct File<S> {
    /// The name.
    pub name: String,
    /// What it holds.
    pub source: Upto<S>,
}

/// What is looked for of another thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The thread.
    pub thread: Uuid,
    /// The file that goes on from it.
    pub from: String,
}

/// A file of a chain.
#[derive(Debug)]
pub(super) struct Segment<S> {
    pub(super) file: File<S>,
    /// The thread that it is of.
    pub(super) thread: u128,
    pub(super) mode: Mode,
    /// The first ordinal that does not count any more.
    pub(super) until: Option<u64>,
}

/// The files of a thread, with the head of the last one.
#[derive(Debug)]
pub struct Rollout<S> {
    /// The first one first.
    pub(super) segments: Vec<Segment<S>>,
    pub(super) dropped: Dropped,
    about: ToldAbout,
    provider: Option<String>,
    findings: Findings,
}

/// What the head of a file says.
#[derive(Debug, Default)]
struct Head {
    thread: Option<Uuid>,
    cwd: Option<String>,
    branch: Option<String>,
    version: Option<String>,
    provider: Option<String>,
    began: Option<String>,
    mode: Mode,
    ordinal: u64,
    /// The thread that it goes on from, and where that is left.
    base: Option<(Uuid, u64)>,
    place: Option<Place>,
    is_marked: bool,
}

impl<S: ReadAt> Rollout<S> {
    /// Reads the head of a thread's file, and finds what it goes on from: `find` gives the files of a
    /// thread, the newest first, those that were looked at already or not.
    ///
    /// # Errors
    /// Of the files. Whatever stands in them is a finding.
    pub fn read(
        file: File<S>,
        mut find: impl FnMut(&Wanted) -> io::Result<Vec<File<S>>>,
    ) -> io::Result<Self> {
        let mut findings = Findings::default();
        let head = head(&file.source)?;
        note(&head, &file.name, &mut findings);
        let named = thread_of(&file.name);
        let thread = head.thread.or(named);
        let about = ToldAbout {
            session: thread.map(SessionId::new),
            cwd: head.cwd.clone(),
            branch: head.branch.clone(),
            title: None,
            program: head
                .version
                .as_ref()
                .map(|version| format!("Codex {version}")),
            began: head.began.clone(),
        };
        let (mode, mut base, mut first) = (head.mode, head.base, head.ordinal);
        let mut seen = HashSet::from([file.name.clone()]);
        let mut segments = vec![Segment {
            file,
            thread: thread.map(|thread| thread.as_u128()).unwrap_or_default(),
            mode,
            until: None,
        }];
        while let Some((thread, until)) = base.take() {
            let from = segments[0].file.name.clone();
            let wanted = Wanted { thread, from };
            let found = match segments.len() < DEPTH {
                true => find(&wanted)?,
                false => Vec::new(),
            };
            let is_known = |file: &File<S>| seen.contains(&file.name);
            let is_circle = !found.is_empty() && found.iter().all(is_known);
            let mut next = None;
            for file in found.into_iter().filter(|file| !seen.contains(&file.name)) {
                let head = self::head(&file.source)?;
                // One that begins later is what was made of it.
                if head.thread == Some(thread) && head.ordinal < until {
                    next = Some((file, head));
                    break;
                }
            }
            let Some((file, head)) = next else {
                let kind = match is_circle {
                    true => Kind::Cycle,
                    false => Kind::MissingBase,
                };
                findings.at(kind, whole(Some(thread.to_string())));
                break;
            };
            // What goes on from it begins where it is left, whatever it says.
            let until = until.min(first.max(1));
            (base, first) = (head.base, head.ordinal);
            seen.insert(file.name.clone());
            let segment = Segment {
                file,
                thread: thread.as_u128(),
                mode: head.mode,
                until: Some(until),
            };
            segments.insert(0, segment);
        }
        let mut rollout = Self {
            segments,
            dropped: Dropped::default(),
            about,
            provider: head.provider,
            findings,
        };
        rollout.dropped = plan(&rollout)?;
        Ok(rollout)
    }

    /// What the thread's own file says of its conversation as a whole.
    #[must_use]
    pub fn about(&self) -> &ToldAbout {
        &self.about
    }

    /// The provider of models that the thread was led with.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        self.provider.as_deref()
    }

    /// The files, the first one first; the last one is the thread's own.
    pub fn files(&self) -> impl Iterator<Item = &File<S>> {
        self.segments.iter().map(|segment| &segment.file)
    }

    /// Whether the thread's own file has its head, or another whole line.
    pub(super) fn has_begun(&self) -> io::Result<bool> {
        let source = &self.own().file.source;
        let mut lines = Lines::from(source, 0, 0);
        let is_whole = lines.next()?.is_some_and(|line| line.is_ended);
        Ok(is_whole)
    }

    /// The thread's own file.
    pub(super) fn own(&self) -> &Segment<S> {
        // There is always one: it is what was read.
        &self.segments[self.segments.len() - 1]
    }

    /// The thread's own file.
    #[must_use]
    pub fn own_file(&self) -> &File<S> {
        &self.own().file
    }

    /// What the heads say that is not as it should be.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }
}

fn whole(about: Option<String>) -> Place {
    Place {
        line: 0,
        offset: 0,
        bytes: 0,
        about,
    }
}

fn note(head: &Head, name: &str, findings: &mut Findings) {
    if head.is_marked {
        findings.at(Kind::ByteOrderMark, whole(None));
    }
    match &head.place {
        None => findings.at(Kind::LateHead, whole(None)),
        Some(place) if place.line > 1 => findings.at(Kind::LateHead, place.clone()),
        Some(_) => {}
    }
    if let (Some(named), Some(thread)) = (thread_of(name), head.thread)
        && named != thread
    {
        findings.at(Kind::OtherName, whole(Some(thread.to_string())));
    }
    if let Some(version) = &head.version
        && !PROVED_ON.contains(&version.as_str())
    {
        findings.at(Kind::UnprovedVersion, whole(Some(version.clone())));
    }
}

/// The first head of a file, wherever it stands. A blank line before it does no harm.
fn head<S: ReadAt>(source: &Upto<S>) -> io::Result<Head> {
    let mut lines = Lines::from(source, 0, 0);
    let (mut blank, mut is_marked) = (0, false);
    while let Some(line) = lines.next()? {
        let (start, marked) = reader::start(&line);
        is_marked |= marked;
        let bytes = &line.bytes[start..];
        if bytes.is_empty() {
            blank += 1;
            continue;
        }
        if memchr::memmem::find(bytes, b"session_meta").is_none() {
            continue;
        }
        let place = Place {
            line: line.number - blank.min(line.number - 1),
            offset: line.offset,
            bytes: line.bytes.len() as u64,
            about: None,
        };
        if let Some(Some(head)) = with_line(bytes, |line| of(line, place, is_marked)) {
            return Ok(head);
        }
    }
    Ok(Head {
        is_marked,
        ..Head::default()
    })
}

fn of(line: Line<'_>, place: Place, is_marked: bool) -> Option<Head> {
    line.kind.is("session_meta").then_some(())?;
    let payload = line.payload.0?;
    let uuid = |text: &str| Uuid::try_parse(text).ok();
    let base = payload.history_base.0.and_then(|base| {
        let thread = base.thread_id.as_str().and_then(uuid)?;
        Some((thread, base.end_ordinal_exclusive.whole()?))
    });
    let mode = match payload.history_mode.is("paginated") {
        true => Mode::Paginated,
        false => Mode::Legacy,
    };
    let git = payload.git.0.and_then(|git| git.branch.into_string());
    Some(Head {
        thread: payload.id.as_str().and_then(uuid),
        cwd: payload.cwd.into_string(),
        branch: git.filter(|branch| !branch.is_empty()),
        version: payload.cli_version.into_string(),
        provider: payload.model_provider.into_string(),
        began: payload
            .timestamp
            .into_string()
            .or(line.timestamp.into_string()),
        mode,
        ordinal: line.ordinal.whole().unwrap_or_default(),
        base,
        place: Some(place),
        is_marked,
    })
}

#[cfg(test)]
mod tests;

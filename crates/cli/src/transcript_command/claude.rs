//! Transcripts of Claude: into the store, and out of it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use sessiond_claude::transcript::{self, Continuation, Fold, Index, Transcript};
use sessiond_protocol::{Losses, SessionId, Told, ToldAbout};
use sessiond_wire::foreign::Upto;

use super::output::Sink;
use super::report::{FoundIn, Report};
use super::take_in::{Made, Original, Source, Wishes, make, unreadable};
use super::write::Reading;
use crate::args::Shape;
use crate::failure::Failure;
use crate::setup::Setup;

/// How transcripts of Claude are named in a session's log.
pub(super) const SHAPE: &str = "claude";

/// Folders of sub-agents' own transcripts are no deeper than this below a session's.
const DEPTH: usize = 8;

/// Takes in a transcript.
pub(super) fn take_in(
    setup: &Setup,
    path: &Path,
    wishes: &Wishes,
    taken_as: &mut Option<SessionId>,
) -> Result<Report, Failure> {
    let (source, length) = open(path)?;
    let index = Index::read(&source).map_err(unreadable(path))?;
    if index.entries() == 0 {
        let path = path.display();
        return Err(Failure::Usage(format!(
            "{path} holds no conversation of Claude"
        )));
    }
    let mut fold = Fold::new(&index, &source);
    let mut originals = vec![(String::new(), Original::Open(&source, length))];
    let beside = beside(path).into_iter();
    originals.extend(beside.map(|(name, path)| (name, Original::At(path))));
    let made = make(
        setup,
        (path, wishes),
        Source {
            shape: SHAPE,
            about: index.about().clone(),
            session: session_of(path, &index),
            originals,
            told: &mut fold,
        },
        taken_as,
    )?;
    let Made { view, items, kept } = made;
    let mut report = Report::new(view.session, Shape::Sessiond, items, kept);
    report.titled(view.title);
    report.found(FoundIn::claude(index.findings(), fold.findings()));
    Ok(report)
}

/// Its program may be writing to it; what it holds now is read.
fn open(path: &Path) -> Result<(Upto<File>, u64), Failure> {
    let unreadable = unreadable(path);
    let file = File::open(path).map_err(&unreadable)?;
    let length = file.metadata().map_err(&unreadable)?.len();
    Ok((Upto::new(file, length), length))
}

/// The session of a transcript, by the file's name or what stands in it.
fn session_of(path: &Path, index: &Index) -> Option<SessionId> {
    let named = path.file_stem().and_then(|stem| stem.to_str());
    let named = named.and_then(|stem| stem.parse().ok());
    named.or(index.about().session)
}

/// Reads a transcript and has `write` write it down in another shape, or as it is.
pub(super) fn read(
    path: &Path,
    to: Shape,
    write: impl FnOnce(Reading<'_>) -> Result<(Losses, u64), Failure>,
) -> Result<Report, Failure> {
    let (source, length) = open(path)?;
    let index = Index::read(&source).map_err(unreadable(path))?;
    let session = session_of(path, &index).ok_or_else(|| {
        let path = path.display();
        Failure::Usage(format!(
            "{path} names no session: neither by its name nor in its entries"
        ))
    })?;
    let mut fold = Fold::new(&index, &source);
    let mut items = 0;
    let mut told = fold.by_ref().inspect(|_| items += 1);
    let (losses, original) = write(Reading {
        session,
        about: index.about(),
        told: &mut told,
        bytes: (&source, length),
    })?;
    let mut report = Report::new(session, to, items, original);
    report.titled(index.about().title.clone().map(|(title, _)| title));
    report.found(FoundIn::claude(index.findings(), fold.findings()));
    report.lost(losses);
    Ok(report)
}

/// Writes a session down, from its first entry on.
pub(super) fn begin(
    sink: &mut Sink,
    (session, about): (SessionId, &ToldAbout),
    told: &mut dyn Iterator<Item = io::Result<Told>>,
) -> io::Result<Losses> {
    let mut transcript = Transcript::new(sink, (session, about), Continuation::default());
    for told in told {
        transcript.tell(told?)?;
    }
    transcript.finish(about.title.as_ref())
}

/// Writes a session down behind the transcript that it was made of.
pub(super) fn go_on(
    sink: &mut Sink,
    (session, about): (SessionId, &ToldAbout),
    told: Vec<Told>,
    original: &File,
) -> io::Result<Losses> {
    transcript::go_on(original, (session, about), told, sink)
}

/// The files that the CLI keeps for a session beside its transcript: those of its sub-agents. Each
/// with its path below the session's folder.
fn beside(path: &Path) -> Vec<(String, PathBuf)> {
    let folder = path.with_extension("");
    let mut files = Vec::new();
    let mut folders = vec![(folder.join("subagents"), "subagents".to_owned(), 0)];
    while let Some((folder, name, depth)) = folders.pop() {
        // A session without sub-agents has no such folder.
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let (Ok(kind), Ok(file)) = (entry.file_type(), entry.file_name().into_string()) else {
                continue;
            };
            let name = format!("{name}/{file}");
            if kind.is_dir() && depth < DEPTH {
                folders.push((entry.path(), name, depth + 1));
            } else if kind.is_file() {
                files.push((name, entry.path()));
            }
        }
    }
    files.sort();
    files
}

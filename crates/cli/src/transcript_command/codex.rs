//! Rollouts of Codex: into the store, and out of it.

use std::fs::File;
use std::io;
use std::path::Path;

use sessiond_codex::rollout::{self, Fold, Rollout, Writer};
use sessiond_protocol::{Losses, SessionId, Titler, Told, ToldAbout};
use sessiond_wire::foreign::Upto;

use super::opening::{Library, open};
use super::output::Sink;
use super::report::{FoundIn, Report};
use super::take_in::{Made, Original, Source, Wishes, make, unreadable};
use super::write::Reading;
use crate::args::Shape;
use crate::failure::Failure;
use crate::setup::Setup;

/// How rollouts of Codex are named in a session's log.
pub(super) const SHAPE: &str = "codex";

/// Takes in a rollout, with the files that it goes on from.
pub(super) fn take_in(
    setup: &Setup,
    path: &Path,
    wishes: &Wishes,
    taken_as: &mut Option<SessionId>,
) -> Result<Report, Failure> {
    let (rollout, about) = find(path)?;
    let mut fold = Fold::new(&rollout);
    // Its own first: it is what is gone on with.
    let files: Vec<_> = rollout.files().collect();
    let originals = files.iter().rev().map(|file| {
        let length = file.source.bytes();
        (file.name.clone(), Original::Open(&file.source, length))
    });
    let made = make(
        setup,
        (path, wishes),
        Source {
            shape: SHAPE,
            session: about.session,
            about,
            originals: originals.collect(),
            told: &mut fold,
        },
        taken_as,
    )?;
    let Made { view, items, kept } = made;
    let mut report = Report::new(view.session, Shape::Sessiond, items, kept);
    report.titled(view.title);
    report.found(FoundIn::codex(rollout.findings(), &fold.findings()));
    Ok(report)
}

/// A rollout with what it goes on from, and its name.
fn find(path: &Path) -> Result<(Rollout<File>, ToldAbout), Failure> {
    let library = Library::around(path);
    let file = open(path).map_err(unreadable(path))?;
    let rollout = Rollout::read(file, |wanted| library.find(wanted));
    let rollout = rollout.map_err(unreadable(path))?;
    let mut about = rollout.about().clone();
    let title = about.session.and_then(|session| library.title_of(session));
    about.title = title.map(|title| (title, Titler::User));
    Ok((rollout, about))
}

/// Reads a rollout and has `write` write it down in another shape, or as it is.
pub(super) fn read(
    path: &Path,
    to: Shape,
    write: impl FnOnce(Reading<'_>) -> Result<(Losses, u64), Failure>,
) -> Result<Report, Failure> {
    let (rollout, about) = find(path)?;
    let session = about.session.ok_or_else(|| {
        let path = path.display();
        Failure::Usage(format!(
            "{path} names no thread: neither by its name nor in its head"
        ))
    })?;
    let mut fold = Fold::new(&rollout);
    let mut items = 0;
    let mut told = fold.by_ref().inspect(|_| items += 1);
    let own = &rollout.own_file().source;
    let (losses, original) = write(Reading {
        session,
        about: &about,
        told: &mut told,
        bytes: (own, own.bytes()),
    })?;
    let mut report = Report::new(session, to, items, original);
    report.found(FoundIn::codex(rollout.findings(), &fold.findings()));
    report.titled(about.title.map(|(title, _)| title));
    report.lost(losses);
    Ok(report)
}

/// Writes a session down, from its head on.
pub(super) fn begin(
    sink: &mut Sink,
    (session, about): (SessionId, &ToldAbout),
    told: &mut dyn Iterator<Item = io::Result<Told>>,
) -> io::Result<Losses> {
    let mut writer = Writer::begin(sink, (session, about), None)?;
    for told in told {
        writer.tell(told?)?;
    }
    writer.finish()
}

/// Writes a session down behind the rollout that it was made of: the first of the files, which the
/// others come before.
pub(super) fn go_on(
    sink: &mut Sink,
    (session, about): (SessionId, &ToldAbout),
    told: Vec<Told>,
    originals: &[(String, File)],
) -> io::Result<Losses> {
    let file = |(name, file): &(String, File)| {
        let length = file.metadata()?.len();
        Ok::<_, io::Error>(rollout::File {
            name: name.clone(),
            source: Upto::new(file.try_clone()?, length),
        })
    };
    let Some((own, others)) = originals.split_first() else {
        return begin(sink, (session, about), &mut told.into_iter().map(Ok));
    };
    let original = Rollout::read(file(own)?, |_| others.iter().map(file).collect())?;
    if original.about().session != Some(session) {
        // A file of another thread is none of this one's.
        return begin(sink, (session, about), &mut told.into_iter().map(Ok));
    }
    rollout::go_on(&original, (session, about), told, sink)
}

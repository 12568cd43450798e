//! A session becomes a transcript of another program; what came from one is written as it was.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use sessiond_engine::{Action, events_of, originals_of};
use sessiond_log::{Attachment, Store, Subject};
use sessiond_protocol::{
    ErrorCode, Losses, Marker, SessionId, Told, ToldAbout, WireError, told_of,
};
use sessiond_wire::foreign::{Upto, copy};

use super::output::{Output, Place, Sink};
use super::report::Report;
use super::shape::Found;
use super::{claude, codex};
use crate::args::{Convert, Shape};
use crate::failure::Failure;
use crate::sessions;

/// A file that a session keeps as another program wrote it, with its pieces.
type Kept = (String, Vec<Attachment>);

/// A conversation that is being read.
pub(super) struct Reading<'a> {
    pub(super) session: SessionId,
    pub(super) about: &'a ToldAbout,
    pub(super) told: &'a mut dyn Iterator<Item = io::Result<Told>>,
    /// Its own file.
    pub(super) bytes: (&'a Upto<File>, u64),
}

/// Writes a session of the store.
pub(super) fn session(
    store: &Store,
    session: SessionId,
    convert: &Convert,
) -> Result<Report, Failure> {
    let subject = session.to_string().parse::<Subject>()?;
    let written = attempt(store, (session, &subject), convert);
    sessions::record(store, Action::Export, Some(&subject), &written);
    written
}

fn attempt(
    store: &Store,
    (session, subject): (SessionId, &Subject),
    convert: &Convert,
) -> Result<Report, Failure> {
    let (mut about, told) = told_of(&events_of(store, session)?);
    if let Some(cwd) = &convert.cwd {
        about.cwd = Some(cwd.display().to_string());
    }
    let named = convert.session.unwrap_or(session);
    let items = told.len() as u64;
    let kept = kept(store, (session, subject), convert.to)?;
    let output = Output::of(convert)?;
    // What Codex looks for there is named as it was.
    let name = kept.first().map(|(name, _)| name.as_str());
    let is_same = named == session && convert.to == Shape::Codex;
    let place = Place {
        session: named,
        about: &about,
        name: name.filter(|_| is_same),
    };
    let mut sink = output.open(&place)?;
    let mut originals = Vec::new();
    let needed = match convert.to {
        Shape::Claude => kept.iter().take_while(|(name, _)| name.is_empty()).count(),
        _ => kept.len(),
    };
    for (name, pieces) in &kept[..needed] {
        let mut file = tempfile::tempfile().map_err(Failure::os("make a file"))?;
        copy_pieces((store, subject), pieces, &mut file)?;
        originals.push((name.clone(), file));
    }
    let losses = go_on(&mut sink, convert.to, (named, &about), told, &originals);
    let mut losses = losses.map_err(Failure::os("write the transcript"))?;
    for (name, pieces) in kept
        .iter()
        .filter(|(name, _)| Some(name) != place_of(&kept))
    {
        match output.beside(&sink, name)? {
            Some(mut beside) => {
                copy_pieces((store, subject), pieces, &mut beside)?;
                beside.finish()?;
            }
            None if convert.to == Shape::Codex && !output.has(name) => losses.note(
                "files that the thread goes on from",
                "not written: Codex looks for them below its own folder",
            ),
            None => {}
        }
    }
    let original = match originals.first() {
        Some((_, file)) => file
            .metadata()
            .map_err(Failure::os("look up a file"))?
            .len(),
        None => 0,
    };
    let mut report = Report::new(named, convert.to, items, original);
    wrote(&mut report, sink)?;
    output.title(named, &about, &mut losses)?;
    report.titled(about.title.map(|(title, _)| title));
    report.lost(losses);
    Ok(report)
}

/// The name of the file that is gone on with.
fn place_of(kept: &[Kept]) -> Option<&String> {
    kept.first().map(|(name, _)| name)
}

fn go_on(
    sink: &mut Sink,
    to: Shape,
    of: (SessionId, &ToldAbout),
    told: Vec<Told>,
    originals: &[(String, File)],
) -> io::Result<Losses> {
    match (to, originals.first()) {
        (Shape::Codex, _) => codex::go_on(sink, of, told, originals),
        (_, Some((_, original))) => claude::go_on(sink, of, told, original),
        (_, None) => claude::begin(sink, of, &mut told.into_iter().map(Ok)),
    }
}

/// The files that a session keeps as a program wrote them, its own first.
fn kept(
    store: &Store,
    (session, subject): (SessionId, &Subject),
    to: Shape,
) -> Result<Vec<Kept>, Failure> {
    let wanted = match to {
        Shape::Codex => codex::SHAPE,
        Shape::Claude | Shape::Sessiond => claude::SHAPE,
    };
    let mut files: Vec<Kept> = Vec::new();
    for (marker, pieces) in originals_of(store, session)? {
        let Marker::Original { shape, file, .. } = marker else {
            continue;
        };
        if shape != wanted {
            continue;
        }
        match files.iter_mut().find(|(name, _)| *name == file) {
            Some((_, known)) => known.extend(pieces),
            None => files.push((file, pieces)),
        }
    }
    tracing::debug!(%subject, files = files.len(), "originals found");
    Ok(files)
}

/// Copies pieces.
fn copy_pieces(
    (store, subject): (&Store, &Subject),
    pieces: &[Attachment],
    out: &mut impl Write,
) -> Result<(), Failure> {
    for piece in pieces {
        let Some(bytes) = store.attachment(subject, piece)? else {
            let message = "what the session keeps of the original transcript is damaged; \
                           `sessiond sessions show` has the conversation";
            return Err(WireError::new(ErrorCode::Damaged, message).into());
        };
        out.write_all(&bytes)
            .map_err(Failure::os("write the transcript"))?;
    }
    out.flush().map_err(Failure::os("write the transcript"))
}

/// Writes a transcript in another shape, or as it is, and says what is in it.
pub(super) fn file(path: &Path, found: &Found, convert: &Convert) -> Result<Report, Failure> {
    let output = Output::of(convert)?;
    let failed = || Failure::os("write the transcript");
    let is_same = matches!(
        (found, convert.to),
        (Found::Claude, Shape::Claude) | (Found::Codex, Shape::Codex)
    );
    let mut written = None;
    let write = |reading: Reading<'_>| {
        let named = convert.session.filter(|_| !is_same);
        let session = named.unwrap_or(reading.session);
        let mut about = reading.about.clone();
        if let Some(cwd) = convert.cwd.as_ref().filter(|_| !is_same) {
            about.cwd = Some(cwd.display().to_string());
        }
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.map(|name| name.strip_suffix(".zst").unwrap_or(name));
        let place = Place {
            session,
            about: &about,
            name: name.filter(|_| is_same),
        };
        let mut sink = output.open(&place)?;
        let (mut losses, original) = if is_same {
            let (source, length) = reading.bytes;
            copy(source, length, &mut sink).map_err(failed())?;
            // Its conversation is read for what is said of it.
            for told in reading.told {
                told.map_err(failed())?;
            }
            (Losses::default(), length)
        } else {
            let of = (session, &about);
            let losses = match convert.to {
                Shape::Codex => codex::begin(&mut sink, of, reading.told),
                _ => claude::begin(&mut sink, of, reading.told),
            };
            (losses.map_err(failed())?, 0)
        };
        output.title(session, &about, &mut losses)?;
        written = Some((session, sink));
        Ok((losses, original))
    };
    let mut report = match found {
        Found::Codex => codex::read(path, convert.to, write)?,
        _ => claude::read(path, convert.to, write)?,
    };
    if let Some((session, sink)) = written {
        report.session = session;
        wrote(&mut report, sink)?;
    }
    Ok(report)
}

fn wrote(report: &mut Report, sink: Sink) -> Result<(), Failure> {
    if let Some((path, bytes)) = sink.finish()? {
        report.wrote(&path, bytes);
    }
    Ok(())
}

//! A session becomes a transcript of Claude; what came from one is written as it was.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use sessiond_claude::transcript::{self, Continuation, Fold, Index, Transcript};
use sessiond_engine::{Action, events_of, originals_of};
use sessiond_log::{Attachment, Store, Subject};
use sessiond_protocol::{ErrorCode, Marker, SessionId, WireError, told_of};
use sessiond_wire::foreign::Upto;
use tempfile::NamedTempFile;

use super::output::Output;
use super::report::Report;
use super::take_in::SHAPE;
use crate::args::{Convert, Shape};
use crate::failure::Failure;
use crate::sessions;

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
    let cwd = about.cwd.clone().unwrap_or_default();
    let mut sink = Output::of(convert)?.open(named, &cwd)?;
    let items = told.len() as u64;
    let files = files(store, (session, subject))?;
    let failed = Failure::os("write the transcript");
    let (losses, original) = match files.iter().find(|(name, _)| name.is_empty()) {
        Some((_, pieces)) => {
            let mut original = NamedTempFile::new().map_err(Failure::os("make a file"))?;
            let length = copy_pieces((store, subject), pieces, &mut original)?;
            let losses = transcript::go_on(original.as_file(), (named, &about), told, &mut sink);
            (losses.map_err(failed)?, length)
        }
        None => {
            let from = Continuation::default();
            let mut transcript = Transcript::new(&mut sink, (named, &about), from);
            let wrote = told.into_iter().try_for_each(|told| transcript.tell(told));
            let losses = wrote.and_then(|()| transcript.finish(about.title.as_ref()));
            (losses.map_err(failed)?, 0)
        }
    };
    for (name, pieces) in files.iter().filter(|(name, _)| !name.is_empty()) {
        if let Some(mut beside) = sink.beside(name)? {
            copy_pieces((store, subject), pieces, &mut beside)?;
            beside.finish()?;
        }
    }
    let mut report = Report::new(named, Shape::Claude, items, original);
    if let Some((path, bytes)) = sink.finish()? {
        report.wrote(&path, bytes);
    }
    report.titled(about.title.map(|(title, _)| title));
    report.lost(losses);
    Ok(report)
}

/// The files that a session keeps as Claude wrote them, with their pieces.
fn files(
    store: &Store,
    (session, subject): (SessionId, &Subject),
) -> Result<Vec<(String, Vec<Attachment>)>, Failure> {
    let mut files: Vec<(String, Vec<Attachment>)> = Vec::new();
    for (marker, pieces) in originals_of(store, session)? {
        let Marker::Original { shape, file, .. } = marker else {
            continue;
        };
        if shape != SHAPE {
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

/// Copies pieces; answers how many bytes.
fn copy_pieces(
    (store, subject): (&Store, &Subject),
    pieces: &[Attachment],
    out: &mut impl Write,
) -> Result<u64, Failure> {
    let mut length = 0;
    for piece in pieces {
        let Some(bytes) = store.attachment(subject, piece)? else {
            let message = "what the session keeps of the original transcript is damaged; \
                           `sessiond sessions show` has the conversation";
            return Err(WireError::new(ErrorCode::Damaged, message).into());
        };
        length += bytes.len() as u64;
        out.write_all(&bytes)
            .map_err(Failure::os("write the transcript"))?;
    }
    out.flush().map_err(Failure::os("write the transcript"))?;
    Ok(length)
}

/// Writes a transcript as it is, and says what is in it.
pub(super) fn copy(path: &Path, output: Output) -> Result<Report, Failure> {
    let failed = |error: io::Error| {
        let path = path.display();
        Failure::Usage(format!("{path} cannot be read: {error}"))
    };
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let source = Upto::new(&file, length);
    let index = Index::read(&source).map_err(failed)?;
    let mut fold = Fold::new(&index, &source);
    let mut items = 0;
    for told in fold.by_ref() {
        told.map_err(failed)?;
        items += 1;
    }
    let about = index.about();
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let session = stem.and_then(|stem| stem.parse().ok()).or(about.session);
    let session = session.ok_or_else(|| {
        let path = path.display();
        Failure::Usage(format!(
            "{path} names no session: neither by its name nor in its entries"
        ))
    })?;
    let mut sink = output.open(session, about.cwd.as_deref().unwrap_or("/"))?;
    io::copy(&mut io::Read::take(&file, length), &mut sink)
        .map_err(Failure::os("write the transcript"))?;
    let mut report = Report::new(session, Shape::Claude, items, length);
    if let Some((path, bytes)) = sink.finish()? {
        report.wrote(&path, bytes);
    }
    report.titled(about.title.clone().map(|(title, _)| title));
    report.found(index.findings(), fold.findings());
    Ok(report)
}

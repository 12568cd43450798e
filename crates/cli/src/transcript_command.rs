//! `sessiond transcript`: conversations as other programs write them down.

mod claude;
mod codex;
mod follow;
mod opening;
mod output;
mod report;
mod shape;
mod take_in;
mod write;

use std::path::PathBuf;

use sessiond_log::Store;
use sessiond_protocol::SessionId;

use crate::args::{Convert, Shape, Transcript};
use crate::failure::Failure;
use crate::named;
use crate::sessions;
use crate::setup::Setup;

pub(crate) use shape::is_transcript;
pub(crate) use take_in::{Wishes, take_in};

use report::Report;
use shape::Found;

/// Runs the command.
pub(crate) fn run(setup: &Setup, transcript: &Transcript) -> Result<(), Failure> {
    match transcript {
        Transcript::Convert(convert) => self::convert(setup, convert),
        Transcript::Follow(follow) => follow::run(follow),
    }
}

fn convert(setup: &Setup, convert: &Convert) -> Result<(), Failure> {
    let path = PathBuf::from(&convert.from);
    let found = match path.is_file() {
        true => shape::of(&path)?,
        false => Found::Session(session(setup, &convert.from)?),
    };
    match (found, convert.to) {
        (Found::Claude | Found::Codex, Shape::Sessiond) => transcript_in(setup, convert, &path),
        (found @ (Found::Claude | Found::Codex), _) => {
            write::file(&path, &found, convert)?.tell(convert)
        }
        (Found::Export, Shape::Claude | Shape::Codex) => {
            let (setup, _folder) = elsewhere(setup)?;
            let store = Store::open_real(setup.store())?;
            let taken = sessions::from_file(&store, &path, None)?;
            let session = taken.subject.to_string();
            let session = session
                .parse()
                .map_err(|_| Failure::Usage(format!("{} holds no session", convert.from)))?;
            write::session(&store, session, convert)?.tell(convert)
        }
        (Found::Session(session), Shape::Claude | Shape::Codex) => {
            let store = Store::open_real(setup.store())?;
            write::session(&store, session, convert)?.tell(convert)
        }
        (Found::Export, Shape::Sessiond) => Err(Failure::Usage(format!(
            "{} is a session already; `sessiond sessions import {}` takes it in",
            convert.from, convert.from
        ))),
        (Found::Session(_), Shape::Sessiond) => Err(Failure::Usage(format!(
            "{} is a session already; `sessiond sessions export {}` writes it into a file",
            convert.from, convert.from
        ))),
    }
}

/// A transcript into the store, or into an export.
fn transcript_in(setup: &Setup, convert: &Convert, path: &std::path::Path) -> Result<(), Failure> {
    let cwd = convert.cwd.as_deref().map(std::path::absolute).transpose();
    let wishes = Wishes {
        session: convert.session,
        cwd: cwd.map_err(Failure::os("find the directory"))?,
        remap: Vec::new(),
    };
    let Some(output) = convert.output.as_deref() else {
        return take_in(setup, path, &wishes)?.tell(convert);
    };
    if output.as_os_str() == "-" {
        let message = "an export is no text; `-o FILE` writes it into a file";
        return Err(Failure::Usage(message.to_owned()));
    }
    let (elsewhere, _folder) = elsewhere(setup)?;
    let mut report = take_in(&elsewhere, path, &wishes)?;
    let store = Store::open_real(elsewhere.store())?;
    let subject = report.session.to_string().parse()?;
    report.wrote(output, sessions::export_to(&store, &subject, output)?);
    report.tell(convert)
}

fn session(setup: &Setup, name: &str) -> Result<SessionId, Failure> {
    if name.contains('/') {
        return Err(Failure::Usage(format!(
            "{name} is no file; name a transcript, an export, or a session"
        )));
    }
    let name = name
        .parse()
        .map_err(|why: &str| Failure::Usage(why.to_owned()))?;
    named::find(setup, &name)
}

/// A store of this command alone, gone with the folder.
fn elsewhere(setup: &Setup) -> Result<(Setup, tempfile::TempDir), Failure> {
    let folder = tempfile::tempdir().map_err(Failure::os("make a folder"))?;
    Ok((setup.with_store(folder.path().join("store")), folder))
}

/// What `--json` or its absence asks for.
trait Tell {
    fn tell(self, convert: &Convert) -> Result<(), Failure>;
}

impl Tell for Report {
    fn tell(self, convert: &Convert) -> Result<(), Failure> {
        self.print(convert.format, convert.output.as_deref())
    }
}

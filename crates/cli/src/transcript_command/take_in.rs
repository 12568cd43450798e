//! A transcript becomes a session of the store, whole or not at all.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use sessiond_engine::{Action, Foreign, Keeper, PIECE_BYTES};
use sessiond_log::{LogError, Store, Subject};
use sessiond_protocol::{ErrorCode, SessionId, SessionView, Told, ToldAbout, WireError};
use sessiond_wire::foreign::ReadAt;

use super::report::Report;
use super::shape::{self, Found};
use super::{claude, codex};
use crate::args::Remap;
use crate::failure::Failure;
use crate::output::say;
use crate::sessions::{self, remapped};
use crate::setup::{Setup, block_on};

/// What the user wants to be otherwise than the transcript says.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    /// The session's id.
    pub(crate) session: Option<SessionId>,
    /// Its directory.
    pub(crate) cwd: Option<PathBuf>,
    /// Where directories are here.
    pub(crate) remap: Vec<Remap>,
}

/// A file that a conversation was written in.
pub(super) enum Original<'a> {
    /// What it holds, and how many bytes of it.
    Open(&'a dyn ReadAt, u64),
    /// Where it is.
    At(PathBuf),
}

/// A conversation that was read elsewhere.
pub(super) struct Source<'a> {
    /// How the files are named in a session's log.
    pub(super) shape: &'static str,
    pub(super) about: ToldAbout,
    /// Its id.
    pub(super) session: Option<SessionId>,
    /// Its files with their names, its own first.
    pub(super) originals: Vec<(String, Original<'a>)>,
    pub(super) told: &'a mut dyn Iterator<Item = io::Result<Told>>,
}

/// What was made of it.
pub(super) struct Made {
    pub(super) view: SessionView,
    pub(super) items: u64,
    pub(super) kept: u64,
}

/// Takes in a transcript of Claude, or a rollout of Codex.
pub(crate) fn take_in(setup: &Setup, path: &Path, wishes: &Wishes) -> Result<Report, Failure> {
    let store = Store::open_real(setup.store())?;
    let mut session = None;
    let taken = match shape::of(path)? {
        Found::Codex => codex::take_in(setup, path, wishes, &mut session),
        _ => claude::take_in(setup, path, wishes, &mut session),
    };
    let subject = session.and_then(|id| id.to_string().parse::<Subject>().ok());
    sessions::record(&store, Action::Import, subject.as_ref(), &taken);
    taken
}

/// Makes a session of a conversation.
pub(super) fn make(
    setup: &Setup,
    (path, wishes): (&Path, &Wishes),
    source: Source<'_>,
    taken_as: &mut Option<SessionId>,
) -> Result<Made, Failure> {
    let unreadable = unreadable(path);
    let about = source.about;
    let session = wishes.session.or(source.session);
    *taken_as = session;
    let foreign = Foreign {
        session,
        cwd: cwd(setup, wishes, about.cwd.as_deref())?,
        agent: None,
        title: about.title,
        began: about.began,
    };
    block_on(async {
        let engine = setup.engine("transcript")?;
        let importer = engine.importer(foreign).await;
        let mut importer = importer.map_err(refused)?;
        let mut keeper = importer.keeper();
        // The original goes to the disk while the conversation is told.
        let keeping = async {
            let mut kept = 0;
            for (name, original) in source.originals {
                let named = (source.shape, name.as_str());
                kept += match original {
                    Original::Open(bytes, length) => {
                        keep(&mut keeper, named, bytes, length).await?
                    }
                    Original::At(path) => {
                        let unreadable = self::unreadable(&path);
                        let file = File::open(&path).map_err(&unreadable)?;
                        let length = file.metadata().map_err(&unreadable)?.len();
                        keep(&mut keeper, named, &file, length).await?
                    }
                };
            }
            Ok::<_, Failure>(kept)
        };
        let telling = async {
            let mut items = 0_u64;
            for told in source.told {
                items += 1;
                importer.tell(told.map_err(&unreadable)?).await?;
            }
            Ok::<_, Failure>(items)
        };
        let (kept, items) = tokio::try_join!(keeping, telling)?;
        importer.kept(keeper).await?;
        if items == 0 {
            let path = path.display();
            return Err(Failure::Usage(format!(
                "{path} holds no conversation of a session's own; name the transcript of the session \
                 itself"
            )));
        }
        let view = importer.finish().await?;
        *taken_as = Some(view.session);
        Ok(Made { view, items, kept })
    })
}

pub(super) fn unreadable(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| {
        let path = path.display();
        Failure::Usage(format!("{path} cannot be read: {error}"))
    }
}

/// Why no session can be made; one that is there is no different from one of an export.
fn refused(error: WireError) -> Failure {
    let there = error.session.filter(|_| error.code == ErrorCode::Invalid);
    match there.and_then(|session| session.to_string().parse().ok()) {
        Some(subject) => {
            say("`--as ID` makes another session of it");
            LogError::Exists(subject).into()
        }
        None => error.into(),
    }
}

/// Where the session works: what the user says, else what the transcript says, else here.
fn cwd(setup: &Setup, wishes: &Wishes, told: Option<&str>) -> Result<String, Failure> {
    if let Some(cwd) = &wishes.cwd {
        let cwd = cwd.clone().into_os_string().into_string();
        return cwd.map_err(|_| Failure::Usage("the directory's name is not UTF-8".to_owned()));
    }
    let Some(told) = told else { return setup.cwd() };
    let moved = wishes.remap.iter().find_map(|remap| remapped(remap, told));
    Ok(moved.unwrap_or_else(|| told.to_owned()))
}

/// Keeps a file as it is; answers its length.
async fn keep(
    keeper: &mut Keeper,
    named: (&str, &str),
    source: &dyn ReadAt,
    length: u64,
) -> Result<u64, Failure> {
    let mut offset = 0;
    while offset < length {
        let most = PIECE_BYTES.min(usize::try_from(length - offset).unwrap_or(usize::MAX));
        let mut piece = vec![0; most];
        let mut filled = 0;
        while filled < most {
            let next = offset + filled as u64;
            match source.read_at(next, &mut piece[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::os("read the transcript")(error)),
            }
        }
        piece.truncate(filled);
        if filled == 0 {
            break;
        }
        offset += filled as u64;
        keeper.keep(named, piece).await?;
    }
    Ok(offset)
}

//! A transcript becomes a session of the store, whole or not at all.

use std::fs::File;
use std::path::{Path, PathBuf};

use sessiond_claude::transcript::{Fold, Index};
use sessiond_engine::{Action, Foreign, Keeper, PIECE_BYTES};
use sessiond_log::{LogError, Store, Subject};
use sessiond_protocol::{ErrorCode, SessionId, WireError};
use sessiond_wire::foreign::{ReadAt, Upto};

use super::report::Report;
use crate::args::{Remap, Shape};
use crate::failure::Failure;
use crate::output::say;
use crate::sessions::{self, remapped};
use crate::setup::{Setup, block_on};

/// How transcripts of Claude are named in a session's log.
pub(super) const SHAPE: &str = "claude";

/// Folders of sub-agents' own transcripts are no deeper than this below a session's.
const DEPTH: usize = 8;

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

/// Takes in a transcript of Claude.
pub(crate) fn take_in(setup: &Setup, path: &Path, wishes: &Wishes) -> Result<Report, Failure> {
    let store = Store::open_real(setup.store())?;
    let mut session = None;
    let taken = attempt(setup, path, wishes, &mut session);
    let subject = session.and_then(|id| id.to_string().parse::<Subject>().ok());
    sessions::record(&store, Action::Import, subject.as_ref(), &taken);
    taken
}

fn attempt(
    setup: &Setup,
    path: &Path,
    wishes: &Wishes,
    taken_as: &mut Option<SessionId>,
) -> Result<Report, Failure> {
    let unreadable = unreadable(path);
    let file = File::open(path).map_err(&unreadable)?;
    // Its program may be writing to it; what it holds now is taken in.
    let length = file.metadata().map_err(&unreadable)?.len();
    let source = Upto::new(&file, length);
    let index = Index::read(&source).map_err(&unreadable)?;
    if index.entries() == 0 {
        let path = path.display();
        return Err(Failure::Usage(format!(
            "{path} holds no conversation of Claude"
        )));
    }
    let about = index.about();
    let named = path.file_stem().and_then(|stem| stem.to_str());
    let named = named.and_then(|stem| stem.parse().ok());
    let session = wishes.session.or(named).or(about.session);
    *taken_as = session;
    let foreign = Foreign {
        session,
        cwd: cwd(setup, wishes, about.cwd.as_deref())?,
        agent: None,
        title: about.title.clone(),
        began: about.began.clone(),
    };
    block_on(async {
        let engine = setup.engine("transcript")?;
        let importer = engine.importer(foreign).await;
        let mut importer = importer.map_err(refused)?;
        let (mut keeper, mut fold) = (importer.keeper(), Fold::new(&index, &source));
        // The original goes to the disk while the conversation is told.
        let keeping = async {
            let mut kept = keep(&mut keeper, "", &source, length).await?;
            for (name, path) in beside(path) {
                let unreadable = self::unreadable(&path);
                let file = File::open(&path).map_err(&unreadable)?;
                let length = file.metadata().map_err(&unreadable)?.len();
                kept += keep(&mut keeper, &name, &file, length).await?;
            }
            Ok::<_, Failure>(kept)
        };
        let telling = async {
            let mut items = 0_u64;
            for told in fold.by_ref() {
                items += 1;
                importer.tell(told.map_err(&unreadable)?).await?;
            }
            Ok::<_, Failure>(items)
        };
        let (kept, items) = tokio::try_join!(keeping, telling)?;
        importer.kept(keeper);
        if items == 0 {
            let path = path.display();
            return Err(Failure::Usage(format!(
                "{path} holds no conversation of a session's own; name the transcript of the session \
                 itself"
            )));
        }
        let view = importer.finish().await?;
        *taken_as = Some(view.session);
        let mut report = Report::new(view.session, Shape::Sessiond, items, kept);
        report.titled(view.title);
        report.found(index.findings(), fold.findings());
        Ok(report)
    })
}

fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> Failure {
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
async fn keep<S: ReadAt + ?Sized>(
    keeper: &mut Keeper,
    name: &str,
    source: &S,
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
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::os("read the transcript")(error)),
            }
        }
        piece.truncate(filled);
        if filled == 0 {
            break;
        }
        offset += filled as u64;
        keeper.keep((SHAPE, name), piece).await?;
    }
    Ok(offset)
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

//! A session that is made of a conversation which was led elsewhere, piece by piece and in little
//! memory. It appears whole or not at all.

use std::{collections::VecDeque, path::Path, sync::Arc, time::Duration};

use sessiond_log::{Attachment, Durability, LogError, Nascent, NewRecord, Ticket, Writer};
use sessiond_protocol::{
    ErrorCode, ItemId, Marker, RequestId, SessionId, SessionView, Standing, Start, SubmissionId,
    Telling, Titler, Told, TurnId, WireError,
};
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::{Engine, opening};
use crate::{
    actor::{Ids, refusal, timestamp},
    catalog::subject,
    core::{Cause, ConnId, Core, Input, Mint, Moment, unfit_item},
    record::{to_record, to_record_with},
};

/// Bytes of records that are appended at once.
const BATCH_BYTES: usize = 1 << 20;

/// Batches that may be on their way to the disk.
const AHEAD: usize = 4;

/// Longest piece that an original is kept in, in bytes: a few of them are in memory at a time.
pub const PIECE_BYTES: usize = 4 << 20;

/// Pieces that may be on their way to the disk: one is written while the others are synced.
const PIECES_AHEAD: usize = 3;

/// Pieces that one record names: its data stays in its line.
const PIECES: usize = 64;

/// What a session is to be made of.
#[derive(Debug, Clone)]
pub struct Foreign {
    /// Its id; a fresh one otherwise.
    pub session: Option<SessionId>,
    /// The working directory, absolute.
    pub cwd: String,
    /// The agent's configured name; the default one otherwise.
    pub agent: Option<String>,
    /// The title, and who chose it.
    pub title: Option<(String, Titler)>,
    /// When it began, RFC 3339; now otherwise.
    pub began: Option<String>,
}

/// Makes a session of what it is told.
#[derive(Debug)]
pub struct Importer {
    session: SessionId,
    nascent: Arc<Nascent>,
    writer: Writer,
    core: Core,
    now: Moment,
    records: Vec<NewRecord>,
    bytes: usize,
    waiting: VecDeque<Ticket>,
    originals: Vec<Original>,
}

/// Keeps files as they are, for a session that is being made.
#[derive(Debug)]
pub struct Keeper {
    session: SessionId,
    nascent: Arc<Nascent>,
    originals: Vec<Original>,
    /// Pieces with the shape and the name of their files, in order.
    under_way: VecDeque<((String, String), Attaching)>,
}

/// A piece on its way to the disk.
type Attaching = JoinHandle<Result<Attachment, WireError>>;

/// A file that is kept, or a part of it.
#[derive(Debug)]
struct Original {
    shape: String,
    file: String,
    offset: u64,
    pieces: Vec<Attachment>,
}

/// An id that is given, a fresh one otherwise.
struct GivenId(Option<ItemId>);

impl Mint for GivenId {
    fn turn(&mut self) -> TurnId {
        Ids.turn()
    }

    fn item(&mut self) -> ItemId {
        self.0.take().unwrap_or_else(|| Ids.item())
    }

    fn request(&mut self) -> RequestId {
        Ids.request()
    }
}

impl Engine {
    /// Begins a session that is made of a conversation which was led elsewhere. Nobody sees it
    /// before [`Importer::finish`].
    ///
    /// # Errors
    /// `agent_unavailable`; `invalid` for a directory that is not absolute, and where a session of
    /// that id exists; `storage`.
    pub async fn importer(&self, foreign: Foreign) -> Result<Importer, WireError> {
        let inner = &self.inner;
        let name = foreign
            .agent
            .as_ref()
            .unwrap_or(&inner.config.default_agent);
        let Some(factory) = inner.agent(name) else {
            let message = "no agent of that name is configured; `sessiond agents` lists them";
            return Err(WireError::new(ErrorCode::AgentUnavailable, message));
        };
        let cwd = foreign.cwd;
        if !Path::new(&cwd).is_absolute() {
            let message = format!("the directory `{cwd}` is not absolute");
            return Err(WireError::new(ErrorCode::Invalid, message));
        }
        let fresh = || SessionId::new(Uuid::now_v7());
        let session = foreign.session.unwrap_or_else(fresh);
        let found = opening::surroundings(inner, cwd.clone()).await?;
        let mut header = opening::header(inner, (session, &cwd), &found, &factory.info());
        header.start = Start::Imported;
        let stands = (inner.config.persistence, 1, Standing::default());
        let core = Core::new(session, cwd, factory.info(), stands);
        let (store, owner, id) = (inner.config.store.clone(), inner.owner(), subject(session)?);
        let conceive = move || {
            let nascent = store.conceive(&id, &owner);
            nascent.map_err(|error| refusal(session, &error))
        };
        let nascent = opening::blocking(conceive).await?;
        let writer = nascent.writer().map_err(|error| refusal(session, &error))?;
        let mut importer = Importer {
            session,
            nascent: Arc::new(nascent),
            writer,
            core,
            now: Moment {
                elapsed: Duration::ZERO,
                at: foreign.began.unwrap_or_else(timestamp),
            },
            records: Vec::new(),
            bytes: 0,
            waiting: VecDeque::new(),
            originals: Vec::new(),
        };
        let id = SubmissionId::try_from("import".to_owned())
            .map_err(|error| WireError::new(ErrorCode::Internal, error.to_string()))?;
        let conn = ConnId(0);
        let created = Input::Created {
            cause: Cause { conn, id },
            header: Box::new(header),
        };
        importer.step(created, None).await?;
        if let Some((title, by)) = foreign.title {
            importer.step(Input::Titled(title, by), None).await?;
        }
        Ok(importer)
    }
}

impl Importer {
    /// Takes in the next thing of the conversation.
    ///
    /// # Errors
    /// `invalid` for an item that cannot be part of a conversation; `storage`.
    pub async fn tell(&mut self, told: Told) -> Result<(), WireError> {
        if let Telling::Item(item) = &told.what
            && let Some(why) = unfit_item(item)
        {
            return Err(WireError::new(ErrorCode::Invalid, why));
        }
        if let Some(at) = told.at {
            self.now.at = at;
        }
        self.step(Input::Told(told.what), told.id).await
    }

    /// What keeps the files that the conversation was written in; it can work while the conversation
    /// is told.
    #[must_use]
    pub fn keeper(&self) -> Keeper {
        Keeper {
            session: self.session,
            nascent: self.nascent.clone(),
            originals: Vec::new(),
            under_way: VecDeque::new(),
        }
    }

    /// The session keeps what a keeper of it has kept.
    ///
    /// # Errors
    /// `storage`.
    pub async fn kept(&mut self, mut keeper: Keeper) -> Result<(), WireError> {
        keeper.settle(0).await?;
        self.originals.extend(keeper.originals);
        Ok(())
    }

    /// Makes the session appear.
    ///
    /// # Errors
    /// `invalid` where one of its id was made meanwhile; `storage`.
    pub async fn finish(mut self) -> Result<SessionView, WireError> {
        for original in std::mem::take(&mut self.originals) {
            self.original(original).await?;
        }
        self.flush().await?;
        // Opening it need not read all of that.
        let checkpoint = self.core.step(Input::Checkpoint, &self.now, &mut Ids);
        for frame in &checkpoint.append {
            let ticket = self.writer.checkpoint(to_record(frame)?);
            self.waiting.push_back(ticket);
        }
        self.settle(0).await?;
        let session = self.session;
        let failed = |error: LogError| refusal(session, &error);
        self.writer.shutdown().await.map_err(failed)?;
        let Some(nascent) = Arc::into_inner(self.nascent) else {
            let message = "a piece of the session is still being written";
            return Err(WireError::new(ErrorCode::Internal, message));
        };
        opening::blocking(move || nascent.settle().map_err(|error| refusal(session, &error)))
            .await?;
        Ok(self.core.view())
    }

    async fn original(&mut self, original: Original) -> Result<(), WireError> {
        let marker = Marker::Original {
            bytes: original.bytes(),
            shape: original.shape,
            file: original.file,
            offset: original.offset,
        };
        let step = self.core.step(Input::Kept(marker), &self.now, &mut Ids);
        for frame in &step.append {
            self.records.push(to_record_with(frame, &original.pieces)?);
        }
        self.flush().await
    }

    async fn step(&mut self, input: Input, id: Option<ItemId>) -> Result<(), WireError> {
        let step = self.core.step(input, &self.now, &mut GivenId(id));
        for frame in &step.append {
            let record = to_record(frame)?;
            self.bytes += record.data.len();
            self.records.push(record);
        }
        self.core.take_back(step.then);
        match self.bytes > BATCH_BYTES {
            true => self.flush().await,
            false => Ok(()),
        }
    }

    async fn flush(&mut self) -> Result<(), WireError> {
        self.bytes = 0;
        let records = std::mem::take(&mut self.records);
        let ticket = self.writer.append(records, Durability::Written);
        self.waiting.push_back(ticket);
        self.settle(AHEAD).await
    }

    /// Waits until no more than so many batches are on their way.
    async fn settle(&mut self, most: usize) -> Result<(), WireError> {
        while self.waiting.len() > most
            && let Some(ticket) = self.waiting.pop_front()
        {
            let appended = ticket.await;
            appended.map_err(|error| refusal(self.session, &error))?;
        }
        Ok(())
    }
}

impl Keeper {
    /// Keeps the next piece of a file that the conversation was written in, as it is; at most
    /// [`PIECE_BYTES`] at once. `shape` and `file` are as in [`Marker::Original`]. It is kept when the
    /// session [has it](Importer::kept); an error may be that of a piece before.
    ///
    /// # Errors
    /// `storage`.
    pub async fn keep(
        &mut self,
        (shape, file): (&str, &str),
        piece: Vec<u8>,
    ) -> Result<(), WireError> {
        self.settle(PIECES_AHEAD - 1).await?;
        let (nascent, session) = (self.nascent.clone(), self.session);
        let attach = move || {
            let attached = nascent.attach(&piece);
            attached.map_err(|error| refusal(session, &error))
        };
        let attached = tokio::task::spawn_blocking(attach);
        let named = (shape.to_owned(), file.to_owned());
        self.under_way.push_back((named, attached));
        Ok(())
    }

    /// Waits until no more than so many pieces are on their way.
    async fn settle(&mut self, most: usize) -> Result<(), WireError> {
        while self.under_way.len() > most
            && let Some((named, attached)) = self.under_way.pop_front()
        {
            let broken = |_| WireError::new(ErrorCode::Internal, "keeping a piece broke down");
            self.add(named, attached.await.map_err(broken)??);
        }
        Ok(())
    }

    fn add(&mut self, (shape, file): (String, String), piece: Attachment) {
        let last = self.originals.last_mut();
        let last = last.filter(|last| last.shape == shape && last.file == file);
        let offset = match last {
            Some(last) if last.pieces.len() < PIECES => return last.pieces.push(piece),
            Some(last) => last.offset + last.bytes(),
            None => 0,
        };
        self.originals.push(Original {
            shape,
            file,
            offset,
            pieces: vec![piece],
        });
    }
}

impl Original {
    fn bytes(&self) -> u64 {
        self.pieces.iter().map(Attachment::bytes).sum()
    }
}

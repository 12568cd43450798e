//! A store: the directory that holds the logs of one user.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::audit::Audit;
use crate::blob::Blobs;
use crate::error::{Doing, LogError, found};
use crate::fs::{FileKind, Fs, LockMode, MemoryFs, RealFs};
use crate::keyring::Keyring;
use crate::layout::{Home, SESSIONS};
use crate::lease::Lease;
use crate::owner::{Holder, Owner};
use crate::pool::Pool;
use crate::reader::Reader;
use crate::record::{Record, RecordView};
use crate::scan::{Scan, Seen, Since};
use crate::subject::Subject;

/// Longest owner record or STORE file, in bytes.
pub(crate) const SMALL_FILE: u64 = 64 * 1024;

/// The logs below one directory. Cheap to clone; clones share keys and threads.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    fs: Arc<dyn Fs>,
    root: PathBuf,
    keys: Arc<Keyring>,
    pool: Arc<Pool>,
    audit: Audit,
}

impl Store {
    /// Opens the store that `fs` is rooted in; `root` names it in errors. Nothing is created
    /// before the first [`Store::create`]; a missing store is an empty one.
    ///
    /// # Errors
    /// [`LogError::UnsafeRoot`] when the root is a symbolic link, no directory or somebody else's
    /// (LOG-15). A store of a newer format opens for reading; see [`Store::claim`] (LOG-11).
    pub fn open(fs: Arc<dyn Fs>, root: &Path) -> Result<Self, LogError> {
        let unsafe_root = |why: String| LogError::UnsafeRoot {
            path: root.to_owned(),
            why,
        };
        match found(fs.stat(Path::new(""))) {
            Ok(Some(stat)) if stat.kind != FileKind::Directory => {
                return Err(unsafe_root("not a directory".to_owned()));
            }
            Ok(_) => {}
            Err(error) => return Err(unsafe_root(error.to_string())),
        }
        let keys = Arc::new(Keyring::new(Arc::clone(&fs)));
        let (root, pool) = (root.to_owned(), Arc::new(Pool::new()));
        Ok(Self {
            inner: Arc::new(Inner {
                fs,
                root,
                keys,
                pool,
                audit: Audit::default(),
            }),
        })
    }

    /// Opens the store in the directory `root` of the machine's file system.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_real(root: &Path) -> Result<Self, LogError> {
        let fs = RealFs::new(root).doing("open", root)?;
        let root = fs.root().to_owned();
        Self::open(Arc::new(fs), &root)
    }

    /// An empty store in memory: sessions without persistence.
    #[must_use]
    pub fn in_memory() -> Self {
        let fs: Arc<dyn Fs> = Arc::new(MemoryFs::new());
        let keys = Arc::new(Keyring::new(Arc::clone(&fs)));
        let (root, pool) = (PathBuf::from(":memory:"), Arc::new(Pool::new()));
        Self {
            inner: Arc::new(Inner {
                fs,
                root,
                keys,
                pool,
                audit: Audit::default(),
            }),
        }
    }

    /// The directory of the store, as it was named when opened.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// The ids that have a directory here, in order. A session whose creation was cut off before
    /// its first record is among them; [`Store::head`] has nothing for it.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn subjects(&self) -> Result<Vec<Subject>, LogError> {
        let dir = Path::new(SESSIONS);
        let names = found(self.fs().list(dir))
            .doing("list", dir)?
            .unwrap_or_default();
        let mut subjects: Vec<Subject> = names.iter().filter_map(|n| n.parse().ok()).collect();
        subjects.sort_unstable();
        Ok(subjects)
    }

    /// Whether there is a log of this id: a record, or damage where one may have been.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn exists(&self, subject: &Subject) -> Result<bool, LogError> {
        if self.head(subject)?.is_some() {
            return Ok(true);
        }
        Ok(!self.visit(subject, &mut |_| ())?.is_blank())
    }

    /// Reads a log as it is now, without a lease and without changing anything. A writer may be
    /// in the middle of a line, which then shows as torn. No log reads as an empty one.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn read(&self, subject: &Subject) -> Result<Scan, LogError> {
        self.with_reader(subject, |reader| reader.collect())
    }

    /// [`Store::read`] for logs of any length: hands each record to `visit` instead of collecting
    /// them, with one segment at a time in memory.
    ///
    /// # Errors
    /// [`LogError::Io`]; `visit` may have seen records by then.
    pub fn visit(
        &self,
        subject: &Subject,
        visit: &mut dyn FnMut(RecordView<'_>),
    ) -> Result<Scan, LogError> {
        self.with_reader(subject, |reader| reader.scan(None, visit))
    }

    /// [`Store::visit`] for part of a log: shows `visit` records and damage in their order until it has
    /// seen enough, one segment at a time. The answer tells of what was looked at.
    ///
    /// # Errors
    /// [`LogError::Io`]; `visit` may have been shown something by then.
    pub fn visit_some(
        &self,
        subject: &Subject,
        since: Since,
        visit: &mut dyn FnMut(Seen<'_>) -> ControlFlow<()>,
    ) -> Result<Scan, LogError> {
        self.with_reader(subject, |reader| reader.visit_some(since, visit))
    }

    /// The records with which the segments of a log begin, ascending: between two of them
    /// [`Store::visit_some`] reads one segment. Empty without a log; a segment with a broken head is
    /// not among them.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn beginnings(&self, subject: &Subject) -> Result<Vec<u64>, LogError> {
        self.with_reader(subject, |reader| reader.beginnings())
    }

    /// The first record, the header of the session, without reading the rest (LOG-2).
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn head(&self, subject: &Subject) -> Result<Option<Record>, LogError> {
        self.with_reader(subject, |reader| reader.head())
    }

    /// Who holds the lease of a log right now, if anyone. Looks at the lock for a moment, which a
    /// claim at that moment waits out.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn holder(&self, subject: &Subject) -> Result<Option<Holder>, LogError> {
        let home = Home::of(subject);
        let Some(holder) = self.recorded_holder(&home)? else {
            return Ok(None);
        };
        let path = home.lock();
        match found(self.fs().lock(&path, LockMode::Probe)).doing("lock", &path)? {
            // Held: the record is that of its holder. Free or gone: a leftover.
            Some(None) => Ok(Some(holder)),
            Some(Some(_)) | None => Ok(None),
        }
    }

    /// Takes the lease of a new log. Its first append makes it a log. Remains without a record, of
    /// one that was never finished or that a disk lost, are set aside first: [`Store::aside`].
    ///
    /// # Errors
    /// [`LogError::Exists`], also in the archive; [`LogError::Busy`], [`LogError::TooNew`] for a
    /// store of a newer format, [`LogError::Io`].
    pub fn create(&self, subject: &Subject, owner: &Owner) -> Result<Lease, LogError> {
        self.prepare()?;
        self.vacant(subject)?;
        let home = Home::of(subject);
        self.fs()
            .make_dir(home.root())
            .doing("create", home.root())?;
        match self.take_empty(subject, owner)? {
            Some(lease) => Ok(lease),
            None => self.create(subject, owner),
        }
    }

    /// Takes the lease of a log that exists. Blocks: up to a quarter of a second for a holder to
    /// say that it is closing, and up to three seconds in all for one that does.
    ///
    /// Below `sessions/` nothing changes (RESUME-3), but for a `LOCK` that was missing.
    ///
    /// # Errors
    /// [`LogError::NotFound`], [`LogError::Busy`] with the holder, [`LogError::TooNew`] for a
    /// store of a newer format, [`LogError::Io`].
    pub fn claim(&self, subject: &Subject, owner: &Owner) -> Result<Lease, LogError> {
        if !self.exists(subject)? {
            // A newer layout may keep it elsewhere.
            self.writable()?;
            return Err(LogError::NotFound(subject.clone()));
        }
        self.migrate()?;
        Lease::take(self.clone(), subject.clone(), owner.clone())
    }

    pub(crate) fn fs(&self) -> &dyn Fs {
        self.inner.fs.as_ref()
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.inner.pool
    }

    pub(crate) fn keys(&self) -> &Keyring {
        &self.inner.keys
    }

    pub(crate) fn audit_file(&self) -> &Audit {
        &self.inner.audit
    }

    pub(crate) fn blobs(&self, home: &Home) -> Blobs {
        let inner = &self.inner;
        Blobs::new(Arc::clone(&inner.fs), Arc::clone(&inner.keys), home.clone())
    }

    pub(crate) fn with_reader<T>(
        &self,
        subject: &Subject,
        read: impl FnOnce(Reader<'_>) -> Result<T, LogError>,
    ) -> Result<T, LogError> {
        self.with_reader_at(subject, &Home::of(subject), read)
    }

    pub(crate) fn with_reader_at<T>(
        &self,
        subject: &Subject,
        home: &Home,
        read: impl FnOnce(Reader<'_>) -> Result<T, LogError>,
    ) -> Result<T, LogError> {
        let blobs = self.blobs(home);
        read(Reader {
            fs: self.fs(),
            subject,
            home,
            blobs: &blobs,
        })
    }

    /// The owner record of a session, whether or not its writer lives.
    pub(crate) fn recorded_holder(&self, home: &Home) -> Result<Option<Holder>, LogError> {
        let path = home.owner();
        let bytes = found(self.fs().read(path, 0..SMALL_FILE)).doing("read", path)?;
        // It is not synced: after a power cut it may be empty.
        Ok(bytes.and_then(|b| serde_json::from_slice(&b).ok()))
    }

    /// Makes the directories that every session needs, and the version file.
    pub(crate) fn prepare(&self) -> Result<(), LogError> {
        let fs = self.fs();
        fs.make_root().doing("create", &self.inner.root)?;
        self.writable()?;
        fs.make_dir(SESSIONS.as_ref())
            .doing("create", SESSIONS.as_ref())?;
        self.migrate()
    }
}

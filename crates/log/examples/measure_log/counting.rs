//! A file system that counts what is written and synced.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sessiond_log::fs::{AppendFile, Fs, Lock, LockMode, RealFs, Stat};

/// The real file system, counted.
#[derive(Debug)]
pub(crate) struct CountingFs {
    real: RealFs,
    counts: Arc<Counts>,
}

/// Counted so far.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    syncs: AtomicU64,
    bytes: AtomicU64,
}

impl Counts {
    /// Syncs of files and directories.
    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// Bytes written.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn synced(&self) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
    }
}

impl CountingFs {
    pub(crate) fn new(real: RealFs) -> Self {
        let counts = Arc::default();
        Self { real, counts }
    }

    pub(crate) fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.counts)
    }

    fn counted(&self, file: Box<dyn AppendFile>) -> Box<dyn AppendFile> {
        let counts = self.counts();
        Box::new(CountingFile { file, counts })
    }
}

impl Fs for CountingFs {
    fn make_root(&self) -> io::Result<()> {
        self.real.make_root()
    }
    fn make_dir(&self, path: &Path) -> io::Result<()> {
        self.real.make_dir(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.counts.synced();
        self.real.sync_dir(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.real.list(path)
    }
    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.real.stat(path)
    }
    fn read(&self, path: &Path, range: Range<u64>) -> io::Result<Vec<u8>> {
        self.real.read(path, range)
    }
    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        Ok(self.counted(self.real.create(path)?))
    }
    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.counts.synced();
        self.real.sync_file(path)
    }
    fn truncate(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.real.truncate(path, bytes)
    }
    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        Ok(self.counted(self.real.append(path)?))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.real.rename(from, to)
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.real.link(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.real.remove(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.real.remove_dir(path)
    }
    fn lock(&self, path: &Path, mode: LockMode) -> io::Result<Option<Box<dyn Lock>>> {
        self.real.lock(path, mode)
    }
}

#[derive(Debug)]
struct CountingFile {
    file: Box<dyn AppendFile>,
    counts: Arc<Counts>,
}

impl AppendFile for CountingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.file.write(bytes)?;
        self.counts.bytes.fetch_add(taken as u64, Ordering::Relaxed);
        Ok(taken)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.counts.synced();
        self.file.sync()
    }
}

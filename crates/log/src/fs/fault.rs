//! A file system that fails on purpose at its n-th operation.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{AppendFile, Fs, Lock, LockMode, Stat};

/// What happens at the chosen operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The operation does nothing and fails (EIO).
    Error,
    /// A write takes half of its bytes and says so; any other operation fails.
    Short,
    /// A write takes half of its bytes and fails (a full disk); any other operation fails.
    Torn,
}

/// Whether the operations after the chosen one work again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Only the chosen operation fails.
    Once,
    /// All fail from then on.
    Sticky,
}

/// Passes each operation on to another file system, but for the chosen one.
#[derive(Debug, Clone)]
pub struct FaultFs {
    inner: Arc<dyn Fs>,
    plan: Arc<Plan>,
}

#[derive(Debug)]
struct Plan {
    done: AtomicU64,
    fail_at: u64,
    fault: Fault,
    repeat: Repeat,
}

impl Plan {
    /// Counts an operation; the fault it meets, if any.
    fn next(&self) -> Option<Fault> {
        let number = self.done.fetch_add(1, Ordering::SeqCst) + 1;
        let hit = match self.repeat {
            Repeat::Once => number == self.fail_at,
            Repeat::Sticky => number >= self.fail_at,
        };
        hit.then_some(self.fault)
    }

    fn pass(&self) -> io::Result<()> {
        self.next().map_or(Ok(()), |_| Err(injected()))
    }
}

fn injected() -> io::Error {
    io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error())
}

impl FaultFs {
    /// Fails the `fail_at`-th operation (the first is 1; 0 fails none).
    #[must_use]
    pub fn new(inner: Arc<dyn Fs>, fail_at: u64, fault: Fault, repeat: Repeat) -> Self {
        let fail_at = if fail_at == 0 { u64::MAX } else { fail_at };
        Self {
            inner,
            plan: Arc::new(Plan {
                done: AtomicU64::new(0),
                fail_at,
                fault,
                repeat,
            }),
        }
    }

    /// Operations asked for so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.plan.done.load(Ordering::SeqCst)
    }
}

impl Fs for FaultFs {
    fn make_root(&self) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.make_root()
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.make_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.sync_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.plan.pass()?;
        self.inner.list(path)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.plan.pass()?;
        self.inner.stat(path)
    }

    fn read(&self, path: &Path, range: Range<u64>) -> io::Result<Vec<u8>> {
        self.plan.pass()?;
        self.inner.read(path, range)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        self.plan.pass()?;
        let inner = self.inner.create(path)?;
        Ok(Box::new(FaultFile {
            inner,
            plan: Arc::clone(&self.plan),
        }))
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.sync_file(path)
    }

    fn truncate(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.truncate(path, bytes)
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        self.plan.pass()?;
        let inner = self.inner.append(path)?;
        Ok(Box::new(FaultFile {
            inner,
            plan: Arc::clone(&self.plan),
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.link(from, to)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.remove_dir(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.remove(path)
    }

    fn lock(&self, path: &Path, mode: LockMode) -> io::Result<Option<Box<dyn Lock>>> {
        self.plan.pass()?;
        self.inner.lock(path, mode)
    }
}

#[derive(Debug)]
struct FaultFile {
    inner: Box<dyn AppendFile>,
    plan: Arc<Plan>,
}

impl AppendFile for FaultFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
        match self.plan.next() {
            None => self.inner.write(bytes),
            Some(Fault::Error) => Err(injected()),
            Some(Fault::Short) => self.inner.write(half),
            Some(Fault::Torn) => self.inner.write(half).and(Err(injected())),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.sync()
    }
}

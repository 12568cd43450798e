//! The file system of the machine, through descriptors only.

use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::buffer::spare_capacity;
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::{AppendFile, FileId, FileKind, Fs, Lock, LockMode, Stat};

const PRIVATE_DIR: Mode = Mode::RWXU;
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);
const OPEN_DIR: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
const OPEN_FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

/// Of what reads of more than this are given room for a multiple, in bytes.
const ROUNDED_BYTES: usize = 1024 * 1024;

/// How often a lock is tried again when its file is replaced between opening and locking.
const LOCK_ATTEMPTS: usize = 8;

/// The real file system below one directory.
///
/// Each operation walks down from the root, one `openat` with `O_NOFOLLOW` a component, so that a
/// link planted anywhere in the store is an error (LOG-15), and a replaced directory is noticed.
#[derive(Debug, Clone)]
pub struct RealFs {
    root: PathBuf,
}

impl RealFs {
    /// Uses the directory `root`, which need not exist yet.
    ///
    /// # Errors
    /// When the path is empty or the current directory of a relative one is unknown.
    pub fn new(root: &Path) -> io::Result<Self> {
        // Collecting the components drops a trailing slash, which would make NOFOLLOW follow.
        let root = std::path::absolute(root)?.components().collect();
        Ok(Self { root })
    }

    /// The root, absolute.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn open_root(&self) -> io::Result<OwnedFd> {
        let fd = rustix::fs::open(&self.root, OPEN_DIR, Mode::empty())?;
        let owner = rustix::fs::fstat(&fd)?.st_uid;
        if owner != rustix::process::geteuid().as_raw() {
            let text = format!("the store belongs to user {owner}");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
        }
        Ok(fd)
    }

    fn open_dir(&self, path: &Path) -> io::Result<OwnedFd> {
        let mut fd = self.open_root()?;
        for component in path.components() {
            let Component::Normal(name) = component else {
                return Err(outside(path));
            };
            fd = rustix::fs::openat(&fd, name, OPEN_DIR, Mode::empty())?;
        }
        Ok(fd)
    }

    fn parent<'a>(&self, path: &'a Path) -> io::Result<(OwnedFd, &'a OsStr)> {
        let name = path.file_name().ok_or_else(|| outside(path))?;
        let parent = path.parent().ok_or_else(|| outside(path))?;
        Ok((self.open_dir(parent)?, name))
    }

    fn open(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let (dir, name) = self.parent(path)?;
        let flags = flags.union(OPEN_FILE);
        Ok(retry_on_intr(|| {
            rustix::fs::openat(&dir, name, flags, PRIVATE_FILE)
        })?)
    }

    fn open_lock(&self, path: &Path, mode: LockMode) -> io::Result<OwnedFd> {
        match self.open(path, OFlags::RDONLY) {
            Err(e) if e.kind() == io::ErrorKind::NotFound && mode == LockMode::Exclusive => {
                self.open(path, OFlags::RDWR | OFlags::CREATE)
            }
            other => other,
        }
    }
}

impl Fs for RealFs {
    fn make_root(&self) -> io::Result<()> {
        let missing: Vec<_> = self
            .root
            .ancestors()
            .take_while(|p| matches!(rustix::fs::stat(*p), Err(Errno::NOENT)))
            .collect();
        for path in missing.into_iter().rev() {
            match rustix::fs::mkdir(path, PRIVATE_DIR) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            if let Some(parent) = path.parent() {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                rustix::fs::fsync(rustix::fs::open(parent, flags, Mode::empty())?)?;
            }
        }
        self.open_root().map(drop)
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        match rustix::fs::mkdirat(&dir, name, PRIVATE_DIR) {
            // Opening it says whether what is there is a directory and no link.
            Ok(()) | Err(Errno::EXIST) => {
                rustix::fs::openat(&dir, name, OPEN_DIR, Mode::empty())?;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::fsync(self.open_dir(path)?)?)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(self.open_dir(path)?)? {
            // A name that is no UTF-8 is none of ours.
            if let Ok(name) = entry?.file_name().to_str()
                && name != "."
                && name != ".."
            {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        if path.as_os_str().is_empty() {
            return Ok(stat(&rustix::fs::fstat(self.open_root()?)?));
        }
        let (dir, name) = self.parent(path)?;
        Ok(stat(&rustix::fs::statat(
            &dir,
            name,
            AtFlags::SYMLINK_NOFOLLOW,
        )?))
    }

    fn read(&self, path: &Path, range: Range<u64>) -> io::Result<Vec<u8>> {
        // NONBLOCK: a FIFO planted under the name must not hang the reader; it is refused below.
        let fd = self.open(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
        let found = stat(&rustix::fs::fstat(&fd)?);
        if found.kind != FileKind::File {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        let wanted = found.bytes.min(range.end).saturating_sub(range.start);
        let wanted = usize::try_from(wanted).map_err(|_| io::ErrorKind::FileTooLarge)?;
        read_at(&fd, range.start, wanted)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        Ok(Box::new(RealFile {
            fd: self.open(path, flags)?,
        }))
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        sync_data(&self.open(path, OFlags::RDONLY | OFlags::NONBLOCK)?)
    }

    fn truncate(&self, path: &Path, bytes: u64) -> io::Result<()> {
        Ok(rustix::fs::ftruncate(
            self.open(path, OFlags::WRONLY | OFlags::NONBLOCK)?,
            bytes,
        )?)
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        let fd = self.open(path, OFlags::WRONLY | OFlags::APPEND | OFlags::NONBLOCK)?;
        match stat(&rustix::fs::fstat(&fd)?).kind {
            FileKind::File => Ok(Box::new(RealFile { fd })),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            )),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from_dir, from_name) = self.parent(from)?;
        let (to_dir, to_name) = self.parent(to)?;
        Ok(rustix::fs::renameat(
            &from_dir, from_name, &to_dir, to_name,
        )?)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from_dir, from_name) = self.parent(from)?;
        let (to_dir, to_name) = self.parent(to)?;
        // Without AT_SYMLINK_FOLLOW: a planted link gets a name of its own, and is refused later.
        let flags = AtFlags::empty();
        Ok(rustix::fs::linkat(
            &from_dir, from_name, &to_dir, to_name, flags,
        )?)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        Ok(rustix::fs::unlinkat(&dir, name, AtFlags::empty())?)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        Ok(rustix::fs::unlinkat(&dir, name, AtFlags::REMOVEDIR)?)
    }

    fn lock(&self, path: &Path, mode: LockMode) -> io::Result<Option<Box<dyn Lock>>> {
        let operation = match mode {
            LockMode::Exclusive => FlockOperation::NonBlockingLockExclusive,
            LockMode::Probe => FlockOperation::NonBlockingLockShared,
        };
        for _ in 0..LOCK_ATTEMPTS {
            let fd = self.open_lock(path, mode)?;
            match retry_on_intr(|| rustix::fs::flock(&fd, operation)) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            let id = stat(&rustix::fs::fstat(&fd)?).id;
            // Somebody may have replaced the file between open and flock: lock what is named now.
            match self.stat(path) {
                Ok(named) if named.id == id => return Ok(Some(Box::new(RealLock { _fd: fd, id }))),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

#[derive(Debug)]
struct RealFile {
    fd: OwnedFd,
}

impl AppendFile for RealFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // EINTR means that nothing was taken, so trying again cannot double a line.
        Ok(retry_on_intr(|| rustix::io::write(&self.fd, bytes))?)
    }

    fn sync(&mut self) -> io::Result<()> {
        sync_data(&self.fd)
    }
}

#[derive(Debug)]
struct RealLock {
    /// Held for its flock only.
    _fd: OwnedFd,
    id: FileId,
}

impl Lock for RealLock {
    fn id(&self) -> FileId {
        self.id
    }
}

/// fdatasync suffices where only the length grows; Apple's leaves the drive's cache alone.
fn sync_data(fd: &impl AsFd) -> io::Result<()> {
    #[cfg(target_vendor = "apple")]
    return Ok(rustix::fs::fcntl_fullfsync(fd)?);
    #[cfg(not(target_vendor = "apple"))]
    Ok(rustix::fs::fdatasync(fd)?)
}

fn read_at(fd: &OwnedFd, start: u64, wanted: usize) -> io::Result<Vec<u8>> {
    // Segments are nearly of one length: rounded up, the allocator gives the memory of the one before
    // to the next, whose pages are there already.
    let room = match wanted {
        0..ROUNDED_BYTES => wanted,
        _ => wanted.next_multiple_of(ROUNDED_BYTES),
    };
    let mut bytes = Vec::with_capacity(room);
    while bytes.len() < wanted {
        let offset = start + bytes.len() as u64;
        match rustix::io::pread(fd, spare_capacity(&mut bytes), offset) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    bytes.truncate(wanted);
    Ok(bytes)
}

fn stat(found: &rustix::fs::Stat) -> Stat {
    let kind = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        _ => FileKind::Other,
    };
    Stat {
        kind,
        bytes: u64::try_from(found.st_size).unwrap_or_default(),
        id: FileId {
            device: found.st_dev,
            inode: found.st_ino,
        },
    }
}

fn outside(path: &Path) -> io::Error {
    let text = format!("{} does not lie in the store", path.display());
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

/// Text of a small file of the system (procfs), which says nothing of its length beforehand.
pub(crate) fn system_text(path: &str) -> io::Result<String> {
    const LONGEST: usize = 4096;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let bytes = read_at(&rustix::fs::open(path, flags, Mode::empty())?, 0, LONGEST)?;
    String::from_utf8(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
}

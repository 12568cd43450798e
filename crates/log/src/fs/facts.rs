//! Facts about the disk below a store, for `sessiond doctor`.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Fs, RealFs, write_whole};

/// Whether locks and syncs of a file system can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FsKind {
    /// A disk of this machine.
    Local,
    /// Memory of this machine: gone with the power.
    Volatile,
    /// Another machine decides about locks and syncs: the store should not live here (LOG-7).
    Network,
    /// Not recognised.
    Unknown,
}

/// Kind of the file system that holds `root` or, before it is made, its nearest existing parent.
///
/// # Errors
/// When no parent can be asked.
#[cfg(target_os = "linux")]
pub fn filesystem(root: &Path) -> io::Result<FsKind> {
    let root = std::path::absolute(root)?;
    let mut answer = Err(io::ErrorKind::NotFound.into());
    for path in root.ancestors() {
        match rustix::fs::statfs(path) {
            // Magics are 32 bits; the width of the field differs between architectures.
            #[expect(clippy::unnecessary_cast, reason = "not where the field is narrower")]
            Ok(found) => return Ok(kind_of(found.f_type as i64 & 0xffff_ffff)),
            Err(error) => answer = Err(error.into()),
        }
    }
    answer
}

/// Kind of the file system that holds `root`: unknown here.
///
/// # Errors
/// Never on this system.
#[cfg(not(target_os = "linux"))]
pub fn filesystem(_root: &Path) -> io::Result<FsKind> {
    Ok(FsKind::Unknown)
}

/// The magic numbers of statfs(2).
#[cfg(target_os = "linux")]
fn kind_of(magic: i64) -> FsKind {
    match magic {
        // ext2-4, xfs, btrfs, f2fs, zfs, bcachefs, overlayfs, jfs, reiserfs, nilfs
        0xef53 | 0x5846_5342 | 0x9123_683e | 0xf2f5_2010 | 0x2fc1_2fc1 | 0xca45_1a4e
        | 0x794c_7630 | 0x3153_464a | 0x5265_4973 | 0x3434 => FsKind::Local,
        // tmpfs, ramfs
        0x0102_1994 | 0x8584_58f6 => FsKind::Volatile,
        // nfs, smb, cifs, smb2, 9p, ceph, afs (two), coda, lustre, ncp, gfs2, ocfs2
        0x6969 | 0x517b | 0xff53_4d42 | 0xfe53_4d42 | 0x0102_1997 | 0x00c3_6400 | 0x5346_414f
        | 0x6b41_4653 | 0x7375_7245 | 0x0bd0_0bd0 | 0x564c | 0x0116_1970 | 0x7461_636f => {
            FsKind::Network
        }
        _ => FsKind::Unknown,
    }
}

/// Time of one write of 4 KiB with fdatasync in `root`, which it makes when missing.
///
/// # Errors
/// When the root cannot be used, written or synced.
pub fn sync_probe(root: &Path) -> io::Result<Duration> {
    let fs = RealFs::new(root)?;
    fs.make_root()?;
    let name = format!(".probe.{}", uuid::Uuid::new_v4().simple());
    let path = Path::new(&name);
    let mut file = fs.create(path)?;
    let start = Instant::now();
    let synced = write_whole(file.as_mut(), &[0; 4096]).and_then(|()| file.sync());
    let elapsed = start.elapsed();
    fs.remove(path)?;
    synced.map(|()| elapsed)
}

#[cfg(all(test, target_os = "linux"))]
mod tests;

//! Whether the store can be used, and what it occupies.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;
use sessiond_log::Store;
use sessiond_log::fs::{FsKind, filesystem, sync_probe};

use super::finding::Finding;
use crate::occupied::Occupied;

/// A sync that takes longer is felt in every turn.
const SLOW_SYNC: Duration = Duration::from_millis(50);

/// A sync that takes less was not waited for by any disk known today.
const TOO_FAST_SYNC: Duration = Duration::from_micros(5);

/// All findings about the store at `root`. The first thing that is bad ends the list: what comes
/// after it could only fail for the same reason.
pub(super) fn findings(root: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    let looks = [usable, access, lock, sync, file_system, occupied];
    for look in looks {
        let finding = look(root);
        let bad = finding.health == super::Health::Bad;
        findings.push(finding);
        if bad {
            break;
        }
    }
    findings
}

/// Made if it is not there, so that the other looks have something to look at.
fn usable(root: &Path) -> Finding {
    let existed = root.exists();
    let used = Store::open_real(root).map_err(|error| error.to_string());
    let used = used.and_then(|_| sync_probe(root).map_err(|error| error.to_string()));
    let path = root.display();
    match used {
        Ok(_) if existed => Finding::good("store", path.to_string()),
        Ok(_) => Finding::good("store", format!("{path}, made just now")),
        Err(error) => Finding::bad("store", format!("{path} cannot be used: {error}")),
    }
}

fn access(root: &Path) -> Finding {
    let meta = match fs::symlink_metadata(root) {
        Ok(meta) => meta,
        Err(error) => return Finding::bad("access", error.to_string()),
    };
    let (mode, owner) = (meta.mode() & 0o777, meta.uid());
    if owner != geteuid().as_raw() {
        return Finding::bad("access", format!("owned by uid {owner}; it must be yours"));
    }
    if mode & 0o077 == 0 {
        return Finding::good("access", format!("mode {mode:03o}, owned by you, writable"));
    }
    Finding::warning(
        "access",
        format!("mode {mode:03o} lets others in; chmod 700 it"),
    )
}

/// Two descriptors of one file: while the first is locked the second must not be.
fn lock(root: &Path) -> Finding {
    let path = root.join(format!(".doctor.{}", uuid::Uuid::new_v4().simple()));
    let probe = || -> io::Result<bool> {
        let mut options = OpenOptions::new();
        let first = options
            .create_new(true)
            .write(true)
            .mode(0o600)
            .open(&path)?;
        let second = OpenOptions::new().write(true).open(&path)?;
        flock(&first, FlockOperation::NonBlockingLockExclusive)?;
        Ok(flock(&second, FlockOperation::NonBlockingLockExclusive).is_err())
    };
    let excludes = probe();
    // Only a probe that failed to make it leaves nothing to remove.
    let _never_made = fs::remove_file(&path);
    match excludes {
        Ok(true) => Finding::good("lock", "an exclusive lock excludes"),
        Ok(false) => Finding::bad("lock", "locks do not exclude here; move the store"),
        Err(error) => Finding::bad("lock", format!("locks do not work here: {error}")),
    }
}

fn sync(root: &Path) -> Finding {
    let took = match sync_probe(root) {
        Ok(took) => took,
        Err(error) => return Finding::bad("sync", format!("fdatasync fails: {error}")),
    };
    let text = format!(
        "4 KiB written and synced in {:.3} ms",
        took.as_secs_f64() * 1000.0
    );
    if took < TOO_FAST_SYNC {
        return Finding::warning("sync", format!("{text}: faster than any disk"));
    }
    if took > SLOW_SYNC {
        return Finding::warning(
            "sync",
            format!("{text}: each turn waits for this a few times"),
        );
    }
    Finding::good("sync", text)
}

fn file_system(root: &Path) -> Finding {
    match filesystem(root) {
        Ok(FsKind::Local) => Finding::good("file system", "local"),
        Ok(FsKind::Volatile) => {
            Finding::warning("file system", "in memory: sessions are gone with the power")
        }
        Ok(FsKind::Network) => Finding::warning(
            "file system",
            "network: locks and syncs depend on the server; keep the store on a local disk",
        ),
        Ok(FsKind::Unknown) => Finding::good("file system", "of a kind not known here"),
        Err(error) => Finding::warning("file system", format!("cannot be asked: {error}")),
    }
}

fn occupied(root: &Path) -> Finding {
    let occupied = Store::open_real(root).and_then(|store| Occupied::look(&store));
    let occupied = match occupied {
        Ok(occupied) => occupied,
        Err(error) => return Finding::bad("occupied", error.to_string()),
    };
    let text = format!("{occupied}; nothing is deleted by itself");
    if occupied.aside == 0 {
        return Finding::good("occupied", text);
    }
    // CKPT-6
    let aside = occupied.aside;
    let text = format!("{text}; {aside} that read as empty were set aside in `aside/`");
    Finding::warning("occupied", text)
}

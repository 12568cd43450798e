//! That the real disk's syncs reach the kernel: the crash model cannot see those.

use std::path::Path;
use std::process::Command;

use sessiond_log::fs::{Fs, RealFs};

use crate::tally::Tally;

/// Names the directory in which the traced process works.
const CHILD: &str = "FAULTS_TRACED";

/// What the traced process does: three directories up to the root, one file.
fn traced(directory: &Path) {
    let fs = RealFs::new(&directory.join("a/b/c")).unwrap();
    fs.make_root().unwrap();
    let mut file = fs.create(Path::new("f")).unwrap();
    file.write(b"x").unwrap();
    file.sync().unwrap();
    fs.sync_file(Path::new("f")).unwrap();
    fs.sync_dir(Path::new("")).unwrap();
}

/// Not a test of its own: what [`synced_calls`] runs under strace.
#[test]
fn traced_process() {
    if let Some(directory) = std::env::var_os(CHILD) {
        traced(Path::new(&directory));
    }
}

/// How often the traced process asked the kernel to sync files and directories; `None` without
/// strace, or where it may not trace.
fn counted() -> Option<(usize, usize)> {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("trace");
    let status = Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o"])
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "syscalls::traced_process"])
        .env(CHILD, directory.path())
        .output();
    if !status.ok()?.status.success() {
        return None;
    }
    let trace = std::fs::read_to_string(&log).unwrap();
    // A call that another thread interrupts has a second line without its opening bracket.
    let count = |call: &str| trace.lines().filter(|l| l.contains(call)).count();
    Some((count("fdatasync("), count("fsync(")))
}

/// LOG-5: each sync of the trait is a sync of the kernel: of the file twice, of the directory
/// once, and of the parent of each directory that was made up to the root.
#[test]
fn synced_calls() {
    let mut tally = Tally::of("synced_calls");
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    // The kernel refuses to sync these, so whoever asks it to is told.
    let fs = RealFs::new(directory.path()).unwrap();
    let refused = |what: &str, asked: std::io::Result<()>| {
        let refused = asked.is_err_and(|e| e.kind() == std::io::ErrorKind::InvalidInput);
        if refused {
            Ok(())
        } else {
            Err(format!("{what} was not synced"))
        }
    };
    tally.state("file", refused("a file", fs.sync_file(Path::new("fifo"))));
    if cfg!(target_os = "linux") {
        let proc = Path::new("/proc").join(std::process::id().to_string());
        let proc = RealFs::new(&proc).unwrap();
        tally.state(
            "directory",
            refused("a directory", proc.sync_dir(Path::new(""))),
        );
    }
    if let Some(counted) = counted() {
        let outcome = if counted == (2, 4) {
            Ok(())
        } else {
            Err(format!("{counted:?}"))
        };
        tally.state("traced", outcome);
    }
    tally.finish(1);
}

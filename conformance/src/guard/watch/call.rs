//! What a stopped thread is about to call, as `/proc` tells it on any machine.

use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use nix::libc;
use rustix::process::Pid;

/// Longest path that the kernel takes.
const LONGEST_PATH: usize = 4096;

/// The call and the file that it is about; `None` when the thread is gone.
pub(super) fn of(pid: Pid) -> Option<(&'static str, String)> {
    let (number, arguments) = parse(&read(pid, "syscall")?)?;
    let argument = |at: usize| arguments.get(at).copied().unwrap_or_default();
    let descriptor = || link(pid, &format!("fd/{}", argument(0)));
    let found = match number {
        libc::SYS_fsync => ("fsync", descriptor()),
        libc::SYS_fdatasync => ("fdatasync", descriptor()),
        libc::SYS_syncfs => ("syncfs", descriptor()),
        libc::SYS_sync => ("sync", Some(PathBuf::from("/"))),
        libc::SYS_msync => ("msync", mapped(&read(pid, "maps")?, argument(0))),
        libc::SYS_io_uring_setup => ("io_uring", None),
        libc::SYS_openat => ("open", opened(pid, Some(argument(0)), argument(1))),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => ("open", opened(pid, None, argument(0))),
        _ => return None,
    };
    let (name, path) = found;
    let path = path.unwrap_or_default();
    Some((name, path.to_string_lossy().into_owned()))
}

/// Whether SIGCONT waits for the group of a stopped thread.
pub(super) fn continued(pid: Pid) -> bool {
    let status = read(pid, "status").unwrap_or_default();
    let waits = |name: &str| {
        let signals = status.lines().find_map(|line| line.strip_prefix(name));
        let signals = signals.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        signals.unwrap_or_default() & (1 << (libc::SIGCONT - 1)) != 0
    };
    waits("ShdPnd:") || waits("SigPnd:")
}

/// The process of a thread; `None` when it is gone.
pub(super) fn group(pid: Pid) -> Option<i32> {
    let status = read(pid, "status")?;
    let group = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    group.trim().parse().ok()
}

/// A line of `/proc/PID/syscall`: number and arguments; words follow that are no arguments.
fn parse(line: &str) -> Option<(i64, Vec<u64>)> {
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let arguments = words
        .map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok())
        .collect::<Option<_>>()?;
    Some((number, arguments))
}

/// The file that is mapped at an address.
fn mapped(maps: &str, address: u64) -> Option<PathBuf> {
    maps.lines().find_map(|line| {
        let (from, to) = line.split_whitespace().next()?.split_once('-')?;
        let from = u64::from_str_radix(from, 16).ok()?;
        let to = u64::from_str_radix(to, 16).ok()?;
        let holds = (from..to).contains(&address);
        holds.then(|| line.find('/').map(|at| PathBuf::from(&line[at..])))?
    })
}

/// The path that stands at an address, below the folder that it is relative to.
fn opened(pid: Pid, folder: Option<u64>, address: u64) -> Option<PathBuf> {
    let mut bytes = vec![0; LONGEST_PATH];
    let memory = File::open(place(pid, "mem")).ok()?;
    let count = memory.read_at(&mut bytes, address).ok()?;
    let end = bytes[..count].iter().position(|byte| *byte == 0)?;
    let path = Path::new(std::ffi::OsStr::from_bytes(&bytes[..end]));
    // Descriptors are 32 bits wide, and the register may hold more.
    let folder = folder.map(|folder| folder.to_le_bytes());
    let folder = folder.map(|[a, b, c, d, ..]| i32::from_le_bytes([a, b, c, d]));
    let below = match folder {
        Some(number) if number != libc::AT_FDCWD => link(pid, &format!("fd/{number}"))?,
        _ => link(pid, "cwd")?,
    };
    Some(below.join(path))
}

fn link(pid: Pid, name: &str) -> Option<PathBuf> {
    std::fs::read_link(place(pid, name)).ok()
}

fn read(pid: Pid, name: &str) -> Option<String> {
    std::fs::read_to_string(place(pid, name)).ok()
}

fn place(pid: Pid, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{}/{name}", pid.as_raw_nonzero()))
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;

//! Watching processes and waiting for what happens outside.

use std::fs;
use std::time::{Duration, Instant};

/// How often a condition outside of our reach is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Whether we are root, for whom /proc hides nothing.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether a process runs; a zombie does not.
pub(crate) fn alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

/// The child processes of a process.
pub(crate) fn children_of(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let list = lists.collect::<String>();
    list.split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

/// Waits until `found` gives something, at most for `deadline`.
#[track_caller]
pub(crate) fn eventually<T>(
    what: &str,
    deadline: Duration,
    mut found: impl FnMut() -> Option<T>,
) -> T {
    let end = Instant::now() + deadline;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < end, "{what}: not within {deadline:?}");
        std::thread::park_timeout(LOOK_EVERY);
    }
}

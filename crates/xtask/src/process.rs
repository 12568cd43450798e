//! Running a command: say it, run it, and tell how it ended.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::{Error, Result};

/// How often a child with a deadline is looked at.
const POLL: Duration = Duration::from_millis(20);

/// The command line as a person would type it, without its environment.
pub(crate) fn line(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| {
            let word = word.to_string_lossy();
            if word.contains([' ', '"', '$', '\'']) {
                format!("{word:?}")
            } else {
                word.into()
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs a command with our terminal and waits for it.
///
/// # Errors
///
/// `Io` when it cannot be started, `Command` when it does not succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let text = say(command);
    let status = command
        .status()
        .map_err(Error::io(format!("starting `{text}`")))?;
    judge(text, status)
}

/// Like [`run`], in a process group of its own that is killed at the deadline and, so that a
/// program of others leaves nothing behind, at its end.
pub(crate) fn run_within(command: &mut Command, deadline: Duration) -> Result<()> {
    let text = say(command);
    let mut child = command
        .process_group(0)
        .stdin(Stdio::null())
        .spawn()
        .map_err(Error::io(format!("starting `{text}`")))?;
    let end = Instant::now() + deadline;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(Error::io(text.clone()))? {
            break Some(status);
        }
        if Instant::now() >= end {
            break None;
        }
        thread::sleep(POLL);
    };
    kill_group(child.id());
    match status {
        Some(status) => judge(text, status),
        None => {
            child.wait().map_err(Error::io(text.clone()))?;
            let how = format!("did not end within {} s and was killed", deadline.as_secs());
            Err(Error::Command { command: text, how })
        }
    }
}

/// Kills what is left of the process group that the process `leader` made.
pub(crate) fn kill_group(leader: u32) {
    if let Some(pid) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        // An empty group is what we want: nothing to report.
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

fn say(command: &Command) -> String {
    let text = line(command);
    eprintln!("$ {text}");
    text
}

fn judge(command: String, status: ExitStatus) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended without a reason".to_owned(),
    };
    Err(Error::Command { command, how })
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;

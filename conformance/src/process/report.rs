//! What the guard of a target says, into the recording.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;

use super::drain::Drain;
use crate::recording::{ProcessIndex, Recorder, Sync, What};

/// What the recording has when the files of the tree are bounded.
pub(crate) const BOUNDED: &str = "the files have another bound";

/// Records what the guard says, until it says no more.
pub(super) fn listen(guard: &UnixStream, drain: &Drain, recorder: &Recorder, index: ProcessIndex) {
    let mut answers = guard;
    for line in BufReader::new(guard).lines() {
        let Ok(line) = line else { break };
        let Some(seen) = seen(&line) else { continue };
        let notes = matches!(seen, What::Synced(_));
        if notes && !drain.wait() {
            let why = "what it wrote before this was not read in time";
            recorder.add(index, What::Watched(Err(why.to_owned())));
        }
        recorder.add(index, seen);
        if notes {
            // A guard that is gone waits for nothing.
            let _ = answers.write_all(b"noted\n");
        }
        if let Some(code) = line.starts_with("failed ").then_some(127) {
            recorder.add(index, What::Exited(code));
        }
    }
}

/// What a line of the guard's says; `None` when it is nothing to record.
fn seen(line: &str) -> Option<What> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    Some(match word {
        "exited" => What::Exited(rest.parse().unwrap_or(-1)),
        "failed" => What::Note(format!("did not start: {rest}")),
        "tree" => What::Descendants(rest.split_whitespace().map(str::to_owned).collect()),
        "bounded" => What::Note(BOUNDED.to_owned()),
        "watching" => What::Watched(Ok(())),
        "unwatched" => What::Watched(Err(rest.to_owned())),
        "synced" => {
            // What is not understood still is a call that somebody waits for.
            let [call, path] = serde_json::from_str(rest).unwrap_or_default();
            What::Synced(Sync { call, path })
        }
        _ => return None,
    })
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;

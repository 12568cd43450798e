//! What the demo claims, and what would speak against it.

use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};
use serde_json::Value;

use super::view::{Shown, Speaker, View};

/// A tool's processes are gone this soon after the server was killed.
const ORPHANS_GONE: Duration = Duration::from_secs(1);

/// How often processes and files are looked at, which tell nobody when they change.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What the client saw up to the kill.
pub(super) struct Live {
    pub(super) view: View,
    /// How much of the newest message had been on the screen for the bound of LOG-17, in bytes.
    pub(super) settled: usize,
}

/// Whether a prompt's turn ended as it should.
pub(super) fn ended(answer: &Value) -> Option<String> {
    let stop = answer.get("stopReason").and_then(Value::as_str);
    (stop != Some("end_turn")).then(|| format!("it stopped with {stop:?}"))
}

/// What was finished before the kill: all but the newest message.
pub(super) fn kept(before: &[Shown], after: &[Shown]) -> Option<String> {
    let (_, finished) = before.split_last()?;
    let agents = |shown: &&Shown| {
        !matches!(
            shown,
            Shown::Message {
                by: Speaker::User,
                ..
            }
        )
    };
    let replayed: Vec<_> = after.iter().filter(agents).take(finished.len()).collect();
    let wanted: Vec<_> = finished.iter().filter(agents).collect();
    (replayed != wanted || wanted.is_empty()).then(|| "the replay differs".to_owned())
}

/// The newest message before the kill: its text is there as far as it was settled, and no other.
pub(super) fn cut_text(live: &Live, after: &[Shown]) -> Option<String> {
    let Some(Shown::Message { id, text: seen, .. }) = live.view.shown.last() else {
        return Some("there was none".to_owned());
    };
    let found = after.iter().find_map(|shown| match shown {
        Shown::Message {
            id: other,
            text,
            interrupted,
            ..
        } if other == id => Some((text.as_str(), *interrupted)),
        _ => None,
    });
    let Some((text, interrupted)) = found else {
        return Some("it is missing".to_owned());
    };
    let fits = text.starts_with(seen.as_str()) || seen.starts_with(text);
    if !fits || text.len() < live.settled {
        return Some(format!("{} of {} settled bytes", text.len(), live.settled));
    }
    (!interrupted).then(|| "it is not marked".to_owned())
}

/// The newest tool call failed with an unknown outcome, and no other call has its title.
pub(super) fn unknown(view: &View) -> Option<String> {
    let tools = view.shown.iter().filter_map(|shown| match shown {
        Shown::Tool {
            title,
            status,
            text,
            ..
        } => Some((title, status, text)),
        Shown::Message { .. } => None,
    });
    let tools: Vec<_> = tools.collect();
    let Some((title, status, text)) = tools.last() else {
        return Some("no call is there".to_owned());
    };
    let times = tools.iter().filter(|(other, ..)| other == title).count();
    let honest = *status == "failed" && text.to_lowercase().contains("outcome unknown");
    (times != 1 || !honest).then(|| format!("{times} times, {status}: {text}"))
}

/// Waits for a process to be gone.
pub(super) fn gone(pid: u32) -> Option<String> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    let deadline = Instant::now() + ORPHANS_GONE;
    while test_kill_process(pid).is_ok() {
        if Instant::now() > deadline {
            return Some("it still runs".to_owned());
        }
        std::thread::sleep(LOOK_EVERY);
    }
    None
}

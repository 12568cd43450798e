//! What the files of a thread are called.

use uuid::Uuid;

/// How long a UUID is in a name.
const UUID_CHARS: usize = 36;

/// How long the time is in a name.
const TIME_CHARS: usize = "2026-11-30T12-00-00".len();

/// The thread that a file is of, by its name: `rollout-TIME-THREAD.jsonl`, or
/// `rollout-TIME-THREAD_SEGMENT.jsonl` for what was reverted; compressed or not.
#[must_use]
pub fn thread_of(name: &str) -> Option<Uuid> {
    let rest = name.strip_prefix("rollout-")?.get(TIME_CHARS..)?;
    let id = rest.strip_prefix('-')?.get(..UUID_CHARS)?;
    Uuid::try_parse(id).ok()
}

/// The name of a thread's file that begins at a time, RFC 3339, in the zone that it is given in.
#[must_use]
pub fn file_name(at: &str, thread: Uuid) -> String {
    let time = at.get(..TIME_CHARS).unwrap_or("1970-01-01T00:00:00");
    format!("rollout-{}-{thread}.jsonl", time.replace(':', "-"))
}

#[cfg(test)]
mod tests;

//! Which shape a file has, by what it begins with.

use std::path::Path;

use sessiond_claude::transcript::Index;
use sessiond_codex::rollout;
use sessiond_protocol::SessionId;

use super::opening;
use crate::failure::Failure;

/// How an export of a session begins.
const EXPORT: &[u8] = b"{\"sessiond_export\":";

/// Bytes that are looked at: the entries that a transcript begins with may be long.
const HEAD: u64 = 1 << 20;

/// What is to be converted.
pub(super) enum Found {
    /// A transcript of Claude.
    Claude,
    /// A rollout of Codex.
    Codex,
    /// An export of a session.
    Export,
    /// A session of the store.
    Session(SessionId),
}

/// The shape of a file.
pub(super) fn of(path: &Path) -> Result<Found, Failure> {
    let head = head(path)?;
    if head.starts_with(EXPORT) {
        return Ok(Found::Export);
    }
    if rollout::is_rollout(&head) {
        return Ok(Found::Codex);
    }
    if is_claude(&head)? {
        return Ok(Found::Claude);
    }
    Err(Failure::Usage(format!(
        "{} is neither a transcript of Claude, nor a rollout of Codex, nor an export of a session: no \
         entry of a conversation in its first {} KiB",
        path.display(),
        HEAD >> 10
    )))
}

/// Whether a file is a transcript, and no export. What can be read only once, as a pipe, is none: a
/// transcript is indexed first.
pub(crate) fn is_transcript(path: &Path) -> Result<bool, Failure> {
    if !std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return Ok(false);
    }
    let head = head(path)?;
    if head.starts_with(EXPORT) {
        return Ok(false);
    }
    Ok(rollout::is_rollout(&head) || is_claude(&head)?)
}

fn is_claude(head: &Vec<u8>) -> Result<bool, Failure> {
    let index = Index::read(head).map_err(Failure::os("read the file"))?;
    Ok(index.entries() > 0)
}

fn head(path: &Path) -> Result<Vec<u8>, Failure> {
    let unreadable = |error| {
        let path = path.display();
        Failure::Usage(format!("{path} cannot be read: {error}"))
    };
    opening::head(path, HEAD).map_err(unreadable)
}

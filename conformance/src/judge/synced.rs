//! Whether what was acknowledged was durable by then.

use super::{Finding, Held, Judge, broken};
use crate::recording::What;

/// What follows the name of a database in those of its parts.
const PARTS: [&str; 2] = ["-wal", "-journal"];

impl Judge<'_> {
    /// One of the files that hold the text was synced between the two points.
    pub(super) fn synced(&self, mark: &str, after: &str, before: &str) -> Held {
        let entries = || self.played.recording.entries.iter();
        // Whoever was watched in part may have synced unseen.
        if let Some(why) = entries().find_map(|entry| match &entry.what {
            What::Watched(Err(why)) => Some(why),
            _ => None,
        }) {
            return Err(Finding::Skipped(format!("not all of it was seen: {why}")));
        }
        let mark = self.played.variables.text(mark);
        let holders = entries().rev().find_map(|entry| match &entry.what {
            What::Holders(text, files) if *text == mark => Some(files),
            _ => None,
        });
        let Some(holders) = holders else {
            return Err(self.unreached(&mark));
        };
        let window = self.window(Some(&[after.to_owned(), before.to_owned()]))?;
        if holders.is_empty() {
            return Err(self.missing(format!("no file holds {mark:?}")));
        }
        let mut ring = false;
        let mut others = Vec::new();
        for (index, entry) in entries().enumerate() {
            let What::Synced(sync) = &entry.what else {
                continue;
            };
            let all = matches!(sync.call.as_str(), "sync" | "syncfs");
            let of_it = all || holders.iter().any(|file| whole(file) == whole(&sync.path));
            // A file that was opened so is synced by each write from then on.
            let lasting = sync.call == "open" && window.ends_after(index);
            if sync.call == "io_uring" {
                ring = true;
            } else if of_it && (window.holds(index) || lasting) {
                return self.complete();
            } else if window.holds(index) {
                others.push(whole(&sync.path));
            }
        }
        if ring {
            let why = "it has a ring for calls, in which a sync is not seen";
            return Err(Finding::Skipped(why.to_owned()));
        }
        others.sort_unstable();
        others.dedup();
        let instead = match others[..] {
            [] => "nothing was".to_owned(),
            _ => format!("only {}", others.join(", ")),
        };
        Err(broken(format!(
            "{} was not synced between {after} and {before}; {instead}",
            holders.join(", ")
        )))
    }
}

/// The file that a part belongs to: a database and its log are one.
fn whole(path: &str) -> &str {
    PARTS
        .iter()
        .find_map(|part| path.strip_suffix(part))
        .unwrap_or(path)
}

#[cfg(test)]
#[path = "synced_tests.rs"]
mod tests;

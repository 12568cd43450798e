//! `sessiond sessions list`.

use std::path::Path;

use jiff::Timestamp;
use sessiond_log::{Content, Store, Tombstone};
use sessiond_protocol::{Archived, Recency, SessionList, Summary};

use crate::args::List;
use crate::conversation::one_line;
use crate::failure::Failure;
use crate::occupied::Occupied;
use crate::output::{print, print_json, say};
use crate::setup::{Setup, block_on};
use crate::waist::Waist;

/// Longest title in a list, in characters: a line should stay a line.
const TITLE_CHARS: usize = 48;

/// Lists sessions, or what the lists leave out.
pub(super) fn run(setup: &Setup, list: &List) -> Result<(), Failure> {
    if list.removed {
        return removed(setup, list);
    }
    let query = SessionList {
        cwd: list.cwd.as_deref().map(absolute).transpose()?,
        title: list.title.clone(),
        search: list.search.clone(),
        archived: if list.archived {
            Archived::Only
        } else {
            Archived::Exclude
        },
        ..SessionList::default()
    };
    let summaries = block_on(async {
        let engine = setup.engine("sessions")?;
        let mut waist = Waist::open(engine.connect(), "sessions").await?;
        let summaries = waist.list(query).await;
        waist.close().await;
        Ok(summaries?)
    })?;
    if list.format.json {
        let what = if list.archived {
            "archived"
        } else {
            "sessions"
        };
        return print_json(&serde_json::json!({ what: summaries }));
    }
    if list.archived {
        return lines("no archived sessions", summaries.iter().map(line));
    }
    lines("no sessions", summaries.iter().map(line))?;
    occupied(setup)
}

/// Says below a list what all of it takes (LOG-12); of an empty store there is nothing to say.
fn occupied(setup: &Setup) -> Result<(), Failure> {
    let occupied = Occupied::look(&Store::open_real(setup.store())?)?;
    if occupied.bytes > 0 {
        let policy = "nothing is deleted by itself (docs/retention.md)";
        say(&format!("{occupied}; {policy}"));
    }
    Ok(())
}

/// The tombstones, oldest first.
fn removed(setup: &Setup, list: &List) -> Result<(), Failure> {
    let stones = Store::open_real(setup.store())?.tombstones()?;
    if list.format.json {
        let row = |stone: &Tombstone| {
            serde_json::json!({
                "session": stone.subject,
                "removed_at": removed_at(stone).map(|at| format!("{at:.3}")),
                "content": stone.content,
            })
        };
        let rows: Vec<_> = stones.iter().map(row).collect();
        return print_json(&serde_json::json!({ "removed": rows }));
    }
    let line = |stone: &Tombstone| {
        let at = removed_at(stone).map_or_else(|| "?".to_owned(), |at| format!("{at:.0}"));
        let content = match stone.content {
            Content::Kept => "in the trash",
            Content::Deleted => "deleted",
        };
        format!("{}  {at}  {content}\n", stone.subject)
    };
    lines("no removed sessions", stones.iter().map(line))
}

/// When it was removed; none where the name in the trash says no time that there can be.
fn removed_at(stone: &Tombstone) -> Option<Timestamp> {
    let millis = i64::try_from(stone.removed_at).ok()?;
    Timestamp::from_millisecond(millis).ok()
}

fn lines(none: &str, lines: impl ExactSizeIterator<Item = String>) -> Result<(), Failure> {
    if lines.len() == 0 {
        return print(&format!("{none}\n"));
    }
    let mut lines = lines;
    lines.try_for_each(|line| print(&line))
}

/// A session in one line. A time that is not its log's has a question mark (LOG-14).
fn line(summary: &Summary) -> String {
    let title = summary.title.as_deref().unwrap_or("(no title)");
    let title: String = one_line(title).chars().take(TITLE_CHARS).collect();
    let damaged = if summary.damage > 0 { "  DAMAGED" } else { "" };
    let when: String = summary
        .updated_at
        .chars()
        .take("2026-01-01T00:00:00".len())
        .collect();
    let sure = match summary.recency {
        Recency::Logged => ' ',
        Recency::Clamped => '?',
    };
    let (id, turns, cwd) = (summary.session, summary.turns, one_line(&summary.cwd));
    format!("{id}  {when}Z{sure} {turns:>3} turns  {title:<TITLE_CHARS$}  {cwd}{damaged}\n")
}

/// The directory as sessions record it.
fn absolute(path: &Path) -> Result<String, Failure> {
    std::path::absolute(path)
        .ok()
        .and_then(|path| path.into_os_string().into_string().ok())
        .ok_or_else(|| Failure::Usage("--cwd names no directory in UTF-8".to_owned()))
}

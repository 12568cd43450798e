//! `sessiond sessions list`.

use std::path::Path;

use sessiond_protocol::{Recency, SessionList, Summary};

use crate::args::List;
use crate::conversation::one_line;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::setup::{Setup, block_on};
use crate::waist::Waist;

/// Longest title in a list, in characters: a line should stay a line.
const TITLE_CHARS: usize = 48;

/// Lists sessions.
pub(super) fn run(setup: &Setup, list: &List) -> Result<(), Failure> {
    let query = SessionList {
        cwd: list.cwd.as_deref().map(absolute).transpose()?,
        title: list.title.clone(),
        search: list.search.clone(),
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
        return print_json(&serde_json::json!({ "sessions": summaries }));
    }
    if summaries.is_empty() {
        return print("no sessions\n");
    }
    summaries
        .iter()
        .try_for_each(|summary| print(&line(summary)))
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

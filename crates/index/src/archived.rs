//! Lists with sessions of the archive. The index keeps no rows of these: they are few and rest, so
//! their logs are read.

use std::cmp::Reverse;

use sessiond_log::{LogError, Store};
use sessiond_protocol::{Kept, SessionId};

use crate::entry::{Content, Fold};
use crate::error::IndexError;
use crate::index::Index;
use crate::query::{After, Page, Query};
use crate::recency::When;
use crate::record::relevant;

impl Index {
    /// [`Index::list`] of the sessions in the archive alone.
    ///
    /// # Errors
    /// [`IndexError::Log`] when the archive cannot be listed.
    pub fn list_archived(&self, query: &Query) -> Result<Page, IndexError> {
        Ok(page(archived(self.store(), query)?, query))
    }

    /// [`Index::list`] of all sessions, in the archive or not.
    ///
    /// # Errors
    /// [`IndexError::Log`] when the store cannot be listed.
    pub fn list_all(&self, query: &Query) -> Result<Page, IndexError> {
        let mut found = archived(self.store(), query)?;
        let resting = self.list(query)?;
        let more = resting.next.is_some();
        found.extend(resting.rows.into_iter().map(|summary| Content {
            millis: millis(&summary.updated_at),
            summary,
            first_prompt: None,
            next_seq: 0,
        }));
        let mut page = page(found, query);
        if more && page.next.is_none() {
            page.next = page.rows.last().map(|last| After {
                millis: millis(&last.updated_at),
                session: last.session,
            });
        }
        Ok(page)
    }
}

fn millis(updated_at: &str) -> i64 {
    When::of(updated_at, jiff::Timestamp::MAX).millis
}

/// The sessions of the archive that a query finds, behind the place where it begins. One whose log
/// cannot be read is left out, as a damaged one is of any list.
fn archived(store: &Store, query: &Query) -> Result<Vec<Content>, IndexError> {
    let mut found = Vec::new();
    for subject in store.archived()? {
        let Ok(session) = subject.as_ref().parse::<SessionId>() else {
            continue;
        };
        let mut fold = Fold::default();
        let scan = store.visit_archived(&subject, &mut |record| {
            if let Some(frame) = relevant(session, &record) {
                fold.apply(&frame);
            }
        });
        let scan = match scan {
            Ok(scan) => scan,
            Err(LogError::NotFound(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        let Some(mut content) = fold.finish(scan.next_seq) else {
            continue;
        };
        content.summary.damage = scan.damage.len() as u64;
        content.summary.kept = Kept::Archive;
        if fits(&content, query) {
            found.push(content);
        }
    }
    Ok(found)
}

/// The filters of a query, as [`Index::list`] has them.
fn fits(content: &Content, query: &Query) -> bool {
    let summary = &content.summary;
    let title = summary.title.as_deref();
    let has = |text: Option<&str>, part: &str| {
        text.is_some_and(|text| {
            text.to_ascii_lowercase()
                .contains(&part.to_ascii_lowercase())
        })
    };
    let is_behind = |after: &After| {
        (content.millis, summary.session.to_string()) < (after.millis, after.session.to_string())
    };
    query.cwd.as_ref().is_none_or(|cwd| summary.cwd == *cwd)
        && query
            .title
            .as_deref()
            .is_none_or(|wanted| title == Some(wanted))
        && query
            .search
            .as_ref()
            .is_none_or(|part| has(title, part) || has(content.first_prompt.as_deref(), part))
        && query.after.as_ref().is_none_or(is_behind)
}

fn page(mut found: Vec<Content>, query: &Query) -> Page {
    found.sort_by_cached_key(|content| {
        Reverse((content.millis, content.summary.session.to_string()))
    });
    let limit = query.limit.max(1) as usize;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|last| After {
        millis: last.millis,
        session: last.summary.session,
    });
    let rows = found.into_iter().map(|content| content.summary).collect();
    Page { rows, next }
}

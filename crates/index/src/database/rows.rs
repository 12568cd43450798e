//! Rows of the tables as values, and the questions that give them.

use rusqlite::types::Type;
use rusqlite::{Result, Row, Statement, params};
use serde_json::Value;
use sessiond_protocol::{Kept, Recency, SessionId, Summary};

use super::Database;
use crate::entry::{Content, Entry};
use crate::mark::Mark;
use crate::query::{After, Page, Query};

/// The columns in the order that [`entry`] reads them.
pub(super) const COLUMNS: &str = "id, segment, bytes, changed, cwd, title, agent, created_at, \
     updated_at, millis, clamped, turns, damage, next_seq, first_prompt, roots";

pub(super) const INSERT: &str = "INSERT OR REPLACE INTO session \
     (id, segment, bytes, changed, cwd, title, agent, created_at, \
     updated_at, millis, clamped, turns, damage, next_seq, first_prompt, roots) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";

pub(super) fn insert(statement: &mut Statement<'_>, entry: &Entry) -> Result<()> {
    let (mark, content) = (entry.mark.as_ref(), entry.content.as_ref());
    let summary = content.map(|content| &content.summary);
    statement.execute(params![
        entry.session,
        mark.map(|mark| &mark.segment),
        mark.map(|mark| mark.bytes.cast_signed()),
        mark.map(|mark| mark.changed),
        summary.map(|summary| &summary.cwd),
        summary.and_then(|summary| summary.title.as_ref()),
        summary.map(|summary| &summary.agent),
        summary.map(|summary| &summary.created_at),
        summary.map(|summary| &summary.updated_at),
        content.map(|content| content.millis),
        content.map(Content::clamped),
        summary.map(|summary| summary.turns.cast_signed()),
        summary.map(|summary| summary.damage.cast_signed()),
        content.map(|content| content.next_seq.cast_signed()),
        content.and_then(|content| content.first_prompt.as_ref()),
        summary.map(|summary| listed(&summary.roots)),
    ])?;
    Ok(())
}

/// The mark in three columns from `at` on.
pub(super) fn mark(row: &Row<'_>, at: usize) -> Result<Option<Mark>> {
    let Some(segment) = row.get(at)? else {
        return Ok(None);
    };
    Ok(Some(Mark {
        segment,
        bytes: row.get::<_, i64>(at + 1)?.cast_unsigned(),
        changed: row.get(at + 2)?,
    }))
}

pub(super) fn entry(row: &Row<'_>) -> Result<Entry> {
    let content = match row.get::<_, Option<i64>>(9)? {
        Some(_) => Some(content(row)?),
        None => None,
    };
    Ok(Entry {
        session: row.get(0)?,
        content,
        mark: mark(row, 1)?,
    })
}

fn content(row: &Row<'_>) -> Result<Content> {
    let recency = match row.get(10)? {
        true => Recency::Clamped,
        false => Recency::Logged,
    };
    let summary = Summary {
        session: session(row)?,
        cwd: row.get(4)?,
        title: row.get(5)?,
        agent: row.get(6)?,
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
        recency,
        turns: row.get::<_, i64>(11)?.cast_unsigned(),
        damage: row.get::<_, i64>(12)?.cast_unsigned(),
        roots: roots(row)?,
        kept: Kept::Store,
    };
    Ok(Content {
        summary,
        millis: row.get(9)?,
        first_prompt: row.get(14)?,
        next_seq: row.get::<_, i64>(13)?.cast_unsigned(),
    })
}

/// Roots as one text: a JSON list.
fn listed(roots: &[String]) -> String {
    Value::from(roots.to_vec()).to_string()
}

fn roots(row: &Row<'_>) -> Result<Vec<String>> {
    let text: Option<String> = row.get(15)?;
    let roots = text.map(|text| serde_json::from_str(&text)).transpose();
    let roots = roots
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(15, Type::Text, Box::new(e)))?;
    Ok(roots.unwrap_or_default())
}

fn session(row: &Row<'_>) -> Result<SessionId> {
    let text: String = row.get(0)?;
    text.parse()
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(e)))
}

/// The condition of each filter, and what stands in its stead where the filter is not set.
const CWD: [&str; 2] = ["cwd = ?4", "?4 IS NULL"];
const TITLE: [&str; 2] = ["title = ?5", "?5 IS NULL"];
const SEARCH: [&str; 2] = [
    "(instr(lower(title), lower(?6)) > 0 OR instr(lower(first_prompt), lower(?6)) > 0)",
    "?6 IS NULL",
];

fn condition(filter: Option<&String>, [set, unset]: [&'static str; 2]) -> &'static str {
    if filter.is_some() { set } else { unset }
}

impl Database {
    /// A page of the sessions, newest first.
    pub(crate) fn page(&self, query: &Query) -> Result<Page> {
        let Query {
            cwd, title, search, ..
        } = query;
        let filters = [
            condition(cwd.as_ref(), CWD),
            condition(title.as_ref(), TITLE),
            condition(search.as_ref(), SEARCH),
        ];
        let filters = filters.join(" AND ");
        let sql = format!(
            "SELECT {COLUMNS} FROM session \
             WHERE millis IS NOT NULL AND (millis, id) < (?1, ?2) AND {filters} \
             ORDER BY millis DESC, id DESC LIMIT ?3"
        );
        let limit = query.limit.max(1);
        let (millis, id) = match &query.after {
            Some(after) => (after.millis, after.session.to_string()),
            None => (i64::MAX, String::new()),
        };
        let mut statement = self.connection().prepare(&sql)?;
        let found = params![millis, id, i64::from(limit) + 1, cwd, title, search];
        let found = statement.query_map(found, content)?;
        let mut found = found.collect::<Result<Vec<Content>>>()?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let next = found.last().filter(|_| more).map(|last| After {
            millis: last.millis,
            session: last.summary.session,
        });
        let rows = found.into_iter().map(|content| content.summary).collect();
        Ok(Page { rows, next })
    }
}

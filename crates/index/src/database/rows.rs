//! Rows of the tables as values, and the questions that give them.

use rusqlite::types::Type;
use rusqlite::{Result, Row, Statement, params};
use sessiond_protocol::{SessionId, Summary};

use super::Database;
use crate::entry::{Content, Entry};
use crate::mark::Mark;
use crate::query::{self, After, Query};
use crate::recency::Recency;

/// The columns in the order that [`entry`] reads them.
pub(super) const COLUMNS: &str = "id, segment, bytes, changed, cwd, title, agent, created_at, \
     updated_at, millis, clamped, turns, damage, next_seq, first_prompt";

pub(super) const INSERT: &str = "INSERT OR REPLACE INTO session \
     (id, segment, bytes, changed, cwd, title, agent, created_at, \
     updated_at, millis, clamped, turns, damage, next_seq, first_prompt) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";

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
        turns: row.get::<_, i64>(11)?.cast_unsigned(),
        damage: row.get::<_, i64>(12)?.cast_unsigned(),
    };
    Ok(Content {
        summary,
        millis: row.get(9)?,
        recency,
        first_prompt: row.get(14)?,
        next_seq: row.get::<_, i64>(13)?.cast_unsigned(),
    })
}

fn session(row: &Row<'_>) -> Result<SessionId> {
    let text: String = row.get(0)?;
    text.parse()
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(e)))
}

impl From<Content> for query::Row {
    fn from(content: Content) -> Self {
        Self {
            summary: content.summary,
            recency: content.recency,
        }
    }
}

impl Database {
    /// A page of the sessions, newest first.
    pub(crate) fn page(&self, query: &Query) -> Result<query::Page> {
        let here = if query.cwd.is_some() {
            "cwd = ?1"
        } else {
            "?1 IS NULL"
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM session \
             WHERE millis IS NOT NULL AND {here} AND (millis, id) < (?2, ?3) \
             ORDER BY millis DESC, id DESC LIMIT ?4"
        );
        let limit = query.limit.max(1);
        let (millis, id) = match &query.after {
            Some(after) => (after.millis, after.session.to_string()),
            None => (i64::MAX, String::new()),
        };
        let mut statement = self.connection().prepare(&sql)?;
        let found = params![query.cwd, millis, id, i64::from(limit) + 1];
        let found = statement.query_map(found, content)?;
        let mut found = found.collect::<Result<Vec<Content>>>()?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let next = found.last().filter(|_| more).map(|last| After {
            millis: last.millis,
            session: last.summary.session,
        });
        let rows = found.into_iter().map(query::Row::from).collect();
        Ok(query::Page { rows, next })
    }

    /// The sessions of exactly this title, newest first.
    pub(crate) fn titled(&self, title: &str, cwd: Option<&str>) -> Result<Vec<SessionId>> {
        let sql = "SELECT id FROM session \
             WHERE title = ?1 AND millis IS NOT NULL AND (?2 IS NULL OR cwd = ?2) \
             ORDER BY millis DESC, id DESC";
        let mut statement = self.connection().prepare(sql)?;
        statement.query_map([Some(title), cwd], session)?.collect()
    }

    /// The sessions with `text` in their title or first prompt, newest first.
    pub(crate) fn search(&self, text: &str, limit: u32) -> Result<Vec<query::Row>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM session WHERE millis IS NOT NULL \
             AND (title LIKE ?1 ESCAPE '\\' OR first_prompt LIKE ?1 ESCAPE '\\') \
             ORDER BY millis DESC, id DESC LIMIT ?2"
        );
        let mut statement = self.connection().prepare(&sql)?;
        let rows = statement.query_map(params![pattern(text), limit], content)?;
        rows.map(|row| row.map(query::Row::from)).collect()
    }
}

/// The pattern that finds `text` itself anywhere.
fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

//! Lists of threads. In the order of the last use they come page by page from the engine; any other
//! order is made here of all of them.

use serde_json::{Value, json};
use sessiond_protocol::{Accepted, Archived, ErrorCode, Op, SessionList, Summary, limits};
use sessiond_wire::rpc::{ErrorObject, INTERNAL_ERROR, RawId, error};

use super::face::{Begun, Face};
use super::params::{self, OneOrMany, SortDirection, ThreadListParams, ThreadSortKey};
use super::refuse::{invalid, unexpected};
use super::thread::About;

/// Threads on a page where the client names no number.
const PAGE: u32 = 25;

/// What stands before a cursor of the engine's, and before one of ours.
const THEIRS: &str = "r:";
const OURS: &str = "s:";

impl Face {
    pub(super) fn list_threads(&mut self, id: &RawId, params: &Value) -> Begun {
        let params: ThreadListParams = params::read(params)?;
        let limit = params.limit.unwrap_or(PAGE).clamp(1, limits::PAGE_SESSIONS);
        let cwd = match &params.cwd {
            Some(OneOrMany::One(cwd)) => Some(cwd.clone()),
            Some(OneOrMany::Many(many)) if many.len() == 1 => many.first().cloned(),
            _ => None,
        };
        let mut list = SessionList {
            cwd,
            title: None,
            search: params.search_term.clone().filter(|term| !term.is_empty()),
            archived: match params.archived {
                Some(true) => Archived::Only,
                _ => Archived::Exclude,
            },
            after: None,
            limit: Some(limit),
        };
        let id = id.clone();
        if !is_recent_first(&params) {
            list.limit = Some(limits::PAGE_SESSIONS);
            return self.gather(id, (list, Vec::new()), (params, limit));
        }
        list.after = match &params.cursor {
            None => None,
            Some(cursor) => match cursor.strip_prefix(THEIRS) {
                Some(after) => Some(after.to_owned()),
                None => return Err(bad_cursor(cursor)),
            },
        };
        let cursor = params.cursor;
        self.submit(None, Op::SessionList(list), move |face, page| match page {
            Ok(Accepted::Sessions { sessions, next }) => {
                let data = sessions
                    .iter()
                    .map(|summary| face.listed(summary))
                    .collect();
                let next = next.map(|next| format!("{THEIRS}{next}"));
                face.client.answer(&id, &answer(data, next));
            }
            Ok(_) => face.client.fail(&id, &unexpected()),
            Err(wire) if wire.code == ErrorCode::Invalid && cursor.is_some() => {
                face.client
                    .fail(&id, &bad_cursor(&cursor.unwrap_or_default()));
            }
            Err(wire) if wire.code == ErrorCode::Invalid => {
                face.client.fail(&id, &invalid(&*wire.message));
            }
            Err(wire) => face
                .client
                .fail(&id, &error(INTERNAL_ERROR, &*wire.message)),
        })
    }

    /// Asks for all pages, then sorts and cuts.
    fn gather(
        &mut self,
        id: RawId,
        (list, mut all): (SessionList, Vec<Summary>),
        (params, limit): (ThreadListParams, u32),
    ) -> Begun {
        let op = Op::SessionList(list.clone());
        self.submit(None, op, move |face, page| match page {
            Ok(Accepted::Sessions { sessions, next }) => {
                all.extend(sessions);
                if next.is_some() {
                    let list = SessionList {
                        after: next,
                        ..list
                    };
                    let begun = face.gather(id.clone(), (list, all), (params, limit));
                    if let Err(error) = begun {
                        face.client.fail(&id, &error);
                    }
                    return;
                }
                match cut(all, &params, limit) {
                    Ok((page, next)) => {
                        let data = page.iter().map(|summary| face.listed(summary)).collect();
                        face.client.answer(&id, &answer(data, next));
                    }
                    Err(error) => face.client.fail(&id, &error),
                }
            }
            Ok(_) => face.client.fail(&id, &unexpected()),
            Err(wire) => face.client.fail(&id, &invalid(&*wire.message)),
        })
    }

    /// A thread of a list; one that is loaded is known better.
    fn listed(&self, summary: &Summary) -> Value {
        match self.threads.get(&summary.session) {
            Some(thread) => thread.json(),
            None => About::listed(summary).json(json!({ "type": "notLoaded" })),
        }
    }

    pub(super) fn list_loaded(&mut self, id: &RawId, _params: &Value) -> Begun {
        let mut data: Vec<String> = self.threads.keys().map(ToString::to_string).collect();
        data.sort();
        self.client
            .answer(id, &json!({ "data": data, "nextCursor": null }));
        Ok(())
    }
}

fn answer(data: Vec<Value>, next: Option<String>) -> Value {
    json!({ "data": data, "nextCursor": next, "backwardsCursor": null })
}

fn bad_cursor(cursor: &str) -> ErrorObject {
    invalid(format!("invalid cursor: {cursor}"))
}

/// Whether a list is as the engine itself makes it.
fn is_recent_first(params: &ThreadListParams) -> bool {
    let by_use = !matches!(
        params.sort_key,
        Some(ThreadSortKey::CreatedAt | ThreadSortKey::SectionPosition)
    );
    by_use
        && params.sort_direction != Some(SortDirection::Asc)
        && !matches!(&params.cwd, Some(OneOrMany::Many(many)) if many.len() != 1)
        && params.model_providers.as_ref().is_none_or(Vec::is_empty)
        && params.included_thread_ids.is_none()
        && params
            .excluded_thread_ids
            .as_ref()
            .is_none_or(Vec::is_empty)
}

/// Filters, sorts, and cuts a page; each thread's key is its time and its id, so that nothing is
/// skipped or doubled where others come and go.
fn cut(
    all: Vec<Summary>,
    params: &ThreadListParams,
    limit: u32,
) -> Result<(Vec<Summary>, Option<String>), ErrorObject> {
    let key = |summary: &Summary| {
        let at = match params.sort_key {
            Some(ThreadSortKey::CreatedAt) => &summary.created_at,
            _ => &summary.updated_at,
        };
        format!("{OURS}{at}/{}", summary.session)
    };
    let mut all: Vec<(String, Summary)> = all
        .into_iter()
        .filter(|summary| is_wanted(summary, params))
        .map(|summary| (key(&summary), summary))
        .collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    let descends = params.sort_direction != Some(SortDirection::Asc);
    if descends {
        all.reverse();
    }
    if let Some(cursor) = &params.cursor {
        if !cursor.starts_with(OURS) {
            return Err(bad_cursor(cursor));
        }
        all.retain(|(key, _)| match descends {
            true => key < cursor,
            false => key > cursor,
        });
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let next = (all.len() > limit).then(|| all.get(limit - 1)).flatten();
    let next = next.map(|(key, _)| key.clone());
    let page = all.into_iter().take(limit).map(|(_, summary)| summary);
    Ok((page.collect(), next))
}

fn is_wanted(summary: &Summary, params: &ThreadListParams) -> bool {
    let id = summary.session.to_string();
    let has = |ids: &Option<Vec<String>>| ids.as_ref().map(|ids| ids.contains(&id));
    let in_place = match &params.cwd {
        Some(OneOrMany::Many(many)) => many.is_empty() || many.contains(&summary.cwd),
        Some(OneOrMany::One(cwd)) => *cwd == summary.cwd,
        None => true,
    };
    let providers = params
        .model_providers
        .as_ref()
        .filter(|all| !all.is_empty());
    in_place
        && providers.is_none_or(|all| all.contains(&summary.agent))
        && has(&params.included_thread_ids) != Some(false)
        && has(&params.excluded_thread_ids) != Some(true)
}

#[cfg(test)]
mod tests;

//! Sessions that nobody has used for longer than the configuration keeps them (LOG-12).
//!
//! Age is the time that the newest record of the log gives, of whatever kind: a rename or a fork
//! is a use, too. File times say nothing. What is archived was put away to be kept.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use sessiond_engine::{Action, Decision};
use sessiond_log::{LogError, Owner, Scan, Since, Store, Subject, Sweep};

use super::meter::Counter;
use crate::failure::Failure;

/// What became of the sessions that are too old. Serializes to what `--json` prints.
#[derive(Debug, Default, Serialize)]
pub(super) struct Expired {
    /// They went to the trash, or would.
    pub(super) expired: Vec<String>,
    /// They stay all the same.
    pub(super) spared: Vec<Spared>,
}

/// A session that is old and stays.
#[derive(Debug, Serialize)]
pub(super) struct Spared {
    pub(super) session: String,
    /// busy, fork_parent, damaged, too_new, io.
    pub(super) reason: &'static str,
}

/// The newest time in a log.
#[derive(Debug, Default)]
struct Newest(Option<Timestamp>);

impl Newest {
    /// A text that is no time says nothing.
    fn take(&mut self, at: &str) {
        self.0 = self.0.max(at.parse().ok());
    }

    /// A time in the future is not before anything, and a log without times has no age.
    fn is_before(&self, time: Timestamp) -> bool {
        self.0.is_some_and(|newest| newest < time)
    }
}

/// Moves what is older than `days` days to the trash, or only looks.
pub(super) fn run(store: &Store, sweep: Sweep, days: u32) -> Result<Expired, Failure> {
    let kept = SignedDuration::from_hours(24 * i64::from(days));
    let before = Timestamp::now().checked_sub(kept);
    let before = before.unwrap_or(Timestamp::MIN);
    let parents = parents(store)?;
    let mut outcome = Expired::default();
    let subjects = store.subjects()?;
    let (mut counter, total) = (Counter::new("looked at the age of"), subjects.len());
    for (done, subject) in subjects.into_iter().enumerate() {
        counter.sessions(done, total);
        let refused = match expire(store, &subject, (before, &parents), sweep) {
            Ok(Age::Young) => continue,
            Ok(Age::Expired) => {
                outcome.expired.push(subject.to_string());
                None
            }
            Ok(Age::Spared(reason)) => Some((reason, None)),
            // It went in between.
            Err(LogError::NotFound(_)) => continue,
            Err(error @ (LogError::Busy { .. } | LogError::Io { .. })) => {
                let reason = error.code();
                let holder = match error {
                    LogError::Busy { holder, .. } => holder.map(|holder| holder.owner),
                    _ => None,
                };
                Some((reason, holder))
            }
            Err(error) => return Err(error.into()),
        };
        if let Some((reason, _)) = &refused {
            let session = subject.to_string();
            outcome.spared.push(Spared { session, reason });
        }
        if sweep == Sweep::Remove {
            let decision = match refused {
                None => Decision::accepted(Some(subject), Action::Expire),
                Some((reason, holder)) => {
                    Decision::refused(Some(subject), Action::Expire, reason, holder)
                }
            };
            decision.write(store);
        }
    }
    Ok(outcome)
}

/// How old a session is, and what that means for it.
enum Age {
    Young,
    Expired,
    Spared(&'static str),
}

fn expire(
    store: &Store,
    subject: &Subject,
    (before, parents): (Timestamp, &BTreeSet<Subject>),
    sweep: Sweep,
) -> Result<Age, LogError> {
    let mut newest = Newest::default();
    let scan = store.visit(subject, &mut |record| newest.take(record.at))?;
    if !newest.is_before(before) {
        return Ok(Age::Young);
    }
    if let Some(reason) = reason_to_stay(&scan) {
        return Ok(Age::Spared(reason));
    }
    if parents.contains(subject) {
        return Ok(Age::Spared("fork_parent"));
    }
    let lease = store.claim(subject, &Owner::current())?;
    // Somebody may have used it in between.
    if lease.visit(Since::Start, &mut |_| ())? != scan {
        return Ok(Age::Young);
    }
    if sweep == Sweep::Remove {
        lease.trash(super::gc::now())?;
    }
    Ok(Age::Expired)
}

/// What could not be read may be newer than all that could.
fn reason_to_stay(scan: &Scan) -> Option<&'static str> {
    match (scan.newer, scan.damage.is_empty()) {
        (Some(_), _) => Some("too_new"),
        (None, false) => Some("damaged"),
        (None, true) => None,
    }
}

/// The sessions that others, archived or not, were forked from.
fn parents(store: &Store) -> Result<BTreeSet<Subject>, Failure> {
    let mut parents = BTreeSet::new();
    for subject in store.subjects()?.iter().chain(&store.archived()?) {
        parents.extend(store.parent(subject)?.map(|parent| parent.session));
    }
    Ok(parents)
}

#[cfg(test)]
mod tests;

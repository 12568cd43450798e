//! Forks: a new log that begins with the records of another one.

use std::sync::Arc;

use crate::error::{Doing, LogError};
use crate::header::{FORMAT, Header};
use crate::layout::Home;
use crate::lease::Lease;
use crate::lineage::Parent;
use crate::nursery::{Nursery, Shared};
use crate::older::{Form, read_segment};
use crate::owner::Owner;
use crate::scan::Scan;
use crate::store::Store;
use crate::subject::Subject;
use crate::survey::{Mark, Piece, Survey};

impl Lease {
    /// Makes the log `subject` out of the records 1 to `at` of this one, and takes its lease. Both
    /// logs go on from there, each whole without the other (RESUME-9, RESUME-18).
    ///
    /// The segments of those records and the blobs they name are shared by hard links, or copied
    /// where there are none; a writer of this lease first ends its segment. What the records say
    /// of their own log is left as it is. The new log appears whole or not at all.
    ///
    /// # Errors
    /// [`LogError::NoRecord`] when `at` is no record that counts and is on stable storage
    /// (RESUME-17); [`LogError::Exists`]; [`LogError::TooNew`]; [`LogError::Fenced`];
    /// [`LogError::Io`], which is also what poisoned the writer if ending its segment did.
    pub fn fork(&self, at: u64, subject: &Subject, owner: &Owner) -> Result<Self, LogError> {
        let held = Arc::clone(self.held());
        let store = &held.store;
        store.vacant(subject)?;
        held.check()?;
        let no_record = || LogError::NoRecord {
            subject: held.subject.clone(),
            seq: at,
        };
        let (writer, carry) = held.progress();
        if let Some(writer) = writer
            && writer.cut()?.is_some_and(|durable| at > durable)
        {
            return Err(no_record());
        }
        let read = |r: crate::reader::Reader<'_>| r.survey(carry.as_ref(), at);
        let (scan, survey) = store.with_reader(&held.subject, read)?;
        if let Some(found) = scan.newer {
            let known = FORMAT;
            return Err(LogError::TooNew { found, known });
        }
        let mark = survey.mark.as_ref().ok_or_else(no_record)?;
        let nursery = Nursery::new(store, subject)?;
        self.share(&survey, &nursery)?;
        let header = child_header(&held.subject, subject, &scan, mark);
        let mut line = Vec::new();
        header.encode(&mark.at, &mut line)?;
        nursery.put(&nursery.home().segment(&header.name().to_string()), &line)?;
        let lock = nursery.settle()?;
        let place = (subject.clone(), Home::of(subject));
        Self::with_lock(store.clone(), place, owner.clone(), lock)
    }

    /// Shares the files of a survey with the session in `nursery`.
    fn share(&self, survey: &Survey, nursery: &Nursery<'_>) -> Result<(), LogError> {
        let held = self.held();
        let (from, to, fs) = (&held.home, nursery.home(), held.store.fs());
        let last = survey.parts.len().saturating_sub(1);
        for (index, Piece { name, form, bytes }) in survey.parts.iter().copied().enumerate() {
            let file = name.to_string();
            let (source, target) = match form {
                Form::Plain => (from.segment(&file), to.segment(&file)),
                Form::Packed if index == last => {
                    // It may end within it; and a log goes on from a plain one.
                    let content = read_segment(fs, from, (name, form), bytes)?;
                    nursery.put(&to.segment(&file), &content)?;
                    continue;
                }
                Form::Packed => (from.older_segment(&file), to.older_segment(&file)),
            };
            let whole = fs.stat(&source).doing("look up", &source)?.bytes;
            if form == Form::Plain && bytes < whole {
                // What comes after the fork point is the parent's alone.
                nursery.copy(&source, &target, bytes)?;
                continue;
            }
            if index == last {
                // A dead process may have left it written and not synced; those before it were
                // synced before it was begun.
                fs.sync_file(&source).doing("sync", &source)?;
            }
            if nursery.share(&source, &target)? == Shared::Missing {
                return Err(LogError::Fenced(held.subject.clone()));
            }
        }
        for name in survey.blobs.keys() {
            // One that is missing is damage in the parent, and the same damage in the child.
            nursery.share(&from.blobs().join(name), &to.blobs().join(name))?;
        }
        Ok(())
    }
}

/// The first header of the child's own.
fn child_header(parent: &Subject, child: &Subject, scan: &Scan, mark: &Mark) -> Header {
    let (number, tail) = (mark.tail.number, mark.tail.clone());
    let epoch = scan.highest_epoch + 1;
    let mut header = Header::new(child.clone(), number + 1, epoch, Some(tail));
    header.parent = Some(Parent {
        session: parent.clone(),
        seq: mark.tail.seq,
        crc: mark.crc.clone(),
        segments: number,
    });
    header
}

impl Store {
    /// Whether a session of this id can be made.
    pub(crate) fn vacant(&self, subject: &Subject) -> Result<(), LogError> {
        self.writable()?;
        let is_archived = self.is_archived(subject)?;
        if is_archived || self.exists(subject)? {
            return Err(LogError::Exists(subject.clone()));
        }
        Ok(())
    }
}

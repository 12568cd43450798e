//! The record of decisions: one file a process, merged when read.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::sync::Arc;

use sessiond_log::fs::{CrashFs, Fault, FaultFs, Loss, MemoryFs, Repeat};
use sessiond_log::{AuditEntry, Owner, Store, Verdict};
use support::{Backend, backends, subject};

fn entry(at: u32, verdict: Verdict) -> AuditEntry {
    AuditEntry {
        at: format!("2026-11-29T12:00:{at:02}Z"),
        subject: Some(subject()),
        action: "resume".to_owned(),
        verdict,
        reason: "busy".to_owned(),
        holder: Some(Owner::current()),
    }
}

fn file(backend: &Backend) -> std::path::PathBuf {
    let names = backend.fs.list(Path::new("audit")).unwrap();
    assert_eq!(names.len(), 1, "{names:?}");
    Path::new("audit").join(&names[0])
}

/// LOG-19, RESUME-3
#[test]
fn entries_of_all_processes_are_read_by_time_and_no_session_is_made() {
    for backend in backends() {
        let first = backend.store();
        first.audit(&entry(1, Verdict::Noted)).unwrap();
        first.audit(&entry(3, Verdict::Refused)).unwrap();
        // Another opening in this process goes on in the same file.
        backend.store().audit(&entry(5, Verdict::Accepted)).unwrap();
        let path = file(&backend);
        let own = Owner::current();
        let name = format!("audit/{}-{}-{}.jsonl", own.boot_id, own.pid, own.start_time);
        assert_eq!(path, Path::new(&name));
        let text = String::from_utf8(backend.bytes(&path)).unwrap();
        let other = text.replace(":01Z", ":02Z").replace(":03Z", ":04Z");
        let mut foreign = backend
            .fs
            .create(Path::new("audit/other-1-2.jsonl"))
            .unwrap();
        foreign.write(other.as_bytes()).unwrap();
        let trail = backend.store().audit_trail().unwrap();
        let times: Vec<_> = trail.iter().map(|e| &e.at[17..19]).collect();
        assert_eq!(
            times,
            ["01", "02", "03", "04", "05", "05"],
            "{}",
            backend.name
        );
        assert_eq!(trail[2], entry(3, Verdict::Refused));
        assert!(backend.tree(Path::new("sessions")).is_empty());
    }
}

#[test]
fn a_text_that_is_no_plain_name_is_refused() {
    let store = Backend::memory(MemoryFs::new()).store();
    for text in ["two words", "line\nbreak", "\"", &"x".repeat(200)] {
        let mut wrong = entry(1, Verdict::Noted);
        wrong.reason = text.to_owned();
        assert_eq!(store.audit(&wrong).unwrap_err().code(), "invalid_record");
    }
    assert_eq!(store.audit_trail().unwrap(), []);
}

/// LOG-19: an unfinished line takes no other with it.
#[test]
fn whichever_operation_fails_every_acknowledged_entry_is_read() {
    for fault in [Fault::Error, Fault::Short, Fault::Torn] {
        for fail_at in 1..60 {
            let disk = MemoryFs::new();
            let fs = FaultFs::new(Arc::new(disk.clone()), fail_at, fault, Repeat::Once);
            let mut acknowledged = Vec::new();
            for at in 0..6 {
                let Ok(store) = Store::open(Arc::new(fs.clone()), Path::new("test")) else {
                    continue;
                };
                for at in [2 * at, 2 * at + 1] {
                    let entry = entry(at, Verdict::Refused);
                    if store.audit(&entry).is_ok() {
                        acknowledged.push(entry);
                    }
                }
            }
            assert!(acknowledged.len() >= 10, "{fault:?} at {fail_at}");
            let trail = Backend::memory(disk).store().audit_trail().unwrap();
            let is_read = |e: &AuditEntry| trail.contains(e);
            assert!(acknowledged.iter().all(is_read), "{fault:?} at {fail_at}");
        }
    }
}

/// LOG-19: refusals and acceptances are synced.
#[test]
fn refusals_and_acceptances_survive_a_crash_at_any_point() {
    let fs = CrashFs::new();
    let store = Store::open(Arc::new(fs.clone()), Path::new("test")).unwrap();
    let mut promises = Vec::new();
    for (at, verdict) in [
        (1, Verdict::Refused),
        (2, Verdict::Noted),
        (3, Verdict::Accepted),
    ] {
        store.audit(&entry(at, verdict)).unwrap();
        if verdict != Verdict::Noted {
            promises.push((fs.changes(), entry(at, verdict)));
        }
    }
    for point in 0..=fs.changes() {
        let seeds = (0..40).map(|seed| Loss::Some(seed * 1000 + point as u64));
        for loss in [Loss::Everything, Loss::Nothing].into_iter().chain(seeds) {
            let store = Backend::memory(fs.after_crash(point, loss)).store();
            let trail = store.audit_trail().unwrap();
            let mut promised = promises.iter().filter(|(made, _)| *made <= point);
            let kept = promised.all(|(_, entry)| trail.contains(entry));
            assert!(kept, "{loss:?} after {point}: {trail:?}");
            store.audit(&entry(9, Verdict::Accepted)).unwrap();
            assert!(
                store
                    .audit_trail()
                    .unwrap()
                    .contains(&entry(9, Verdict::Accepted))
            );
        }
    }
}

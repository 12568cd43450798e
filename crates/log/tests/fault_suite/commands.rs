//! Power loss at every change that a command on a whole log makes: fork, import, archive, trash,
//! repair, gc, audit. What was answered with `Ok` survives, and before that nothing is half there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sessiond_log::fs::{CrashFs, Fs as _, MemoryFs};
use sessiond_log::{
    AuditEntry, Content, Durability, Health, LogError, Owner, Store, Subject, Sweep, Verdict,
};

use crate::images::out_of_line;
use crate::power::losses;
use crate::support::{Backend, append, lease, log_dir, record, session_dir, subject, texts, wait};
use crate::tally::{Form, Tally};

const CHILD: &str = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d11";

/// What must hold of a disk after a crash.
type Check = Box<dyn Fn(&Backend, &Store) -> Result<(), String>>;

/// What was promised between two numbers of changes.
struct Promise {
    from: usize,
    until: usize,
    check: Check,
}

/// A command on a disk that remembers.
#[derive(Default)]
struct Script {
    fs: CrashFs,
    promises: Vec<Promise>,
}

impl Script {
    fn store(&self) -> Store {
        Store::open(Arc::new(self.fs.clone()), Path::new("test")).unwrap()
    }

    /// Holds from now on.
    fn promise(
        &mut self,
        check: impl Fn(&Backend, &Store) -> Result<(), String> + 'static,
    ) -> &mut Self {
        let (from, until) = (self.fs.changes(), usize::MAX);
        let check = Box::new(check);
        self.promises.push(Promise { from, until, check });
        self
    }

    /// The last promise ends here: the next command takes it back.
    fn release(&mut self) {
        let now = self.fs.changes();
        if let Some(promise) = self.promises.last_mut() {
            promise.until = now;
        }
    }

    fn run(&self, test: &'static str, least: u64) {
        let form = Form::asked();
        let mut tally = Tally::of(test);
        for point in 0..=self.fs.changes() {
            for loss in losses(form.pick(10, 100), point) {
                let backend = Backend::memory(self.fs.after_crash(point, loss));
                let store = backend.store();
                let due = |p: &&Promise| p.from <= point && point <= p.until;
                let mut kept = self.promises.iter().filter(due);
                let outcome = kept.try_for_each(|p| (p.check)(&backend, &store));
                tally.state(&format!("{loss:?} after {point}"), outcome);
            }
        }
        tally.finish(least);
    }
}

fn child() -> Subject {
    CHILD.parse().unwrap()
}

fn said(what: &'static str) -> impl Fn(LogError) -> String {
    move |error| format!("{what}: {error}")
}

/// A session with these records, all synced; a text that begins with `blob` is out of line.
fn session(store: &Store, all: &[&str]) {
    let held = lease(store).unwrap();
    let writer = held.writer().unwrap();
    for text in all {
        let record = if text.starts_with("blob") {
            out_of_line(text)
        } else {
            record(text)
        };
        wait(writer.append(vec![record], Durability::Synced)).unwrap();
    }
    wait(writer.shutdown()).unwrap();
}

/// The log of `id` is sound and begins with these texts.
fn holds(store: &Store, id: &Subject, all: &[&str]) -> Result<(), String> {
    let scan = store.read(id).map_err(said("read"))?;
    ensure!(scan.damage.is_empty(), "{:?}", scan.damage);
    ensure!(scan.torn.is_none(), "torn");
    let found: Vec<_> = texts(&scan).into_iter().map(|(_, text)| text).collect();
    ensure!(found == all, "{found:?} and not {all:?}");
    Ok(())
}

/// A log that is there holds these texts, or it is not there at all.
fn whole_or_nothing(id: Subject, all: &'static [&'static str]) -> Check {
    Box::new(move |_, store| {
        if store.exists(&id).map_err(said("exists"))? {
            return holds(store, &id, all);
        }
        Ok(())
    })
}

/// LOG-5, RESUME-9: a fork whose records are in whole segments, and one that ends within a segment.
#[test]
fn crash_states_of_a_fork() {
    const ALL: &[&str] = &["a", "blob", "c"];
    for (at, test) in [
        (3, "crash_states_of_a_fork"),
        (2, "crash_states_of_a_fork_within"),
    ] {
        let kept = &ALL[..at];
        let mut script = Script::default();
        let store = script.store();
        session(&store, ALL);
        let held = lease(&store).unwrap();
        script.promise(whole_or_nothing(child(), kept));
        let forked = held.fork(at as u64, &child(), &Owner::current()).map(drop);
        forked.unwrap();
        script.promise(move |_, store| holds(store, &child(), kept));
        script.run(test, 500);
    }
}

/// LOG-5, RESUME-17: a dead process left lines that it never synced; the fork that takes them over
/// makes them durable.
#[test]
fn crash_states_of_a_fork_of_unsynced_lines() {
    const ALL: &[&str] = &["a", "written"];
    let mut script = Script::default();
    let store = script.store();
    let held = lease(&store).unwrap();
    let writer = held.writer().unwrap();
    append(&writer, &["a"]).unwrap();
    wait(writer.append(vec![record("written")], Durability::Written)).unwrap();
    drop((writer, held));
    let held = lease(&store).unwrap();
    let forked = held.fork(2, &child(), &Owner::current()).map(drop);
    forked.unwrap();
    script.promise(|_, store| holds(store, &child(), ALL));
    script.run("crash_states_of_a_fork_of_unsynced_lines", 500);
}

fn exported(all: &[&str]) -> Vec<u8> {
    let store = Store::in_memory();
    session(&store, all);
    let mut out = Vec::new();
    store.export(&subject(), &mut out).unwrap();
    out
}

/// LOG-5: into a new store, with a blob and its key; under another id, too.
#[test]
fn crash_states_of_an_import() {
    const ALL: &[&str] = &["a", "blob", "c"];
    for (new_id, test) in [
        (None, "crash_states_of_an_import"),
        (Some(child()), "crash_states_of_a_renamed_import"),
    ] {
        let id = new_id.clone().unwrap_or_else(subject);
        let mut script = Script::default();
        script.promise(whole_or_nothing(id.clone(), ALL));
        let bytes = exported(ALL);
        script
            .store()
            .import(&mut bytes.as_slice(), new_id.as_ref())
            .unwrap();
        script.promise(move |_, store| holds(store, &id, ALL));
        script.run(test, 300);
    }
}

/// LOG-5: a predecessor died between making the names of the store and syncing them.
#[test]
fn crash_states_of_an_import_into_an_unsynced_store() {
    const ALL: &[&str] = &["a", "b"];
    let mut script = Script::default();
    script.fs.make_root().unwrap();
    script.fs.make_dir(Path::new("sessions")).unwrap();
    let mut version = script.fs.create(Path::new("STORE")).unwrap();
    version.write(b"{\"format\":2}\n").unwrap();
    version.sync().unwrap();
    let bytes = exported(ALL);
    script.store().import(&mut bytes.as_slice(), None).unwrap();
    script.promise(|_, store| holds(store, &subject(), ALL));
    script.run("crash_states_of_an_import_into_an_unsynced_store", 150);
}

/// LOG-10: at each moment each segment is in one of its two places, whole.
#[test]
fn crash_states_of_putting_older_segments_away() {
    const ALL: &[&str] = &["a", "blob", "checkpoint", "c"];
    let mut script = Script::default();
    let store = script.store();
    let mut held = lease(&store).unwrap();
    let writer = held.writer().unwrap();
    append(&writer, &ALL[..1]).unwrap();
    wait(writer.append(vec![out_of_line(ALL[1])], Durability::Synced)).unwrap();
    wait(writer.checkpoint(record(ALL[2]))).unwrap();
    append(&writer, &ALL[3..]).unwrap();
    wait(writer.shutdown()).unwrap();
    script.promise(|_, store| holds(store, &subject(), ALL));
    assert_eq!(held.put_older_away(&mut |_, _| ()).unwrap().segments, 1);
    drop(held);
    script.run("crash_states_of_putting_older_segments_away", 300);
}

/// RESUME-9: a fork shares a compressed segment.
#[test]
fn crash_states_of_a_fork_of_older_segments() {
    const ALL: &[&str] = &["a", "checkpoint", "c"];
    let mut script = Script::default();
    let store = script.store();
    let mut held = lease(&store).unwrap();
    let writer = held.writer().unwrap();
    append(&writer, &ALL[..1]).unwrap();
    wait(writer.checkpoint(record(ALL[1]))).unwrap();
    append(&writer, &ALL[2..]).unwrap();
    wait(writer.shutdown()).unwrap();
    held.put_older_away(&mut |_, _| ()).unwrap();
    script.promise(whole_or_nothing(child(), ALL));
    let forked = held.fork(3, &child(), &Owner::current()).map(drop);
    forked.unwrap();
    script.promise(|_, store| holds(store, &child(), ALL));
    script.run("crash_states_of_a_fork_of_older_segments", 300);
}

/// LOG-11: a store of layout 1 that is brought to layout 2 has a back-up that is whole.
#[test]
fn crash_states_of_a_migration() {
    const ALL: &[&str] = &["a", "blob"];
    let mut script = Script::default();
    let store = script.store();
    session(&store, ALL);
    session(&store, &["c"]);
    let version = Path::new("STORE");
    script.fs.remove(version).unwrap();
    let mut file = script.fs.create(version).unwrap();
    file.write(b"{\"format\":1}\n").unwrap();
    file.sync().unwrap();
    script.fs.sync_dir(Path::new("")).unwrap();
    script.promise(|backend, store| {
        holds(store, &subject(), &["a", "blob", "c"])?;
        let version = backend.bytes(Path::new("STORE"));
        let backups = store.backups().map_err(said("backups"))?;
        ensure!(
            version == b"{\"format\":1}\n" || backups.len() == 1,
            "a newer layout without a back-up"
        );
        for place in backups {
            let copy = MemoryFs::new();
            for (path, bytes) in backend.tree(&place) {
                copy.put(path.strip_prefix(&place).map_err(|e| e.to_string())?, bytes);
            }
            let copy = Backend::memory(copy).store();
            holds(&copy, &subject(), &["a", "blob", "c"])?;
        }
        Ok(())
    });
    drop(store.claim(&subject(), &Owner::current()).unwrap());
    script.promise(|backend, _| {
        let version = backend.bytes(Path::new("STORE"));
        ensure!(version == b"{\"format\":2}\n", "the layout is lost");
        Ok(())
    });
    script.run("crash_states_of_a_migration", 300);
}

fn is_archived(_: &Backend, store: &Store) -> Result<(), String> {
    let archived = store.archived().map_err(said("archived"))?;
    ensure!(archived == [subject()], "not in the archive");
    ensure!(!store.exists(&subject()).map_err(said("exists"))?, "back");
    Ok(())
}

/// LOG-5: away and back; in between it is never in none of the two places.
#[test]
fn crash_states_of_an_archive() {
    const ALL: &[&str] = &["a", "blob"];
    let mut script = Script::default();
    let store = script.store();
    session(&store, ALL);
    script.promise(|_, store| {
        let archived = store.archived().map_err(said("archived"))?;
        let is_there = store.exists(&subject()).map_err(said("exists"))?;
        ensure!(is_there || archived == [subject()], "it is nowhere");
        Ok(())
    });
    store.archive(&subject(), &Owner::current()).unwrap();
    script.promise(is_archived);
    script.release();
    store.unarchive(&subject()).unwrap();
    script.promise(|_, store| holds(store, &subject(), ALL));
    script.run("crash_states_of_an_archive", 500);
}

/// LOG-12: what was put into the trash stays there, what was deleted stays deleted, and a
/// tombstone tells of it.
#[test]
fn crash_states_of_the_trash() {
    let mut script = Script::default();
    let store = script.store();
    session(&store, &["a", "blob"]);
    store.trash(&subject(), &Owner::current(), 7).unwrap();
    script.promise(|_, store| {
        let stones = store.tombstones().map_err(said("tombstones"))?;
        ensure!(stones.len() == 1, "{stones:?}");
        ensure!(!store.exists(&subject()).map_err(said("exists"))?, "back");
        Ok(())
    });
    store.empty_trash(8).unwrap();
    script.promise(|backend, store| {
        let stones = store.tombstones().map_err(said("tombstones"))?;
        let is_deleted = stones.iter().all(|s| s.content == Content::Deleted);
        ensure!(is_deleted, "{stones:?}");
        let names = backend.fs.list(Path::new("trash")).unwrap_or_default();
        ensure!(names.len() == 1, "deleted content is back: {names:?}");
        let stone = backend.bytes(&Path::new("trash").join(&names[0]));
        ensure!(!stone.is_empty(), "an empty tombstone");
        Ok(())
    });
    script.run("crash_states_of_the_trash", 500);
}

/// LOG-12: a removed session comes back whole, and in between it is in one of the two places.
#[test]
fn crash_states_of_a_restore() {
    const ALL: &[&str] = &["a", "blob"];
    let mut script = Script::default();
    let store = script.store();
    session(&store, ALL);
    store.trash(&subject(), &Owner::current(), 7).unwrap();
    script.promise(|_, store| {
        let is_kept = store.tombstones().map_err(said("tombstones"))?.len() == 1;
        let is_there = store.exists(&subject()).map_err(said("exists"))?;
        ensure!(is_there || is_kept, "it is nowhere");
        if is_there {
            return holds(store, &subject(), ALL);
        }
        Ok(())
    });
    store.restore(&subject()).unwrap();
    script.promise(|_, store| {
        let stones = store.tombstones().map_err(said("tombstones"))?;
        ensure!(stones.is_empty(), "still in the trash: {stones:?}");
        holds(store, &subject(), ALL)
    });
    script.run("crash_states_of_a_restore", 300);
}

/// CKPT-6: remains that were in the way of a session are beside it afterwards.
#[test]
fn crash_states_of_a_restore_over_remains() {
    let mut script = Script::default();
    let store = script.store();
    session(&store, &["a"]);
    store.trash(&subject(), &Owner::current(), 7).unwrap();
    script.fs.make_dir(&session_dir()).unwrap();
    script.fs.make_dir(&log_dir()).unwrap();
    let segment = log_dir().join("00000001-00000000000000000001.jsonl");
    drop(script.fs.create(&segment).unwrap());
    for dir in [&log_dir(), &session_dir(), Path::new("sessions")] {
        script.fs.sync_dir(dir).unwrap();
    }
    script.promise(|backend, store| {
        let aside = store.aside().map_err(said("aside"))?;
        let is_aside = aside.iter().any(|dir| {
            backend
                .fs
                .list(&dir.join("log"))
                .is_ok_and(|l| l.len() == 1)
        });
        let is_there = store.exists(&subject()).map_err(said("exists"))?;
        let is_in_the_way = backend.fs.list(&log_dir()).is_ok_and(|l| l.len() == 1);
        ensure!(is_aside || (is_in_the_way && !is_there), "remains are gone");
        Ok(())
    });
    store.restore(&subject()).unwrap();
    script.promise(|_, store| holds(store, &subject(), &["a"]));
    script.run("crash_states_of_a_restore_over_remains", 300);
}

/// LOG-4: a repair that was answered is there; one that was cut off adds no damage.
#[test]
fn crash_states_of_a_repair() {
    let mut script = Script::default();
    let store = script.store();
    session(&store, &["a", "b", "c"]);
    let name = script.fs.list(&log_dir()).unwrap().remove(0);
    let path = log_dir().join(name);
    let length = script.fs.stat(&path).unwrap().bytes;
    script.fs.truncate(&path, length - 9).unwrap();
    script.fs.sync_file(&path).unwrap();
    script.promise(|_, store| {
        let report = store.verify(&subject()).map_err(said("verify"))?;
        ensure!(report.health != Health::Damaged, "{:?}", report.damage);
        ensure!(report.records == 2, "{} records", report.records);
        Ok(())
    });
    let mut held = store.claim(&subject(), &Owner::current()).unwrap();
    held.repair("2026-11-29T13:00:00Z", &mut |_| ()).unwrap();
    script.promise(|_, store| {
        let report = store.verify(&subject()).map_err(said("verify"))?;
        ensure!(report.health == Health::Clean, "{:?}", report.health);
        ensure!(report.repaired.len() == 1, "{:?}", report.repaired);
        Ok(())
    });
    drop(held);
    script.run("crash_states_of_a_repair", 300);
}

/// LOG-12: what gc removed stays removed.
#[test]
fn crash_states_of_a_gc() {
    let mut script = Script::default();
    let store = script.store();
    session(&store, &["a", "blob"]);
    let orphan: PathBuf = session_dir().join("blobs").join("0".repeat(64));
    let mut file = script.fs.create(&orphan).unwrap();
    file.write(b"x").unwrap();
    file.sync().unwrap();
    script.fs.sync_dir(&session_dir().join("blobs")).unwrap();
    let swept = store
        .gc(Sweep::Remove, 0, &Owner::current(), &mut |_, _| ())
        .unwrap();
    assert_eq!(swept.blobs, 1);
    script.promise(move |backend, store| {
        ensure!(backend.fs.stat(&orphan).is_err(), "the orphan is back");
        holds(store, &subject(), &["a", "blob"])
    });
    script.run("crash_states_of_a_gc", 400);
}

fn entry(reason: &str) -> AuditEntry {
    AuditEntry {
        at: "2026-11-29T12:00:00Z".to_owned(),
        subject: Some(subject()),
        action: "fork".to_owned(),
        verdict: Verdict::Accepted,
        reason: reason.to_owned(),
        holder: None,
    }
}

fn tells(reason: &'static str) -> impl Fn(&Backend, &Store) -> Result<(), String> {
    move |_, store| {
        let trail = store.audit_trail().map_err(said("audit"))?;
        ensure!(trail.contains(&entry(reason)), "no entry {reason}");
        Ok(())
    }
}

/// LOG-19: also in a file that a predecessor of this process left without syncing its name.
#[test]
fn crash_states_of_the_audit() {
    let trial = MemoryFs::new();
    let trial_store = Backend::memory(trial.clone()).store();
    trial_store.audit(&entry("one")).unwrap();
    let name = trial.list(Path::new("audit")).unwrap().remove(0);
    for (unsynced, test) in [
        (None, "crash_states_of_the_audit"),
        (Some(name), "crash_states_of_an_unsynced_audit"),
    ] {
        let mut script = Script::default();
        if let Some(name) = unsynced {
            let dir = Path::new("audit");
            script.fs.make_root().unwrap();
            script.fs.make_dir(dir).unwrap();
            drop(script.fs.create(&dir.join(name)).unwrap());
        }
        let store = script.store();
        for reason in ["one", "two"] {
            store.audit(&entry(reason)).unwrap();
            script.promise(tells(reason));
        }
        script.run(test, 100);
    }
}

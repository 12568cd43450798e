//! LOG-9: whatever happens in the store, the next answer is what the logs say.

use sessiond_log::HolderState;

use crate::harness::{Bench, all, id, log_dir, said_by_user, titled, titles};

const AT: &str = "2026-01-01T00:00:00Z";
const LATER: &str = "2026-01-01T00:00:09Z";

fn two() -> Bench {
    let bench = Bench::new();
    bench.session(1, "/w", AT, "one");
    bench.session(2, "/w", AT, "two");
    bench
}

#[test]
fn what_did_not_change_is_answered_from_the_rows() {
    let bench = two();
    bench.age();
    let index = bench.index();
    assert_eq!(titles(&index), ["two", "one"]);
    bench.tamper();
    assert_eq!(titles(&index), ["from the row", "from the row"]);
    assert_eq!(
        titles(&bench.index()),
        ["from the row", "from the row"],
        "another process"
    );
}

#[test]
fn a_change_costs_the_log_that_changed_and_no_other() {
    let bench = two();
    bench.age();
    let index = bench.index();
    titles(&index);
    bench.tamper();
    let open = bench.reopen(id(1));
    bench.append(&open, LATER, &[titled("one again"), said_by_user("x")]);
    bench.close(open);
    assert_eq!(titles(&index), ["one again", "from the row"]);
}

/// The index hears of none of these.
#[test]
fn each_change_of_the_store_shows_in_the_next_list() {
    type Change = fn(&Bench);
    let table: [(&str, Change, &[&str]); 5] = [
        (
            "made",
            |bench| {
                bench.session(3, "/w", LATER, "three");
            },
            &["three", "two", "one"],
        ),
        (
            "gone",
            |bench| std::fs::remove_dir_all(bench.path(&format!("sessions/{}", id(2)))).unwrap(),
            &["one"],
        ),
        (
            "went on",
            |bench| {
                let open = bench.reopen(id(1));
                bench.append(&open, LATER, &[titled("uno"), said_by_user("x")]);
                bench.close(open);
            },
            &["uno", "two"],
        ),
        (
            "moved away and another put in its place",
            |bench| {
                let home = bench.path(&format!("sessions/{}", id(2)));
                std::fs::rename(&home, bench.beside("moved")).unwrap();
                bench.session(2, "/w", LATER, "other");
            },
            &["other", "one"],
        ),
        ("nothing", |_| (), &["two", "one"]),
    ];
    for aged in [false, true] {
        for (change, apply, expected) in &table {
            let bench = two();
            if aged {
                bench.age();
            }
            let index = bench.index();
            assert_eq!(titles(&index), ["two", "one"]);
            apply(&bench);
            if aged {
                bench.age();
            }
            assert_eq!(titles(&index), *expected, "{change}, aged: {aged}");
            assert_eq!(
                titles(&bench.index()),
                *expected,
                "{change}, another process"
            );
        }
    }
}

/// A session that is open grows without any change to a directory.
#[test]
fn an_open_session_is_looked_at_by_every_list() {
    let bench = two();
    let open = bench.reopen(id(1));
    bench.append(&open, AT, &[titled("begun")]);
    open.lease.set_state(HolderState::Open).unwrap();
    bench.age();
    let index = bench.index();
    assert_eq!(titles(&index), ["two", "begun"]);
    bench.append(&open, LATER, &[titled("went on"), said_by_user("x")]);
    assert_eq!(titles(&index), ["went on", "two"]);
    bench.tamper();
    assert_eq!(
        titles(&index),
        ["from the row", "from the row"],
        "and read only if it grew"
    );
    bench.close(open);
}

/// A holder that was killed leaves its mark in `open`, and perhaps more in its log than it noted.
#[test]
fn the_log_of_a_dead_holder_is_read_to_its_end() {
    let bench = two();
    let open = bench.reopen(id(1));
    bench.append(&open, AT, &[titled("begun")]);
    bench.age();
    let index = bench.index();
    titles(&index);
    bench.append(&open, LATER, &[titled("unnoted"), said_by_user("x")]);
    std::mem::forget(open);
    assert_eq!(titles(&index), ["unnoted", "two"]);
}

#[test]
fn an_old_copy_of_the_index_is_brought_up_to_date() {
    let bench = two();
    bench.age();
    titles(&bench.index());
    bench
        .sqlite()
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    std::fs::copy(bench.path("index.sqlite"), bench.beside("old")).unwrap();
    bench.session(3, "/w", LATER, "three");
    let open = bench.reopen(id(1));
    bench.append(&open, LATER, &[titled("uno")]);
    bench.close(open);
    titles(&bench.index());
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        let _absent = std::fs::remove_file(bench.path(name));
    }
    std::fs::copy(bench.beside("old"), bench.path("index.sqlite")).unwrap();
    assert_eq!(titles(&bench.index()), ["three", "two", "uno"]);
}

#[test]
fn an_index_that_is_removed_under_a_running_process_is_made_again() {
    let bench = two();
    bench.age();
    let index = bench.index();
    titles(&index);
    bench.tamper();
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        let _absent = std::fs::remove_file(bench.path(name));
    }
    assert_eq!(titles(&index), ["two", "one"]);
    assert!(bench.path("index.sqlite").exists());
}

#[test]
fn a_rebuild_reads_every_log_and_says_how_far_it_is() {
    let bench = two();
    bench.age();
    let index = bench.index();
    titles(&index);
    bench.tamper();
    let mut seen = Vec::new();
    index
        .rebuild(&mut |progress| seen.push((progress.done, progress.total)))
        .unwrap();
    assert_eq!(seen, [(2, 2)]);
    assert_eq!(titles(&index), ["two", "one"]);
}

/// LOG-9: a miss falls back to the log.
#[test]
fn a_session_without_a_row_is_found_by_its_log() {
    let bench = two();
    bench.age();
    let index = bench.index();
    titles(&index);
    index.forget(id(1));
    assert_eq!(
        titles(&index),
        ["two"],
        "its row is gone, and nothing in the store changed"
    );
    let row = index.find(id(1)).unwrap().unwrap();
    assert_eq!(row.title.as_deref(), Some("one"));
    assert_eq!(index.find(id(7)).unwrap(), None);
}

/// RESUME-3: lists change no byte below `sessions`.
#[test]
fn a_list_changes_nothing_in_the_logs() {
    let bench = two();
    let look = || {
        let dir = log_dir(bench.store.root(), id(1));
        let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
        entries
            .map(|e| (e.file_name(), std::fs::read(e.path()).unwrap()))
            .collect::<Vec<_>>()
    };
    let before = look();
    bench.index().list(&all()).unwrap();
    assert_eq!(look(), before);
}

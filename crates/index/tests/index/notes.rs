//! Notes: the row of a session without reading its log.

use sessiond_index::{Index, Note};
use sessiond_protocol::{EventFrame, Recency};

use crate::harness::{Bench, forked, having, id, said_by_agent, said_by_user, titled, titles};

const AT: &str = "2026-01-01T00:00:00Z";
const LATER: &str = "2026-01-01T00:00:09Z";

fn note(from: u64, frames: &[EventFrame]) -> Note {
    let mut note = Note::new(id(1), from);
    frames.iter().for_each(|frame| note.apply(frame));
    note
}

fn tell(index: &Index, note: Note) {
    index.note(note);
    index.flush();
}

/// Whether the row counts without a look at the log.
fn has_mark(bench: &Bench) -> Option<bool> {
    let sql = "SELECT segment IS NOT NULL FROM session WHERE id = ?1";
    let connection = bench.sqlite();
    connection
        .query_row(sql, [id(1).to_string()], |row| row.get(0))
        .ok()
}

#[test]
fn notes_make_the_row_that_reading_the_log_makes() {
    let bench = Bench::new();
    let index = bench.index();
    let open = bench.open(1, "/w", AT);
    let first = bench.append(&open, AT, &[titled("first"), said_by_user("the prompt")]);
    bench.age();
    // The header as the log has it: a session's first note begins at 1.
    let read = bench.index().find(id(1)).unwrap().unwrap();
    let mut frames = header(&bench);
    frames.extend(first);
    tell(&index, note(1, &frames));
    assert_eq!(has_mark(&bench), Some(true));
    assert_eq!(index.find(id(1)).unwrap().unwrap(), read);
    let more = [said_by_agent("a"), said_by_agent("b"), titled("second")];
    let more = bench.append(&open, LATER, &more);
    tell(&index, note(4, &more));
    assert_eq!(has_mark(&bench), Some(true));
    let noted = index.find(id(1)).unwrap().unwrap();
    index.rebuild(&mut |_| ()).unwrap();
    assert_eq!(index.find(id(1)).unwrap().unwrap(), noted);
    assert_eq!(noted.title.as_deref(), Some("second"));
    assert_eq!(noted.updated_at, LATER);
    assert_eq!(index.list(&having("the prompt")).unwrap().rows.len(), 1);
    bench.close(open);
}

/// LOG-14: the flag goes with the next message, not with the next note.
#[test]
fn a_time_that_was_clamped_stays_flagged_until_a_message_gives_another() {
    let bench = Bench::new();
    let index = bench.index();
    let open = bench.open(1, "/w", AT);
    let future = bench.append(&open, "9000-01-01T00:00:00Z", &[said_by_user("x")]);
    let renamed = bench.append(&open, AT, &[titled("first")]);
    let answered = bench.append(&open, LATER, &[said_by_agent("y")]);
    bench.age();
    let mut first = header(&bench);
    first.extend(future);
    let table = [
        (note(1, &first), Recency::Clamped),
        (note(3, &renamed), Recency::Clamped),
        (note(4, &answered), Recency::Logged),
    ];
    for (note, recency) in table {
        let what = format!("{note:?}");
        tell(&index, note);
        let sql = "SELECT clamped FROM session";
        let clamped: bool = bench.sqlite().query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(clamped, recency == Recency::Clamped, "{what}");
    }
    assert_eq!(index.find(id(1)).unwrap().unwrap().updated_at, LATER);
    bench.close(open);
}

/// RESUME-9: the same by its log and by notes, of which the last takes it up after its making.
#[test]
fn a_fork_was_created_when_it_was_forked_and_has_its_parents_turns() {
    let bench = Bench::new();
    let index = bench.index();
    let open = bench.open(1, "/w", AT);
    let started = serde_json::json!({
        "type": "turn.started", "base": 1, "config": {
            "agent": "script", "version": null, "model": null, "mode": null, "cwd": "/w", "policy": 0,
        },
    });
    let before = bench.append(&open, AT, &[started.clone(), said_by_user("x")]);
    tell(&index, note(1, &[header(&bench), before].concat()));
    let after = bench.append(&open, LATER, &[forked(id(9), 3), started]);
    bench.age();
    tell(&index, note(4, &after));
    assert_eq!(has_mark(&bench), Some(true));
    let noted = index.find(id(1)).unwrap().unwrap();
    assert_eq!((noted.created_at.as_str(), noted.turns), (LATER, 2));
    assert_eq!(
        noted.updated_at, AT,
        "of the newest message, which is the parent's"
    );
    index.rebuild(&mut |_| ()).unwrap();
    assert_eq!(index.find(id(1)).unwrap().unwrap(), noted);
    bench.close(open);
}

fn header(bench: &Bench) -> Vec<EventFrame> {
    let subject = crate::harness::subject(id(1));
    let record = bench.store.head(&subject).unwrap().unwrap();
    let data: serde_json::Value = serde_json::from_str(&record.data).unwrap();
    vec![EventFrame {
        session: id(1),
        cursor: Some(sessiond_protocol::Cursor(1)),
        turn: None,
        item: None,
        cause: None,
        at: Some(record.at),
        event: serde_json::from_value(data["event"].clone()).unwrap(),
    }]
}

/// Each row: what the index heard, and whether its row may count without the log.
#[test]
fn a_note_that_is_not_the_end_of_the_log_never_counts() {
    let bench = Bench::new();
    let open = bench.open(1, "/w", AT);
    let first = bench.append(&open, AT, &[titled("first"), said_by_user("x")]);
    let second = bench.append(&open, LATER, &[titled("second"), said_by_user("y")]);
    bench.age();
    let whole: Vec<_> = [header(&bench), first, second].concat();
    let table = [
        ("all of it", note(1, &whole), Some(true)),
        ("all but the end", note(1, &whole[..4]), Some(false)),
        (
            "one in the middle is missing",
            note(1, &[&whole[..2], &whole[3..]].concat()),
            None,
        ),
        ("the end alone", note(4, &whole[3..]), None),
        ("nothing", note(6, &[]), None),
    ];
    for (heard, note, mark) in table {
        let index = bench.index();
        index.forget(id(1));
        let _absent = std::fs::remove_file(bench.path("index.sqlite"));
        tell(&index, note);
        assert_eq!(has_mark(&bench), mark, "{heard}");
        assert_eq!(titles(&index), ["second"], "{heard}");
    }
    bench.close(open);
}

/// A note that was lost leaves a hole, which the notes after it must not hide.
#[test]
fn a_note_that_does_not_follow_the_one_before_never_counts() {
    let bench = Bench::new();
    let open = bench.open(1, "/w", AT);
    bench.append(&open, AT, &[titled("lost")]);
    let last = bench.append(&open, LATER, &[said_by_user("x")]);
    bench.age();
    let index = bench.index();
    tell(&index, note(1, &header(&bench)));
    tell(&index, note(3, &last));
    assert_eq!(has_mark(&bench), Some(false));
    assert_eq!(titles(&index), ["lost"]);
    bench.close(open);
}

/// A process that has left leaves the rows and nothing beside them on the disk.
#[test]
fn a_flush_leaves_the_database_file_alone_in_the_store() {
    let bench = Bench::new();
    let open = bench.open(1, "/w", AT);
    bench.age();
    let index = bench.index();
    index.note(note(1, &header(&bench)));
    index.flush();
    let left = ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"];
    let left = left.map(|name| bench.path(name).exists());
    assert_eq!(left, [true, false, false]);
    assert_eq!(has_mark(&bench), Some(true));
    bench.close(open);
}

#[test]
fn taking_a_note_leaves_one_that_goes_on() {
    let bench = Bench::new();
    let open = bench.open(1, "/w", AT);
    let frames = bench.append(&open, AT, &[titled("first"), said_by_user("x")]);
    let mut note = Note::new(id(1), 2);
    assert!(note.is_empty());
    note.apply(&frames[0]);
    assert!(!note.is_empty());
    assert!(!note.take().is_empty());
    assert!(note.is_empty());
    note.apply(&frames[1]);
    assert!(!note.is_empty());
    bench.close(open);
}

/// LOG-9: an append never waits for the index, whoever has it locked.
#[test]
fn notes_are_never_waited_for() {
    let bench = Bench::new();
    bench.session(1, "/w", AT, "one");
    bench.age();
    let index = bench.index();
    assert_eq!(titles(&index), ["one"]);
    let other = bench.sqlite();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let open = bench.reopen(id(1));
    let frames = bench.append(&open, LATER, &[titled("uno")]);
    // Far more than the queue takes; each call returns while the lock is held.
    (0..1000).for_each(|_| index.note(note(4, &frames)));
    assert_eq!(
        titles(&index),
        ["uno"],
        "from memory, while the file is locked"
    );
    bench.close(open);
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(titles(&index), ["uno"]);
}

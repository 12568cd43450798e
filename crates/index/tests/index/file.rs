//! The database file: private, replaceable, dispensable.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use sessiond_index::Index;
use sessiond_log::Store;

use crate::harness::{Bench, titles};

const AT: &str = "2026-01-01T00:00:00Z";

fn one() -> Bench {
    let bench = Bench::new();
    bench.session(1, "/w", AT, "one");
    bench.age();
    bench
}

/// LOG-15
#[test]
fn the_files_are_private() {
    let bench = one();
    let index = bench.index();
    titles(&index);
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        let mode = fs::metadata(bench.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn opening_an_index_opens_nothing() {
    let bench = one();
    let _index = bench.index();
    assert!(!bench.path("index.sqlite").exists());
}

/// LOG-11
#[test]
fn in_a_store_of_a_newer_format_the_list_is_right_and_no_file_is_made() {
    let bench = one();
    fs::write(bench.path("STORE"), "{\"format\":3}\n").unwrap();
    assert_eq!(titles(&bench.index()), ["one"]);
    assert!(!bench.path("index.sqlite").exists());
}

/// LOG-9: each row is what lies where the file should be, and whether a list mends it.
#[test]
fn whatever_lies_in_its_place_the_list_is_right() {
    type Plant = fn(&Path);
    let table: [(&str, Plant, bool); 10] = [
        ("nothing", |path| fs::remove_file(path).unwrap(), true),
        ("an empty file", |path| fs::write(path, "").unwrap(), true),
        (
            "no database",
            |path| fs::write(path, "no database".repeat(1000)).unwrap(),
            true,
        ),
        (
            "half of one",
            |path| {
                let bytes = fs::read(path).unwrap();
                fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
            },
            true,
        ),
        (
            "one with zeros from its middle on",
            |path| {
                let mut bytes = fs::read(path).unwrap();
                let half = bytes.len() / 2;
                bytes[half..].fill(0);
                fs::write(path, bytes).unwrap();
            },
            true,
        ),
        (
            "other tables",
            |path| {
                let sqlite = rusqlite::Connection::open(path).unwrap();
                sqlite
                    .execute_batch("DROP TABLE session; CREATE TABLE session (x)")
                    .unwrap();
            },
            true,
        ),
        (
            "a row that is none",
            |path| {
                let sqlite = rusqlite::Connection::open(path).unwrap();
                sqlite
                    .execute_batch("UPDATE session SET id = 'x', cwd = NULL")
                    .unwrap();
                let stamp = "UPDATE stamp SET sessions = sessions";
                sqlite.execute_batch(stamp).unwrap();
            },
            true,
        ),
        (
            "a directory",
            |path| {
                fs::remove_file(path).unwrap();
                fs::create_dir(path).unwrap();
            },
            false,
        ),
        (
            "one of an older program",
            |path| {
                let sqlite = rusqlite::Connection::open(path).unwrap();
                sqlite
                    .execute_batch("UPDATE session SET title = 'x'")
                    .unwrap();
                sqlite.pragma_update(None, "user_version", 1).unwrap();
            },
            true,
        ),
        (
            "one of a newer program",
            |path| {
                let sqlite = rusqlite::Connection::open(path).unwrap();
                sqlite
                    .execute_batch("UPDATE session SET title = 'x'")
                    .unwrap();
                sqlite.pragma_update(None, "user_version", 4).unwrap();
            },
            false,
        ),
    ];
    for (what, plant, mended) in table {
        let bench = one();
        titles(&bench.index());
        let path = bench.path("index.sqlite");
        plant(&path);
        let state = || -> Option<(i64, i64)> {
            let sqlite = rusqlite::Connection::open(&path).ok()?;
            let sql = "SELECT user_version, (SELECT count(*) FROM session WHERE title = 'one') \
                 FROM pragma_user_version";
            let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            sqlite.query_row(sql, [], columns).ok()
        };
        let before = state();
        let index = bench.index();
        assert_eq!(titles(&index), ["one"], "{what}");
        assert_eq!(titles(&index), ["one"], "{what}, again");
        let expected = if mended { Some((3, 1)) } else { before };
        assert_eq!(state(), expected, "{what}");
    }
}

/// LOG-15: no link is followed, by whatever name SQLite would write.
#[test]
fn links_planted_in_its_place_are_not_followed() {
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        let bench = one();
        let target = bench.beside("precious");
        fs::write(&target, "").unwrap();
        symlink(&target, bench.path(name)).unwrap();
        assert_eq!(titles(&bench.index()), ["one"], "{name}");
        assert_eq!(fs::read(&target).unwrap(), b"", "{name}");
    }
    let bench = one();
    let target = bench.beside("precious");
    fs::write(&target, "").unwrap();
    fs::hard_link(&target, bench.path("index.sqlite")).unwrap();
    assert_eq!(titles(&bench.index()), ["one"]);
    assert_eq!(
        fs::read(&target).unwrap(),
        b"",
        "a second name of a file elsewhere"
    );
}

#[test]
fn a_store_reached_through_a_link_has_an_index() {
    let bench = one();
    let link = bench.beside("link");
    symlink(bench.store.root().parent().unwrap(), &link).unwrap();
    let store = Store::open_real(&link.join("store")).unwrap();
    assert_eq!(titles(&Index::open(&store)), ["one"]);
    assert!(bench.path("index.sqlite").exists());
}

#[test]
fn a_store_that_cannot_be_written_is_listed_from_its_logs() {
    let bench = one();
    fs::set_permissions(bench.store.root(), Permissions::from_mode(0o500)).unwrap();
    let listed = titles(&bench.index());
    fs::set_permissions(bench.store.root(), Permissions::from_mode(0o700)).unwrap();
    assert_eq!(listed, ["one"]);
}

#[test]
fn a_store_in_memory_is_listed_from_its_logs() {
    let index = Index::open(&Store::in_memory());
    assert!(titles(&index).is_empty());
    assert!(!Path::new(":memory:").exists());
}

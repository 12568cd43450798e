//! Stores that earlier versions wrote read as they did then, for ever.
//!
//! `golden/v<format>/<case>/store` is a store as that format's writer left it, `expected.json` what
//! the reader in Python found: records, damage, torn end, next seq. They are never edited; a new
//! format gets a folder of its own, made by `GOLDEN=<new folder> cargo test -p sessiond-log --test
//! golden` and recorded by `conformance/logread.py`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::{Path, PathBuf};

use sessiond_log::fs::MemoryFs;
use sessiond_log::{Durability, NewRecord, Owner, Store};
use support::{Backend, as_second_reader, lease, record, run, subject, texts, wait};

/// BLAKE3 of all files of a format, so that an edit does not pass.
const FORMATS: [(&str, &str); 2] = [
    (
        "v1",
        "b3317dcedc704510f3f383219f7ac7a125cf028f9cbfbe16362ee90b86122b6e",
    ),
    (
        "v2",
        "89d621033357b3d7ec0d2612142edca950afe887e539f8e9fa5ac05ec72012e3",
    ),
];

/// What each format's writer could leave.
fn cases(format: &str) -> Vec<&'static str> {
    let mut cases = vec!["blob", "clean", "damaged", "torn"];
    if format != "v1" {
        cases.extend(["forked", "older"]);
    }
    cases
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Every file below a directory with its bytes, ordered by path.
fn files(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut entries: Vec<_> = std::fs::read_dir(root)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    let mut all = Vec::new();
    for path in entries {
        if path.is_dir() {
            all.append(&mut files(&path));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            all.push((path, bytes));
        }
    }
    all
}

/// A copy of a store, so that the original stays as it is.
fn copy(store: &Path) -> Backend {
    let fs = MemoryFs::new();
    for (path, bytes) in files(store) {
        fs.put(path.strip_prefix(store).unwrap(), bytes);
    }
    Backend::memory(fs)
}

/// LOG-11
#[test]
fn golden_stores_read_as_they_were_recorded() {
    for (format, _) in FORMATS {
        for case in cases(format) {
            let folder = golden().join(format).join(case);
            let expected = std::fs::read(folder.join("expected.json")).unwrap();
            let expected: serde_json::Value = serde_json::from_slice(&expected).unwrap();
            let backend = copy(&folder.join("store"));
            assert!(backend.store().subjects().unwrap().contains(&subject()));
            let scan = backend.store().read(&subject()).unwrap();
            assert_eq!(as_second_reader(&scan), expected, "{format} {case}");
        }
    }
}

/// LOG-11: and they can be gone on with.
#[test]
fn golden_stores_can_be_appended_to() {
    for (format, _) in FORMATS {
        for case in cases(format) {
            let backend = copy(&golden().join(format).join(case).join("store"));
            let before = backend.store().read(&subject()).unwrap();
            run(&backend.store(), &[&["more"]]).unwrap();
            let after = backend.store().read(&subject()).unwrap();
            let mut expected = texts(&before);
            expected.push((before.next_seq, "more".to_owned()));
            assert_eq!(texts(&after), expected, "{format} {case}");
            assert_eq!(
                (&after.damage, &after.torn),
                (&before.damage, &None),
                "{format} {case}"
            );
            let backups = backend.store().backups().unwrap();
            assert_eq!(
                backups.len(),
                usize::from(format == "v1"),
                "{format} {case}"
            );
        }
    }
}

#[test]
fn golden_stores_were_not_edited() {
    for (format, sum) in FORMATS {
        let folder = golden().join(format);
        let mut hasher = blake3::Hasher::new();
        for (path, bytes) in files(&folder) {
            let name = path
                .strip_prefix(&folder)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            hasher.update(name.as_bytes()).update(&[0]);
            hasher
                .update(&(bytes.len() as u64).to_le_bytes())
                .update(&bytes);
        }
        assert_eq!(
            hasher.finalize().to_hex().as_str(),
            sum,
            "{format}: golden files are for ever"
        );
    }
}

/// Not a test of its own: makes the stores of a new format where the environment names a folder.
#[test]
fn golden_stores_of_this_version() {
    let Some(folder) = std::env::var_os("GOLDEN") else {
        return;
    };
    let store = |case: &str| Path::new(&folder).join(case).join("store");
    let open = |case: &str| Store::open_real(&store(case)).unwrap();
    let segment = |case: &str| {
        let log = store(case).join(support::log_dir());
        files(&log).remove(0)
    };
    run(&open("clean"), &[&["one"], &["two", "three"]]).unwrap();
    run(&open("clean"), &[&["four"]]).unwrap();

    run(&open("torn"), &[&["one"], &["two"]]).unwrap();
    let (path, bytes) = segment("torn");
    std::fs::write(path, &bytes[..bytes.len() - 9]).unwrap();

    run(&open("damaged"), &[&["one"], &["two"], &["three"]]).unwrap();
    let (path, mut bytes) = segment("damaged");
    let at = bytes.windows(5).position(|w| w == b"\"two\"").unwrap();
    bytes[at + 1] ^= 1;
    std::fs::write(path, bytes).unwrap();
    run(&open("damaged"), &[&["four"]]).unwrap();

    let held = lease(&open("blob")).unwrap();
    let writer = held.writer().unwrap();
    // Data that poses as the name of a blob goes out of line, however short.
    let data = "{\"$blob\":0,\"text\":\"two\"}".to_owned();
    let batch = vec![
        record("one"),
        NewRecord { data, ..record("") },
        record("three"),
    ];
    wait(writer.append(batch, Durability::Synced)).unwrap();
    wait(writer.shutdown()).unwrap();

    let mut held = lease(&open("older")).unwrap();
    let writer = held.writer().unwrap();
    wait(writer.append(vec![record("one"), record("two")], Durability::Synced)).unwrap();
    wait(writer.checkpoint(record("three"))).unwrap();
    wait(writer.append(vec![record("four")], Durability::Synced)).unwrap();
    wait(writer.shutdown()).unwrap();
    held.put_older_away(&mut |_, _| ()).unwrap();

    // The one that is read is the child: its first segment is its parent's.
    let parent = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d0f".parse().unwrap();
    let held = open("forked").create(&parent, &Owner::current()).unwrap();
    let writer = held.writer().unwrap();
    wait(writer.append(vec![record("one"), record("two")], Durability::Synced)).unwrap();
    let fork = held.fork(1, &subject(), &Owner::current()).unwrap();
    let writer = fork.writer().unwrap();
    wait(writer.append(vec![record("mine")], Durability::Synced)).unwrap();
    wait(writer.shutdown()).unwrap();
}

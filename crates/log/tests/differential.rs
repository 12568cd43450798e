//! The second reader, in Python, agrees with this one on good and broken logs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sessiond_log::{INLINE_BYTES, NewRecord, Owner, Subject};
use support::{
    Backend, append, as_second_reader, lease, log_dir, record, run, session_dir, subject, wait,
};

/// Reads every session directory that is named on stdin, one answer a line: one start of Python.
const DRIVER: &str = "
import json, sys
sys.path.insert(0, sys.argv[1])
import logread
for root in sys.stdin.read().splitlines():
    log = logread.Log(root)
    print(json.dumps([log.records, log.damage, log.torn, log.next_seq]))
";

fn theirs(roots: &[PathBuf]) -> Vec<serde_json::Value> {
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let mut python = Command::new("python3")
        .args(["-B", "-c", DRIVER])
        .arg(reader)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let list: Vec<_> = roots.iter().map(|r| r.to_str().unwrap()).collect();
    python
        .stdin
        .take()
        .unwrap()
        .write_all(list.join("\n").as_bytes())
        .unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "the Python reader failed");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Broken variants of each segment of a log.
fn variants(source: &Backend, segments: Vec<PathBuf>) -> Vec<(String, PathBuf, Vec<u8>)> {
    let mut variants = Vec::new();
    for (index, path) in segments.into_iter().enumerate() {
        let whole = source.bytes(&path);
        for length in (0..whole.len()).step_by(7) {
            let cut = whole[..length].to_vec();
            variants.push((
                format!("segment {index} cut to {length}"),
                path.clone(),
                cut,
            ));
        }
        for bit in (0..whole.len() * 8).step_by(29) {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            variants.push((format!("segment {index} bit {bit}"), path.clone(), bytes));
        }
        let lines: Vec<_> = whole.split_inclusive(|b| *b == b'\n').collect();
        for (at, line) in lines.iter().enumerate() {
            let (before, after) = (lines[..at].concat(), lines[at + 1..].concat());
            let garbled = [&line[..line.len() - 1], b"\x0b"].concat();
            let edits: [(&str, Vec<&[u8]>); 6] = [
                ("removed", vec![]),
                ("twice", vec![line, line]),
                ("replaced by the last", vec![lines[lines.len() - 1]]),
                ("behind a stub", vec![&line[..20], line]),
                ("behind NULs", vec![&[0; 64], line]),
                ("without its LF", vec![&garbled]),
            ];
            for (name, middle) in edits {
                let bytes = [before.clone(), middle.concat(), after.clone()].concat();
                variants.push((
                    format!("segment {index} line {at} {name}"),
                    path.clone(),
                    bytes,
                ));
            }
        }
    }
    variants
}

/// LOG-3, LOG-4
#[test]
fn an_independent_reader_agrees_on_every_broken_log() {
    let source = Backend::real();
    let large = "x".repeat(INLINE_BYTES);
    run(&source.store(), &[&["one"], &["two", &large], &["four"]]).unwrap();
    run(&source.store(), &[&["five"], &["six"]]).unwrap();
    let mut cases = variants(&source, source.segments());
    let first = source.segments().remove(0);
    cases.push(("whole".to_owned(), first.clone(), source.bytes(&first)));
    assert!(cases.len() > 300 && first.starts_with(log_dir()));
    agree(&source, &cases, &subject());
}

/// RESUME-9: a fork has segments of its parent, with headers that name that.
#[test]
fn an_independent_reader_agrees_on_every_broken_fork() {
    let source = Backend::real();
    let store = source.store();
    run(&store, &[&["one"], &["two"]]).unwrap();
    run(&store, &[&["three", "four"], &["five"]]).unwrap();
    let child: Subject = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d11".parse().unwrap();
    let parent = lease(&store).unwrap();
    let fork = parent.fork(4, &child, &Owner::current()).unwrap();
    append(&fork.writer().unwrap(), &["mine"]).unwrap();
    let log = Path::new("sessions").join(child.as_ref()).join("log");
    let mut names = source.fs.list(&log).unwrap();
    names.sort();
    let segments: Vec<_> = names.iter().map(|n| log.join(n)).collect();
    assert_eq!(segments.len(), 4);
    let mut cases = variants(&source, segments.clone());
    cases.push((
        "whole".to_owned(),
        segments[0].clone(),
        source.bytes(&segments[0]),
    ));
    let foreign = source.bytes(&segments[1]);
    cases.push(("a strange segment".to_owned(), segments[0].clone(), foreign));
    agree(&source, &cases, &child);
}

/// LOG-10: and of a log whose older segments are compressed, in two members and in several.
#[test]
fn an_independent_reader_agrees_on_every_broken_log_that_was_put_away() {
    for (bytes, step) in [(3_000, 1), (INLINE_BYTES - 100, 60)] {
        let source = Backend::real();
        put_away(&source, bytes);
        let older = session_dir().join("older");
        let path = older.join(source.fs.list(&older).unwrap().remove(0));
        let whole = source.bytes(&path);
        let mut cases = vec![("whole".to_owned(), path.clone(), whole.clone())];
        for length in (0..whole.len()).step_by(step) {
            let cut = whole[..length].to_vec();
            cases.push((format!("cut to {length}"), path.clone(), cut));
        }
        for bit in (0..whole.len() * 8).step_by(5 * step) {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            cases.push((format!("bit {bit}"), path.clone(), bytes));
        }
        let twice = [whole.as_slice(), whole.as_slice()].concat();
        cases.push(("twice".to_owned(), path.clone(), twice));
        let plain = source.bytes(&source.segments()[0]);
        cases.push(("no gzip".to_owned(), path.clone(), plain));
        assert!(cases.len() * step > 500, "{}", cases.len());
        agree(&source, &cases, &subject());
    }
}

/// A log whose first segment, with three records of so many bytes, is compressed.
fn put_away(source: &Backend, bytes: usize) {
    let store = source.store();
    let mut held = lease(&store).unwrap();
    let writer = held.writer().unwrap();
    let large = "x".repeat(bytes);
    append(&writer, &["one", "two"]).unwrap();
    append(&writer, &[&large, &large, &large, "three"]).unwrap();
    let checkpoint = NewRecord {
        kind: "checkpoint".to_owned(),
        ..record("four")
    };
    wait(writer.checkpoint(checkpoint)).unwrap();
    append(&writer, &["five"]).unwrap();
    wait(writer.shutdown()).unwrap();
    assert_eq!(held.put_older_away(&mut |_, _| ()).unwrap().segments, 1);
}

/// Both readers find the same in the log of `subject`, in each case with one file changed.
fn agree(source: &Backend, cases: &[(String, PathBuf, Vec<u8>)], subject: &Subject) {
    let directory = tempfile::tempdir().unwrap();
    let session = Path::new("sessions").join(subject.as_ref());
    let mut files = source.tree(Path::new("keys"));
    files.extend(source.tree(&session));
    let mut roots = Vec::new();
    let mut expected = Vec::new();
    for (number, (_, changed, bytes)) in cases.iter().enumerate() {
        let root = directory.path().join(number.to_string());
        for (path, content) in &files {
            let target = root.join(path);
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::write(target, if path == changed { bytes } else { content }).unwrap();
        }
        let store = sessiond_log::Store::open_real(&root).unwrap();
        expected.push(as_second_reader(&store.read(subject).unwrap()));
        roots.push(root.join(&session));
    }
    for ((case, theirs), ours) in cases.iter().zip(theirs(&roots)).zip(expected) {
        for part in 1..4 {
            assert_eq!(theirs[part], ours[part], "{}", case.0);
        }
        assert_eq!(brief(&theirs), brief(&ours), "{}", case.0);
        assert!(theirs == ours, "{}", case.0);
    }
}

/// Without the long text of the blob, for messages.
fn brief(value: &serde_json::Value) -> String {
    value.to_string().replace(&"x".repeat(64), "")
}

//! Every rollout below `tests/rollouts` is told as `tests/rollouts.golden` says.
//!
//! `UPDATE=1 cargo test -p sessiond-codex --test golden` writes that file anew; read what changed. A
//! first line `# file: …` is no part of the rollout: it says what the file was called.

#![expect(
    clippy::unwrap_used,
    reason = "clippy sees tests only in functions marked so"
)]

#[path = "../../claude/tests/shown/mod.rs"]
mod shown;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sessiond_codex::rollout::{File, Fold, Rollout, Wanted, go_on, thread_of};
use sessiond_protocol::{Item, SessionId, Telling, Told};
use sessiond_wire::foreign::Upto;

use shown::{is_as_reviewed, line, says};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// A rollout: the name of the fixture, and the file.
struct Fixture {
    fixture: String,
    name: String,
    bytes: Vec<u8>,
}

impl Fixture {
    fn file(&self) -> File<Vec<u8>> {
        let length = self.bytes.len() as u64;
        File {
            name: self.name.clone(),
            source: Upto::new(self.bytes.clone(), length),
        }
    }
}

fn fixtures() -> Vec<Fixture> {
    let entries = fs::read_dir(folder().join("rollouts")).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let fixtures = paths.iter().map(|path| {
        let fixture = path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut bytes = fs::read(path).unwrap();
        let mut name = fixture.clone();
        if bytes.starts_with(b"# file: ") {
            let end = bytes.iter().position(|b| *b == b'\n').unwrap();
            let head: Vec<u8> = bytes.drain(..=end).collect();
            let head = String::from_utf8(head).unwrap();
            name = head.trim_end().rsplit('/').next().unwrap().to_owned();
        }
        Fixture {
            fixture,
            name,
            bytes,
        }
    });
    fixtures.collect()
}

/// The files of a thread, the newest first.
fn find(fixtures: &[Fixture], wanted: &Wanted) -> io::Result<Vec<File<Vec<u8>>>> {
    let of_thread = fixtures
        .iter()
        .filter(|f| thread_of(&f.name) == Some(wanted.thread));
    let mut files: Vec<_> = of_thread.map(Fixture::file).collect();
    files.sort_by(|a, b| b.name.cmp(&a.name));
    Ok(files)
}

fn told() -> String {
    let (fixtures, mut text) = (fixtures(), String::new());
    for fixture in &fixtures {
        let rollout = Rollout::read(fixture.file(), |wanted| find(&fixtures, wanted)).unwrap();
        writeln!(text, "== {}", fixture.fixture).unwrap();
        let mut fold = Fold::new(&rollout);
        for told in fold.by_ref() {
            writeln!(text, "{}", line(&told.unwrap())).unwrap();
        }
        let findings = rollout.findings().clone().and(&fold.findings());
        writeln!(text, "-- {}\n", says(&findings)).unwrap();
    }
    text
}

/// ADAPT-4: what was not gone on with is written as it was, byte for byte; also where a session keeps
/// no thoughts, and knows notices by no id.
#[test]
fn every_rollout_is_written_again_as_it_was() {
    let fixtures = fixtures();
    let is_kept = |told: &Told| !matches!(told.what, Telling::Item(Item::Thought { .. }));
    for fixture in &fixtures {
        let rollout = Rollout::read(fixture.file(), |wanted| find(&fixtures, wanted)).unwrap();
        let told = Fold::new(&rollout).map(|told| match told.unwrap() {
            Told {
                at,
                what: what @ Telling::Notice { .. },
                ..
            } => Told { id: None, at, what },
            told => told,
        });
        let all: Vec<Told> = told.collect();
        let lean: Vec<Told> = all.iter().filter(|told| is_kept(told)).cloned().collect();
        for told in [all, lean] {
            let (session, mut out) = (SessionId::new(uuid::Uuid::from_u128(1)), Vec::new());
            let losses = go_on(&rollout, (session, rollout.about()), told, &mut out).unwrap();
            assert!(
                out == fixture.bytes,
                "{} is not what it was",
                fixture.fixture
            );
            assert!(losses.is_empty());
        }
    }
}

/// ADAPT-4: what the real program wrote is read, with the right conversation; what is damaged is
/// read around and said.
#[test]
fn every_rollout_is_told_as_it_was_reviewed() {
    is_as_reviewed(&folder().join("rollouts.golden"), &told());
}

//! Every transcript below `tests/transcripts` is told as `tests/transcripts.golden` says.
//!
//! `UPDATE=1 cargo test -p sessiond-claude --test golden` writes that file anew; read what changed.

#![expect(
    clippy::unwrap_used,
    reason = "clippy sees tests only in functions marked so"
)]

mod shown;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sessiond_claude::transcript::{Fold, Index, go_on};
use sessiond_protocol::{Item, SessionId, Telling, Told};

use shown::{is_as_reviewed, line, says};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder().join("transcripts")).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn told() -> String {
    let mut text = String::new();
    for path in files() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let file = fs::File::open(&path).unwrap();
        let index = Index::read(&file).unwrap();
        let mut fold = Fold::new(&index, &file);
        writeln!(text, "== {name}").unwrap();
        for told in fold.by_ref() {
            writeln!(text, "{}", line(&told.unwrap())).unwrap();
        }
        writeln!(text, "-- {}", says(index.findings())).unwrap();
        writeln!(text, "-- {}\n", says(fold.findings())).unwrap();
    }
    text
}

/// ADAPT-4: what was not gone on with is written as it was, byte for byte; also where a session keeps
/// no thoughts, and knows notices by no id.
#[test]
fn every_transcript_is_written_again_as_it_was() {
    let is_kept = |told: &Told| !matches!(told.what, Telling::Item(Item::Thought { .. }));
    for path in files() {
        let bytes = fs::read(&path).unwrap();
        let index = Index::read(&bytes).unwrap();
        let told = Fold::new(&index, &bytes).map(|told| match told.unwrap() {
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
            let losses = go_on(&bytes, (session, index.about()), told, &mut out).unwrap();
            assert!(out == bytes, "{} is not what it was", path.display());
            assert!(losses.is_empty());
        }
    }
}

/// ADAPT-4: what the real program wrote is read, with the right conversation.
#[test]
fn every_transcript_is_told_as_it_was_reviewed() {
    is_as_reviewed(&folder().join("transcripts.golden"), &told());
}

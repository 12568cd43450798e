//! What the tests of the log share: one body, several disks.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sessiond_log::fs::{Fs, MemoryFs, RealFs};
use sessiond_log::{
    Appended, Durability, Lease, LogError, NewRecord, Owner, Scan, Store, Subject, Writer,
};

pub(crate) const ID: &str = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10";

pub(crate) fn subject() -> Subject {
    ID.parse().unwrap()
}

pub(crate) fn record(text: &str) -> NewRecord {
    NewRecord {
        kind: "item.ended".to_owned(),
        at: "2026-11-29T12:00:00.000Z".to_owned(),
        data: serde_json::json!({ "text": text }).to_string(),
    }
}

pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

pub(crate) fn append(writer: &Writer, texts: &[&str]) -> Result<Appended, LogError> {
    let batch = texts.iter().map(|t| record(t)).collect();
    wait(writer.append(batch, Durability::Synced))
}

/// The texts of the records that count, with their seqs.
pub(crate) fn texts(scan: &Scan) -> Vec<(u64, String)> {
    scan.records
        .iter()
        .map(|r| {
            let data: serde_json::Value = serde_json::from_str(&r.data).unwrap();
            (r.seq, data["text"].as_str().unwrap().to_owned())
        })
        .collect()
}

/// The texts without the bulk of large ones, for messages.
pub(crate) fn brief(texts: &[(u64, String)]) -> Vec<(u64, String)> {
    texts
        .iter()
        .map(|(seq, text)| (*seq, text.chars().take(8).collect()))
        .collect()
}

pub(crate) fn numbered(texts: &[&str]) -> Vec<(u64, String)> {
    (1..).zip(texts.iter().map(|t| (*t).to_owned())).collect()
}

/// Opens the session whether or not it exists.
pub(crate) fn lease(store: &Store) -> Result<Lease, LogError> {
    match store.claim(&subject(), &Owner::current()) {
        Err(LogError::NotFound(_)) => store.create(&subject(), &Owner::current()),
        other => other,
    }
}

/// A run of a process: claim, append each batch synced, shut down.
pub(crate) fn run(store: &Store, batches: &[&[&str]]) -> Result<(), LogError> {
    let lease = lease(store)?;
    let writer = lease.writer()?;
    for batch in batches {
        append(&writer, batch)?;
    }
    wait(writer.shutdown())
}

/// A disk of some kind, and how to look at its files behind the store's back.
pub(crate) struct Backend {
    pub(crate) name: &'static str,
    pub(crate) fs: Arc<dyn Fs>,
    directory: Option<tempfile::TempDir>,
}

impl Backend {
    pub(crate) fn store(&self) -> Store {
        Store::open(Arc::clone(&self.fs), Path::new("test")).unwrap()
    }

    pub(crate) fn memory(fs: MemoryFs) -> Self {
        Self {
            name: "memory",
            fs: Arc::new(fs),
            directory: None,
        }
    }

    pub(crate) fn real() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let fs = Arc::new(RealFs::new(&directory.path().join("store")).unwrap());
        Self {
            name: "real",
            fs,
            directory: Some(directory),
        }
    }

    /// The directory of the store on the real disk.
    pub(crate) fn root(&self) -> PathBuf {
        self.directory.as_ref().unwrap().path().join("store")
    }

    pub(crate) fn segments(&self) -> Vec<PathBuf> {
        let log = log_dir();
        let mut names = self.fs.list(&log).unwrap_or_default();
        names.sort();
        names.into_iter().map(|n| log.join(n)).collect()
    }

    pub(crate) fn bytes(&self, path: &Path) -> Vec<u8> {
        self.fs.read(path, 0..u64::MAX).unwrap()
    }

    pub(crate) fn overwrite(&self, path: &Path, bytes: &[u8]) {
        self.fs.remove(path).unwrap();
        assert_eq!(
            self.fs.create(path).unwrap().write(bytes).unwrap(),
            bytes.len()
        );
    }

    /// Every file with its bytes, below a directory.
    pub(crate) fn tree(&self, dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let mut names = self.fs.list(dir).unwrap_or_default();
        names.sort();
        let mut files = Vec::new();
        for path in names.into_iter().map(|n| dir.join(n)) {
            match self.fs.read(&path, 0..u64::MAX) {
                Ok(bytes) => files.push((path, bytes)),
                Err(_) => files.append(&mut self.tree(&path)),
            }
        }
        files
    }
}

pub(crate) fn log_dir() -> PathBuf {
    session_dir().join("log")
}

pub(crate) fn session_dir() -> PathBuf {
    Path::new("sessions").join(ID)
}

pub(crate) fn backends() -> [Backend; 2] {
    [Backend::memory(MemoryFs::new()), Backend::real()]
}

/// The log in one segment, on a memory disk, from lines of a good one that may be broken.
pub(crate) fn with_segment(source: &Backend, bytes: &[u8]) -> Backend {
    let fs = MemoryFs::new();
    for (path, content) in source.tree(Path::new("")) {
        fs.put(&path, content);
    }
    let backend = Backend::memory(fs);
    backend.overwrite(&source.segments()[0], bytes);
    backend
}

/// What was read, in the shape in which `conformance/logread.py` tells it.
pub(crate) fn as_second_reader(scan: &Scan) -> serde_json::Value {
    let records: Vec<_> = scan
        .records
        .iter()
        .map(|r| {
            let data: serde_json::Value = serde_json::from_str(&r.data).unwrap();
            serde_json::json!({
                "seq": r.seq, "epoch": r.epoch, "at": r.at, "kind": r.kind, "data": data,
            })
        })
        .collect();
    let damage: Vec<_> = scan
        .damage
        .iter()
        .map(|d| {
            serde_json::json!({
                "segment": d.segment, "offset": d.offset, "length": d.length,
                "after_seq": d.after_seq, "reason": d.reason.as_str(),
            })
        })
        .collect();
    let torn = scan.torn.as_ref().map(
        |t| serde_json::json!({ "segment": t.segment, "offset": t.offset, "length": t.length }),
    );
    serde_json::json!([records, damage, torn, scan.next_seq])
}

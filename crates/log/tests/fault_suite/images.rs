//! Copies of a disk, changed on purpose, and what must hold of the log on one.

use std::path::{Path, PathBuf};

use sessiond_log::fs::MemoryFs;
use sessiond_log::{NewRecord, Scan};

use crate::support::{Backend, record, run, subject, texts};

/// All files of a store: what a case starts from.
pub(crate) type Image = Vec<(PathBuf, Vec<u8>)>;

/// The image of the store that runs of these batches leave.
pub(crate) fn image_of(runs: &[&[&[&str]]]) -> Image {
    let fs = MemoryFs::new();
    for batches in runs {
        run(&Backend::memory(fs.clone()).store(), batches).unwrap();
    }
    fs.files()
}

/// A small record that goes out of line all the same: its data poses as the name of a blob, which
/// keeps thousands of states quick.
pub(crate) fn out_of_line(text: &str) -> NewRecord {
    let data = serde_json::json!({ "$blob": 0, "text": text }).to_string();
    NewRecord {
        data,
        ..record(text)
    }
}

/// A disk with this image, one file replaced.
pub(crate) fn disk_with(image: &Image, changed: &Path, bytes: &[u8]) -> Backend {
    let fs = MemoryFs::new();
    for (path, content) in image {
        let content = if path == changed { bytes } else { content };
        fs.put(path, content.to_vec());
    }
    Backend::memory(fs)
}

/// The files below the session's `log`, in order.
pub(crate) fn segments(image: &Image) -> Vec<(PathBuf, Vec<u8>)> {
    let log = crate::support::log_dir();
    let in_log = |(path, _): &&(PathBuf, Vec<u8>)| path.parent() == Some(&log);
    image.iter().filter(in_log).cloned().collect()
}

/// First byte of each line, and the length of all.
pub(crate) fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let ends = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n');
    std::iter::once(0).chain(ends.map(|(i, _)| i + 1)).collect()
}

pub(crate) fn read(backend: &Backend) -> Result<Scan, String> {
    let scan = backend.store().read(&subject());
    scan.map_err(|e| format!("not readable: {e}"))
}

/// Appends to the log as the next process would, and reads it again: the same records, one more,
/// under a number that was never given, and no new damage.
pub(crate) fn goes_on(backend: &Backend, before: &Scan) -> Result<Scan, String> {
    run(&backend.store(), &[&["after"]]).map_err(|e| format!("not appendable: {e}"))?;
    let after = read(backend)?;
    let (last, kept) = after.records.split_last().ok_or("nothing was appended")?;
    ensure!(
        texts(&after).last().is_some_and(|t| t.1 == "after"),
        "the last record is another"
    );
    ensure!(
        kept == before.records,
        "records changed: {} and {}",
        kept.len(),
        before.records.len()
    );
    ensure!(
        last.seq == before.next_seq,
        "seq {} and not {}",
        last.seq,
        before.next_seq
    );
    ensure!(
        after.damage == before.damage,
        "damage became {:?}",
        after.damage
    );
    ensure!(after.torn.is_none(), "still torn");
    Ok(after)
}

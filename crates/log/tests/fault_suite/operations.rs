//! A disk that fails at each operation of a session in turn.

use std::path::Path;
use std::sync::Arc;

use sessiond_log::fs::{Fault, FaultFs, Fs as _, MemoryFs, Repeat};
use sessiond_log::{Durability, Lease, LogError, Store, Writer};

use crate::images::{goes_on, out_of_line, read};
use crate::support::{Backend, lease, log_dir, record, texts, wait};
use crate::tally::{Form, Tally};

/// Lives of the process in a script; each takes the lease anew.
const ROUNDS: usize = 4;

/// What a session was told.
#[derive(Debug, Default)]
struct Told {
    acknowledged: Vec<(u64, String)>,
    /// A rule that the writer broke while it ran.
    broken: Option<String>,
}

/// LOG-6: a poisoned writer refuses everything for ever, a flush as well, in the same words.
fn is_poisoned(writer: &Writer, error: &LogError) -> Result<(), String> {
    for batch in [vec![record("never")], vec![]] {
        let again = wait(writer.append(batch, Durability::Synced));
        let same = again.as_ref().err().map(ToString::to_string) == Some(error.to_string());
        ensure!(same, "{again:?} after {error}");
    }
    ensure!(
        wait(writer.shutdown()).is_err(),
        "a poisoned writer shut down"
    );
    Ok(())
}

/// What the lease shows is what was acknowledged, plus at most one record a round that an earlier
/// lease wrote and could not acknowledge.
fn shows(lease: &Lease, told: &Told, round: usize) -> Result<(), String> {
    let Ok(scan) = lease.scan() else {
        return Ok(());
    };
    let (known, unknown): (Vec<_>, Vec<_>) = texts(&scan)
        .into_iter()
        .partition(|t| told.acknowledged.contains(t));
    ensure!(
        known == told.acknowledged,
        "{} of {}",
        known.len(),
        told.acknowledged.len()
    );
    ensure!(
        unknown.len() <= round,
        "{} records nobody was told of",
        unknown.len()
    );
    Ok(())
}

/// Four lives that open, append on writers which are renewed after a failure, and shut down; the
/// third finds a torn end.
fn session(disk: &MemoryFs, fs: &FaultFs, told: &mut Told) -> Result<(), LogError> {
    let store = Store::open(Arc::new(fs.clone()), Path::new("test"))?;
    for round in 0..ROUNDS {
        if round == 2 {
            tear(disk);
        }
        let lease = lease(&store)?;
        let mut writer = lease.writer()?;
        for (text, durability) in [
            ("a", Durability::Synced),
            ("b", Durability::Written),
            ("blob", Durability::Synced),
            ("c", Durability::Written),
            ("d", Durability::Synced),
        ] {
            let record = if text == "blob" {
                out_of_line(text)
            } else {
                record(text)
            };
            match wait(writer.append(vec![record], durability)) {
                Ok(appended) => told
                    .acknowledged
                    .push((appended.first_seq, text.to_owned())),
                Err(error) => {
                    let poisoned = is_poisoned(&writer, &error);
                    told.broken = told.broken.take().or(poisoned.err());
                    writer = lease.writer()?;
                }
            }
        }
        let shown = shows(&lease, told, round);
        told.broken = told.broken.take().or(shown.err());
        wait(writer.shutdown())?;
    }
    Ok(())
}

/// Leaves half a line behind the last segment, as a process does that dies while it writes.
fn tear(disk: &MemoryFs) {
    let names = disk.list(&log_dir()).unwrap_or_default();
    if let Some(name) = names.iter().max() {
        let path = log_dir().join(name);
        let bytes = disk.read(&path, 0..u64::MAX).unwrap();
        // Only behind a whole line: the tail of a failed write is another test's.
        if bytes.ends_with(b"\n") {
            disk.put(&path, [&bytes[..], b"{\"v\":1,\"seq\":9"].concat());
        }
    }
}

fn try_at(n: u64, fault: Fault, repeat: Repeat) -> Result<(), String> {
    let disk = MemoryFs::new();
    let faulty = FaultFs::new(Arc::new(disk.clone()), n, fault, repeat);
    let mut told = Told::default();
    // A failure may hit where it does not matter, as when an owner record goes.
    let _ = session(&disk, &faulty, &mut told);
    told.broken.map_or(Ok(()), Err)?;
    let backend = Backend::memory(disk);
    let scan = read(&backend)?;
    let found = texts(&scan);
    let lost = told
        .acknowledged
        .iter()
        .filter(|t| !found.contains(t))
        .count();
    ensure!(lost == 0, "{lost} acknowledged records lost");
    ensure!(scan.damage.is_empty(), "{:?}", scan.damage);
    let after = goes_on(&backend, &scan)?;
    let dense = (1..).zip(&after.records).all(|(n, r)| r.seq == n);
    ensure!(dense, "numbers have gaps");
    Ok(())
}

/// LOG-6: whichever operation fails, once or for ever, nothing acknowledged is lost.
#[test]
fn failed_operations() {
    let form = Form::asked();
    let mut tally = Tally::of("failed_operations");
    let disk = MemoryFs::new();
    let clean = FaultFs::new(Arc::new(disk.clone()), 0, Fault::Error, Repeat::Once);
    let mut told = Told::default();
    session(&disk, &clean, &mut told).unwrap();
    assert_eq!((told.acknowledged.len(), told.broken), (ROUNDS * 5, None));
    let operations = clean.operations();
    assert!(operations >= 200, "{operations}");
    for fault in [Fault::Error, Fault::Short, Fault::Torn] {
        for repeat in [Repeat::Once, Repeat::Sticky] {
            for n in 1..=operations {
                let case = format!("{fault:?} {repeat:?} at {n}");
                tally.state(&case, try_at(n, fault, repeat));
            }
        }
    }
    tally.finish(form.pick(1_200, 1_200));
}

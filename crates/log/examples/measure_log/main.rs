//! Measures the writer on a disk: `measure_log DIR [SECONDS]` makes a store in DIR, which must be empty
//! or not there, and prints one JSON object. `cargo xtask bench log` makes a table of it.
//!
//! - `append`: records and syncs a second while so many sessions, each appended to by so many at
//!   once, append small records and wait for each to be on stable storage.
//! - `durable`: a durable append beside a bare write and fdatasync of as many bytes, taking turns.

mod counting;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sessiond_log::fs::RealFs;
use sessiond_log::{Durability, NewRecord, Owner, Store, Subject, Writer};
use uuid::Uuid;

use counting::{CountingFs, Counts};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Data of a record, in bytes.
const RECORD_BYTES: usize = 300;

/// Sessions, and how many append to each at once.
const LOADS: [(usize, usize); 5] = [(1, 1), (8, 1), (64, 1), (1, 8), (1, 64)];

/// Pairs of the comparison; the first tenth does not count.
const PAIRS: usize = 2_000;

fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let dir = args.next().ok_or("usage: measure_log DIR [SECONDS]")?;
    let seconds: f64 = args.next().map_or(Ok(2.0), |text| text.parse())?;
    let period = Duration::try_from_secs_f64(seconds)?;
    let root = Path::new(&dir);
    std::fs::create_dir_all(root)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut append = Vec::new();
    for load in LOADS {
        append.push(runtime.block_on(throughput(root, load, period))?);
    }
    let durable = runtime.block_on(comparison(root))?;
    let figures = json!({ "append": append, "durable": durable });
    writeln!(std::io::stdout(), "{figures}")?;
    Ok(())
}

fn store(root: &Path) -> Result<(Store, Arc<Counts>), Failure> {
    let fs = CountingFs::new(RealFs::new(root)?);
    let counts = fs.counts();
    Ok((Store::open(Arc::new(fs), root)?, counts))
}

/// A new session, with its first segment on stable storage.
async fn session(store: &Store) -> Result<Writer, Failure> {
    let lease = store.create(&Subject::from(Uuid::new_v4()), &Owner::current())?;
    let writer = lease.writer()?;
    append(&writer).await?;
    Ok(writer)
}

async fn append(writer: &Writer) -> Result<(), Failure> {
    let record = NewRecord {
        kind: "item.ended".to_owned(),
        at: "2026-11-29T12:00:00.000Z".to_owned(),
        data: format!("\"{}\"", "x".repeat(RECORD_BYTES - 2)),
    };
    writer.append(vec![record], Durability::Synced).await?;
    Ok(())
}

async fn throughput(
    root: &Path,
    (sessions, appenders): (usize, usize),
    period: Duration,
) -> Result<Value, Failure> {
    let (store, counts) = store(root)?;
    let mut writers = Vec::new();
    for _ in 0..sessions {
        writers.push(session(&store).await?);
    }
    let syncs_before = counts.syncs();
    let start = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for writer in &writers {
        for _ in 0..appenders {
            let writer = writer.clone();
            tasks.spawn(async move {
                let mut records = 0_u64;
                while start.elapsed() < period {
                    append(&writer).await?;
                    records += 1;
                }
                Ok::<u64, Failure>(records)
            });
        }
    }
    let mut records = 0;
    while let Some(done) = tasks.join_next().await {
        records += done??;
    }
    let seconds = start.elapsed().as_secs_f64();
    let syncs = counts.syncs() - syncs_before;
    for writer in writers {
        writer.shutdown().await?;
    }
    Ok(json!({
        "sessions": sessions,
        "appenders": appenders,
        "records_per_second": records as f64 / seconds,
        "syncs_per_second": syncs as f64 / seconds,
    }))
}

async fn comparison(root: &Path) -> Result<Value, Failure> {
    let (store, counts) = store(root)?;
    let writer = session(&store).await?;
    let before = counts.bytes();
    append(&writer).await?;
    let line = vec![b'x'; usize::try_from(counts.bytes() - before)?];
    let mut bare = OpenOptions::new()
        .append(true)
        .create_new(true)
        .open(root.join("bare"))?;
    let (mut log_times, mut bare_times) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let start = Instant::now();
        append(&writer).await?;
        let log_time = start.elapsed();
        let start = Instant::now();
        bare.write_all(&line)?;
        bare.sync_data()?;
        let bare_time = start.elapsed();
        if pair >= PAIRS / 10 {
            log_times.push(log_time);
            bare_times.push(bare_time);
        }
    }
    writer.shutdown().await?;
    let (log_time, bare_time) = (median(log_times), median(bare_times));
    Ok(json!({
        "bytes": line.len(),
        "log_us": log_time.as_secs_f64() * 1e6,
        "bare_us": bare_time.as_secs_f64() * 1e6,
        "ratio": log_time.as_secs_f64() / bare_time.as_secs_f64(),
    }))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

//! The writer under many interleavings: producers, a cut, a shutdown and a disk that may fail.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use shuttle::rand::Rng as _;
use shuttle::{Config, Runner, scheduler::RandomScheduler, thread};

use super::{Appended, Durability, Ticket, Writer};
use crate::fs::{Fault, FaultFs, MemoryFs, Repeat};
use crate::{LogError, NewRecord, Owner, Store, Subject};

/// Batches of each producer.
const BATCHES: usize = 3;

/// Operations of the disk in one run, and some more: a fault behind the last one never comes.
const OPERATIONS: u64 = 60;

type Outcome = (String, Result<Appended, LogError>);

fn subject() -> Subject {
    "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10".parse().unwrap()
}

fn record(text: &str) -> NewRecord {
    NewRecord {
        kind: "item.ended".to_owned(),
        at: "2026-11-29T12:00:00Z".to_owned(),
        data: format!("\"{text}\""),
    }
}

/// Runs `body` under so many schedules; its tasks must all end.
pub(super) fn explore(schedules: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    config.stack_size = 1024 * 1024;
    Runner::new(RandomScheduler::new_from_seed(7, schedules), config).run(body);
}

/// Appends its batches, waits for the last ticket, and finds the others resolved by then unless
/// that was refused.
fn produce(writer: &Writer, name: &str) -> Vec<Outcome> {
    let mut tickets: Vec<(String, Ticket)> = Vec::new();
    for number in 0..BATCHES {
        let text = format!("{name}{number}");
        let durability = if number == 1 {
            Durability::Written
        } else {
            Durability::Synced
        };
        let ticket = writer.append(vec![record(&text)], durability);
        tickets.push((text, ticket));
    }
    let (last, ticket) = tickets.pop().unwrap();
    let end = shuttle::future::block_on(ticket);
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut context = Context::from_waker(Waker::noop());
    for (text, mut ticket) in tickets {
        let answer = std::pin::Pin::new(&mut ticket).poll(&mut context);
        let answer = match answer {
            Poll::Ready(answer) => answer,
            Poll::Pending => {
                // One that was refused had no place in the order.
                assert!(end.is_err(), "{last} was answered before {text}");
                shuttle::future::block_on(ticket)
            }
        };
        outcomes.push((text, answer));
    }
    outcomes.push((last, end));
    outcomes
}

/// Two producers, somebody who cuts the segment, and a shutdown at any moment.
fn life(store: &Store) -> Result<Vec<Vec<Outcome>>, LogError> {
    let lease = store.claim(&subject(), &Owner::current())?;
    let writer = lease.writer()?;
    let producers: Vec<_> = ["a", "b"]
        .into_iter()
        .map(|name| {
            let writer = writer.clone();
            thread::spawn(move || produce(&writer, name))
        })
        .collect();
    let shared = Arc::clone(&writer.shared);
    let cutter = thread::spawn(move || shared.cut().and(shared.cut()).and(shared.cut()));
    let cut = cutter.join().unwrap();
    let mut outcomes: Vec<_> = Vec::new();
    let mut producers = producers.into_iter();
    // A shutdown wakes the pool: sometimes there is none until all is answered.
    if shuttle::rand::thread_rng().gen_bool(0.5) {
        outcomes.extend(producers.by_ref().map(|p| p.join().unwrap()));
    }
    let shut = shuttle::future::block_on(writer.shutdown());
    outcomes.extend(producers.map(|p| p.join().unwrap()));
    // An end is one for ever, and everybody is told the same.
    let after = shuttle::future::block_on(writer.append(vec![record("late")], Durability::Synced));
    let after = after.unwrap_err();
    match &shut {
        Ok(()) => {
            assert_eq!(after.code(), "closed");
            // Whatever got a number was written, the first record before this life included.
            let good = outcomes.iter().flatten().filter(|(_, o)| o.is_ok()).count();
            assert_eq!(writer.next_seq(), good as u64 + 2, "{outcomes:?}");
        }
        Err(error) => {
            assert_eq!(after.to_string(), error.to_string());
            let others = outcomes
                .iter()
                .flatten()
                .filter_map(|(_, o)| o.as_ref().err());
            for other in others.chain(cut.as_ref().err()) {
                let same = other.to_string() == error.to_string();
                assert!(same || other.code() == "closed", "{other} and {error}");
            }
        }
    }
    Ok(outcomes)
}

/// What was acknowledged is in the log under its number; who failed once fails to the end.
fn check(disk: &MemoryFs, outcomes: &[Vec<Outcome>]) {
    let store = Store::open(Arc::new(disk.clone()), Path::new("test")).unwrap();
    let scan = store.read(&subject()).unwrap();
    assert!(scan.damage.is_empty(), "{:?}", scan.damage);
    let found: Vec<_> = scan.records.iter().map(|r| (r.seq, &*r.data)).collect();
    let texts: BTreeSet<_> = found.iter().map(|(_, text)| *text).collect();
    assert_eq!(texts.len(), found.len(), "written twice: {found:?}");
    for outcomes in outcomes {
        let good = outcomes.iter().take_while(|(_, o)| o.is_ok()).count();
        let rest = outcomes.iter().skip(good);
        assert!(rest.into_iter().all(|(_, o)| o.is_err()), "{outcomes:?}");
        let seqs = outcomes
            .iter()
            .filter_map(|(_, o)| Some(o.as_ref().ok()?.first_seq));
        assert!(seqs.is_sorted(), "{outcomes:?}");
        for (text, outcome) in outcomes {
            let Ok(appended) = outcome else { continue };
            let line = (appended.first_seq, format!("\"{text}\""));
            let is_there = found
                .iter()
                .any(|(s, t)| (*s, *t) == (line.0, line.1.as_str()));
            assert!(is_there, "{line:?} is not in {found:?}");
        }
    }
}

/// LOG-5, LOG-6: every ticket is answered once and in order, nothing acknowledged is missing,
/// nothing is acknowledged after a failure, and a shutdown ends, threads and all.
#[test]
fn no_schedule_breaks_what_the_writer_promises() {
    let schedules = match std::env::var("FAULTS").as_deref() {
        Ok("full") => 10_000,
        _ => 1_000,
    };
    let start = Instant::now();
    explore(schedules, || {
        let disk = MemoryFs::new();
        let clean = Store::open(Arc::new(disk.clone()), Path::new("test")).unwrap();
        let held = clean.create(&subject(), &Owner::current()).unwrap();
        let writer = held.writer().unwrap();
        shuttle::future::block_on(writer.append(vec![record("first")], Durability::Synced))
            .unwrap();
        shuttle::future::block_on(writer.shutdown()).unwrap();
        drop((writer, held, clean));
        let mut dice = shuttle::rand::thread_rng();
        let fail_at = dice.gen_range(0..OPERATIONS);
        let repeat = if dice.gen_bool(0.5) {
            Repeat::Once
        } else {
            Repeat::Sticky
        };
        let faulty = FaultFs::new(Arc::new(disk.clone()), fail_at, Fault::Error, repeat);
        let store = Store::open(Arc::new(faulty), Path::new("test"));
        // A fault may also keep it from beginning.
        let outcomes = store.and_then(|store| life(&store)).unwrap_or_default();
        check(&disk, &outcomes);
    });
    let seconds = start.elapsed().as_secs_f64();
    let mut out = std::io::stdout().lock();
    std::io::Write::write_fmt(
        &mut out,
        format_args!("faults: writer_schedules {schedules} 0 {seconds:.1}\n"),
    )
    .unwrap();
}

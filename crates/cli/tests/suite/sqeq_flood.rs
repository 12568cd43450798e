//! A client that writes without reading (WIRE-4, WIRE-6): bounded memory, and each submission gets
//! exactly one receipt.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::harness::{Home, Native, PATIENCE, eventually, submission};

const SUBMISSIONS: usize = 10_000;

/// Longest text of a prompt, so that a replay is much more than any queue holds.
const BULK: usize = 100_000;

/// What the process may take at most beside what it takes at rest. What it keeps is bounded by its
/// queues, 4 MiB each twice over; this is several times that, and a tenth of what all receipts
/// together would take.
const GROWTH: u64 = 96 << 20;

/// The most memory that a process has had, in bytes.
fn peak(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: u64 = line
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    kib << 10
}

/// Waits until the server has read no more for a while: the pipe to it stays full.
fn stuck(server: u32, before: &mut u64) -> bool {
    let io = fs::read_to_string(format!("/proc/{server}/io")).unwrap();
    let read = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    let read = read.unwrap().parse().unwrap();
    std::mem::replace(before, read) == read
}

/// Ten thousand submissions, of which none is heard of until all that fits is written.
fn flood(make: impl Fn(&str, usize) -> Value + Send + 'static) {
    let home = Home::new();
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({}));
    for _ in 0..4 {
        client.turn(&session, &"x".repeat(BULK));
        client.event("turn.ended");
    }
    let rest = peak(client.server.pid());
    client.server.pause_reading();
    let pid = client.server.pid();
    let mut input = client.server.take_input();
    let writer = std::thread::spawn(move || {
        for number in 0..SUBMISSIONS {
            let mut line = String::new();
            writeln!(line, "{}", make(&session, number)).unwrap();
            std::io::Write::write_all(&mut input, line.as_bytes()).unwrap();
        }
        input
    });
    let mut before = 0;
    let mut still = 0;
    eventually("it reads no more", PATIENCE, || {
        still = if stuck(pid, &mut before) {
            still + 1
        } else {
            0
        };
        (still > 100).then_some(())
    });
    assert!(!writer.is_finished(), "all of it was taken in unread");
    let unread = peak(pid);
    client.server.resume_reading();
    let mut receipts: HashMap<String, u32> = HashMap::new();
    let mut open = SUBMISSIONS;
    while open > 0 {
        let receipt = client.until("a receipt", |frame| frame["type"] == "receipt");
        let id = receipt["id"].as_str().unwrap().to_owned();
        *receipts.entry(id).or_default() += 1;
        client.server.frames.clear();
        open -= 1;
    }
    client.server.put_input(writer.join().unwrap());
    let grown = peak(pid) - rest;
    let mib = |bytes: u64| bytes >> 20;
    eprintln!(
        "peak: {} MiB at rest, {} MiB unread, {} MiB in all",
        mib(rest),
        mib(unread),
        mib(peak(pid))
    );
    let list = client.accepted(None, &json!({"type": "session.list"}));
    assert!(list["sessions"].is_array());
    client.quit();
    assert!(grown < GROWTH, "grew by {} MiB", mib(grown));
    assert_eq!(receipts.len(), SUBMISSIONS, "each has a receipt");
    assert!(receipts.values().all(|count| *count == 1), "and only one");
}

/// WIRE-4, SQEQ-1
#[test]
fn ten_thousand_submissions_without_reading() {
    flood(|session, number| {
        let id = format!("f{number}");
        match number % 5 {
            // Pages of a session are large: these alone would be 80 MiB.
            0 if number % 50 == 0 => {
                submission(&id, Some(session), &json!({"type": "session.read"}))
            }
            0 | 1 => submission(&id, None, &json!({"type": "session.list"})),
            2 => submission(&id, Some(session), &json!({"type": "session.levitate"})),
            3 => submission(&id, Some(session), &json!({"type": "turn.interrupt"})),
            _ => submission(
                &id,
                Some(session),
                &json!({"type": "session.rename", "title": id}),
            ),
        }
    });
}

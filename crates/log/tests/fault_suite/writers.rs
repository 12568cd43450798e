//! Two processes that want the same log.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use sessiond_log::{LogError, Owner, Scan, Store};

use crate::support::{append, lease, session_dir, subject, texts};
use crate::tally::{Form, Tally};

/// Names the store that the other process holds a session of.
const CHILD: &str = "FAULTS_HOLDER";

/// What precedes each answer of the other process, among what the test harness prints.
const ANSWER: &str = "> ";

/// Rounds that run at the same time: they mostly wait for a busy lock.
const WORKERS: u64 = 10;

/// Not a test of its own: the process that holds the session. Each line it reads asks for one
/// append, or for appends until one fails.
#[test]
fn holder_process() {
    let Some(root) = std::env::var_os(CHILD) else {
        return;
    };
    let held = lease(&Store::open_real(Path::new(&root)).unwrap()).unwrap();
    let writer = held.writer().unwrap();
    for line in std::io::stdin().lines() {
        let forever = line.unwrap() == "stream";
        loop {
            match append(&writer, &["child"]) {
                Ok(appended) => println!("{ANSWER}{}", appended.first_seq),
                Err(error) => return println!("{ANSWER}{}", error.code()),
            }
            if !forever {
                break;
            }
        }
    }
}

/// The other process.
struct Holder {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Holder {
    fn start(root: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writers::holder_process", "--nocapture"])
            .env(CHILD, root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            stdin,
            stdout,
        }
    }

    fn ask(&mut self, line: &str) {
        self.stdin
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
    }

    /// The next answer: a seq, or the code of an error.
    fn answer(&mut self) -> Result<u64, String> {
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line).unwrap() == 0 {
                return Err("the holder died".to_owned());
            }
            // The harness may have begun the line.
            if let Some((_, answer)) = line.trim_end().split_once(ANSWER) {
                return answer.parse().map_err(|_| answer.to_owned());
            }
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn stop(&self) {
        kill_process(self.pid(), Signal::STOP).unwrap();
        waitpid(Some(self.pid()), WaitOptions::UNTRACED).unwrap();
    }

    fn go_on(&self) {
        kill_process(self.pid(), Signal::CONT).unwrap();
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone afterwards.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_orderly(scan: &Scan) -> Result<(), String> {
    let ordered = scan.records.is_sorted_by_key(|r| r.epoch);
    ensure!(ordered, "a stale epoch behind a newer one");
    ensure!(scan.damage.is_empty(), "{:?}", scan.damage);
    Ok(())
}

fn failed(what: &'static str) -> impl Fn(LogError) -> String {
    move |error| format!("{what}: {error}")
}

/// A holder that is stopped keeps its lock; only its death frees that.
fn stopped(_round: u64, root: &Path) -> Result<(), String> {
    let store = Store::open_real(root).map_err(failed("open"))?;
    let mut holder = Holder::start(root);
    holder.ask("append");
    ensure!(holder.answer()? == 1, "the first record has another number");
    holder.stop();
    let claim = store.claim(&subject(), &Owner::current());
    let Err(LogError::Busy { holder: named, .. }) = claim else {
        return Err(format!("a stopped holder lost its lease: {claim:?}"));
    };
    let pid = named.map(|h| h.owner.pid);
    ensure!(
        pid == Some(holder.child.id()),
        "another holder is named: {pid:?}"
    );
    holder.go_on();
    holder.ask("append");
    ensure!(
        holder.answer()? == 2,
        "the second record has another number"
    );
    drop(holder);
    let lease = store
        .claim(&subject(), &Owner::current())
        .map_err(failed("claim"))?;
    let writer = lease.writer().map_err(failed("writer"))?;
    append(&writer, &["parent"]).map_err(failed("append"))?;
    let scan = store.read(&subject()).map_err(failed("read"))?;
    let found: Vec<_> = texts(&scan).into_iter().map(|(_, text)| text).collect();
    ensure!(found == ["child", "child", "parent"], "{found:?}");
    is_orderly(&scan)
}

/// A holder that is stopped anywhere in a stream of appends, and whose `LOCK` somebody replaces
/// meanwhile, appends nothing that counts afterwards.
fn replaced(round: u64, root: &Path) -> Result<(), String> {
    let store = Store::open_real(root).map_err(failed("open"))?;
    let mut holder = Holder::start(root);
    holder.ask("stream");
    let mut told = Vec::new();
    for _ in 0..=round % 7 {
        told.push(holder.answer()?);
    }
    holder.stop();
    std::fs::remove_file(root.join(session_dir()).join("LOCK")).unwrap();
    let lease = store
        .claim(&subject(), &Owner::current())
        .map_err(failed("claim"))?;
    let writer = lease.writer().map_err(failed("writer"))?;
    append(&writer, &["parent"]).map_err(failed("append"))?;
    let mut expected = store.read(&subject()).map_err(failed("read"))?.records;
    holder.go_on();
    let end = loop {
        match holder.answer() {
            Ok(seq) => told.push(seq),
            Err(code) => break code,
        }
    };
    ensure!(end == "fenced", "the stale holder ended with {end}");
    append(&writer, &["parent"]).map_err(failed("second append"))?;
    let scan = store.read(&subject()).map_err(failed("read"))?;
    expected.extend(scan.records.last().cloned());
    ensure!(
        scan.records == expected,
        "{} records, not {}",
        scan.records.len(),
        expected.len()
    );
    // One batch may have passed the fence before its process was stopped: nothing short of the
    // disk itself could refuse that.
    let child = texts(&scan)
        .into_iter()
        .filter(|(_, text)| text == "child")
        .count();
    ensure!(
        told.len() <= child + 1,
        "told of {}, kept {child}",
        told.len()
    );
    is_orderly(&scan)
}

fn rounds(test: &'static str, count: u64, round: fn(u64, &Path) -> Result<(), String>) {
    let tally = Mutex::new(Tally::of(test));
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed))
                    && number < count
                {
                    let directory = tempfile::tempdir().unwrap();
                    let outcome = round(number, &directory.path().join("store"));
                    tally
                        .lock()
                        .unwrap()
                        .state(&format!("round {number}"), outcome);
                }
            });
        }
    });
    tally.into_inner().unwrap().finish(count);
}

/// LOG-7
#[test]
fn stopped_holders() {
    rounds("stopped_holders", Form::asked().pick(20, 100), stopped);
}

/// LOG-7
#[test]
fn replaced_locks() {
    rounds("replaced_locks", Form::asked().pick(20, 100), replaced);
}

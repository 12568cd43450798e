//! The runner against targets that do everything wrong, and its command line.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so loudly"
)]

mod baseline;
mod command_line;
mod disk;
mod hostile;
mod peer;
mod profile;
mod synced;
mod transcript;

use std::io::Read as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// After this a run hangs: the deadlines of the targets here are all a second or two.
const HANGS: Duration = Duration::from_secs(240);

/// Runs the suite; fails the test when that does not end.
fn run(arguments: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sessiond-conformance"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the suite starts");
    let mut stdout = child.stdout.take().expect("piped");
    let mut stderr = child.stderr.take().expect("piped");
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).map(|_| bytes)
    });
    let errors = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stderr.read_to_end(&mut bytes).map(|_| bytes)
    });
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("waited") {
            break status;
        }
        if begun.elapsed() > HANGS {
            child.kill().expect("killed");
            panic!("the suite hangs: {arguments:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    Output {
        status,
        stdout: reader.join().expect("read").expect("read"),
        stderr: errors.join().expect("read").expect("read"),
    }
}

/// What a run said, and its exit code.
fn said(output: &Output) -> (Option<i32>, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout) + &text(&output.stderr),
    )
}

//! WIRE-10: nothing but frames reaches the client, whatever writes to fd 1 of whom.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use rustix::process::geteuid;

use crate::probe;
use crate::runner::Case;

pub(crate) const CASES: &[Case] = &[
    ("stdout_carries_frames_only", stdout_carries_frames_only),
    (
        "a_plain_users_tool_opens_no_descriptor",
        a_plain_users_tool_opens_no_descriptor,
    ),
    (
        "closed_standard_streams_are_survived",
        closed_standard_streams_are_survived,
    ),
];

/// Writes to descriptors 0 to 30 of every process from the tool's parent up to the server.
const CLIMB: &str = r#"
    p=$$
    while [ "$p" != "$SERVER" ]; do
        p=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$p/status")
        for fd in FDS; do
            { echo GARBAGE > "/proc/$p/fd/$fd"; printf GARBAGE > "/proc/$p/fd/$fd"; } 2> /dev/null
        done
    done
    echo climbed
"#;

fn climb(descriptors: &str) -> String {
    CLIMB.replace("FDS", descriptors)
}

fn pure(exe: &Path, script: &str) -> Command {
    let mut command = Command::new(exe);
    command.args([probe::COMMAND, probe::PURE, script]);
    command
}

fn check(output: &Output, frames: &str) {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert_eq!(stdout, frames);
    let reports: Vec<&str> = stderr.lines().collect();
    assert!(
        (1..=2).contains(&reports.len()),
        "a line at the first diversion, unless all is over by then, and one at the end: {stderr}"
    );
    assert!(
        !stderr.contains("GARBAGE"),
        "counts, never content: {stderr}"
    );
}

/// WIRE-10
fn stdout_carries_frames_only() {
    let exe = std::env::current_exe().unwrap();
    let quiet = pure(&exe, "true").output().unwrap();
    check(&quiet, "first\nlast\n");
    let counted = |output: &Output, counts: &str| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            stderr.contains(counts),
            "partial text counts as a line: {stderr}"
        );
    };
    counted(&quiet, " 3 lines, 62 bytes");
    let climbed = pure(&exe, &climb("1")).output().unwrap();
    check(&climbed, "first\nclimbed\nlast\n");
    // Only root's tool gets as far as our fd 1, and there it is counted.
    let counts = if geteuid().is_root() {
        " 4 lines, 77 bytes"
    } else {
        " 3 lines, 62 bytes"
    };
    counted(&climbed, counts);
}

/// WIRE-10
fn a_plain_users_tool_opens_no_descriptor() {
    let exe = std::env::current_exe().unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let copy = folder.path().join("probe");
    std::fs::copy(exe, &copy).unwrap();
    std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o755)).unwrap();
    let numbers: Vec<String> = (0..=30).map(|number| number.to_string()).collect();
    let mut command = pure(&copy, &climb(&numbers.join(" ")));
    command.current_dir(folder.path());
    if geteuid().is_root() {
        let nobody = 65534;
        command.uid(nobody).gid(nobody);
    }
    check(&command.output().unwrap(), "first\nclimbed\nlast\n");
}

/// WIRE-10
fn closed_standard_streams_are_survived() {
    let exe = std::env::current_exe().unwrap();
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let script = format!(r#"exec "$0" probe pure true {closed}"#);
        let output = Command::new("sh")
            .arg("-c")
            .arg(script)
            .arg(&exe)
            .output()
            .unwrap();
        assert!(output.status.success(), "{closed}");
        let frames = if closed.contains('>') && closed != "2>&-" {
            ""
        } else {
            "first\nlast\n"
        };
        assert_eq!(String::from_utf8_lossy(&output.stdout), frames, "{closed}");
    }
}

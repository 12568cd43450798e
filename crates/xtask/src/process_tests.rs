use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{line, run, run_within};

const LONG: Duration = Duration::from_secs(60);

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn how_a_command_ended_is_told() {
    let cases = [
        ("exit 0", None),
        ("exit 3", Some("`sh -c \"exit 3\"` ended with exit code 3")),
        (
            "kill -9 $$",
            Some("`sh -c \"kill -9 $$\"` was ended by signal 9"),
        ),
    ];
    for (script, expected) in cases {
        for outcome in [
            run(&mut shell(script)),
            run_within(&mut shell(script), LONG),
        ] {
            let told = outcome.err().map(|error| error.to_string());
            assert_eq!(told.as_deref(), expected, "{script}");
        }
    }
}

#[test]
fn a_command_that_hangs_is_killed_at_its_deadline() {
    let error = run_within(&mut shell("sleep 600"), Duration::ZERO).expect_err("a deadline");
    assert_eq!(
        error.to_string(),
        "`sh -c \"sleep 600\"` did not end within 0 s and was killed"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_leaves_nothing_of_its_group_behind() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = "sleep 600 & echo $! > pid";
    run_within(shell(script).current_dir(folder.path()), LONG).expect("success");
    let pid = std::fs::read_to_string(folder.path().join("pid")).expect("a pid");
    let status = Path::new("/proc").join(pid.trim()).join("status");
    // Killed, it is gone or waits as a zombie for whoever adopts orphans here.
    let state = std::fs::read_to_string(status).unwrap_or_default();
    assert!(state.is_empty() || state.contains("State:\tZ"), "{state}");
}

#[test]
fn a_command_line_reads_as_it_would_be_typed() {
    let mut command = Command::new("a");
    command.args(["b", "c d", "$e"]);
    assert_eq!(line(&command), "a b \"c d\" \"$e\"");
}

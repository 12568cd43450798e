use std::io::Read as _;
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
fn a_command_leaves_nothing_of_its_group_behind() {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let mut command = shell("(sleep 20; echo late) &");
    run_within(command.stdout(writer), LONG).expect("success");
    drop(command);
    // The pipe ends when the last process that holds it is gone.
    let mut said = String::new();
    reader.read_to_string(&mut said).expect("text");
    assert_eq!(said, "");
}

#[test]
fn a_command_line_reads_as_it_would_be_typed() {
    let mut command = Command::new("a");
    command.args(["b", "c d", "$e"]);
    assert_eq!(line(&command), "a b \"c d\" \"$e\"");
}

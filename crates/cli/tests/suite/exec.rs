//! `sessiond exec`: one turn without an editor.

use std::io::Read;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::harness::{Home, PATIENCE, alive, eventually};

fn events(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_answer_is_all_that_stdout_gets() {
    let home = Home::new();
    let done = home.run(&["exec", "hello world"]).well();
    assert_eq!(
        (done.stdout.as_str(), done.stderr.as_str()),
        ("hello world\n", "")
    );
}

#[test]
fn a_dash_reads_the_prompt_from_stdin() {
    let home = Home::new();
    let done = home
        .run_with("from a pipe\n/say and more", &["exec", "-"])
        .well();
    assert_eq!(
        done.stdout.replace('\n', " ").trim(),
        "from a pipe and more"
    );
}

#[test]
fn json_gives_one_event_frame_a_line_up_to_the_end_of_the_turn() {
    let home = Home::new();
    let done = home.run(&["exec", "--json", "hello"]).well();
    let events = events(&done.stdout);
    assert!(
        events
            .iter()
            .all(|frame| frame["v"] == 1 && frame["type"] == "event")
    );
    let last = &events.last().unwrap()["event"];
    assert_eq!(
        (&last["type"], &last["outcome"]),
        (&"turn.ended".into(), &"completed".into())
    );
}

#[test]
fn last_goes_on_in_the_newest_session_of_the_directory_and_session_in_the_named_one() {
    let home = Home::new();
    home.run(&["exec", "one"]).well();
    home.run(&["exec", "--last", "two"]).well();
    let list = home.run(&["sessions", "list", "--json"]).well();
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let [summary] = &list["sessions"].as_array().unwrap()[..] else {
        panic!("{list}")
    };
    assert_eq!(summary["turns"], 2);
    let id = summary["session"].as_str().unwrap();
    home.run(&["exec", "--session", id, "three"]).well();
    let shown = home.run(&["sessions", "show", id]).well();
    assert!(
        ["one", "two", "three"]
            .iter()
            .all(|text| shown.stdout.contains(text))
    );
}

#[test]
fn nobody_is_asked_so_what_needs_permission_does_not_run() {
    let home = Home::new();
    let done = home.run(&["exec", "/run echo ran >> ledger"]).well();
    assert_eq!(home.read("ledger"), "");
    assert!(
        done.stderr.contains("permission declined 1 times"),
        "{}",
        done.stderr
    );
}

#[test]
fn exit_codes_say_what_went_wrong() {
    let home = Home::new();
    let unknown = "0191f0aa-0000-7000-8000-000000000000";
    let config = home.write(
        "config.toml",
        "[agents.later]\nkind = \"codex\"\ncommand = [\"/nobody\"]\n",
    );
    let config = config.to_str().unwrap();
    home.write("file", "");
    let table: [(&[&str], i32); 7] = [
        (&["exec", "/fail on purpose"], 1),
        (&["exec", "--last", "x"], 1),
        (&["exec", "--session", unknown, "x"], 1),
        (&["exec", "--session", "nonsense", "x"], 1),
        (&["exec", "--agent", "nobody", "x"], 2),
        (&["--config", config, "--agent", "later", "exec", "x"], 69),
        (&["--store", "file", "exec", "x"], 74),
    ];
    // The failed turn's session must not be what --last finds.
    for (args, code) in table.into_iter().rev() {
        let done = home.run(args);
        assert_eq!(done.code, Some(code), "{args:?}: {}", done.stderr);
        assert!(
            !done.stderr.is_empty() && done.stdout.is_empty(),
            "{args:?}: {}",
            done.stdout
        );
    }
}

/// SQEQ-3, WIRE-13
#[test]
fn a_signal_interrupts_the_turn_and_that_is_recorded() {
    for signal in [Signal::INT, Signal::TERM] {
        let home = Home::new();
        let mut command = home.command(&["exec", "/say before\n/sleep 600"]);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut answer = [0; 6];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut answer)
            .unwrap();
        assert_eq!(&answer, b"before");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = eventually("the end", PATIENCE, || child.try_wait().unwrap());
        assert_eq!(status.code(), Some(1), "{signal:?}");
        let shown = home.run(&["exec", "--last", "next"]).well();
        assert_eq!(shown.stdout, "next\n");
        let list = home.run(&["sessions", "list", "--json"]).well();
        let list: Value = serde_json::from_str(&list.stdout).unwrap();
        let id = list["sessions"][0]["session"].as_str().unwrap().to_owned();
        let shown = home.run(&["sessions", "show", "--json", &id]).well();
        let ends: Vec<_> = events(&shown.stdout)
            .iter()
            .filter(|frame| frame["event"]["type"] == "turn.ended")
            .map(|frame| frame["event"]["outcome"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(ends, ["cancelled", "completed"], "{signal:?}");
    }
}

/// WIRE-13
#[test]
fn a_reader_that_goes_ends_the_turn() {
    let home = Home::new();
    let mut command = home.command(&["exec", "/stream 100000 100 1"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut answer = [0; 100];
    child
        .stdout
        .take()
        .unwrap()
        .read_exact(&mut answer)
        .unwrap();
    let status = eventually("the end", PATIENCE, || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(1));
    assert!(!alive(child.id()));
}

//! The order of system calls: durable first, said afterwards (LOG-5).

use std::fs;

use crate::harness::{Home, Server};

/// System calls that matter here.
const CALLS: &str = "trace=execve,write,writev,fdatasync,fsync";

/// The calls of one turn, one a line, in the order in which they began or, for syncs, ended.
fn trace(prompt: &str) -> Vec<String> {
    let home = Home::new();
    let file = home.path("trace");
    let wrapper = ["strace", "-f", "-y", "-s", "1000000", "-e", CALLS, "-o"];
    let wrapper = [&wrapper[..], &[file.to_str().unwrap()]].concat();
    assert!(
        installed("strace"),
        "this test needs strace: install the package of that name (apt-get install strace)"
    );
    let mut server = Server::start_by(home.command_under(&wrapper, &["acp"]));
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, prompt), "end_turn");
    server.quit();
    fs::read_to_string(file)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Where the first line is that has all of these.
#[track_caller]
fn find(lines: &[String], from: usize, parts: &[&str]) -> usize {
    let has = |line: &String| parts.iter().all(|part| line.contains(part));
    let found = lines.iter().skip(from).position(has);
    from + found.unwrap_or_else(|| panic!("no {parts:?} in\n{}", lines[from..].join("\n")))
}

/// Where the sync of the log that began at or after `from` ended.
#[track_caller]
fn synced(lines: &[String], from: usize) -> usize {
    let begun = find(lines, from, &["fdatasync(", "/log/"]);
    if lines[begun].contains("<unfinished") {
        let thread = lines[begun].split(' ').next().unwrap();
        return find(lines, begun, &[thread, "<... fdatasync resumed>"]);
    }
    begun
}

#[test]
fn the_turns_end_is_synced_before_its_response_is_written() {
    let lines = trace("hello");
    let record = find(&lines, 0, &["write", "/log/", "turn.ended"]);
    let response = find(&lines, 0, &["write", "stopReason"]);
    assert!(record < response, "the record is written first");
    assert!(
        synced(&lines, record) < response,
        "and synced before the response begins"
    );
}

#[test]
fn a_tools_start_is_synced_before_the_tool_is_started() {
    let lines = trace("/run true");
    let record = find(&lines, 0, &["write", "/log/", "item.started"]);
    let started = find(&lines, 0, &["execve(", "__guard"]);
    assert!(synced(&lines, record) < started);
    let decision = find(&lines, 0, &["write", "/log/", "request.closed"]);
    assert!(
        synced(&lines, decision) < started,
        "and so is the decision that it may"
    );
}

#[test]
fn a_new_session_is_synced_before_its_id_is_told() {
    let lines = trace("hello");
    let record = find(&lines, 0, &["write", "/log/", "session.opened"]);
    let told = find(&lines, 0, &["write", "sessionId"]);
    assert!(synced(&lines, record) < told);
}

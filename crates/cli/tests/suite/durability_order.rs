//! The order of system calls: durable first, said afterwards (LOG-5).

use std::fs;

use serde_json::json;

use crate::harness::{Home, Server};

/// Each sync of the log is held up: whoever does not wait for it is early for sure.
const SLOW_SYNC: &str = "inject=fdatasync:delay_enter=50000";

/// System calls that matter here.
const CALLS: &str = "trace=execve,write,writev,fdatasync,fsync";

/// The calls of one turn, one a line, in the order in which they began or, for syncs, ended.
fn trace(mode: &str, prompt: &str) -> Vec<String> {
    let home = Home::new();
    let file = home.path("trace");
    let mut server = Server::start_by(home.traced(&[CALLS, SLOW_SYNC], &file, &["acp"]));
    let session = server.new_session(&home);
    server.call(
        "session/set_mode",
        json!({ "sessionId": session, "modeId": mode }),
    );
    assert_eq!(server.turn(&session, prompt), "end_turn");
    server.quit();
    let trace = fs::read_to_string(file).unwrap();
    trace.lines().map(str::to_owned).collect()
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
    let lines = trace("ask", "hello");
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
    let lines = trace("auto", "/run true");
    let record = find(&lines, 0, &["write", "/log/", "item.started"]);
    let started = find(&lines, 0, &["execve(", "__guard"]);
    assert!(synced(&lines, record) < started);
}

#[test]
fn the_decision_that_a_tool_may_run_is_synced_before_it_is_started() {
    let lines = trace("ask", "/run true");
    let decision = find(&lines, 0, &["write", "/log/", "request.closed"]);
    let started = find(&lines, 0, &["execve(", "__guard"]);
    assert!(synced(&lines, decision) < started);
}

#[test]
fn a_new_session_is_synced_before_its_id_is_told() {
    let lines = trace("ask", "hello");
    let record = find(&lines, 0, &["write", "/log/", "session.opened"]);
    let told = find(&lines, 0, &["write", "sessionId"]);
    assert!(synced(&lines, record) < told);
}

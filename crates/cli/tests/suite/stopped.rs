//! A holder that stood still while another one took its session over.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::harness::{Home, Native, start};

fn is_end(frame: &Value) -> bool {
    frame["type"] == "event" && frame["event"]["type"] == "turn.ended"
}

/// SQEQ-12, LOG-7: when it goes on it looks at its lease before it appends or tells anything: its
/// turn fails by name, nothing of it is stored, and its successor's log stays as it is.
#[test]
fn a_holder_whose_session_was_taken_while_it_stood_still_adds_nothing_to_it() {
    let home = Home::new();
    let mut first = Native::start(&home);
    let session = first.new_session(&home, &json!({}));
    first.accepted(Some(&session), &start("before"));
    first.until("the end", is_end);
    first.accepted(Some(&session), &start("/stream 200 40 20"));
    first.until("text", |frame| frame["event"]["type"] == "item.delta");
    let pid = Pid::from_raw(i32::try_from(first.server.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();

    // As another machine on another copy of the lock would: the old one is no obstacle.
    fs::remove_file(home.store().join("sessions").join(&session).join("LOCK")).unwrap();
    let mut second = Native::start(&home);
    let resume = json!({"type": "session.resume", "session": session});
    second.accepted(None, &resume);
    second.accepted(Some(&session), &start("mine now"));
    // What the other one left open ends first.
    let is_complete = |frame: &Value| is_end(frame) && frame["event"]["outcome"] == "completed";
    second.until("the end", is_complete);
    let log = home.log(&session);

    let told = first.server.frames.len();
    kill_process(pid, Signal::CONT).unwrap();
    let ended = first.until("the end", is_end);
    assert_eq!(ended["event"]["outcome"], "failed", "{ended}");
    assert_eq!(ended["event"]["error"]["code"], "lease_lost", "{ended}");
    let durable = first.server.frames[told..]
        .iter()
        .filter(|frame| frame["cursor"].is_u64());
    assert_eq!(durable.count(), 0, "nothing durable is told after the loss");
    let refused = first.receipt(Some(&session), &start("still there?"));
    assert_eq!(refused["error"]["code"], "lease_lost", "{refused}");
    assert_eq!(home.log(&session), log, "and nothing is stored");
    second.accepted(Some(&session), &start("and on"));
    second.until("the end", is_end);
    home.run(&["sessions", "verify", &session]).well();
}

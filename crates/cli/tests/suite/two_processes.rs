//! One session, two processes: one writer (LOG-7).

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::harness::{Home, Replay, Server};

#[track_caller]
fn is_busy(answer: &Value, holder: &Server) {
    assert_eq!(answer["error"]["code"], 4001, "{answer}");
    assert_eq!(
        answer["error"]["data"]["holder"]["pid"],
        holder.pid(),
        "{answer}"
    );
}

#[test]
fn the_second_gets_busy_naming_the_holder_until_the_first_is_gone() {
    let home = Home::new();
    let mut first = Server::start(&home);
    let session = first.new_session(&home);
    first.turn(&session, "mine");
    let before = home.sessions();
    let mut second = Server::start(&home);
    is_busy(&second.try_load(&home, &session), &first);
    assert_eq!(home.sessions(), before, "the refusal leaves no trace");
    assert_eq!(first.turn(&session, "still mine"), "end_turn");
    first.kill();
    let replay = second.load(&home, &session);
    assert_eq!(replay.texts(), ["mine", "still mine"]);
    assert_eq!(second.turn(&session, "now mine"), "end_turn");
}

#[test]
fn a_holder_that_is_only_stopped_keeps_the_session() {
    let home = Home::new();
    let mut first = Server::start(&home);
    let session = first.new_session(&home);
    let pid = Pid::from_raw(first.pid().try_into().unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    let mut second = Server::start(&home);
    is_busy(&second.try_load(&home, &session), &first);
    kill_process(pid, Signal::CONT).unwrap();
    assert_eq!(first.turn(&session, "nothing happened"), "end_turn");
}

#[test]
fn a_restart_straight_after_the_first_ones_stdin_was_closed_works() {
    for prompt in ["/sleep 600", "/run sleep 600", "hello"] {
        let home = Home::new();
        let mut first = Server::start(&home);
        let session = first.new_session(&home);
        first.prompt(&session, prompt);
        first.update("session_info_update");
        let mut second = Server::start(&home);
        first.close_stdin();
        let began = Instant::now();
        second.load(&home, &session);
        assert!(began.elapsed() < Duration::from_secs(3), "{prompt}");
        assert_eq!(second.turn(&session, "here I am"), "end_turn", "{prompt}");
    }
}

#[test]
fn a_claim_waits_for_a_holder_that_is_slow_to_close() {
    let home = Home::new();
    // Closing takes two syncs at the least, and this disk is slow: more than the moment that any
    // claim waits.
    let slow = ["trace=fdatasync", "inject=fdatasync:delay_enter=400000"];
    let mut first = Server::start_by(home.traced(&slow, &home.path("trace"), &["acp"]));
    let session = first.new_session(&home);
    first.prompt(&session, "/sleep 600");
    first.update("session_info_update");
    let mut second = Server::start(&home);
    first.close_stdin();
    second.load(&home, &session);
    assert_eq!(second.turn(&session, "here I am"), "end_turn");
}

#[test]
fn another_session_of_the_same_store_is_not_in_the_way() {
    let home = Home::new();
    let (mut first, mut second) = (Server::start(&home), Server::start(&home));
    let (one, other) = (first.new_session(&home), second.new_session(&home));
    assert_ne!(one, other);
    assert_eq!(first.turn(&one, "one"), "end_turn");
    assert_eq!(second.turn(&other, "other"), "end_turn");
    assert_eq!(Replay::of(&second.frames).texts(), ["other"]);
}

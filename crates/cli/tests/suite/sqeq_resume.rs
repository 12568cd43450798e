//! A program finds its session again by id and cursor, whatever became of the process (SQEQ-6,
//! SQEQ-7).

use serde_json::{Value, json};

use crate::harness::{Home, Native, PATIENCE, eventually};

fn durable(frames: &[Value]) -> Vec<Value> {
    let durable = |frame: &&Value| frame["type"] == "event" && frame["cursor"].is_u64();
    frames.iter().filter(durable).cloned().collect()
}

/// SQEQ-6, SQEQ-7
#[test]
fn after_a_kill_the_durable_events_after_a_cursor_follow_without_gap_or_duplicate() {
    let home = Home::new();
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({}));
    client.turn(&session, "first\n/run echo ran >> ledger\nlast");
    let asked = client.asked();
    client.select(&asked, "allow_once");
    client.event("turn.ended");
    client.server.kill();
    let lived = durable(&client.server.frames);
    assert!(lived.len() > 5);
    for seen in [0, 1, lived.len() / 2, lived.len()] {
        let after = lived[..seen]
            .last()
            .map_or(json!(0), |frame| frame["cursor"].clone());
        let mut next = Native::start(&home);
        let replayed = next.resume(&session, &json!({"after": after}));
        assert_eq!(durable(&replayed), lived[seen..], "after {after}");
        next.quit();
    }
    let mut next = Native::start(&home);
    assert_eq!(durable(&next.resume(&session, &json!("all"))), lived);
    assert_eq!(next.resume(&session, &json!("none")), [Value::Null; 0]);
    next.quit();
    assert_eq!(home.read("ledger"), "ran\n", "nothing ran again (RESUME-6)");
}

/// SQEQ-7, RESUME-6
#[test]
fn a_turn_that_was_killed_in_its_question_is_shown_closed_and_asks_no_more() {
    let home = Home::new();
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({}));
    client.turn(&session, "/run echo ran >> ledger");
    let asked = client.asked();
    client.server.kill();
    let lived = durable(&client.server.frames);
    let mut next = Native::start(&home);
    let after = lived.last().unwrap()["cursor"].clone();
    let shown = next.resume(&session, &json!({"after": after}));
    let ended: Vec<_> = shown
        .iter()
        .filter(|frame| frame["event"]["type"] == "turn.ended")
        .collect();
    assert_eq!(ended.len(), 1, "{shown:?}");
    assert_eq!(
        ended[0]["cursor"],
        Value::Null,
        "announced, not recorded: a load changes nothing"
    );
    next.select(&asked, "allow_once");
    let refused = next.until("an error", |frame| frame["type"] == "error");
    assert_eq!(refused["code"], "refused", "{refused}");
    let turn = next.turn(&session, "and on");
    let end = next.until("its end", |frame| {
        frame["event"]["type"] == "turn.ended" && frame["turn"] == *turn
    });
    assert_eq!(end["event"]["outcome"], "completed");
    next.quit();
    assert_eq!(home.read("ledger"), "");
}

#[test]
fn a_session_that_another_process_holds_is_busy_and_its_holder_is_named() {
    let home = Home::new();
    let mut holder = Native::start(&home);
    let session = holder.new_session(&home, &json!({}));
    let mut other = Native::start(&home);
    let op = json!({"type": "session.resume", "session": session});
    let refused = other.receipt(None, &op);
    assert_eq!(refused["error"]["code"], "busy", "{refused}");
    assert_eq!(
        refused["error"]["holder"]["pid"],
        holder.server.pid(),
        "{refused}"
    );
    holder.quit();
    eventually("the session is free", PATIENCE, || {
        other.receipt(None, &op)["accepted"]
            .is_object()
            .then_some(())
    });
    other.quit();
}

#[test]
fn a_cursor_that_is_not_there_yet_is_refused() {
    let home = Home::new();
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({}));
    let op = json!({"type": "session.resume", "session": session, "replay": {"after": 1_000_000}});
    let error = client.receipt(None, &op)["error"].clone();
    assert_eq!(error["code"], "gap", "{error}");
    assert_eq!(error["gap"]["after"], 0, "{error}");
    client.quit();
}

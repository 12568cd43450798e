//! Turns of `sessiond-codex app-server`: what is told of them, in which order, and what may be asked
//! while one runs.

use serde_json::{Value, json};

use crate::harness::{Codex, Home};

/// An id that no turn has.
const UNKNOWN: &str = "01a22742-0000-7000-8000-000000000000";

fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

/// codex.md B9
#[test]
fn a_turn_is_told_in_codexs_order() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let thread = codex.thread(&home);
    codex.told("thread/started");
    let begin = codex.frames.len();
    let done = codex.run(&thread, "hello\n/run echo hi\n/usage");
    let told: Vec<_> = codex
        .methods(begin)
        .into_iter()
        .filter(|m| !m.ends_with("elta"))
        .collect();
    let wanted = [
        "=",
        "thread/status/changed",
        "turn/started",
        "item/started",
        "item/completed",
        "item/started",
        "item/completed",
        "item/started",
        "item/completed",
        "thread/tokenUsage/updated",
        "thread/status/changed",
        "turn/completed",
    ];
    assert_eq!(told, wanted);
    let turn = &done["params"]["turn"];
    assert_eq!(
        (&turn["status"], &turn["itemsView"]),
        (&json!("completed"), &json!("summary"))
    );
    let deltas = codex
        .frames
        .iter()
        .filter(|frame| frame["method"] == "item/agentMessage/delta");
    let text: String = deltas
        .map(|frame| frame["params"]["delta"].as_str().unwrap())
        .collect();
    assert!(text.starts_with("hello"), "{text}");
    let (mut begun, mut ended) = (Vec::new(), Vec::new());
    for frame in &codex.frames {
        let id = frame["params"]["item"]["id"].clone();
        match frame["method"].as_str() {
            Some("item/started") => begun.push(id),
            Some("item/completed") => ended.push(id),
            _ => {}
        }
    }
    assert_eq!(begun, ended);
}

/// codex.md B9: failure.
#[test]
fn a_failed_turn_leaves_a_system_error_until_the_next_one() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let thread = codex.thread(&home);
    let begin = codex.frames.len();
    let done = codex.run(&thread, "/fail on purpose");
    assert_eq!(done["params"]["turn"]["status"], "failed");
    let told = codex.methods(begin);
    assert_eq!(
        told[told.len() - 3..],
        ["thread/status/changed", "error", "turn/completed"]
    );
    let error = codex.frames[codex.frames.len() - 2]["params"].clone();
    assert_eq!(error["willRetry"], false);
    assert_eq!(error["error"], done["params"]["turn"]["error"]);
    let read = codex.call(
        "thread/read",
        json!({ "threadId": thread, "includeTurns": true }),
    );
    assert_eq!(read["thread"]["status"]["type"], "systemError");
    assert_eq!(
        read["thread"]["turns"][0]["error"]["message"],
        error["error"]["message"]
    );
    codex.run(&thread, "well");
    let read = codex.call("thread/read", json!({ "threadId": thread }));
    assert_eq!(read["thread"]["status"]["type"], "idle");
}

/// SQEQ-2, codex.md R3 and R5: new input is added to the turn that runs.
#[test]
fn input_while_a_turn_runs_is_added_to_it() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let thread = codex.thread(&home);
    let turn = codex.turn(&thread, "/sleep 600");
    let second = codex.turn(&thread, "second");
    assert_eq!(second, turn);
    let wrong = json!({ "threadId": thread, "expectedTurnId": UNKNOWN, "input": text("x") });
    let refusal = codex.refusal("turn/steer", wrong);
    assert_eq!(
        refusal,
        format!("expected active turn id `{UNKNOWN}` but found `{turn}`")
    );
    let wrong = json!({ "threadId": thread, "turnId": UNKNOWN });
    let refusal = codex.refusal("turn/interrupt", wrong);
    assert_eq!(
        refusal,
        format!("expected active turn id {UNKNOWN} but found {turn}")
    );
    let schema =
        json!({ "threadId": thread, "input": text("x"), "outputSchema": { "type": "object" } });
    let refused = codex.ask("turn/start", schema);
    assert_eq!(refused["error"]["code"], -32603);
    assert_eq!(
        refused["error"]["message"],
        "failed to submit turn input: ActiveTurnOutputSchemaMismatch"
    );
    let right = json!({ "threadId": thread, "expectedTurnId": turn, "input": text("third") });
    assert_eq!(codex.call("turn/steer", right)["turnId"], json!(turn));
    codex.call(
        "turn/interrupt",
        json!({ "threadId": thread, "turnId": turn }),
    );
    codex.told("turn/completed");
    let read = codex.call(
        "thread/read",
        json!({ "threadId": thread, "includeTurns": true }),
    );
    let turns = read["thread"]["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 1);
    let said: Vec<_> = turns[0]["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["type"] == "userMessage")
        .collect();
    assert_eq!(said.len(), 3, "{turns:?}");
}

/// SQEQ-3, SQEQ-4
#[test]
fn an_interrupt_is_answered_before_the_turns_one_end() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let thread = codex.thread(&home);
    let turn = codex.turn(&thread, "before\n/run sleep 600");
    codex.until("the call", |frame| {
        frame["params"]["item"]["type"] == "commandExecution"
    });
    let begin = codex.frames.len();
    codex.call(
        "turn/interrupt",
        json!({ "threadId": thread, "turnId": turn }),
    );
    let done = codex.told("turn/completed");
    assert_eq!(done["params"]["turn"]["status"], "interrupted");
    let told = codex.methods(begin);
    assert_eq!(
        told,
        [
            "=",
            "item/completed",
            "thread/status/changed",
            "turn/completed"
        ]
    );
    let late = codex.refusal(
        "turn/interrupt",
        json!({ "threadId": thread, "turnId": turn }),
    );
    assert_eq!(late, "no active turn to interrupt");
}

/// SQEQ-3: input that comes while a turn is being stopped is the next turn; both are told to their
/// ends.
#[test]
fn input_behind_an_interrupt_is_a_turn_of_its_own() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let thread = codex.thread(&home);
    // A tool that takes its time to go.
    let slow = "/run trap 'sleep 0.5; exit' TERM; echo up; while :; do sleep 0.1; done";
    let first = codex.turn(&thread, slow);
    codex.told("item/commandExecution/outputDelta");
    codex.send(
        "turn/interrupt",
        json!({ "threadId": thread, "turnId": first }),
    );
    let second = codex.turn(&thread, "next");
    let ends: Vec<Value> = (0..2)
        .map(|_| codex.told("turn/completed")["params"]["turn"].clone())
        .map(|turn| json!([turn["id"], turn["status"]]))
        .collect();
    assert_eq!(
        json!(ends),
        json!([[first, "interrupted"], [second, "completed"]])
    );
}

/// codex.md B3: a turn without a message.
#[test]
fn a_turn_may_begin_without_a_message() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let thread = codex.thread(&home);
    codex.call("turn/start", json!({ "threadId": thread, "input": [] }));
    let done = codex.told("turn/completed");
    assert_eq!(done["params"]["turn"]["status"], "completed");
    let read = codex.call(
        "thread/read",
        json!({ "threadId": thread, "includeTurns": true }),
    );
    let items = read["thread"]["turns"][0]["items"].as_array().unwrap();
    assert!(
        items.iter().all(|item| item["type"] == "agentMessage"),
        "{items:?}"
    );
}

/// Notifications that a client does not want do not come.
#[test]
fn a_client_opts_out_of_notifications_by_name() {
    let home = Home::new();
    let mut codex = Codex::spawn(home.codex(&["app-server"]));
    codex.initialize(json!({ "optOutNotificationMethods": ["item/agentMessage/delta", "thread/started", "no/such"] }));
    let thread = codex.thread(&home);
    codex.run(&thread, "hello");
    let told = codex.methods(0);
    assert!(!told.contains(&"item/agentMessage/delta") && !told.contains(&"thread/started"));
    assert!(told.contains(&"item/completed"));
}

//! What a program changes of a session and its conversation over `sessiond sqeq`.

use serde_json::{Value, json};

use crate::harness::{Home, Native};

fn queued(prompt: &str) -> Value {
    let input = json!([{"type": "text", "text": prompt}]);
    json!({"type": "turn.start", "input": input, "if_busy": "queue"})
}

/// SQEQ-4: each submission has one receipt, and each turn one end.
#[test]
fn a_prompt_that_waits_is_taken_back_and_one_that_runs_is_not() {
    let home = Home::new();
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({}));
    let runs = client.turn(&session, "/run echo hi >> ledger");
    let asked = client.asked();
    let waits = client.submit(Some(&session), &queued("/run echo no >> ledger"));
    let receipt = client.until("its receipt", |frame| frame["id"] == *waits);
    let turn = receipt["accepted"]["turn"].clone();
    for id in [waits.as_str(), &waits, "s1", "s2", "never"] {
        client.say(&json!({"v": 1, "type": "withdraw", "id": id}));
    }
    let ended = client.event("turn.ended");
    assert_eq!(
        (&ended["turn"], &ended["event"]["outcome"]),
        (&turn, &json!("cancelled"))
    );
    client.select(&asked, "allow_once");
    let closed = client.until("the end of the question", |frame| {
        frame["type"] == "request_closed"
    });
    assert_eq!(closed["reason"], "answered", "{closed}");
    let ended = client.event("turn.ended");
    assert_eq!(
        (&ended["turn"], &ended["event"]["outcome"]),
        (&json!(runs), &json!("completed"))
    );
    let frames = client.quit();
    let of = |kind: &'static str| frames.iter().filter(move |frame| frame["type"] == kind);
    assert_eq!(of("receipt").count(), 3, "{frames:?}");
    assert_eq!(of("error").count(), 0, "{frames:?}");
    assert_eq!(home.read("ledger"), "hi\n");
}

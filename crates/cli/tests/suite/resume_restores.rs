//! What a session has after its process was killed is what it had before (RESUME-4).

use serde_json::{Value, json};

use crate::harness::{Home, Native};

/// A prompt under a key.
fn keyed(prompt: &str, key: &str) -> Value {
    let input = json!([{"type": "text", "text": prompt}]);
    json!({"type": "turn.start", "input": input, "idempotency_key": key, "if_busy": "queue"})
}

/// Attaches to a session and gives its view.
fn view(client: &mut Native, session: &str, replay: &Value) -> Value {
    let op = json!({"type": "session.resume", "session": session, "replay": replay});
    client.accepted(None, &op)
}

/// Submits a prompt under a key and waits until its turn has ended.
fn runs(client: &mut Native, session: &str, op: &Value) -> Value {
    let turn = client.accepted(Some(session), op)["turn"].clone();
    client.until("its end", |frame| {
        frame["event"]["type"] == "turn.ended" && frame["turn"] == turn
    });
    turn
}

/// RESUME-4, TASK-5: what was submitted under a key and done, was cut off in the middle, or waited
/// when the process was killed, is never done again; its receipt is the first one.
#[test]
fn a_key_stands_for_its_turn_after_kill_9_whatever_had_become_of_that() {
    let home = Home::new();
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({}));
    client.accepted(
        Some(&session),
        &json!({"type": "session.configure", "mode": "auto"}),
    );
    let done = keyed("/run echo done >> ledger", "done");
    let cut = keyed("/run echo cut >> ledger\n/sleep 600", "cut");
    let waits = keyed("/run echo waited >> ledger", "waits");
    let steered = json!({"type": "turn.start", "input": [{"type": "text", "text": "more"}],
        "idempotency_key": "steered", "if_busy": "steer"});
    let mut first = vec![runs(&mut client, &session, &done)];
    first.push(client.accepted(Some(&session), &cut)["turn"].clone());
    client.until("the cut call's end", |frame| {
        frame["event"]["type"] == "item.ended" && frame["event"]["item"]["type"] == "tool_call"
    });
    for op in [&waits, &steered] {
        first.push(client.accepted(Some(&session), op)["turn"].clone());
    }
    assert_eq!(first[3], first[1], "a steer is answered with its turn");
    client.server.kill();
    assert_eq!(home.read("ledger"), "done\ncut\n");
    // Twice: the second process reads what the first one recorded of the death.
    for _ in 0..2 {
        let mut next = Native::start(&home);
        view(&mut next, &session, &json!("none"));
        for (op, turn) in [&done, &cut, &waits, &steered].into_iter().zip(&first) {
            let again = next.accepted(Some(&session), op);
            assert_eq!(again["turn"], *turn, "{op}");
            let mut other = op.clone();
            other["input"][0]["text"] = json!("/run echo other >> ledger");
            let refused = next.receipt(Some(&session), &other);
            assert_eq!(refused["error"]["code"], "key_reused", "{refused}");
            assert_eq!(refused["error"]["turn"], *turn, "{refused}");
        }
        let new = runs(&mut next, &session, &keyed("hello", &next_key(&home)));
        assert!(!first.contains(&new));
        next.server.kill();
    }
    assert_eq!(home.read("ledger"), "done\ncut\n", "nothing ran again");
    // LOG-8: the log holds the prompts, and of none a digest that anybody could make.
    let log = home.log(&session);
    let canonical = r#"[{"text":"/run echo done >> ledger","type":"text"}]"#;
    let plain = blake3::hash(canonical.as_bytes()).to_hex();
    assert!(!log.contains(&plain[..32]), "a plain digest of a prompt");
    assert!(log.contains("blake3-keyed-1."), "{log}");
}

/// A key that no process has used.
fn next_key(home: &Home) -> String {
    let count = home.read("keys").len();
    home.write("keys", &"x".repeat(count + 1));
    format!("new {count}")
}

/// RESUME-4: what a client and the agent go on with is what there was: title and who chose it, mode,
/// grants, accounting, what was said, the summary of the list, the place to resume, fork or rewind
/// to. The attestation says so.
#[test]
fn title_mode_grants_usage_and_summary_are_those_of_before_the_kill() {
    let home = Home::new();
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({}));
    let turn = client.turn(&session, "/run echo granted >> ledger\n/usage");
    let asked = client.asked();
    client.select(&asked, "allow_always");
    let ended = client.until("its end", |frame| {
        frame["event"]["type"] == "turn.ended" && frame["turn"] == *turn
    });
    let usage = ended["event"]["usage"].clone();
    assert!(usage["input"].as_u64().unwrap() > 0, "{ended}");
    client.accepted(
        Some(&session),
        &json!({"type": "session.rename", "title": "mine"}),
    );
    let careful = json!({"type": "session.configure", "mode": "read-only"});
    let asking = json!({"type": "session.configure", "mode": "ask"});
    let before_kill = view(&mut client, &session, &json!("none"));
    let listed = list(&home);
    client.server.kill();

    let mut next = Native::start(&home);
    let after = view(&mut next, &session, &json!("all"));
    for member in ["session", "title", "mode", "agent", "cursor", "cwd"] {
        assert_eq!(after[member], before_kill[member], "{member}");
    }
    assert_eq!(
        (&after["title"], &after["mode"]),
        (&json!("mine"), &json!("ask"))
    );
    let attested = &after["attestation"];
    assert_eq!(
        attested["grants"].as_array().unwrap().len(),
        1,
        "{attested}"
    );
    assert_eq!(attested["mode"], after["mode"], "{attested}");
    assert_eq!(attested["start"], "resumed", "{attested}");
    let replayed = next
        .server
        .frames
        .iter()
        .find(|frame| frame["event"]["type"] == "turn.ended" && frame["turn"] == *turn);
    let replayed = replayed.unwrap();
    assert_eq!(replayed["event"]["usage"], usage, "accounting");
    assert_eq!(replayed["event"]["bookmark"], ended["event"]["bookmark"]);
    assert_eq!(list(&home), listed, "the summary");
    // The grant is in force: nobody is asked. The prompt does not choose the title again.
    let turn = next.turn(&session, "/run echo granted >> ledger");
    let end = next.until("its end or a question", |frame| {
        frame["type"] == "request"
            || frame["event"]["type"] == "turn.ended" && frame["turn"] == *turn
    });
    assert_eq!(end["event"]["outcome"], "completed", "{end}");
    assert_eq!(home.read("ledger"), "granted\ngranted\n");
    assert_eq!(view(&mut next, &session, &json!("none"))["title"], "mine");
    // A mode is restored too; the tightened one takes the grants with it, here and later.
    next.accepted(Some(&session), &careful);
    next.server.kill();
    let mut last = Native::start(&home);
    let after = view(&mut last, &session, &json!("none"));
    assert_eq!(after["mode"], "read-only");
    assert_eq!(after["attestation"]["grants"], Value::Null, "{after}");
    last.accepted(Some(&session), &asking);
    last.turn(&session, "/run echo refused >> ledger");
    let asked = last.asked();
    last.select(&asked, "reject_once");
    last.event("turn.ended");
    last.quit();
    assert_eq!(home.read("ledger"), "granted\ngranted\n");
}

/// RESUME-4: what the killed process had opened, cached or looked up is found out again.
#[test]
fn what_a_process_looked_up_is_looked_up_again_by_the_next_one() {
    let home = Home::new();
    home.write("facts", "old");
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({}));
    client.turn(&session, "/read facts");
    let of_call = |frame: &Value| {
        let ended = frame["event"]["type"] == "item.ended";
        ended && frame["event"]["item"]["type"] == "tool_call"
    };
    let read = client.until("the call's end", of_call);
    assert!(read.to_string().contains("old"), "{read}");
    client.event("turn.ended");
    client.server.kill();
    home.write("facts", "new");
    let mut next = Native::start(&home);
    view(&mut next, &session, &json!("none"));
    next.turn(&session, "/read facts");
    let read = next.until("the call's end", of_call);
    assert!(read.to_string().contains("new"), "{read}");
    next.event("turn.ended");
    next.quit();
}

/// The list as programs get it, but for what the index alone knows.
fn list(home: &Home) -> Value {
    let listed = home.run(&["sessions", "list", "--json"]).well();
    serde_json::from_str(&listed.stdout).unwrap()
}

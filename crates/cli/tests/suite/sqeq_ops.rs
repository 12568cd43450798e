//! What a program changes of a session and its conversation over `sessiond sqeq`.

use serde_json::{Value, json};
use sessiond_log::{Store, Verdict};

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

/// CKPT-2, CKPT-3: the conversation goes back; what a command did does not, and is noted.
#[test]
fn a_conversation_goes_back_and_what_ran_is_noted() {
    let home = Home::new();
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({}));
    client.turn(&session, "first");
    let kept = client.event("turn.ended")["cursor"].clone();
    client.turn(&session, "/run echo ran >> ledger");
    let asked = client.asked();
    let call = asked["item"].clone();
    client.select(&asked, "allow_once");
    let left = client.event("turn.ended")["cursor"].as_u64().unwrap();
    let refused = client.receipt(
        Some(&session),
        &json!({"type": "session.rewind", "to": left - 1}),
    );
    assert_eq!(refused["error"]["code"], "invalid", "{refused}");
    let back = json!({"type": "session.rewind", "to": kept});
    client.accepted(Some(&session), &back);
    let marker = client
        .server
        .frames
        .iter()
        .find(|frame| frame["event"]["marker"] == "rewind");
    let marker = marker.unwrap()["event"].clone();
    assert_eq!(
        (&marker["ran"], &marker["calls"]),
        (&json!(1), &json!([call]))
    );
    client.turn(&session, "second");
    client.event("turn.ended");
    client.quit();
    assert_eq!(home.read("ledger"), "ran\n");

    let shown = home.run(&["sessions", "show", &session]).stdout;
    let text = format!("rewind     the agent knows what was said up to event {kept}");
    assert!(shown.contains(&text), "{shown}");
    assert!(
        shown.contains("what 1 tool call did after that event stays done"),
        "{shown}"
    );
    let mut next = Native::start(&home);
    let replayed = next.resume(&session, &json!("all"));
    let prompts: Vec<_> = replayed
        .iter()
        .filter(|frame| frame["event"]["item"]["type"] == "user_message")
        .map(|frame| frame["event"]["item"]["content"][0]["text"].clone())
        .collect();
    assert_eq!(prompts, ["first", "second"]);
    next.quit();
}

/// CTX-2, CTX-8: the agent goes on from a summary, also after a kill; clients are shown everything, and
/// can go back to before it.
#[test]
fn a_conversation_is_compacted_and_goes_on_after_a_kill() {
    let home = Home::new();
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({}));
    let compact = json!({"type": "session.compact"});
    let refused = client.receipt(Some(&session), &compact);
    assert_eq!(refused["error"]["code"], "invalid", "{refused}");
    client.turn(&session, "first\nand more");
    let kept = client.event("turn.ended")["cursor"].clone();
    client.turn(&session, "second");
    client.event("turn.ended");
    client.accepted(Some(&session), &compact);
    let item = client.event("item.ended")["event"]["item"].clone();
    let summary = "2 prompts, 2 messages, 0 tool calls.\n- first\n- second";
    assert_eq!(
        (&item["type"], &item["summary"], &item["window"]),
        (&json!("compaction"), &json!(summary), &json!(1))
    );
    let ended = client.event("turn.ended");
    assert_eq!(ended["event"]["outcome"], "completed");
    client.turn(&session, "third");
    client.event("turn.ended");
    client.server.kill();

    let mut next = Native::start(&home);
    let replayed = next.resume(&session, &json!("all"));
    let kinds: Vec<_> = replayed
        .iter()
        .filter(|frame| frame["event"]["type"] == "item.ended")
        .map(|frame| frame["event"]["item"]["type"].as_str().unwrap())
        .collect();
    let (user, agent) = ("user_message", "agent_message");
    let all = [user, agent, user, agent, "compaction", user, agent];
    assert_eq!(kinds, all);
    next.accepted(Some(&session), &compact);
    let item = next.event("item.ended")["event"]["item"].clone();
    let again = format!("{summary}\n1 prompts, 1 messages, 0 tool calls.\n- third");
    assert_eq!(
        (&item["summary"], &item["window"]),
        (&json!(again), &json!(2))
    );
    next.event("turn.ended");
    next.accepted(
        Some(&session),
        &json!({"type": "session.rewind", "to": kept}),
    );
    next.accepted(Some(&session), &compact);
    let item = next.event("item.ended")["event"]["item"].clone();
    let before = "1 prompts, 1 messages, 0 tool calls.\n- first";
    assert_eq!(item["summary"], before);
    next.event("turn.ended");
    next.quit();
    let shown = home.run(&["sessions", "show", &session]).stdout;
    assert!(
        shown.contains("compaction 2 prompts, 2 messages"),
        "{shown}"
    );
}

/// LOG-13: what `sessions export` wrote comes back over the waist as by the command, with a record of
/// that (LOG-19).
#[test]
fn a_session_is_imported_from_the_file_of_an_export() {
    let home = Home::new();
    let mut client = Native::start(&home);
    let session = client.new_session(&home, &json!({}));
    client.turn(&session, "hello");
    client.event("turn.ended");
    let said = json!([{"type": "agent_message", "text": "told elsewhere"}]);
    client.accepted(
        Some(&session),
        &json!({"type": "session.append", "items": said}),
    );
    client.quit();
    let file = home.path("exported");
    let exported = home.run(&["sessions", "export", &session, "-o", file.to_str().unwrap()]);
    assert_eq!(exported.code, Some(0), "{}", exported.stderr);

    let mut client = Native::start(&home);
    let import = |id: Value| {
        let source = json!({"type": "file", "path": file, "id": id});
        json!({"type": "session.import", "source": source})
    };
    let other = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10";
    let refused = client.receipt(None, &import(Value::Null));
    assert_eq!(refused["error"]["code"], "invalid", "it exists: {refused}");
    let view = client.accepted(None, &import(json!(other)));
    assert_eq!(
        (&view["session"], &view["title"]),
        (&json!(other), &json!("hello"))
    );
    let replayed = client.resume(other, &json!("all"));
    let texts = replayed
        .iter()
        .filter(|f| f["event"]["item"]["type"] == "agent_message");
    let texts: Vec<_> = texts.map(|frame| &frame["event"]["item"]["text"]).collect();
    assert_eq!(texts.last().unwrap(), &"told elsewhere");
    let broken = home.write("broken", "not an export\n");
    let source = json!({"type": "file", "path": broken});
    let broken = client.receipt(None, &json!({"type": "session.import", "source": source}));
    assert!(broken["error"]["code"].is_string(), "{broken}");
    let folder = json!({"type": "file", "path": home.work()});
    let folder = client.receipt(None, &json!({"type": "session.import", "source": folder}));
    assert_eq!(folder["error"]["code"], "invalid", "{folder}");
    client.quit();
    let trail = Store::open_real(&home.store()).unwrap().audit_trail();
    let imports = trail
        .unwrap()
        .into_iter()
        .filter(|entry| entry.action == "import");
    let verdicts: Vec<_> = imports.map(|entry| entry.verdict).collect();
    let (yes, no) = (Verdict::Accepted, Verdict::Refused);
    assert_eq!(verdicts, [no, yes, no, no]);
}

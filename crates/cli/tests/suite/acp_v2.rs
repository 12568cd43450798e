//! Version 2 of the protocol by the real binary: negotiated, across processes, through SIGKILL.

use serde_json::{Value, json};

use crate::harness::{Home, Permissions, Server};

/// A server that speaks both versions, to a client of version 2.
fn start(home: &Home) -> Server {
    let mut server = Server::spawn(home.command(&["acp", "--acp", "auto"]));
    let info = json!({"name": "client", "version": "1"});
    let asked = json!({"protocolVersion": 2, "info": info});
    assert_eq!(server.call("initialize", asked)["protocolVersion"], 2);
    server
}

fn new_session(server: &mut Server, home: &Home) -> String {
    let made = server.call("session/new", json!({"cwd": home.work()}));
    made["sessionId"].as_str().unwrap().to_owned()
}

fn prompt(server: &mut Server, session: &str, text: &str) -> u64 {
    let prompt = json!([{"type": "text", "text": text}]);
    server.send(
        "session/prompt",
        json!({"sessionId": session, "prompt": prompt}),
    )
}

/// Runs a turn and gives its updates, up to its end.
#[track_caller]
fn turn(server: &mut Server, session: &str, text: &str) -> Vec<Value> {
    let begin = server.frames.len();
    prompt(server, session, text);
    server.until("the turn's end", is_idle);
    updates(&server.frames[begin..])
}

fn is_idle(frame: &Value) -> bool {
    frame["params"]["update"]["state"] == "idle"
}

fn updates(frames: &[Value]) -> Vec<Value> {
    let updates = frames.iter().map(|frame| &frame["params"]["update"]);
    updates
        .filter(|update| !update.is_null())
        .cloned()
        .collect()
}

/// What a client knows of a conversation: text by message, each call's last status, by ids.
#[derive(Debug, Default, PartialEq)]
struct Known {
    texts: Vec<(String, String)>,
    calls: Vec<(String, String)>,
}

impl Known {
    fn of(updates: &[Value]) -> Self {
        let mut known = Known::default();
        for update in updates {
            let kind = update["sessionUpdate"].as_str().unwrap();
            if kind.ends_with("message_chunk") {
                let text = update["content"]["text"].as_str().unwrap();
                add(&mut known.texts, &update["messageId"], text);
            } else if kind == "tool_call_update" && update["status"].is_string() {
                let id = update["toolCallId"].as_str().unwrap();
                known.calls.retain(|(of, _)| of != id);
                add(
                    &mut known.calls,
                    &update["toolCallId"],
                    update["status"].as_str().unwrap(),
                );
            }
        }
        known
    }
}

fn add(known: &mut Vec<(String, String)>, id: &Value, text: &str) {
    let id = id.as_str().unwrap();
    match known.iter_mut().find(|(of, _)| of == id) {
        Some((_, known)) => known.push_str(text),
        None => known.push((id.to_owned(), text.to_owned())),
    }
}

fn resume(server: &mut Server, home: &Home, session: &str) -> Vec<Value> {
    let begin = server.frames.len();
    let from = json!({"type": "start"});
    let params = json!({"sessionId": session, "cwd": home.work(), "replayFrom": from});
    server.call("session/resume", params);
    let updates = updates(&server.frames[begin..]);
    let last: Vec<_> = updates
        .iter()
        .rev()
        .take(2)
        .map(|u| &u["sessionUpdate"])
        .collect();
    assert_eq!(last, ["state_update", "replay_complete"]);
    updates
}

/// RESUME-10, RESUME-4: another process knows the same conversation by the same ids.
#[test]
fn a_new_process_replays_what_was_told_live() {
    let home = Home::new();
    let mut first = start(&home);
    let session = new_session(&mut first, &home);
    let mut live = turn(
        &mut first,
        &session,
        "before\n/think hm\n/run echo out\n/plan A; B\nafter",
    );
    live.extend(turn(
        &mut first,
        &session,
        "/write f text\n/edit f text => more",
    ));
    first.quit();
    let mut second = start(&home);
    let replayed = resume(&mut second, &home, &session);
    assert_eq!(Known::of(&replayed), Known::of(&live));
    // It goes on where it was.
    let more = turn(&mut second, &session, "on");
    assert_eq!(Known::of(&more).texts.len(), 2);
    let kinds: Vec<_> = more.iter().map(|update| &update["sessionUpdate"]).collect();
    assert_eq!(kinds[0], "state_update");
}

/// RESUME-6, LOG-17
#[test]
fn after_sigkill_the_replay_is_complete_and_nothing_runs_again() {
    let home = Home::new();
    let mut first = start(&home);
    let session = new_session(&mut first, &home);
    let begin = first.frames.len();
    prompt(
        &mut first,
        &session,
        "said\n/run echo once >> ledger; echo out; sleep 600",
    );
    first.update("terminal_output_chunk");
    let frames = first.kill();
    let live = Known::of(&updates(&frames[begin..]));
    let mut second = start(&home);
    let replayed = resume(&mut second, &home, &session);
    let known = Known::of(&replayed);
    assert_eq!(known.texts[..live.texts.len()], live.texts[..]);
    assert_eq!(
        (&*known.calls[0].0, &*known.calls[0].1),
        (&*live.calls[0].0, "failed")
    );
    let marks = replayed
        .iter()
        .filter(|update| update["_meta"]["sessiond"]["marker"] == "interrupted");
    assert_eq!(marks.count(), 1);
    turn(&mut second, &session, "on");
    let ledger = std::fs::read_to_string(home.work().join("ledger")).unwrap();
    assert_eq!(ledger, "once\n");
}

/// RESUME-4: a key is known for as long as the message is, whichever process is asked.
#[test]
fn a_prompt_that_is_sent_again_under_its_key_is_not_run_again() {
    let home = Home::new();
    let mut first = start(&home);
    let session = new_session(&mut first, &home);
    let keyed = |text: &str| {
        let prompt = json!([{"type": "text", "text": text}]);
        json!({"sessionId": session, "prompt": prompt, "idempotencyKey": "mine"})
    };
    let once = "/run echo once >> ledger";
    let message = first.call("session/prompt", keyed(once));
    first.until("the turn's end", is_idle);
    assert_eq!(first.call("session/prompt", keyed(once)), message);
    first.kill();
    let mut second = start(&home);
    resume(&mut second, &home, &session);
    assert_eq!(second.call("session/prompt", keyed(once)), message);
    let id = second.send("session/prompt", keyed("another"));
    assert_eq!(second.response(id)["error"]["code"], -32602);
    let ledger = std::fs::read_to_string(home.work().join("ledger")).unwrap();
    assert_eq!(ledger, "once\n");
}

/// TASK-4
#[test]
fn one_command_is_stopped_by_its_terminal_and_the_turn_goes_on() {
    let home = Home::new();
    let mut server = start(&home);
    let session = new_session(&mut server, &home);
    let begin = server.frames.len();
    prompt(&mut server, &session, "/run echo out; sleep 600\n/say on");
    let terminal = server.update("terminal_update");
    let id = &terminal["params"]["update"]["terminalId"];
    server.update("terminal_output_chunk");
    server.call(
        "terminal/cancel",
        json!({"sessionId": session, "terminalId": id}),
    );
    if !server.frames.iter().any(is_idle) {
        server.until("the turn's end", is_idle);
    }
    let told = updates(&server.frames[begin..]);
    assert_eq!(Known::of(&told).calls[0].1, "cancelled");
    assert_eq!(Known::of(&told).texts.last().unwrap().1, "on");
    assert_eq!(
        told.iter().rfind(|u| u["state"] == "idle").unwrap()["stopReason"],
        "end_turn"
    );
}

#[test]
fn cancelling_while_the_user_is_asked_ends_the_turn_with_one_answer_each() {
    let home = Home::new();
    let mut server = start(&home);
    server.permissions = Permissions::Hold;
    let session = new_session(&mut server, &home);
    let running = prompt(&mut server, &session, "/run touch never");
    let asked = server.asked("session/request_permission");
    assert!(asked["params"]["title"].is_string());
    let waiting = prompt(&mut server, &session, "later");
    server.notify("session/cancel", json!({"sessionId": session}));
    assert_eq!(server.response(waiting)["error"]["code"], -32800);
    let answers = server
        .frames
        .iter()
        .filter(|frame| frame["id"] == running && frame.get("method").is_none());
    assert_eq!(answers.count(), 1);
    let states: Vec<_> = server
        .frames
        .iter()
        .map(|frame| &frame["params"]["update"])
        .collect();
    let last = states
        .iter()
        .rfind(|update| update["sessionUpdate"] == "state_update")
        .unwrap();
    assert_eq!(
        (&last["state"], &last["stopReason"]),
        (&json!("idle"), &json!("cancelled"))
    );
    assert!(!home.work().join("never").exists());
}

#[test]
fn a_fork_goes_its_own_way() {
    let home = Home::new();
    let mut server = start(&home);
    let parent = new_session(&mut server, &home);
    turn(&mut server, &parent, "shared");
    let forked = server.call(
        "session/fork",
        json!({"sessionId": parent, "cwd": home.work()}),
    );
    let child = forked["sessionId"].as_str().unwrap().to_owned();
    assert_ne!(child, parent);
    turn(&mut server, &child, "mine");
    server.call("session/close", json!({"sessionId": child}));
    let replayed = resume(&mut server, &home, &child);
    let texts: Vec<_> = Known::of(&replayed)
        .texts
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    assert_eq!(texts, ["shared", "shared", "mine", "mine"]);
    let page = server.call("session/list", json!({"cwd": home.work()}));
    assert_eq!(page["sessions"].as_array().unwrap().len(), 2);
    server.call("session/archive", json!({"sessionId": child}));
    server.call("session/delete", json!({"sessionId": parent}));
    assert_eq!(
        server.call("session/list", json!({}))["sessions"],
        json!([])
    );
    server.call("session/unarchive", json!({"sessionId": child}));
    assert_eq!(
        server.call("session/list", json!({}))["sessions"][0]["sessionId"],
        *child
    );
}

/// What one version recorded the other one shows.
#[test]
fn a_session_is_resumed_by_either_version() {
    let home = Home::new();
    let mut first = start(&home);
    let session = new_session(&mut first, &home);
    turn(&mut first, &session, "two\n/run echo out");
    first.quit();
    let mut one = Server::start(&home);
    let replay = one.load(&home, &session);
    assert_eq!(replay.texts().last().copied(), Some("two"));
    assert_eq!(one.turn(&session, "one"), "end_turn");
    one.quit();
    let mut second = start(&home);
    let known = Known::of(&resume(&mut second, &home, &session));
    assert_eq!(known.texts.last().unwrap().1, "one");
}

/// acp.md 2.4: the newest 128 keys of a session are known, on any connection; a prompt under an older
/// one is another prompt.
#[test]
fn a_key_is_known_until_128_newer_ones_came() {
    let home = Home::new();
    let mut server = start(&home);
    let session = new_session(&mut server, &home);
    let keyed = |server: &mut Server, number: u64| {
        let prompt = json!([{"type": "text", "text": "go"}]);
        let key = format!("key-{number}");
        let params = json!({"sessionId": session, "prompt": prompt, "idempotencyKey": key});
        server.call("session/prompt", params)["messageId"].clone()
    };
    let mut messages = Vec::new();
    for number in 0..=128 {
        messages.push(keyed(&mut server, number));
        server.until("the turn's end", is_idle);
    }
    server.quit();
    let mut server = start(&home);
    resume(&mut server, &home, &session);
    for number in [128, 1] {
        let again = keyed(&mut server, number);
        assert_eq!(
            again,
            messages[usize::try_from(number).unwrap()],
            "{number}"
        );
    }
    let newer = keyed(&mut server, 0);
    assert!(!messages.contains(&newer), "{newer}");
    server.until("the turn's end", is_idle);
    server.quit();
}

//! A thread is shown while a turn of it runs: what was said so far is told once.

use serde_json::{Value, json};
use sessiond_protocol::ServerFrame;

use super::{Client, accepted_in, ask, id, lines, long, read, replay, resume};

/// The turn that runs, its message and its call.
const TURN: u64 = 900;
const MESSAGE: u64 = 902;
const CALL: u64 = 903;

/// A turn begins, in the log alone.
fn begin(client: &mut Client) {
    let config = json!({ "agent": "script", "version": null, "model": null, "mode": null,
        "cwd": "/w", "policy": 0 });
    let started = json!({ "type": "turn.started", "base": 1, "config": config });
    client.append(TURN, 0, started);
    let content = json!([{ "type": "text", "text": "go on" }]);
    let said = json!({ "type": "user_message", "content": content });
    client.append(
        TURN,
        TURN + 1,
        json!({ "type": "item.ended", "item": said }),
    );
}

/// An event that is stored nowhere.
fn passing(client: &mut Client, item: u64, event: &Value) {
    let frame = json!({ "session": id(1), "turn": id(TURN), "item": id(item),
        "at": "2026-01-01T00:00:00Z", "event": event });
    let frame = serde_json::from_value(frame).unwrap();
    client.face.frame(ServerFrame::Event(frame));
}

fn delta(client: &mut Client, offset: u64, text: &str) {
    let event = json!({ "type": "item.delta", "stream": "text", "offset": offset, "text": text });
    passing(client, MESSAGE, &event);
}

/// Opens the thread while its turn has said "so far": half of that is stored.
async fn attached(client: &mut Client) -> Vec<Value> {
    begin(client);
    let stored =
        json!({ "type": "item.partial", "kind": "agent_message", "offset": 0, "text": "so " });
    client.append(TURN, MESSAGE, stored);
    let opened = resume(client, 2);
    replay(client);
    delta(client, 3, "far");
    accepted_in(client, opened, Some(TURN));
    lines(&client.written().await)
}

/// What the messages of the turn that runs say, in the answer to this request.
fn shown(told: &[Value], number: u64) -> Vec<&Value> {
    let answer = told.iter().find(|line| line["id"] == number).unwrap();
    let turns = answer["result"]["thread"]["turns"].as_array().unwrap();
    let last = turns.last().unwrap();
    assert_eq!(last["status"], "inProgress");
    let items = last["items"].as_array().unwrap().iter();
    let messages = items.filter(|item| item["type"] == "agentMessage");
    messages.map(|item| &item["text"]).collect()
}

/// What was told of a method.
fn told_of<'a>(told: &'a [Value], method: &str) -> Vec<&'a Value> {
    let of = told.iter().filter(|line| line["method"] == method);
    of.map(|line| &line["params"]).collect()
}

const DELTA: &str = "item/agentMessage/delta";

/// RESUME-10: who attaches while a turn runs is shown its text in the answer, and what follows.
#[tokio::test]
async fn a_client_that_attaches_to_a_running_turn_sees_its_text_once() {
    let mut client = long(1).await;
    let told = attached(&mut client).await;
    assert_eq!(shown(&told, 2), ["so far"]);
    assert_eq!(told_of(&told, DELTA), [&json!(null); 0]);
    delta(&mut client, 6, " on");
    let whole = json!({ "type": "item.ended",
        "item": { "type": "agent_message", "text": "so far on" } });
    passing(&mut client, MESSAGE, &whole);
    let told = lines(&client.written().await);
    let deltas = told_of(&told, DELTA);
    assert_eq!(deltas.len(), 1, "{told:?}");
    assert_eq!(deltas[0]["delta"], " on");
    assert!(told_of(&told, "item/started").is_empty(), "{told:?}");
    let ended = told_of(&told, "item/completed");
    assert_eq!(ended[0]["item"]["text"], "so far on");
}

/// RESUME-10: the same where the client has the thread open already, and asks again.
#[tokio::test]
async fn a_thread_that_is_shown_again_shows_what_its_turn_has_said_so_far() {
    let mut client = long(1).await;
    attached(&mut client).await;
    delta(&mut client, 6, " on");
    let call = json!({ "type": "tool_call", "name": "t", "title": "t", "kind": "execute",
        "status": "running", "input": { "command": "ls" } });
    passing(
        &mut client,
        CALL,
        &json!({ "type": "item.started", "item": call }),
    );
    client.written().await;
    ask(
        &mut client,
        3,
        "thread/resume",
        &json!({ "threadId": id(1) }),
    );
    client.serve();
    ask(&mut client, 4, "thread/read", &read(true));
    client.serve();
    let told = lines(&client.written().await);
    for number in [3, 4] {
        assert_eq!(shown(&told, number), ["so far on"]);
    }
    let turns = &told[0]["result"]["thread"]["turns"];
    let call = &turns[1]["items"][2];
    assert_eq!(call["id"], json!(id(CALL)), "{turns}");
    assert!(call["completedAtMs"].is_null(), "{call}");
}

/// RESUME-10, WIRE-1: what is said while a long answer goes out is in the answer or behind it.
#[tokio::test]
async fn text_that_comes_while_a_long_answer_goes_out_is_told_once() {
    let mut client = long(30).await;
    attached(&mut client).await;
    ask(
        &mut client,
        3,
        "thread/resume",
        &json!({ "threadId": id(1) }),
    );
    assert!(client.serve_some());
    delta(&mut client, 6, " on");
    let begins = json!({ "type": "item.started", "item": { "type": "thought", "text": "" } });
    passing(&mut client, CALL, &begins);
    client.serve();
    let told = lines(&client.written().await);
    assert_eq!(shown(&told, 3), ["so far on"]);
    assert!(told_of(&told, DELTA).is_empty());
    // It began behind the answer, which does not have it.
    assert_eq!(told_of(&told, "item/started").len(), 1);
    let turns = told[0]["result"]["thread"]["turns"].as_array().unwrap();
    assert_eq!(turns[30]["items"].as_array().unwrap().len(), 2);
    delta(&mut client, 9, " again");
    let told = lines(&client.written().await);
    assert_eq!(told_of(&told, DELTA)[0]["delta"], " again");
}

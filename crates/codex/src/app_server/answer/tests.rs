use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, ClientFrame, ErrorCode, Op, Receipt, ServerFrame, Submission, SubmissionId, Verdict,
    WireError,
};

use super::super::stored::{Client, id};
use super::PIECE_BYTES;

mod running;

/// So much is said in a turn that a few are a piece.
const LONG: usize = PIECE_BYTES / 4;

/// A client of a thread with so many long turns.
async fn long(turns: u64) -> Client {
    let mut client = Client::new(0);
    client.more = format!(" \"\\\u{1}é{}", "x".repeat(LONG));
    (1..=turns).for_each(|turn| client.turn(turn));
    // What the connection began with.
    client.written().await;
    client
}

fn ask(client: &mut Client, number: u64, method: &str, params: &Value) {
    let line = json!({ "id": number, "method": method, "params": params });
    client.face.line(&line.to_string());
}

fn read(turns: bool) -> Value {
    json!({ "threadId": id(1), "includeTurns": turns })
}

/// Each line, parsed.
fn lines(written: &str) -> Vec<Value> {
    assert!(written.is_empty() || written.ends_with('\n'));
    let parse = |line: &str| serde_json::from_str(line).unwrap();
    written.lines().map(parse).collect()
}

/// Begins to resume the thread: the engine's submission.
fn resume(client: &mut Client, number: u64) -> SubmissionId {
    ask(
        client,
        number,
        "thread/resume",
        &json!({ "threadId": id(1) }),
    );
    let outbox = client.face.take_outbox();
    let [ClientFrame::Submission(Submission { id, op, .. })] = &outbox[..] else {
        panic!("{outbox:?}");
    };
    assert!(matches!(op, Op::SessionResume(_)), "{op:?}");
    id.clone()
}

/// Shows the face what is in the log, as a replay does.
fn replay(client: &mut Client) {
    for event in client.log.clone() {
        let frame = serde_json::from_value(event).unwrap();
        client.face.frame(ServerFrame::Event(frame));
    }
}

fn accepted(client: &mut Client, id: SubmissionId) {
    accepted_in(client, id, None);
}

/// The thread is open, and this turn of it runs.
fn accepted_in(client: &mut Client, id: SubmissionId, turn: Option<u64>) {
    let view = json!({
        "turn": turn.map(super::super::stored::id), "session": super::super::stored::id(1), "cwd": "/w", "mode": null, "cursor": 1,
        "agent": { "id": { "name": "script", "version": null }, "modes": [], "commands": [] },
    });
    let view = serde_json::from_value(view).unwrap();
    let result = Verdict::Accepted(Accepted::Session(Box::new(view)));
    client.receipt(Receipt { id, result });
}

/// WIRE-4, RESUME-10: what is written piece by piece is what the pages show.
#[tokio::test]
async fn a_long_answer_is_one_line_with_the_turns_that_the_pages_have() {
    let mut client = long(30).await;
    client.log.pop();
    let page = json!({ "limit": 100, "sortDirection": "asc" });
    let paged = client.page("thread/turns/list", &page).await["data"].clone();
    ask(&mut client, 2, "thread/read", &read(true));
    client.serve();
    let written = client.written().await;
    let [answer] = &lines(&written)[..] else {
        panic!("{} lines", written.lines().count());
    };
    assert_eq!(answer["id"], 2);
    let thread = &answer["result"]["thread"];
    assert_eq!(thread["turns"], paged);
    assert_eq!(thread["turns"][29]["status"], "interrupted");
    assert_eq!(thread["preview"], "say 1");
    ask(&mut client, 3, "thread/read", &read(false));
    client.serve();
    let brief = lines(&client.written().await).remove(0);
    let mut without = thread.clone();
    without["turns"] = json!([]);
    assert_eq!(brief["result"]["thread"], without);
}

/// WIRE-4: of a thread of any length a few turns are in memory.
#[tokio::test]
async fn turns_are_written_while_they_are_read_and_forgotten() {
    let mut client = long(60).await;
    ask(&mut client, 2, "thread/read", &read(true));
    let (mut all, mut most, mut begun) = (String::new(), 0, 0);
    while client.serve_some() {
        let piece = client.written().await;
        most = most.max(piece.len());
        begun += usize::from(!piece.is_empty());
        all.push_str(&piece);
    }
    assert!(begun > 3, "{begun} times something was written");
    // A page of the log has so many turns.
    assert!(most < 50 / 4 * (LONG + 1024) + 2 * PIECE_BYTES, "{most}");
    let turns = lines(&all)[0]["result"]["thread"]["turns"].clone();
    assert_eq!(turns.as_array().unwrap().len(), 60);
}

/// WIRE-1: a line that goes out piece by piece is not broken into by another.
#[tokio::test]
async fn what_is_said_meanwhile_follows_the_line_in_its_order() {
    let mut client = long(30).await;
    ask(&mut client, 2, "thread/read", &read(true));
    // All of the log but for its last page.
    (0..2).for_each(|_| assert!(client.serve_some()));
    let begun = client.written().await;
    assert!(begun.starts_with("{\"id\":2,\"result\":{\"thread\":{\"turns\":["));
    ask(&mut client, 3, "account/read", &json!({}));
    ask(&mut client, 4, "no/such", &json!({}));
    ask(&mut client, 5, "thread/read", &read(true));
    assert_eq!(client.written().await, "", "all wait");
    client.serve();
    let all = lines(&(begun + &client.written().await));
    let ids: Vec<_> = all
        .iter()
        .map(|line| line["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, [2, 3, 4, 5]);
    assert_eq!(all[0]["result"], all[3]["result"]);
}

/// RESUME-10: a thread that is taken up is shown as one that is read.
#[tokio::test]
async fn a_replay_is_written_as_it_comes() {
    let mut client = long(30).await;
    ask(&mut client, 2, "thread/read", &read(true));
    client.serve();
    let read = lines(&client.written().await).remove(0);
    let id = resume(&mut client, 3);
    replay(&mut client);
    let begun = client.written().await;
    assert!(begun.len() > PIECE_BYTES, "{} bytes", begun.len());
    accepted(&mut client, id);
    client.serve();
    let all = lines(&(begun + &client.written().await));
    assert_eq!(
        all[0]["result"]["thread"]["turns"],
        read["result"]["thread"]["turns"]
    );
    assert_eq!(all[0]["result"]["cwd"], "/w");
    assert_eq!(all[1]["method"], "thread/started");
}

/// WIRE-1: an answer that fails halfway is one whole line that says so, and the next can be read.
#[tokio::test]
async fn an_answer_that_fails_halfway_is_a_line_with_an_error() {
    for (turns, is_begun) in [(30, true), (1, false)] {
        let mut client = long(turns).await;
        let id = resume(&mut client, 3);
        replay(&mut client);
        ask(&mut client, 4, "account/read", &json!({}));
        let error = WireError::new(ErrorCode::Storage, "the disk is gone");
        let result = Verdict::Error(error);
        client.receipt(Receipt { id, result });
        let all = lines(&client.written().await);
        let failed = all.iter().find(|line| line["id"] == 3).unwrap();
        assert_eq!(failed["error"]["code"], -32603);
        let turns = failed["result"]["thread"]["turns"].as_array();
        assert_eq!(turns.is_some(), is_begun);
        assert!(all.iter().any(|line| line["id"] == 4));
        assert_eq!(all.len(), 2);
    }
}

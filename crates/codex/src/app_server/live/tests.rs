use serde_json::{Value, json};
use sessiond_protocol::{AgentId, AgentInfo, EventFrame, SessionId};
use sessiond_wire::OutQueue;
use sessiond_wire::rpc::RpcFrame;
use uuid::Uuid;

use super::super::face::Face;
use super::super::stored::face;
use super::super::thread::{About, Health, Keep, Subscription, Thread};

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// A face with one thread, and the way to its client.
struct Client {
    face: Face,
    queue: OutQueue<RpcFrame>,
}

impl Client {
    fn new() -> Self {
        let (mut face, queue) = face();
        let session = SessionId::new(id(1));
        let agent = AgentInfo {
            id: AgentId {
                name: "script".to_owned(),
                version: None,
            },
            modes: Vec::new(),
            options: Vec::new(),
            commands: Vec::new(),
        };
        let about = About {
            id: session,
            cwd: "/w".to_owned(),
            preview: String::new(),
            name: None,
            created: 0,
            updated: 0,
            agent: "script".to_owned(),
            model: None,
            source: json!("appServer"),
            parent: None,
            keep: Keep::Stored,
        };
        let thread = Thread {
            about,
            agent,
            policy: Default::default(),
            next_policy: None,
            keep: Keep::Stored,
            subscription: Subscription::On,
            used: None,
            running: None,
            waiting: Vec::new(),
            broken: Health::Well,
            renames: 0,
            compactions: Default::default(),
        };
        face.threads.insert(session, thread);
        Self { face, queue }
    }

    /// An event of turn 2, about item `item` where that is not 0.
    fn event(&mut self, item: u128, event: &Value) {
        self.event_of(2, item, event);
    }

    fn event_of(&mut self, turn: u128, item: u128, event: &Value) {
        let mut frame = json!({ "session": id(1), "turn": id(turn), "event": event });
        if item > 0 {
            frame["item"] = json!(id(item));
        }
        let frame: EventFrame = serde_json::from_value(frame).unwrap();
        self.face.event(&frame);
    }

    fn begin(&mut self) {
        self.event(0, &started());
    }

    /// All that the client was told since the last time.
    async fn told(&self) -> Vec<Value> {
        let mut frames = Vec::new();
        // Something to end with: it waits for no more than there is.
        self.queue.push(RpcFrame::from_text("{}".to_owned()));
        self.queue.recv_many(&mut frames, 10_000).await;
        let mut told: Vec<Value> = frames
            .iter()
            .map(|frame| serde_json::from_str(&frame.text()).unwrap())
            .collect();
        told.pop();
        told
    }
}

fn started() -> Value {
    let config = json!({ "agent": "script", "version": null, "model": null, "mode": null,
        "cwd": "/w", "policy": 0 });
    json!({ "type": "turn.started", "base": 1, "config": config })
}

fn ended(outcome: &str) -> Value {
    json!({ "type": "turn.ended", "outcome": outcome, "stop": null, "bookmark": 0 })
}

fn message(kind: &str, text: &str) -> Value {
    json!({ "type": kind, "text": text })
}

fn call(kind: &str, status: &str) -> Value {
    json!({ "type": "tool_call", "name": "t", "title": "t", "kind": kind, "status": status })
}

fn begins(item: &Value) -> Value {
    json!({ "type": "item.started", "item": item })
}

fn ends(item: &Value) -> Value {
    json!({ "type": "item.ended", "item": item })
}

fn delta(stream: &str, offset: u64, text: &str) -> Value {
    json!({ "type": "item.delta", "stream": stream, "offset": offset, "text": text })
}

fn methods(told: &[Value]) -> Vec<&str> {
    let methods = told.iter().filter_map(|frame| frame["method"].as_str());
    methods.collect()
}

/// The text of the deltas among what was told.
fn streamed(told: &[Value]) -> String {
    let deltas = told
        .iter()
        .filter_map(|frame| frame["params"]["delta"].as_str());
    deltas.collect()
}

/// codex.md B9: a turn begins with the status, and ends with it before its one end.
#[tokio::test]
async fn a_turn_is_told_in_codex_s_order() {
    let mut client = Client::new();
    client.begin();
    client.event(3, &ends(&message("agent_message", "all at once")));
    client.event(0, &ended("completed"));
    let told = client.told().await;
    let expected = [
        "thread/status/changed",
        "turn/started",
        "item/started",
        "item/agentMessage/delta",
        "item/completed",
        "thread/status/changed",
        "turn/completed",
    ];
    assert_eq!(methods(&told), expected);
    assert_eq!(streamed(&told), "all at once");
    let turn = &told.last().unwrap()["params"]["turn"];
    assert_eq!(
        (&turn["status"], &turn["items"][0]["text"]),
        (&json!("completed"), &json!("all at once"))
    );
}

/// WIRE-9: what was streamed is not told again, wherever pieces overlap.
#[tokio::test]
async fn text_is_streamed_once_however_its_pieces_overlap() {
    let cases: [&[(u64, &str)]; 5] = [
        &[],
        &[(0, "hel"), (3, "lo")],
        &[(0, "hel"), (0, "hel"), (3, "lo")],
        &[(0, "hel"), (1, "ello")],
        &[(0, "hel"), (4, "o")],
    ];
    for pieces in cases {
        for (kind, method) in [
            ("agent_message", "item/agentMessage/delta"),
            ("thought", "item/reasoning/summaryTextDelta"),
        ] {
            let mut client = Client::new();
            client.begin();
            client.event(3, &begins(&message(kind, "")));
            for (offset, text) in pieces {
                client.event(3, &delta("text", *offset, text));
            }
            client.event(3, &ends(&message(kind, "hello")));
            let told = client.told().await;
            assert_eq!(streamed(&told), "hello", "{kind} {pieces:?}");
            let deltas = told
                .iter()
                .filter(|frame| frame["params"]["delta"].is_string());
            assert!(
                deltas.clone().all(|frame| frame["method"] == method),
                "{kind}"
            );
            let ends = methods(&told)
                .iter()
                .filter(|name| **name == "item/completed")
                .count();
            assert_eq!(ends, 1, "{kind} {pieces:?}");
        }
    }
}

#[tokio::test]
async fn output_streams_under_the_name_of_its_kind_of_call_or_not_at_all() {
    let cases = [
        ("execute", Some("item/commandExecution/outputDelta")),
        ("edit", Some("item/fileChange/outputDelta")),
        ("fetch", None),
    ];
    for (kind, method) in cases {
        let mut client = Client::new();
        client.begin();
        client.event(3, &begins(&call(kind, "running")));
        client.event(3, &delta("output", 0, "out"));
        client.event(3, &ends(&call(kind, "completed")));
        let told = client.told().await;
        let names = methods(&told);
        let deltas: Vec<_> = names
            .iter()
            .filter(|name| name.ends_with("Delta"))
            .collect();
        assert_eq!(deltas, method.iter().collect::<Vec<_>>(), "{kind}");
        let items: Vec<_> = names
            .iter()
            .filter(|name| name.starts_with("item/"))
            .collect();
        assert_eq!(items.first(), Some(&&"item/started"));
        assert_eq!(items.last(), Some(&&"item/completed"));
    }
}

/// A failed turn says why before its end, and the thread stands as broken until the next one.
#[tokio::test]
async fn a_failed_turn_is_an_error_and_the_next_one_mends_the_thread() {
    let mut client = Client::new();
    client.begin();
    let mut failed = ended("failed");
    failed["error"] = json!({ "code": "agent_failed", "message": "no luck" });
    client.event(0, &failed);
    let told = client.told().await;
    let expected = ["thread/status/changed", "error", "turn/completed"];
    assert_eq!(methods(&told)[2..], expected);
    assert_eq!(told[2]["params"]["status"]["type"], "systemError");
    assert_eq!(told[3]["params"]["error"]["message"], "no luck");
    assert_eq!(told[3]["params"]["willRetry"], false);
    client.event_of(4, 0, &started());
    let told = client.told().await;
    assert_eq!(told[0]["params"]["status"]["type"], "active");
}

/// What a process left open that is gone is closed by the next one; that was shown when the thread was
/// opened.
#[tokio::test]
async fn the_end_of_a_turn_that_runs_nowhere_is_not_told() {
    let mut client = Client::new();
    client.event(3, &ends(&call("execute", "unknown")));
    client.event(0, &ended("interrupted"));
    assert_eq!(client.told().await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_plan_and_a_warning_have_notifications_of_their_own() {
    let mut client = Client::new();
    client.begin();
    let entries = json!([
        { "content": "a", "status": "completed" }, { "content": "b", "status": "in_progress" },
        { "content": "c", "status": "pending" },
    ]);
    client.event(3, &ends(&json!({ "type": "plan", "entries": entries })));
    let notice =
        |severity: &str| json!({ "type": "notice", "severity": severity, "title": "mind" });
    client.event(0, &notice("warning"));
    client.event(0, &notice("info"));
    client.event(
        0,
        &json!({ "type": "damage", "segment": "s", "offset": 1, "length": 2 }),
    );
    let told = client.told().await;
    assert_eq!(
        methods(&told)[2..],
        ["turn/plan/updated", "warning", "warning"]
    );
    let status: Vec<_> = told[2]["params"]["plan"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["status"].clone())
        .collect();
    assert_eq!(status, ["completed", "inProgress", "pending"]);
}

#[tokio::test]
async fn a_thread_that_nobody_hears_of_is_told_about_to_nobody() {
    let mut client = Client::new();
    let thread = client.face.threads.get_mut(&SessionId::new(id(1))).unwrap();
    thread.subscription = Subscription::Off;
    client.begin();
    client.event(3, &begins(&message("agent_message", "")));
    client.event(3, &delta("text", 0, "hello"));
    client.event(0, &ended("completed"));
    assert_eq!(client.told().await, [Value::Null; 0]);
}

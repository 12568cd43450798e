use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, ClientFrame, Cursor, OnDisconnect, Op, Receipt, ServerFrame, Submission, Verdict,
};
use sessiond_wire::OutQueue;
use sessiond_wire::rpc::RpcFrame;
use uuid::Uuid;

use super::super::face::Face;
use super::super::params::{SortDirection, ThreadTurnsListParams};
use super::super::serve::Options;
use super::page;
use crate::settings::Settings;

type Key = Option<&'static str>;

/// Events of a log page that the engine gives.
const READ: u64 = 50;

fn id(number: u64) -> Uuid {
    Uuid::from_u128(u128::from(number))
}

fn params(cursor: Option<&str>, limit: u32) -> ThreadTurnsListParams {
    ThreadTurnsListParams {
        thread_id: String::new(),
        turn_id: None,
        cursor: cursor.map(str::to_owned),
        limit: Some(limit),
        sort_direction: None,
    }
}

#[test]
fn a_page_goes_on_behind_its_cursor_in_either_direction() {
    let keys = || ["a", "b", "c"].map(str::to_owned).to_vec();
    let cases: [(_, Key, u32, &[&str], Key); 7] = [
        (SortDirection::Asc, None, 2, &["a", "b"], Some("b")),
        (SortDirection::Asc, Some("b"), 2, &["c"], None),
        (SortDirection::Desc, None, 2, &["c", "b"], Some("b")),
        (SortDirection::Desc, Some("b"), 2, &["a"], None),
        (SortDirection::Asc, None, 3, &["a", "b", "c"], None),
        (SortDirection::Asc, Some("c"), 3, &[], None),
        (SortDirection::Asc, None, 0, &["a"], Some("a")),
    ];
    for (direction, cursor, limit, expected, next) in cases {
        let page = page(keys(), &params(cursor, limit), direction).expect("a page");
        assert_eq!(page.keys, expected, "{direction:?} {cursor:?}");
        assert_eq!(page.next.as_deref(), next, "{direction:?} {cursor:?}");
    }
    assert!(page(keys(), &params(Some("x"), 2), SortDirection::Asc).is_err());
}

/// A face over an engine that has one log: turns of four events each, the first event a header.
struct Client {
    face: Face,
    queue: OutQueue<RpcFrame>,
    log: Vec<Value>,
    /// How many events were read.
    read: usize,
}

impl Client {
    fn new(turns: u64) -> Self {
        let queue = OutQueue::new();
        let options = Options {
            agent: "script".to_owned(),
            home: "/h".to_owned(),
            cwd: "/w".to_owned(),
            on_disconnect: OnDisconnect::Cancel,
            accept: Vec::new(),
            settings: Settings::default(),
            picture: None,
        };
        let mut face = Face::new(queue.clone(), options);
        let client = json!({ "name": "t", "version": "1" });
        let params = json!({ "clientInfo": client, "capabilities": {} });
        face.line(&json!({ "id": 0, "method": "initialize", "params": params }).to_string());
        let mut client = Self {
            face,
            queue,
            log: Vec::new(),
            read: 0,
        };
        client.append(0, 0, json!({
            "type": "session.opened", "start": "new", "id": id(1), "format": 1, "program": "p",
            "source": "codex-app-server", "cwd": "/w", "agent": { "name": "script", "version": null },
            "model": null, "instructions": null, "mode": "ask", "principal": null,
            "workspace": { "root": null, "repository": null, "worktree": null, "branch": null },
            "parent": null,
        }));
        for turn in 1..=turns {
            client.turn(turn);
        }
        client
    }

    fn turn(&mut self, number: u64) {
        let turn = number * 10;
        let config = json!({ "agent": "script", "version": null, "model": null, "mode": null,
            "cwd": "/w", "policy": 0 });
        let content = json!([{ "type": "text", "text": format!("say {number}") }]);
        let user = json!({ "type": "user_message", "content": content });
        let agent = json!({ "type": "agent_message", "text": format!("said {number}") });
        self.append(
            turn,
            0,
            json!({ "type": "turn.started", "base": 1, "config": config }),
        );
        self.append(turn, turn, json!({ "type": "item.ended", "item": user }));
        self.append(
            turn,
            turn + 1,
            json!({ "type": "item.ended", "item": agent }),
        );
        let ended =
            json!({ "type": "turn.ended", "outcome": "completed", "stop": null, "bookmark": 0 });
        self.append(turn, 0, ended);
    }

    fn append(&mut self, turn: u64, item: u64, event: Value) {
        let mut frame = json!({
            "session": id(1), "cursor": self.log.len() + 1, "at": "2026-01-01T00:00:00Z",
            "event": event,
        });
        for (name, number) in [("turn", turn), ("item", item)] {
            if number > 0 {
                frame[name] = json!(id(number));
            }
        }
        self.log.push(frame);
    }

    /// Asks for a page: its result.
    async fn page(&mut self, method: &str, more: &Value) -> Value {
        let mut params = json!({ "threadId": id(1) });
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        self.face
            .line(&json!({ "id": 1, "method": method, "params": params }).to_string());
        self.serve();
        let mut frames = Vec::new();
        self.queue.recv_many(&mut frames, 10_000).await;
        let answer: Value = serde_json::from_str(&frames.last().unwrap().text()).unwrap();
        answer["result"].clone()
    }

    /// Does what the engine does.
    fn serve(&mut self) {
        loop {
            let outbox = self.face.take_outbox();
            if outbox.is_empty() {
                return;
            }
            for frame in outbox {
                let ClientFrame::Submission(Submission { id, op, .. }) = frame else {
                    panic!("{frame:?}");
                };
                let Op::SessionRead { after, limit } = op else {
                    panic!("{op:?}");
                };
                let most = limit.map_or(READ, u64::from).min(READ);
                let from = usize::try_from(after.0).unwrap().min(self.log.len());
                let to = (from + usize::try_from(most).unwrap()).min(self.log.len());
                self.read += to - from;
                let next = (to < self.log.len()).then_some(Cursor(to as u64));
                let events = self.log[from..to].to_vec();
                let result = Verdict::Accepted(Accepted::Events { events, next });
                self.face
                    .frame(ServerFrame::Receipt(Receipt { id, result }));
            }
        }
    }
}

/// The numbers of the turns on a page, by what was said in them.
fn said(page: &Value) -> Vec<String> {
    let turns = page["data"].as_array().unwrap().iter();
    let text = |turn: &Value| turn["items"][1]["text"].as_str().unwrap().to_owned();
    turns.map(text).collect()
}

/// A page reads the stretch of the log that it shows, not all of it.
#[tokio::test]
async fn after_the_first_page_only_what_is_shown_is_read() {
    let mut client = Client::new(200);
    let whole = client.log.len();
    let first = client
        .page("thread/turns/list", &json!({ "limit": 2 }))
        .await;
    assert_eq!(said(&first), ["said 200", "said 199"]);
    assert!(client.read >= whole, "{} of {whole}", client.read);
    client.read = 0;
    let cursor = first["nextCursor"].clone();
    let second = client
        .page(
            "thread/turns/list",
            &json!({ "limit": 2, "cursor": cursor }),
        )
        .await;
    assert_eq!(said(&second), ["said 198", "said 197"]);
    assert!(client.read <= 8, "{} events for two turns", client.read);
    client.read = 0;
    let asc = json!({ "limit": 3, "sortDirection": "asc" });
    let first = client.page("thread/turns/list", &asc).await;
    assert_eq!(said(&first), ["said 1", "said 2", "said 3"]);
    assert!(client.read <= 12, "{} events for three turns", client.read);
}

/// What is appended meanwhile is on the next page.
#[tokio::test]
async fn what_is_added_between_two_pages_is_shown() {
    let mut client = Client::new(3);
    let newest = json!({ "limit": 1 });
    assert_eq!(
        said(&client.page("thread/turns/list", &newest).await),
        ["said 3"]
    );
    client.turn(4);
    client.read = 0;
    assert_eq!(
        said(&client.page("thread/turns/list", &newest).await),
        ["said 4"]
    );
    assert!(client.read <= 8, "{} events", client.read);
}

#[tokio::test]
async fn items_are_paged_within_and_across_turns() {
    let mut client = Client::new(40);
    let mut shown = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let page = client
            .page(
                "thread/items/list",
                &json!({ "limit": 3, "cursor": cursor }),
            )
            .await;
        for entry in page["data"].as_array().unwrap() {
            shown.push(entry["item"]["id"].as_str().unwrap().to_owned());
        }
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let expected: Vec<String> = (1..=40u64)
        .flat_map(|turn| [id(turn * 10), id(turn * 10 + 1)])
        .map(|id| id.to_string())
        .collect();
    assert_eq!(shown, expected);
    let one = client
        .page("thread/items/list", &json!({ "turnId": id(70) }))
        .await;
    assert_eq!(one["data"].as_array().unwrap().len(), 2);
    assert_eq!(one["data"][1]["item"]["text"], "said 7");
}

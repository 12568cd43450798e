use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, ClientFrame, ErrorCode, Op, Receipt, ServerFrame, Submission, Verdict, WireError,
};
use sessiond_wire::rpc::RpcFrame;
use sessiond_wire::{Line, OutQueue, ServerEnd, pair};
use tokio::sync::mpsc;

use super::{Server, serve};

const SESSION: &str = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10";

struct Bench {
    lines: mpsc::Sender<Line>,
    out: OutQueue<RpcFrame>,
    waist: Option<ServerEnd>,
    endpoint: tokio::task::JoinHandle<()>,
}

impl Bench {
    /// An endpoint that has said hello.
    async fn new() -> Self {
        let (lines, receiver) = mpsc::channel(16);
        let (connection, mut waist) = pair();
        let out = OutQueue::new();
        let server = Server {
            session: SESSION.parse().unwrap(),
            name: "calc".to_owned(),
        };
        let endpoint = tokio::spawn(serve(receiver, out.clone(), Some(connection), server));
        assert!(matches!(waist.recv().await, Some(ClientFrame::Hello(_))));
        let waist = Some(waist);
        Self {
            lines,
            out,
            waist,
            endpoint,
        }
    }

    async fn say(&self, line: Value) {
        self.lines.send(Line::Text(line.to_string())).await.unwrap();
    }

    async fn call(&self, id: u64, method: &str) {
        let params = json!({ "name": "add", "arguments": { "a": 1 },
            "_meta": { "progressToken": id } });
        self.say(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
    }

    /// What it asks of the waist next.
    async fn asked(&mut self) -> Submission {
        match self.waist.as_mut().unwrap().recv().await {
            Some(ClientFrame::Submission(submission)) => submission,
            other => panic!("{other:?}"),
        }
    }

    fn receive(&self, of: &Submission, result: Verdict) {
        let id = of.id.clone();
        let receipt = ServerFrame::Receipt(Receipt { id, result });
        self.waist.as_ref().unwrap().out.push(receipt);
    }

    /// What it answers next.
    async fn answer(&self) -> Value {
        let frame = self.out.recv().await.unwrap();
        serde_json::from_str(&frame.text()).unwrap()
    }
}

fn sum(of: u64) -> Verdict {
    let mcp = json!({ "content": [{ "type": "text", "text": of.to_string() }] });
    Verdict::Accepted(Accepted::Mcp { mcp })
}

#[tokio::test]
async fn it_introduces_itself_without_asking_anybody() {
    let bench = Bench::new().await;
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {} });
    bench
        .say(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }))
        .await;
    let answer = bench.answer().await;
    assert_eq!(answer["result"]["serverInfo"]["name"], "calc");
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answer["result"]["capabilities"], json!({ "tools": {} }));
    bench
        .say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    bench.call(2, "ping").await;
    assert_eq!(bench.answer().await["result"], json!({}));
    bench.call(3, "resources/list").await;
    assert_eq!(bench.answer().await["error"]["code"], -32601);
    bench.lines.send(Line::Text("{".to_owned())).await.unwrap();
    assert_eq!(bench.answer().await["error"]["code"], -32700);
}

/// WIRE-7: each call is answered by its own receipt, in whatever order those come.
#[tokio::test]
async fn many_calls_are_in_flight_and_each_has_its_own_answer() {
    let mut bench = Bench::new().await;
    let mut asked = Vec::new();
    for id in 0..50 {
        bench.call(id, "tools/call").await;
        asked.push(bench.asked().await);
    }
    let of: Op = Op::McpRequest {
        server: "calc".to_owned(),
        method: "tools/call".to_owned(),
        params: json!({ "name": "add", "arguments": { "a": 1 } }),
    };
    assert!(asked.iter().all(|asked| asked.op == of));
    for (id, asked) in asked.iter().enumerate().rev() {
        bench.receive(asked, sum(id as u64));
    }
    for id in (0..50_u64).rev() {
        let answer = bench.answer().await;
        assert_eq!(answer["id"], id);
        assert_eq!(answer["result"]["content"][0]["text"], id.to_string());
    }
}

#[tokio::test]
async fn what_the_session_refuses_is_an_error_that_says_why() {
    let mut bench = Bench::new().await;
    bench.call(1, "tools/list").await;
    let asked = bench.asked().await;
    let error = WireError::new(ErrorCode::NotFound, "no such server");
    bench.receive(&asked, Verdict::Error(error));
    let answer = bench.answer().await;
    assert_eq!(answer["error"]["message"], "calc: no such server");
}

#[tokio::test]
async fn a_call_that_the_agent_takes_back_is_withdrawn_and_not_answered() {
    let mut bench = Bench::new().await;
    bench.call(1, "tools/call").await;
    let asked = bench.asked().await;
    let cancelled = json!({ "requestId": 1, "reason": "enough" });
    bench
        .say(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }))
        .await;
    match bench.waist.as_mut().unwrap().recv().await {
        Some(ClientFrame::Withdraw { id }) => assert_eq!(id, asked.id),
        other => panic!("{other:?}"),
    }
    bench.receive(&asked, sum(1));
    bench.call(2, "ping").await;
    assert_eq!(bench.answer().await["id"], 2);
}

/// Who has the session is gone: what is in flight and all that follows is told so.
#[tokio::test]
async fn without_its_session_every_call_is_answered_with_an_error() {
    let mut bench = Bench::new().await;
    for id in 1..3 {
        bench.call(id, "tools/call").await;
        bench.asked().await;
    }
    drop(bench.waist.take());
    bench.call(3, "tools/list").await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let answer = bench.answer().await;
        let message = answer["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.ends_with("is gone"), "{message}");
        ids.push(answer["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3]);
}

#[tokio::test]
async fn it_ends_with_its_agent() {
    let mut bench = Bench::new().await;
    bench.call(1, "tools/call").await;
    bench.asked().await;
    drop(bench.lines);
    bench.endpoint.await.unwrap();
    assert!(bench.waist.unwrap().recv().await.is_none());
}

//! Servers that live in a client, asked by a program that stands for them beside an agent.

use serde_json::json;
use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, ErrorCode, McpServer, Op, Outcome, RequestBody, RequestKind, SessionId, SessionNew,
    Setup, TurnOutcome, Verdict,
};

use crate::harness::{Client, code, engine};

fn ask(server: &str, method: &str) -> Op {
    Op::McpRequest {
        server: server.to_owned(),
        method: method.to_owned(),
        params: json!({ "name": "read" }),
    }
}

async fn with_files(client: &mut Client) -> SessionId {
    let server = McpServer::Client {
        name: "files".to_owned(),
        tools: vec![json!({ "name": "read" })],
    };
    let new = SessionNew {
        setup: Setup {
            mcp_servers: vec![server],
            ..Setup::default()
        },
        answers: vec![RequestKind::Mcp],
        ..SessionNew::at("/w")
    };
    client.create(new).await
}

/// What a server offers is known at any time; what it is to do is asked of the client in a turn, and
/// answered to whoever asked, who is attached to nothing.
#[tokio::test]
async fn a_server_of_the_client_is_asked_by_who_is_not_attached() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = with_files(&mut client).await;
    let mut beside = Client::connect(&engine).await;
    let listed = beside
        .submit(Some(session), ask("files", "tools/list"))
        .await;
    let tools = json!({ "tools": [{ "name": "read" }] });
    assert_eq!(listed, Verdict::Accepted(Accepted::Mcp { mcp: tools }));
    let early = beside
        .submit(Some(session), ask("files", "tools/call"))
        .await;
    assert_eq!(code(early), ErrorCode::TurnNotActive);

    let turn = client.start(session, "leave say:done").await;
    let asked = beside.send(Some(session), ask("files", "tools/call")).await;
    let request = client.request().await;
    let RequestBody::Mcp { server, method, .. } = &request.body else {
        panic!("{request:?}")
    };
    assert_eq!((&**server, &**method), ("files", "tools/call"));
    assert_eq!(request.turn, turn);
    let result = json!({ "content": [] });
    let outcome = Outcome::Result {
        result: result.clone(),
    };
    client.answer(&request, outcome).await;
    let answered = beside.receipt(asked).await;
    assert_eq!(answered, Verdict::Accepted(Accepted::Mcp { mcp: result }));
    client.steer(session, "on").await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
    let own = beside.submit(Some(session), Op::SessionClear {}).await;
    assert_eq!(code(own), ErrorCode::NotFound, "it controls nothing");
}

/// A session that is gone, a server that is not there, a client on the network: each is refused.
#[tokio::test]
async fn only_servers_of_open_sessions_are_asked_and_not_over_a_network() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = with_files(&mut client).await;
    let mut beside = Client::connect(&engine).await;
    for (server, method) in [("other", "tools/list"), ("other", "tools/call")] {
        let refused = beside.submit(Some(session), ask(server, method)).await;
        assert_eq!(code(refused), ErrorCode::NotFound, "{server} {method}");
    }
    let mut remote = Client::from_a_network(&engine).await;
    for method in ["tools/list", "tools/call"] {
        let refused = remote.submit(Some(session), ask("files", method)).await;
        assert_eq!(code(refused), ErrorCode::Refused, "{method}");
    }
    client.submit(Some(session), Op::SessionClose {}).await;
    let mut left = ErrorCode::Internal;
    // It is let go of a moment after the receipt.
    for _ in 0..1000 {
        let refused = beside
            .submit(Some(session), ask("files", "tools/list"))
            .await;
        if let Verdict::Error(error) = refused {
            left = error.code;
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(left, ErrorCode::NotFound);
}

/// The caller goes in the middle: the client is told that nobody waits, and the turn goes on.
#[tokio::test]
async fn a_call_whose_caller_has_gone_is_taken_back() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = with_files(&mut client).await;
    let turn = client.start(session, "leave say:done").await;
    let mut beside = Client::connect(&engine).await;
    beside.send(Some(session), ask("files", "tools/call")).await;
    let request = client.request().await;
    drop(beside);
    loop {
        let frame = client.next().await;
        if let sessiond_protocol::ServerFrame::RequestClosed { id, .. } = frame {
            assert_eq!(id, request.id);
            break;
        }
    }
    client.steer(session, "on").await;
    assert_eq!(client.ended(turn).await, TurnOutcome::Completed);
}

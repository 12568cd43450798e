//! The waist at a WebSocket, through the typed client.

use std::fs;

use jsonrpsee::core::client::{Error, Subscription};
use jsonrpsee::ws_client::{HeaderMap, HeaderValue, WsClient, WsClientBuilder};
use serde_json::{Value, json};
use sessiond_host::{Host, Secret, SessiondApiClient, Web};
use sessiond_protocol::{Accepted, Verdict};

use crate::PATIENCE;
use crate::client::Client;
use crate::world::World;

/// A listener over a fresh store, and the header that opens it.
async fn listener(world: &World) -> (Web, String) {
    let path = world.path("attach");
    let secret = Secret::at(&path).unwrap();
    let engine = world.engine();
    let origins = vec!["http://listed".to_owned()];
    let address = "127.0.0.1:0".parse().unwrap();
    let web = Web::listen(address, (secret, origins), move || engine.connect_remote());
    let text = fs::read_to_string(path).unwrap();
    (web.await.unwrap(), format!("Bearer {}", text.trim()))
}

async fn client(web: &Web, headers: &[(&'static str, &str)]) -> Result<WsClient, Error> {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()))
        .collect();
    let url = format!("ws://{}", web.address());
    WsClientBuilder::default()
        .set_headers(headers)
        .build(url)
        .await
}

async fn next(frames: &mut Subscription<Value>) -> Value {
    let frame = tokio::time::timeout(PATIENCE, frames.next()).await;
    frame.unwrap().unwrap().unwrap()
}

async fn until(frames: &mut Subscription<Value>, wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let frame = next(frames).await;
        if wanted(&frame) {
            return frame;
        }
    }
}

fn hello() -> Value {
    json!({"v": 1, "type": "hello", "versions": [1], "client": {"name": "test", "version": "1"}})
}

fn submission(id: &str, session: &Value, op: &Value) -> Value {
    let mut frame = json!({"v": 1, "type": "submission", "id": id, "op": op});
    if !session.is_null() {
        frame["session"] = session.clone();
    }
    frame
}

/// SEC-3: a turn over the network of this machine, frame for frame what a socket gives.
#[tokio::test]
async fn a_turn_is_run_through_the_typed_client() {
    let world = World::new();
    let (web, bearer) = listener(&world).await;
    let client = client(&web, &[("authorization", &bearer)]).await.unwrap();
    let mut frames = client.open(hello()).await.unwrap();
    let welcome = next(&mut frames).await;
    assert_eq!(welcome["type"], "welcome", "{welcome}");
    let name = welcome["incarnation"].as_str().unwrap().to_owned();
    let new = json!({"type": "session.new", "cwd": world.path("")});
    let new = submission("s1", &Value::Null, &new);
    client.submit(name.clone(), new).await.unwrap();
    let receipt = until(&mut frames, |frame| frame["type"] == "receipt").await;
    let session = receipt["accepted"]["session"].clone();
    let start = json!({"type": "turn.start", "input": [{"type": "text", "text": "hello"}]});
    client
        .submit(name.clone(), submission("s2", &session, &start))
        .await
        .unwrap();
    let is_end = |frame: &Value| frame["event"]["type"] == "turn.ended";
    let ended = until(&mut frames, is_end).await;
    assert_eq!(ended["event"]["outcome"], "completed", "{ended}");

    // WIRE-2, WIRE-3: a frame that is wrong is answered in the queue, with the place.
    let wrong = submission("s3", &session, &json!({"type": "turn.start", "input": 5}));
    client.submit(name.clone(), wrong).await.unwrap();
    let receipt = until(&mut frames, |frame| frame["id"] == "s3").await;
    assert_eq!(receipt["error"]["pointer"], "/op/input", "{receipt}");

    frames.unsubscribe().await.unwrap();
    let bye = json!({"v": 1, "type": "bye"});
    let mut gone = client.submit(name.clone(), bye.clone()).await;
    while gone.is_ok() {
        gone = client.submit(name.clone(), bye.clone()).await;
    }
}

/// SEC-3, SQEQ-8
#[tokio::test]
async fn who_does_not_know_the_secret_or_comes_from_a_page_is_refused() {
    let world = World::new();
    let (web, bearer) = listener(&world).await;
    let table: [(&[(&str, &str)], bool); 6] = [
        (&[("authorization", &bearer)], true),
        (
            &[("authorization", &bearer), ("origin", "http://listed")],
            true,
        ),
        (&[], false),
        (&[("authorization", "Bearer 0123")], false),
        (
            &[("authorization", &bearer), ("origin", "http://evil")],
            false,
        ),
        (&[("origin", "http://listed")], false),
    ];
    for (headers, passes) in table {
        let headers: Vec<_> = headers.iter().map(|(n, v)| (leak(n), *v)).collect();
        let opened = client(&web, &headers).await;
        assert_eq!(opened.is_ok(), passes, "{} headers", headers.len());
    }
    let name = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10".to_owned();
    let stranger = client(&web, &[("authorization", &bearer)]).await.unwrap();
    let submitted = stranger.submit(name, json!({})).await;
    assert!(submitted.is_err(), "no connection of that name is open");
}

/// SEC-4: who comes over the network names no file of this machine; what it has itself it imports.
#[tokio::test]
async fn no_file_is_read_for_a_client_on_the_network() {
    let world = World::new();
    let (web, bearer) = listener(&world).await;
    let client = client(&web, &[("authorization", &bearer)]).await.unwrap();
    let mut frames = client.open(hello()).await.unwrap();
    let name = next(&mut frames).await["incarnation"].clone();
    let name = name.as_str().unwrap();
    let said = json!({"type": "user_message", "content": [{"type": "text", "text": "hi"}]});
    for (id, source, refused) in [
        ("s1", json!({"type": "file", "path": "/etc/passwd"}), true),
        (
            "s2",
            json!({"type": "items", "cwd": world.path(""), "items": [said]}),
            false,
        ),
    ] {
        let op = json!({"type": "session.import", "source": source});
        let frame = submission(id, &Value::Null, &op);
        client.submit(name.to_owned(), frame).await.unwrap();
        let receipt = until(&mut frames, |frame| frame["id"] == id).await;
        assert_eq!(receipt["accepted"].is_null(), refused, "{receipt}");
        if refused {
            assert_eq!(receipt["error"]["code"], "refused", "{receipt}");
            assert_eq!(receipt["error"]["pointer"], "/op/source", "{receipt}");
        }
    }
}

/// Header names of the client live for ever.
fn leak(name: &str) -> &'static str {
    match name {
        "origin" => "origin",
        _ => "authorization",
    }
}

/// SEC-3: a client that sends faster than the rate is told so, and goes on after it.
#[tokio::test]
async fn a_client_that_sends_too_fast_is_held_back() {
    let world = World::new();
    let (web, bearer) = listener(&world).await;
    let client = client(&web, &[("authorization", &bearer)]).await.unwrap();
    let mut frames = client.open(hello()).await.unwrap();
    let name = next(&mut frames).await["incarnation"]
        .as_str()
        .unwrap()
        .to_owned();
    let reader = tokio::spawn(async move { while frames.next().await.is_some() {} });
    let list = json!({"type": "session.list"});
    let mut refused = None;
    for number in 0..4000 {
        let frame = submission(&format!("s{number}"), &Value::Null, &list);
        if let Err(error) = client.submit(name.clone(), frame).await {
            refused = Some(error.to_string());
            break;
        }
    }
    assert!(refused.unwrap().contains("rate"), "said by name");
    reader.abort();
}

#[tokio::test]
async fn an_address_that_others_reach_is_not_listened_on() {
    let world = World::new();
    let secret = Secret::at(&world.path("attach")).unwrap();
    let engine = world.engine();
    let address = "0.0.0.0:0".parse().unwrap();
    let web = Web::listen(address, (secret, Vec::new()), move || engine.connect()).await;
    assert_eq!(web.unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
}

/// SEC-4: who comes over the network counts what is in all workspaces, and sees the one that it
/// names; the user's own programs see ids, titles and roots of all.
#[tokio::test]
async fn a_client_of_the_network_counts_and_sees_only_the_workspace_that_it_names() {
    let world = World::new();
    let path = world.path("attach");
    let secret = Secret::at(&path).unwrap();
    let bearer = format!("Bearer {}", fs::read_to_string(&path).unwrap().trim());
    let engine = world.engine();
    let host = Host::open(&world.place(), engine.clone()).unwrap();
    let address = "127.0.0.1:0".parse().unwrap();
    let web = host.listen(address, (secret, Vec::new())).await.unwrap();
    let mut user = Client::greet(engine.connect()).await;
    let one = user.new_session("/secret/one").await;
    user.new_session("/secret/two").await;
    let client = client(&web, &[("authorization", &bearer)]).await.unwrap();
    let mut frames = client.open(hello()).await.unwrap();
    let name = next(&mut frames).await["incarnation"]
        .as_str()
        .unwrap()
        .to_owned();
    let table = [
        (json!({}), json!({"count": 2})),
        (json!({"limit": 1}), json!({"count": 2})),
        (json!({"archived": "only"}), json!({"count": 0})),
        (json!({"search": "one"}), Value::Null),
        (json!({"title": "one"}), Value::Null),
    ];
    for (number, (filter, expected)) in table.into_iter().enumerate() {
        let mut op = json!({"type": "session.list"});
        op.as_object_mut()
            .unwrap()
            .extend(filter.as_object().unwrap().clone());
        let id = format!("s{number}");
        let list = submission(&id, &Value::Null, &op);
        client.submit(name.clone(), list).await.unwrap();
        let receipt = until(&mut frames, |frame| frame["id"] == id.as_str()).await;
        assert_eq!(receipt["accepted"], expected, "{filter}");
        assert!(!receipt.to_string().contains("secret"), "{receipt}");
    }
    let op = json!({"type": "session.list", "cwd": "/secret/one"});
    let list = submission("w", &Value::Null, &op);
    client.submit(name.clone(), list).await.unwrap();
    let receipt = until(&mut frames, |frame| frame["id"] == "w").await;
    let rows = receipt["accepted"]["sessions"].as_array().unwrap();
    let ids: Vec<_> = rows
        .iter()
        .map(|row| row["session"].as_str().unwrap())
        .collect();
    assert_eq!(ids, [one.to_string()]);
    let list = serde_json::from_value(json!({"type": "session.list"})).unwrap();
    let Verdict::Accepted(Accepted::Sessions { sessions, .. }) = user.call(None, list).await else {
        panic!("no list");
    };
    assert_eq!(sessions.len(), 2);
}

//! MCP servers that the client gave the session: `/mcp` calls them, each with its own secrets.

use std::path::Path;

use sessiond_protocol::{
    Instructions, InstructionsMode, McpServer, NameValue, Outcome, PermissionKind, RequestBody,
    RequestKind, Setup, ToolStatus, TurnOutcome,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::session::{Act, Seen, Session, example, selected};

fn pair(name: &str, value: &str) -> NameValue {
    NameValue {
        name: name.into(),
        value: value.into(),
    }
}

fn program(name: &str, env: &[(&str, &str)]) -> McpServer {
    let command = example("mcp_server");
    McpServer::Stdio {
        name: name.into(),
        command: command.to_str().expect("UTF-8").into(),
        args: Vec::new(),
        env: env.iter().map(|(name, value)| pair(name, value)).collect(),
    }
}

async fn with(servers: Vec<McpServer>) -> Session {
    let setup = Setup {
        mcp_servers: servers,
        ..Setup::default()
    };
    Session::given(setup, &[RequestKind::Permission]).await
}

/// SEC-2: what a server is given reaches that server, and no other, no command, no event and no
/// record.
#[tokio::test]
async fn the_secrets_of_a_server_are_its_own() {
    let servers = vec![
        program("one", &[("ONE_KEY", "s3cret-one")]),
        program("two", &[("TWO_KEY", "s3cret-two")]),
    ];
    let mut session = with(servers).await;
    let table = [
        (r#"/mcp two env {"name":"ONE_KEY"}"#, "unset"),
        (r#"/mcp one env {"name":"TWO_KEY"}"#, "unset"),
        (
            "/run echo ${ONE_KEY:-unset} ${TWO_KEY:-unset}",
            "unset unset\n",
        ),
    ];
    for (script, shown) in table {
        let turn = session
            .turn(script, selected(PermissionKind::AllowOnce))
            .await;
        assert_eq!(turn.shown(), shown, "{script}");
        assert!(!format!("{:?}", turn.seen).contains("s3cret"), "{script}");
    }
    let records = session.records();
    assert!(
        records.iter().any(|record| record.contains("ONE_KEY")),
        "what was asked is there"
    );
    assert!(
        !records.iter().any(|record| record.contains("s3cret")),
        "{records:?}"
    );
    // It is there where it belongs.
    let script = r#"/mcp one env {"name":"ONE_KEY"}"#;
    let turn = session
        .turn(script, selected(PermissionKind::AllowOnce))
        .await;
    assert_eq!(turn.shown(), "s3cret-one");
}

#[tokio::test]
async fn a_server_is_called_only_once_the_user_has_allowed_it() {
    let mut session = with(vec![program("one", &[])]).await;
    let turn = session
        .turn("/mcp one pid {}", selected(PermissionKind::RejectOnce))
        .await;
    let [RequestBody::Permission(asked)] = &turn.asked()[..] else {
        panic!("{:?}", turn.seen);
    };
    assert_eq!(
        (asked.tool.as_str(), asked.pattern.as_str()),
        ("mcp", "one pid")
    );
    assert_eq!(turn.shown(), "Not run: permission was rejected.");
    session.configure("read-only").await;
    let turn = session.turn("/mcp one pid {}", |_| Act::Watch).await;
    assert_eq!(turn.call().status, ToolStatus::Failed);
}

/// A server is started once, and goes with its session.
#[tokio::test]
async fn a_server_stays_while_the_session_is_open_and_goes_with_it() {
    let mut session = with(vec![program("one", &[])]).await;
    session.configure("auto").await;
    let mut pids = Vec::new();
    for _ in 0..2 {
        let turn = session.turn("/mcp one pid {}", |_| Act::Watch).await;
        pids.push(turn.shown());
    }
    assert_eq!(pids.first(), pids.last());
    let process = Path::new("/proc").join(pids.remove(0));
    assert!(process.exists());
    session.close().await;
    gone(&process).await;
}

#[tokio::test]
async fn a_server_that_died_is_started_anew_by_the_next_call() {
    let mut session = with(vec![program("one", &[])]).await;
    session.configure("auto").await;
    let before = session
        .turn("/mcp one pid {}", |_| Act::Watch)
        .await
        .shown();
    let died = session.turn("/mcp one die {}", |_| Act::Watch).await;
    assert_eq!(died.call().status, ToolStatus::Failed);
    assert!(
        died.shown().starts_with("The MCP server \"one\" failed: "),
        "{}",
        died.shown()
    );
    let after = session
        .turn("/mcp one pid {}", |_| Act::Watch)
        .await
        .shown();
    assert_ne!(before, after);
    let absent = program("gone", &[]);
    let McpServer::Stdio {
        name, args, env, ..
    } = absent
    else {
        panic!("a program");
    };
    let command = "/nowhere/server".to_owned();
    let mut session = with(vec![McpServer::Stdio {
        name,
        command,
        args,
        env,
    }])
    .await;
    session.configure("auto").await;
    let turn = session.turn("/mcp gone pid {}", |_| Act::Watch).await;
    assert_eq!(
        (turn.outcome, turn.call().status),
        (TurnOutcome::Completed, ToolStatus::Failed)
    );
}

/// TASK-4, RESUME-6: what a server does with a call that is given up is not known.
#[tokio::test]
async fn a_call_that_is_cancelled_has_an_unknown_outcome_and_its_server_goes() {
    let mut session = with(vec![program("one", &[])]).await;
    session.configure("auto").await;
    let pid = session
        .turn("/mcp one pid {}", |_| Act::Watch)
        .await
        .shown();
    let turn = session
        .turn("/mcp one wait {}", |seen| match seen {
            Seen::Started(_) => Act::Interrupt,
            _ => Act::Watch,
        })
        .await;
    assert_eq!(turn.outcome, TurnOutcome::Cancelled);
    assert!(
        matches!(
            turn.call().status,
            ToolStatus::Unknown | ToolStatus::Cancelled
        ),
        "{:?}",
        turn.call()
    );
    if turn.call().status == ToolStatus::Unknown {
        gone(&Path::new("/proc").join(pid)).await;
    }
}

/// TASK-4: a call that was stopped takes its server with it, and nothing else: the next call starts
/// another, with what the server was given.
#[tokio::test]
async fn a_server_that_went_with_a_stopped_call_is_started_by_the_next_one() {
    let mut session = with(vec![program("one", &[("KEY", "own")])]).await;
    session.configure("auto").await;
    let ask = r#"/mcp one env {"name":"KEY"}"#;
    let before = session.turn("/mcp one pid {}", |_| Act::Watch).await;
    let turn = session
        .turn("/mcp one wait {}", |seen| match seen {
            Seen::Started(_) => Act::Interrupt,
            _ => Act::Watch,
        })
        .await;
    assert_eq!(turn.outcome, TurnOutcome::Cancelled);
    assert_eq!(session.turn(ask, |_| Act::Watch).await.shown(), "own");
    let after = session.turn("/mcp one pid {}", |_| Act::Watch).await;
    // Stopped before the server was called, it is the one that was there.
    let is_another = after.shown() != before.shown();
    assert_eq!(is_another, turn.call().status == ToolStatus::Unknown);
}

/// The script does what its prompts say: instructions are kept for agents that think.
#[tokio::test]
async fn instructions_change_nothing_of_what_the_script_does() {
    let instructions = Instructions {
        mode: InstructionsMode::Override,
        text: "/run touch made".to_owned(),
    };
    let setup = Setup {
        instructions: Some(instructions),
        ..Setup::default()
    };
    let mut session = Session::given(setup, &[RequestKind::Permission]).await;
    let turn = session.turn("hello", |_| Act::Watch).await;
    assert_eq!(turn.seen, [Seen::Text("hello".to_owned())]);
    let records = session.records();
    assert!(records.iter().any(|record| record.contains("touch made")));
}

/// SEC-2: the headers of a server at an address go to that address, and to none that it names.
#[tokio::test]
async fn a_server_at_an_address_gets_its_headers_and_no_other_address_does() {
    let (url, seen) = http("200 OK").await;
    let headers = vec![pair("Authorization", "Bearer s3cret")];
    let name = "web".to_owned();
    let mut session = with(vec![McpServer::Http { name, url, headers }]).await;
    session.configure("auto").await;
    let turn = session.turn("/mcp web say {}", |_| Act::Watch).await;
    assert_eq!(turn.shown(), "said", "{:?}", turn.seen);
    let requests = seen.lock().expect("requests").clone();
    assert!(
        requests
            .iter()
            .all(|request| request.contains("Bearer s3cret")),
        "{requests:?}"
    );

    let (other, elsewhere) = http("200 OK").await;
    let (url, _) = http(&format!("307 Temporary Redirect\r\nLocation: {other}")).await;
    let headers = vec![pair("X-Api-Key", "s3cret")];
    let name = "web".to_owned();
    let mut session = with(vec![McpServer::Http { name, url, headers }]).await;
    session.configure("auto").await;
    let turn = session.turn("/mcp web say {}", |_| Act::Watch).await;
    assert_eq!(turn.call().status, ToolStatus::Failed);
    assert_eq!(elsewhere.lock().expect("requests").len(), 0);
}

/// A client that answers for a server of its own is asked as before.
#[tokio::test]
async fn a_server_of_another_name_is_the_clients() {
    let setup = Setup {
        mcp_servers: vec![
            program("one", &[]),
            McpServer::Client {
                name: "two".into(),
                tools: Vec::new(),
            },
        ],
        ..Setup::default()
    };
    let mut session = Session::given(setup, &[RequestKind::Mcp]).await;
    for name in ["two", "three"] {
        let turn = session
            .turn(&format!("/mcp {name} t {{}}"), |seen| match seen {
                Seen::Asked(RequestBody::Mcp { .. }) => Act::Answer(Outcome::Declined),
                _ => Act::Watch,
            })
            .await;
        assert_eq!(turn.asked().len(), 1, "{name}");
        assert_eq!(turn.call().status, ToolStatus::Failed);
    }
}

async fn gone(process: &Path) {
    let wait = async {
        while process.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(std::time::Duration::from_secs(20), wait).await;
    assert!(waited.is_ok(), "{process:?} lives");
}

type Requests = std::sync::Arc<std::sync::Mutex<Vec<String>>>;

/// A server over HTTP that answers `initialize` and `tools/call` with one JSON body each, and begins
/// every answer to a POST with this status; and what it was asked.
async fn http(status: &str) -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let seen = Requests::default();
    let (requests, status) = (seen.clone(), status.to_owned());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (requests, status) = (requests.clone(), status.clone());
            tokio::spawn(async move {
                let mut text = Vec::new();
                let mut buffer = [0; 4096];
                while !is_whole(&text) {
                    match stream.read(&mut buffer).await {
                        Ok(length @ 1..) => text.extend(buffer.iter().take(length)),
                        _ => return,
                    }
                }
                let text = String::from_utf8_lossy(&text).into_owned();
                let answer = respond(&text, &status);
                requests.lock().expect("requests").push(text);
                let _gone = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    (url, seen)
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    length.is_none_or(|length| Some(body.len()) >= length.trim().parse().ok())
}

fn respond(request: &str, status: &str) -> String {
    let body = request.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let frame: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let result = match frame["method"].as_str() {
        _ if !request.starts_with("POST") => None,
        Some("initialize") => Some(serde_json::json!({
            "protocolVersion": frame["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "web", "version": "1"},
        })),
        Some("tools/call") => {
            Some(serde_json::json!({"content": [{"type": "text", "text": "said"}]}))
        }
        _ => Some(serde_json::Value::Null),
    };
    let (status, body) = match result {
        None => ("405 Method Not Allowed", String::new()),
        Some(serde_json::Value::Null) => ("202 Accepted", String::new()),
        Some(result) => {
            let body = serde_json::json!({"jsonrpc": "2.0", "id": frame["id"], "result": result});
            (status, body.to_string())
        }
    };
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
}

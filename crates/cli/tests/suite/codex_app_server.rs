//! `sessiond-codex app-server`: what each line is answered with.

use serde_json::{Value, json};

use crate::harness::{Codex, Home};

/// An id that no thread has.
const UNKNOWN: &str = "01a22742-0000-7000-8000-000000000000";

fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

fn thread(id: &str) -> Value {
    json!({ "threadId": id })
}

/// codex.md B2: before and after the handshake.
#[test]
fn nothing_is_served_before_initialize_and_that_only_once() {
    let home = Home::new();
    let mut codex = Codex::spawn(home.codex(&["app-server", "--listen", "stdio://"]));
    assert_eq!(codex.refusal("thread/list", json!({})), "Not initialized");
    let hello = codex.initialize(json!({}));
    assert!(
        hello["userAgent"]
            .as_str()
            .unwrap()
            .starts_with("suite/0.171.0 (")
    );
    assert_eq!(hello["codexHome"], json!(home.store()));
    codex.say(r#"{"method":"initialized"}"#);
    let again = json!({ "clientInfo": { "name": "x", "version": "1" } });
    assert_eq!(codex.refusal("initialize", again), "Already initialized");
    assert_eq!(codex.call("thread/list", json!({}))["data"], json!([]));
}

/// codex.md B3, WIRE-5: no line that is no message is answered, and the connection lives.
#[test]
fn what_is_no_message_is_not_answered() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let before = codex.frames.len();
    for line in [
        "not json",
        "",
        r#"[{"id":1,"method":"thread/list","params":{}}]"#,
        r#"{"id":null,"method":"thread/list","params":{}}"#,
        r#"{"id":1.5,"method":"thread/list","params":{}}"#,
        r#"{"method":"no/such","params":{}}"#,
        r#"{"id":99,"result":{}}"#,
        r#"{"id":99,"error":{"code":1,"message":"m"}}"#,
        r#"{"id":7}"#,
    ] {
        codex.say(line);
    }
    codex.say(r#"{"jsonrpc":"2.0","id":"s","more":1,"method":"thread/loaded/list","params":{}}"#);
    let answer = codex.until("an answer", |frame| frame["id"] == "s");
    assert_eq!(
        answer,
        json!({ "id": "s", "result": { "data": [], "nextCursor": null } })
    );
    assert_eq!(
        codex.frames.len(),
        before + 1,
        "{:?}",
        &codex.frames[before..]
    );
    assert!(
        codex
            .frames
            .iter()
            .all(|frame| frame.get("jsonrpc").is_none())
    );
}

/// codex.md B3, line by line: code and text.
#[test]
fn mistakes_are_refused_in_codexs_words() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let loaded = codex.thread(&home);
    let bad = "invalid character: expected an optional prefix of `urn:uuid:` followed by \
               [0-9a-fA-F-], found `z` at 1";
    let session = format!("invalid session id: {bad}");
    let named = format!("invalid thread id: {bad}");
    let (none, gone) = (
        format!("thread not found: {UNKNOWN}"),
        format!("thread not loaded: {UNKNOWN}"),
    );
    let no_rollout = format!("no rollout found for thread id {UNKNOWN}");
    let no_archived = format!("no archived rollout found for thread id {UNKNOWN}");
    let with = |more: Value| {
        let mut params = thread(UNKNOWN);
        params
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        params
    };
    let here = |more: Value| {
        let mut params = with(more);
        params["threadId"] = json!(loaded);
        params
    };
    let table: Vec<(&str, Value, i64, &str)> = vec![
        (
            "turn/start",
            json!({ "threadId": 5 }),
            -32600,
            "Invalid request: invalid type: integer `5`, expected a string",
        ),
        (
            "turn/start",
            thread(&loaded),
            -32600,
            "Invalid request: missing field `input`",
        ),
        (
            "turn/start",
            here(json!({ "input": "x" })),
            -32600,
            "Invalid request: invalid type: string \"x\", expected a sequence",
        ),
        (
            "turn/start",
            here(json!({ "input": [{ "type": "bogus" }] })),
            -32600,
            "Invalid request: unknown variant `bogus`, expected one of `text`, `image`, `localImage`, `audio`, `localAudio`, `skill`, `mention`",
        ),
        (
            "turn/start",
            here(json!({ "input": [], "sandboxPolicy": { "type": "nope" } })),
            -32600,
            "Invalid request: unknown variant `nope`, expected one of `dangerFullAccess`, `readOnly`, `externalSandbox`, `workspaceWrite`",
        ),
        (
            "thread/start",
            json!({ "approvalPolicy": "bogus" }),
            -32600,
            "Invalid request: unknown variant `bogus`, expected one of `untrusted`, `on-request`, `granular`, `never`",
        ),
        (
            "thread/start",
            json!({ "sandbox": "x" }),
            -32600,
            "Invalid request: unknown variant `x`, expected one of `read-only`, `workspace-write`, `danger-full-access`",
        ),
        (
            "thread/start",
            json!({ "historyMode": "legacy" }),
            -32600,
            "thread/start.historyMode requires experimentalApi capability",
        ),
        (
            "thread/queue/list",
            thread(UNKNOWN),
            -32600,
            "thread/queue/list requires experimentalApi capability",
        ),
        (
            "turn/start",
            json!({ "threadId": "zz", "input": [] }),
            -32600,
            &named,
        ),
        ("thread/read", thread("zz"), -32600, &named),
        ("thread/resume", thread("zz"), -32600, &session),
        ("turn/start", with(json!({ "input": [] })), -32600, &none),
        (
            "turn/steer",
            with(json!({ "input": [], "expectedTurnId": "x" })),
            -32600,
            &none,
        ),
        (
            "turn/interrupt",
            with(json!({ "turnId": "x" })),
            -32600,
            &none,
        ),
        ("thread/compact/start", thread(UNKNOWN), -32600, &none),
        (
            "thread/revert",
            with(json!({ "beforeTurnId": "x" })),
            -32600,
            &none,
        ),
        (
            "thread/inject_items",
            with(json!({ "items": [] })),
            -32600,
            &none,
        ),
        ("thread/read", thread(UNKNOWN), -32600, &gone),
        ("thread/turns/list", thread(UNKNOWN), -32600, &gone),
        ("thread/resume", thread(UNKNOWN), -32600, &no_rollout),
        ("thread/fork", thread(UNKNOWN), -32600, &no_rollout),
        ("thread/archive", thread(UNKNOWN), -32600, &no_rollout),
        ("thread/delete", thread(UNKNOWN), -32600, &no_rollout),
        (
            "thread/name/set",
            with(json!({ "name": "n" })),
            -32600,
            &no_rollout,
        ),
        ("thread/unarchive", thread(UNKNOWN), -32600, &no_archived),
        (
            "thread/name/set",
            with(json!({ "name": "  " })),
            -32600,
            "thread name must not be empty",
        ),
        (
            "thread/list",
            json!({ "cursor": "zzz" }),
            -32600,
            "invalid cursor: zzz",
        ),
        (
            "thread/list",
            json!({ "cursor": "r:zzz" }),
            -32600,
            "invalid cursor: r:zzz",
        ),
        (
            "turn/interrupt",
            here(json!({ "turnId": "x" })),
            -32600,
            "no active turn to interrupt",
        ),
        (
            "turn/steer",
            here(json!({ "input": text("x"), "expectedTurnId": "x" })),
            -32600,
            "no active turn to steer",
        ),
        (
            "turn/steer",
            here(json!({ "input": [], "expectedTurnId": "x" })),
            -32600,
            "input must not be empty",
        ),
        (
            "thread/revert",
            here(json!({ "beforeTurnId": "x" })),
            -32600,
            "turn not found: x",
        ),
        (
            "review/start",
            thread(&loaded),
            -32601,
            "review/start is not supported yet",
        ),
    ];
    for (method, params, code, message) in table {
        let answer = codex.ask(method, params.clone());
        let wanted = json!({ "code": code, "message": message });
        assert_eq!(answer["error"], wanted, "{method} {params}");
    }
    let unknown = codex.ask("no/such", json!({}));
    let message = unknown["error"]["message"].as_str().unwrap();
    assert_eq!(unknown["error"]["code"], -32600);
    assert!(message.starts_with("Invalid request: unknown variant `no/such`, expected one of `initialize`, `server/diagnostics`"));
    codex.say(r#"{"id":"p","method":"thread/list"}"#);
    let answer = codex.until("an answer", |frame| frame["id"] == "p");
    assert_eq!(
        answer["error"]["message"],
        "Invalid request: missing field `params`"
    );
}

/// codex.md B5: of the methods that a client may know, each is answered, once.
#[test]
fn every_method_of_codex_is_answered() {
    let home = Home::new();
    let mut codex = Codex::spawn(home.codex(&["app-server"]));
    codex.initialize(json!({ "experimentalApi": true }));
    let all = codex.refusal("?", json!({}));
    let names: Vec<String> = all
        .split('`')
        .skip(3)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    assert_eq!(names.len(), 192, "{all}");
    for name in names {
        let answer = codex.ask(&name, json!({}));
        let code = answer["error"]["code"].as_i64();
        let is_known = answer.get("result").is_some() || code == Some(-32600);
        let unsupported =
            json!({ "code": -32601, "message": format!("{name} is not supported yet") });
        assert!(is_known || answer["error"] == unsupported, "{answer}");
    }
}

/// WIRE-6: nothing but text merges, and no answer is ever dropped. The client reads nothing until
/// the server reads nothing either.
#[test]
fn three_thousand_pipelined_requests_get_three_thousand_answers() {
    const REQUESTS: u64 = 3000;
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let thread = codex.thread(&home);
    let methods = [
        "thread/loaded/list",
        "thread/list",
        "thread/read",
        "model/list",
        "no/such",
    ];
    codex.pause();
    let mut lines = String::new();
    for id in 0..REQUESTS {
        let method = methods[usize::try_from(id).unwrap() % methods.len()];
        let params = json!({ "threadId": thread });
        lines.push_str(
            &json!({ "id": 10_000 + id, "method": method, "params": params }).to_string(),
        );
        lines.push('\n');
    }
    codex.say_until_full(lines);
    let mut answered = std::collections::HashSet::new();
    while answered.len() < usize::try_from(REQUESTS).unwrap() {
        let frame = codex.until("an answer", |frame| frame["id"].as_u64() >= Some(10_000));
        assert!(answered.insert(frame["id"].as_u64()), "twice: {frame}");
    }
    assert!(
        codex
            .frames
            .iter()
            .all(|frame| frame["error"]["code"] != -32001)
    );
}

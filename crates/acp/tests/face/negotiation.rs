//! What `initialize` settles (acp.md 1.2, 8).

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, AgentInfo, AgentOption, Op, OptionValue, RequestKind, SessionView,
};

use crate::harness::{Stage, view};

#[tokio::test]
async fn any_integer_version_is_answered_with_1_and_anything_else_refused() {
    let cases = [
        ("1", true),
        ("0", true),
        ("2", true),
        ("65535", true),
        ("100000", true),
        ("-1", true),
        ("\"1\"", false),
        ("\"2025-06-18\"", false),
        ("1.5", false),
        ("1.0", false),
        ("null", false),
        ("{}", false),
    ];
    for (version, accepted) in cases {
        let mut stage = Stage::new().await;
        let params: Value =
            serde_json::from_str(&format!("{{\"protocolVersion\":{version}}}")).unwrap();
        stage.request(1, "initialize", params).await;
        if accepted {
            assert_eq!(stage.result(1).await["protocolVersion"], 1, "{version}");
        } else {
            assert_eq!(stage.error(1).await, (-32602, Value::Null), "{version}");
            // The connection stays open for another attempt.
            stage
                .request(2, "initialize", json!({"protocolVersion": 1}))
                .await;
            stage.result(2).await;
        }
    }
}

/// ADAPT-1, acp.md 2.1: what a client of version 2 offers in the shape of that version, and nothing
/// that only looks like an offer of version 1.
#[tokio::test]
async fn a_client_of_version_2_goes_on_in_version_1_with_what_it_offered() {
    use RequestKind::{Elicitation, ElicitationUrl, Extension, Permission};
    let info = json!({"name": "client", "version": "2"});
    let both = json!({"elicitation": {"form": {}, "url": {}}});
    let table = [
        (json!({}), vec![], true),
        (both.clone(), vec![Elicitation, ElicitationUrl], true),
        (
            json!({"elicitation": {"url": {}}}),
            vec![ElicitationUrl],
            true,
        ),
        (json!("garbage"), vec![], true),
        // No members of version 2: they offer nothing.
        (
            json!({"fs": {"readTextFile": true}, "terminal": true, "plan": {},
                "session": {"notices": {}}}),
            vec![],
            true,
        ),
    ];
    for (capabilities, offered, booleans) in table {
        let params = json!({"protocolVersion": 2, "info": info, "capabilities": capabilities});
        check(params, offered, booleans).await;
    }
    // The shape of version 1 counts where it is there, whatever version was asked for.
    let params = json!({"protocolVersion": 2, "info": info, "capabilities": both,
        "clientCapabilities": {}});
    check(params, vec![], false).await;
    let params = json!({"protocolVersion": 1, "info": info, "capabilities": both});
    check(params, vec![], false).await;
    let params = json!({"protocolVersion": 2, "capabilities": both});
    check(params, vec![], false).await;

    async fn check(params: Value, offered: Vec<RequestKind>, booleans: bool) {
        let mut stage = Stage::new().await;
        stage.request(0, "initialize", params.clone()).await;
        assert_eq!(stage.result(0).await["protocolVersion"], 1);
        let new = json!({"cwd": "/w", "mcpServers": []});
        stage.request(1, "session/new", new).await;
        let submitted = stage.submitted().await;
        let Op::SessionNew(new) = &submitted.op else {
            panic!("not a new session")
        };
        let expected: Vec<_> = [Permission, Extension].into_iter().chain(offered).collect();
        assert_eq!(new.answers, expected, "{params}");
        let agent = AgentInfo {
            options: vec![AgentOption {
                id: "fast".into(),
                name: "Fast".into(),
                description: None,
                category: None,
                value: OptionValue::Boolean(true),
                choices: Vec::new(),
            }],
            ..view().agent
        };
        let view = SessionView { agent, ..view() };
        stage.accept(&submitted, Accepted::Session(Box::new(view)));
        let options = stage.result(1).await["configOptions"].take();
        let has_it = options
            .as_array()
            .unwrap()
            .iter()
            .any(|option| option["id"] == "fast");
        assert_eq!(has_it, booleans, "{params}");
    }
}

/// LOG-16, ADAPT-1
#[tokio::test]
async fn the_introduction_says_exactly_what_is_there() {
    let mut stage = Stage::new().await;
    stage
        .request("a", "initialize", json!({"protocolVersion": 1}))
        .await;
    let mut introduction = stage.result("a").await;
    assert!(introduction["agentInfo"]["version"].take().is_string());
    assert!(
        introduction["authMethods"][0]["description"]
            .take()
            .is_string()
    );
    let expected = json!({
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {"image": false, "audio": false, "embeddedContext": true},
            "mcpCapabilities": {"http": true, "sse": false},
            "sessionCapabilities": {
                "list": {}, "delete": {}, "additionalDirectories": {},
                "systemPrompt": {"mode": {"override": {}}}, "fork": {}, "archive": {},
                "status": {}, "options": {}, "title": {}, "resume": {}, "close": {},
            },
            "auth": {"status": {}},
        },
        "authMethods": [{"id": "sessiond", "name": "No sign-in needed", "description": null}],
        "agentInfo": {"name": "sessiond", "title": "sessiond", "version": null},
        "_meta": {"sessiond": {"persistence": "on", "store": "/store"}},
    });
    assert_eq!(introduction, expected);
}

#[tokio::test]
async fn only_initialize_comes_first_and_only_while_nothing_else_came_again() {
    let mut stage = Stage::new().await;
    stage.request(1, "session/list", json!({})).await;
    assert_eq!(stage.error(1).await.0, -32600);
    stage
        .notify("session/cancel", json!({"sessionId": "x"}))
        .await;
    stage
        .request(2, "initialize", json!({"protocolVersion": 1}))
        .await;
    stage.result(2).await;
    stage
        .request(3, "initialize", json!({"protocolVersion": 7}))
        .await;
    assert_eq!(stage.result(3).await["protocolVersion"], 1);
    stage.request(4, "nonsense", json!({})).await;
    assert_eq!(stage.error(4).await.0, -32601);
    stage
        .request(5, "initialize", json!({"protocolVersion": 1}))
        .await;
    assert_eq!(stage.error(5).await.0, -32600);
}

#[tokio::test]
async fn authenticating_is_possible_and_never_needed() {
    let mut stage = Stage::initialized(json!({})).await;
    stage
        .request(1, "authenticate", json!({"methodId": "sessiond"}))
        .await;
    assert_eq!(stage.result(1).await, json!({}));
    for params in [json!({"methodId": "other"}), json!({}), json!(null)] {
        stage.request(2, "authenticate", params).await;
        assert_eq!(stage.error(2).await.0, -32602);
    }
}

/// ADAPT-1
#[tokio::test]
async fn the_engine_learns_exactly_what_the_client_can_answer() {
    use RequestKind::{
        Elicitation, ElicitationUrl, Extension, FsRead, FsWrite, Permission, Terminal,
    };
    let cases = [
        (json!({}), vec![]),
        (json!(null), vec![]),
        (json!("garbage"), vec![]),
        (json!({"fs": {"readTextFile": true}}), vec![FsRead]),
        (
            json!({"fs": {"writeTextFile": true, "readTextFile": false}}),
            vec![FsWrite],
        ),
        (json!({"terminal": true}), vec![Terminal]),
        (
            json!({"terminal": "yes", "fs": {"readTextFile": true}}),
            vec![FsRead],
        ),
        (json!({"elicitation": {"url": {}}}), vec![ElicitationUrl]),
        (json!({"elicitation": {"form": {}}}), vec![Elicitation]),
        (
            json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true,
                "elicitation": {"form": {}, "url": {}}}),
            vec![FsRead, FsWrite, Terminal, Elicitation, ElicitationUrl],
        ),
    ];
    for (capabilities, offered) in cases {
        let mut stage = Stage::initialized(capabilities.clone()).await;
        stage
            .request(1, "session/new", json!({"cwd": "/w", "mcpServers": []}))
            .await;
        let Op::SessionNew(new) = stage.op().await else {
            panic!("not a new session")
        };
        let expected: Vec<_> = [Permission, Extension].into_iter().chain(offered).collect();
        assert_eq!(new.answers, expected, "{capabilities}");
    }
}

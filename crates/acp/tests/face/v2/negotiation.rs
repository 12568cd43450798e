//! Which version a connection speaks (acp.md 2.1, 6.4 point 8).

use serde_json::{Value, json};
use sessiond_acp::Versions;

use crate::harness::Stage;

/// What a first `initialize` is answered: a version, or an error with what else it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Version(u64),
    Invalid,
    Unsupported(u64),
}

use Answer::{Invalid, Unsupported, Version};

async fn answer(versions: Versions, params: &str) -> (Stage, Answer) {
    let mut stage = Stage::speaking(versions, 0).await;
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
    stage.line(line).await;
    let frame = stage.heard().await;
    let answer = match frame.get("result") {
        Some(result) => Version(result["protocolVersion"].as_u64().unwrap()),
        None if frame["error"]["code"] == -32602 => Invalid,
        None => {
            let data = &frame["error"]["data"];
            assert_eq!(frame["error"]["code"], -32022, "{frame}");
            assert_eq!(data["supported"], json!([2]), "{frame}");
            Unsupported(data["requested"].as_u64().unwrap())
        }
    };
    (stage, answer)
}

#[tokio::test]
async fn each_version_that_a_client_asks_for_is_answered_as_the_face_was_set_up() {
    // asked for, by a face of version 1, of version 2, of both
    let table = [
        ("0", Version(1), Unsupported(0), Version(1)),
        ("1", Version(1), Unsupported(1), Version(1)),
        ("2", Version(1), Version(2), Version(2)),
        ("3", Version(1), Version(2), Version(2)),
        ("65535", Version(1), Version(2), Version(2)),
        ("65536", Version(1), Version(2), Version(2)),
        ("-1", Version(1), Invalid, Version(1)),
        ("\"1\"", Invalid, Invalid, Invalid),
        ("\"2\"", Invalid, Invalid, Invalid),
        ("1.5", Invalid, Invalid, Invalid),
        ("2.0", Invalid, Invalid, Invalid),
        ("null", Invalid, Invalid, Invalid),
    ];
    for (version, v1, v2, auto) in table {
        let info = r#""info":{"name":"client","version":"1"}"#;
        let params = format!(r#"{{"protocolVersion":{version},{info}}}"#);
        for (versions, expected) in [
            (Versions::V1, v1),
            (Versions::V2, v2),
            (Versions::Auto, auto),
        ] {
            let (_, found) = answer(versions, &params).await;
            assert_eq!(found, expected, "{version} to {versions:?}");
        }
    }
    for versions in [Versions::V1, Versions::V2, Versions::Auto] {
        for missing in ["{}", "null", "[]", "7"] {
            let (_, found) = answer(versions, missing).await;
            assert_eq!(found, Invalid, "{missing} to {versions:?}");
        }
    }
}

#[tokio::test]
async fn params_are_read_strictly_for_version_2_and_leniently_for_a_later_one() {
    let table = [
        (r#"{"protocolVersion":2}"#, Invalid),
        (r#"{"protocolVersion":2,"info":null}"#, Invalid),
        (r#"{"protocolVersion":2,"info":{"name":"c"}}"#, Invalid),
        (
            r#"{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":7}"#,
            Version(2),
        ),
        (r#"{"protocolVersion":3}"#, Version(2)),
        (
            r#"{"protocolVersion":3,"info":7,"capabilities":"x"}"#,
            Version(2),
        ),
        // What a client of version 1 sends when it asks for more.
        (
            r#"{"protocolVersion":9,"clientCapabilities":{},"clientInfo":{"name":"c","version":"1"}}"#,
            Version(2),
        ),
    ];
    for (params, expected) in table {
        for versions in [Versions::Auto, Versions::V2] {
            let (_, found) = answer(versions, params).await;
            assert_eq!(found, expected, "{params} to {versions:?}");
        }
    }
}

/// acp.md 6.4 point 8: each shape to the face that speaks only the other version.
#[tokio::test]
async fn the_shape_of_the_other_version_is_answered_by_the_version_that_it_names() {
    let v1 =
        r#"{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
    let v1_asking_for_2 =
        r#"{"protocolVersion":2,"clientCapabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
    let v2 = r#"{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}"#;
    let v2_asking_for_1 =
        r#"{"protocolVersion":1,"info":{"name":"c","version":"1"},"capabilities":{}}"#;
    let table = [
        (Versions::V1, v2, Version(1)),
        (Versions::V1, v1_asking_for_2, Version(1)),
        (Versions::V1, v2_asking_for_1, Version(1)),
        (Versions::V2, v1, Unsupported(1)),
        (Versions::V2, v2_asking_for_1, Unsupported(1)),
        (Versions::V2, v1_asking_for_2, Invalid),
        (Versions::Auto, v1_asking_for_2, Invalid),
        (Versions::Auto, v2_asking_for_1, Version(1)),
    ];
    for (versions, params, expected) in table {
        let (mut stage, found) = answer(versions, params).await;
        assert_eq!(found, expected, "{params} to {versions:?}");
        // Who was refused may try again.
        if !matches!(found, Version(_)) {
            stage
                .request(2, "initialize", serde_json::from_str(v2).unwrap())
                .await;
            assert_eq!(stage.heard().await["result"]["protocolVersion"], 2);
        }
    }
}

#[tokio::test]
async fn an_attempt_that_failed_leaves_the_choice_open() {
    for first in [
        r#"{"protocolVersion":2}"#,
        r#"{"protocolVersion":"1"}"#,
        "{}",
    ] {
        for (second, expected) in [(1, 1), (2, 2)] {
            let (mut stage, found) = answer(Versions::Auto, first).await;
            assert_eq!(found, Invalid);
            let info = json!({"name": "client", "version": "1"});
            let params = json!({"protocolVersion": second, "info": info});
            stage.request(2, "initialize", params).await;
            assert_eq!(stage.heard().await["result"]["protocolVersion"], expected);
        }
    }
}

#[tokio::test]
async fn a_version_that_is_settled_stays() {
    let v2 = json!({"protocolVersion": 2, "info": {"name": "client", "version": "1"}});
    let v1 = json!({"protocolVersion": 1});
    for (first, second, code) in [
        (&v2, &v1, Some(-32022)),
        (&v2, &v2, None),
        (&v1, &v2, None),
        (&v1, &v1, None),
    ] {
        let (mut stage, Version(settled)) = answer(Versions::Auto, &first.to_string()).await else {
            panic!("{first} was refused")
        };
        stage.request(2, "initialize", second.clone()).await;
        let frame = stage.heard().await;
        match code {
            Some(code) => {
                assert_eq!(frame["error"]["code"], code, "{frame}");
                assert_eq!(frame["error"]["data"]["supported"], json!([2]));
            }
            None => assert_eq!(frame["result"]["protocolVersion"], settled, "{frame}"),
        }
        // And not at all once anything else was asked.
        stage.request(3, "session/nothing", json!({})).await;
        assert_eq!(stage.heard().await["error"]["code"], -32601);
        stage.request(4, "initialize", first.clone()).await;
        assert_eq!(stage.heard().await["error"]["code"], -32600);
    }
}

#[tokio::test]
async fn nothing_comes_before_initialize_and_no_request_has_a_null_id() {
    for versions in [Versions::V1, Versions::V2, Versions::Auto] {
        let mut stage = Stage::speaking(versions, 0).await;
        stage.request(1, "session/list", json!({})).await;
        assert_eq!(stage.heard().await["error"]["code"], -32600);
    }
    let mut stage = super::initialized(json!({})).await;
    stage.request(Value::Null, "session/list", json!({})).await;
    assert_eq!(stage.error(Value::Null).await.0, -32600);
}

/// ADAPT-1, LOG-16
#[tokio::test]
async fn the_introduction_says_exactly_what_is_there() {
    let mut stage = Stage::speaking(Versions::V2, 2).await;
    let params = json!({"protocolVersion": 2, "info": {"name": "client", "version": "1"}});
    stage.request(1, "initialize", params).await;
    let mut introduction = stage.result(1).await;
    assert!(introduction["info"]["version"].take().is_string());
    let method = &mut introduction["authMethods"][0];
    assert!(method["description"].take().is_string());
    let expected = json!({
        "protocolVersion": 2,
        "info": {"name": "sessiond", "title": "sessiond", "version": null},
        "capabilities": {
            "session": {
                "prompt": {"embeddedContext": {}},
                "mcp": {"stdio": {}, "http": {}},
                "additionalDirectories": {}, "systemPrompt": {"mode": {"override": {}}},
                "delete": {}, "fork": {}, "archive": {}, "status": {}, "options": {}, "title": {},
            },
            "auth": {"status": {}},
        },
        "authMethods": [{"type": "agent", "methodId": "sessiond", "name": "No sign-in needed",
            "description": null}],
        "_meta": {"sessiond": {"persistence": "on", "store": "/store"}},
    });
    assert_eq!(introduction, expected);
}

#[tokio::test]
async fn authenticating_is_possible_and_never_needed() {
    let mut stage = super::initialized(json!({})).await;
    let login = json!({"methodId": "sessiond"});
    stage.request(1, "auth/login", login).await;
    assert_eq!(stage.result(1).await, json!({}));
    stage
        .request(2, "auth/login", json!({"methodId": "other"}))
        .await;
    assert_eq!(stage.error(2).await.0, -32602);
    stage.request(3, "auth/logout", json!({})).await;
    assert_eq!(stage.result(3).await, json!({}));
    stage.request(4, "auth/status", json!({})).await;
    assert_eq!(stage.result(4).await, json!({"state": "not_required"}));
    for gone in ["authenticate", "logout", "session/load", "session/set_mode"] {
        stage.request(5, gone, json!({})).await;
        assert_eq!(stage.error(5).await.0, -32601, "{gone}");
    }
}

//! MCP between the CLI and the client.

use serde_json::json;
use sessiond_protocol::{McpServer, NameValue, Outcome};

use super::{answered, failed, given, local};

/// ADAPT-6: each kind of server is given in the form that the CLI has for it.
#[test]
fn each_kind_of_server_is_given_and_those_that_failed_are_named() {
    let pair = |name: &str| NameValue {
        name: name.to_owned(),
        value: "secret".to_owned(),
    };
    let servers = [
        McpServer::Stdio {
            name: "a".to_owned(),
            command: "/bin/a".to_owned(),
            args: vec!["-x".to_owned()],
            env: vec![pair("KEY")],
        },
        McpServer::Http {
            name: "b".to_owned(),
            url: "http://b".to_owned(),
            headers: vec![pair("Authorization")],
        },
        McpServer::Client {
            name: "c".to_owned(),
            tools: Vec::new(),
        },
    ];
    let request = given(&servers).unwrap();
    assert_eq!(request["subtype"], "mcp_set_servers");
    assert_eq!(
        request["servers"],
        json!({
            "a": { "type": "stdio", "command": "/bin/a", "args": ["-x"],
                   "env": { "KEY": "secret" } },
            "b": { "type": "http", "url": "http://b", "headers": { "Authorization": "secret" } },
            "c": { "type": "sdk", "name": "c" },
        })
    );
    assert_eq!(given(&[]), None);
    let answer = json!({ "added": ["a", "b"], "errors": { "b": "refused" } });
    assert_eq!(failed(&answer), ["b"]);
}

/// ADAPT-6: greetings are answered here, all else by the client; its failure is the tool's.
#[test]
fn greetings_are_answered_here_and_a_failure_becomes_an_error_of_the_same_id() {
    let greeting = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25" } });
    let answer = local(&greeting).unwrap();
    let version = answer.pointer("/mcp_response/result/protocolVersion");
    assert_eq!(version, Some(&json!("2025-11-25")));
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(local(&told).unwrap()["mcp_response"]["result"], json!({}));
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call" });
    assert_eq!(local(&call), None);

    let result = json!({ "content": [] });
    let good = answered(
        &call,
        Outcome::Result {
            result: result.clone(),
        },
    );
    assert_eq!(
        good["mcp_response"],
        json!({ "jsonrpc": "2.0", "result": result, "id": 7 })
    );
    for outcome in [Outcome::Unanswered, Outcome::Cancelled, Outcome::Passed] {
        let bad = answered(&call, outcome);
        assert!(bad["mcp_response"]["error"]["message"].is_string(), "{bad}");
        assert_eq!(bad["mcp_response"]["id"], 7);
    }
}

use serde_json::{Value, json};
use sessiond_protocol::{McpServer, NameValue};

use super::{table, version};

#[test]
fn codex_says_its_version_in_its_user_agent() {
    let cases = [
        (
            "sessiond/0.171.0 (Debian 12.0.0; x86_64) dumb (sessiond; 1)",
            Some("0.171.0"),
        ),
        ("sessiond/0.171.0", Some("0.171.0")),
        ("sessiond", None),
        ("sessiond/", None),
    ];
    for (user_agent, expected) in cases {
        assert_eq!(version(user_agent), expected, "{user_agent}");
    }
}

#[test]
fn a_server_of_the_client_is_a_server_of_codex_where_it_has_that_kind() {
    let name = || "s".to_owned();
    let pair = || {
        vec![NameValue {
            name: "A".to_owned(),
            value: "b".to_owned(),
        }]
    };
    let url = || "http://127.0.0.1:1".to_owned();
    let cases = [
        (
            McpServer::Stdio {
                name: name(),
                command: "/bin/x".to_owned(),
                args: vec!["y".to_owned()],
                env: pair(),
            },
            json!({ "command": "/bin/x", "args": ["y"], "env": { "A": "b" } }),
        ),
        (
            McpServer::Http {
                name: name(),
                url: url(),
                headers: pair(),
            },
            json!({ "url": url(), "http_headers": { "A": "b" } }),
        ),
        (
            McpServer::Sse {
                name: name(),
                url: url(),
                headers: pair(),
            },
            Value::Null,
        ),
        (
            McpServer::Client {
                name: name(),
                tools: Vec::new(),
            },
            Value::Null,
        ),
    ];
    for (server, expected) in cases {
        assert_eq!(table(&server).unwrap_or_default(), expected, "{server:?}");
    }
}

use serde_json::{Value, json};

use super::*;

fn given(with: Value) -> Result<(String, Setup), ErrorObject> {
    let mut asked = json!({"cwd": "/w", "mcpServers": []});
    let Value::Object(with) = with else {
        panic!("{with}");
    };
    asked.as_object_mut().unwrap().extend(with);
    let asked: NewSessionRequest = serde_json::from_value(asked).unwrap();
    Given::from(&asked).read()
}

/// ADAPT-1, SEC-2: what a client gives comes to the waist whole, or the request is refused before
/// anything is made, in words that repeat nothing of it.
#[test]
fn a_session_is_set_up_with_what_was_advertised_or_not_at_all() {
    let stdio = json!({"name": "a", "command": "/b", "args": ["x"],
        "env": [{"name": "KEY", "value": "s3cret"}]});
    let http = json!({"type": "http", "name": "h", "url": "https://h/mcp",
        "headers": [{"name": "Authorization", "value": "s3cret"}]});
    let prompt =
        |mode: &str, content: Value| json!({"systemPrompt": {"mode": mode, "content": content}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let pair = |name: &str| NameValue {
        name: name.into(),
        value: "s3cret".into(),
    };
    let accepted = [
        (json!({}), Setup::default()),
        (
            json!({"mcpServers": null, "additionalDirectories": null}),
            Setup::default(),
        ),
        (
            json!({"additionalDirectories": ["/x", "/y"]}),
            Setup {
                roots: vec!["/x".into(), "/y".into()],
                ..Setup::default()
            },
        ),
        (
            json!({"mcpServers": [stdio, http]}),
            Setup {
                mcp_servers: vec![
                    McpServer::Stdio {
                        name: "a".into(),
                        command: "/b".into(),
                        args: vec!["x".into()],
                        env: vec![pair("KEY")],
                    },
                    McpServer::Http {
                        name: "h".into(),
                        url: "https://h/mcp".into(),
                        headers: vec![pair("Authorization")],
                    },
                ],
                ..Setup::default()
            },
        ),
        (
            prompt("append", json!([text("one"), text("two")])),
            Setup {
                instructions: Some(Instructions {
                    mode: InstructionsMode::Append,
                    text: "one\ntwo".into(),
                }),
                ..Setup::default()
            },
        ),
        (
            prompt("override", json!([text("only")])),
            Setup {
                instructions: Some(Instructions {
                    mode: InstructionsMode::Override,
                    text: "only".into(),
                }),
                ..Setup::default()
            },
        ),
        (
            json!({"configOptions": [
                {"configId": "mode", "value": "auto"},
                {"configId": "model", "value": "big"},
                {"configId": "fast", "type": "boolean", "value": true},
            ]}),
            Setup {
                mode: Some("auto".into()),
                options: vec![
                    OptionSetting {
                        id: "model".into(),
                        value: OptionValue::Choice("big".into()),
                    },
                    OptionSetting {
                        id: "fast".into(),
                        value: OptionValue::Boolean(true),
                    },
                ],
                ..Setup::default()
            },
        ),
    ];
    for (asked, expected) in accepted {
        assert_eq!(
            given(asked.clone()).unwrap(),
            ("/w".to_owned(), expected),
            "{asked}"
        );
    }
    let image = json!({"type": "image", "data": "s3cret", "mimeType": "image/png"});
    let refused = [
        (json!({"cwd": "w"}), "cwd is not"),
        (json!({"cwd": ""}), "cwd is not"),
        (
            json!({"additionalDirectories": ["/x", "s3cret"]}),
            "additionalDirectories is not",
        ),
        (
            json!({"mcpServers": [{"name": "a", "command": "b", "args": [], "env": []}]}),
            "command",
        ),
        (json!({"mcpServers": [stdio, stdio]}), "same name"),
        (
            json!({"mcpServers": [{"type": "sse", "name": "s3cret", "url": "u", "headers": []}]}),
            "not advertised",
        ),
        (prompt("prepend", json!([text("s3cret")])), "not advertised"),
        (prompt("append", json!([])), "empty"),
        (prompt("append", json!([text("a"), image])), "text only"),
        (
            json!({"configOptions": [{"configId": "m", "value": "a"}, {"configId": "m", "value": "b"}]}),
            "twice",
        ),
    ];
    for (asked, part) in refused {
        let error = given(asked.clone()).unwrap_err();
        assert_eq!(error.code(), -32602, "{asked}");
        assert!(
            error.message().contains(part),
            "{asked}: {}",
            error.message()
        );
        assert!(!error.message().contains("s3cret"), "{}", error.message());
    }
}

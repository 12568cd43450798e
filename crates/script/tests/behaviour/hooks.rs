//! What lives in the client: MCP servers, and hooks about the script's tools.

use serde_json::json;
use sessiond_protocol::{Hook, Outcome, PermissionKind, RequestBody, RequestKind, ToolStatus};

use crate::session::{Act, Seen, Session};

/// Contract.md "request kinds": a server that lives in the client is asked through it.
#[tokio::test]
async fn a_call_of_an_mcp_server_goes_to_the_client_that_answers_for_it() {
    let cases = [
        (
            json!({"content": [{"type": "text", "text": "7"}]}),
            ToolStatus::Completed,
        ),
        (
            json!({"content": [{"type": "text", "text": "7"}], "isError": true}),
            ToolStatus::Failed,
        ),
    ];
    for (result, status) in cases {
        let mut asked = Vec::new();
        let answer = result.clone();
        let turn = Session::new(&[RequestKind::Mcp])
            .await
            .turn(r#"/mcp db query {"a":1}"#, |seen| match seen {
                Seen::Asked(body) => {
                    asked.push(body.clone());
                    Act::Answer(Outcome::Result {
                        result: answer.clone(),
                    })
                }
                _ => Act::Watch,
            })
            .await;
        let expected = RequestBody::Mcp {
            server: "db".into(),
            method: "tools/call".into(),
            params: json!({"name": "query", "arguments": {"a": 1}}),
        };
        assert_eq!(asked, [expected]);
        assert_eq!((turn.shown().as_str(), turn.call().status), ("7", status));
        assert_eq!(turn.call().output, result);
    }
}

/// A hook's input is what runs, what the user is asked about, and what is shown.
#[tokio::test]
async fn a_call_that_a_hook_changed_runs_as_changed_or_not_at_all() {
    let cases = [
        (
            json!({"path": "other", "content": "changed"}),
            Some("changed"),
        ),
        (json!({"path": "other"}), None),
    ];
    for (input, written) in cases {
        let mut session = Session::new(&[RequestKind::Hook, RequestKind::Permission]).await;
        let mut patterns = Vec::new();
        let turn = session
            .turn("/write file original", |seen| match seen {
                Seen::Asked(RequestBody::Hook(Hook::BeforeTool { .. })) => {
                    let input = input.clone();
                    Act::Answer(Outcome::Changed { input })
                }
                Seen::Asked(RequestBody::Hook(_)) => Act::Answer(Outcome::Passed),
                Seen::Asked(RequestBody::Permission(permission)) => {
                    patterns.push(permission.pattern.clone());
                    let option = PermissionKind::AllowOnce.id().to_owned();
                    Act::Answer(Outcome::Selected { option })
                }
                _ => Act::Watch,
            })
            .await;
        assert_eq!(session.get("file"), None);
        assert_eq!(session.get("other").as_deref(), written);
        let asked: Vec<String> = written.map(|_| session.path("other")).into_iter().collect();
        assert_eq!(patterns, asked);
        if written.is_none() {
            assert_eq!(turn.call().output, json!({ "error": "bad_input" }));
        }
    }
}

#[tokio::test]
async fn a_call_that_a_hook_denied_does_nothing_and_the_script_goes_on() {
    for prompt in [
        "/write file x\nlater",
        "/run touch file\nlater",
        "/mcp s t {}\nlater",
    ] {
        let mut session = Session::new(&[RequestKind::Hook]).await;
        let turn = session
            .turn(prompt, |seen| match seen {
                Seen::Asked(RequestBody::Hook(Hook::BeforeTool { .. })) => {
                    let reason = "as told".into();
                    Act::Answer(Outcome::Denied { reason })
                }
                Seen::Asked(_) => Act::Answer(Outcome::Passed),
                _ => Act::Watch,
            })
            .await;
        assert_eq!(
            (turn.shown().as_str(), turn.text().as_str()),
            ("Not run: as told", "later")
        );
        assert_eq!(session.get("file"), None);
    }
}

#[tokio::test]
async fn a_command_that_a_hook_changed_is_the_one_that_runs_and_that_is_asked_about() {
    let mut session = Session::new(&[RequestKind::Hook, RequestKind::Permission]).await;
    let mut asked = Vec::new();
    let turn = session
        .turn("/run touch file", |seen| match seen {
            Seen::Asked(RequestBody::Hook(Hook::BeforeTool { .. })) => {
                let input = json!({"command": "touch other"});
                Act::Answer(Outcome::Changed { input })
            }
            Seen::Asked(RequestBody::Hook(_)) => Act::Answer(Outcome::Passed),
            Seen::Asked(RequestBody::Permission(permission)) => {
                asked.push((permission.title.clone(), permission.pattern.clone()));
                let option = PermissionKind::AllowOnce.id().to_owned();
                Act::Answer(Outcome::Selected { option })
            }
            _ => Act::Watch,
        })
        .await;
    assert_eq!(asked, [("Run touch other".into(), "touch other".into())]);
    assert_eq!(turn.call().title, "Run touch other");
    assert_eq!(
        (session.get("file"), session.get("other")),
        (None, Some(String::new()))
    );
}

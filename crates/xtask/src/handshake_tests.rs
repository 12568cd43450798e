use std::process::Command;

use serde_json::json;

use super::handshake;

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn an_agent_that_answers_is_timed_and_waited_for() {
    let script = r#"read line; echo '{"jsonrpc":"2.0","method":"x"}';
        echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'; cat"#;
    let answer = handshake(&mut shell(script), "agent").expect("a handshake");
    assert_eq!(answer.result, json!({"protocolVersion": 1}));
    assert_eq!(answer.peak_kib.is_some(), cfg!(target_os = "linux"));
}

#[test]
fn an_agent_that_does_not_answer_properly_is_named() {
    let cases = [
        (
            "it ends",
            "exit 3",
            "agent: initialize: it ended before it answered",
        ),
        (
            "it closes its stdin",
            "exec <&-; sleep 0.2",
            "agent: initialize: it ended before it answered",
        ),
        (
            "it prints",
            "read line; echo hello; cat",
            "agent: initialize: expected value",
        ),
        (
            "it refuses",
            r#"read line; echo '{"id":0,"error":{"code":-32600}}'; cat"#,
            r#"agent: initialize was answered with {"id":0,"error":{"code":-32600}}"#,
        ),
    ];
    for (case, script, expected) in cases {
        let error = handshake(&mut shell(script), "agent")
            .expect_err(case)
            .to_string();
        assert!(error.starts_with(expected), "{case}: {error}");
    }
}

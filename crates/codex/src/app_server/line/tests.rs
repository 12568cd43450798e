use serde_json::json;

use super::{Said, read};

fn shown(line: &str) -> String {
    match read(line) {
        Said::Request { id, method, params } => {
            format!("{} {method} {}", id.as_str(), params.unwrap_or_default())
        }
        Said::Notification => "notification".to_owned(),
        Said::Response { id, result } => format!("{} = {}", id.as_str(), json!(result)),
        Said::Nothing => "nothing".to_owned(),
    }
}

/// WIRE-5: Codex is silent about what is no message, and knows the rest without `jsonrpc`.
#[test]
fn lines_are_what_codex_takes_them_for() {
    let table = [
        (
            r#"{"id":1,"method":"m","params":{"a":1}}"#,
            r#"1 m {"a":1}"#,
        ),
        (
            r#"{"jsonrpc":"1.0","id":"x","method":"m","more":[]}"#,
            r#""x" m null"#,
        ),
        (r#"{"method":"initialized"}"#, "notification"),
        (r#"{"id":null,"method":"m"}"#, "notification"),
        (r#"{"id":1.5,"method":"m"}"#, "nothing"),
        (r#"{"id":1,"method":5}"#, "nothing"),
        (
            r#"{"id":3,"result":{"decision":"accept"}}"#,
            r#"3 = {"decision":"accept"}"#,
        ),
        (r#"{"id":3,"result":null}"#, "3 = null"),
        (r#"{"id":3,"error":{"code":1,"message":"m"}}"#, "3 = null"),
        (r#"{"result":1}"#, "nothing"),
        ("[]", "nothing"),
        ("not json", "nothing"),
        ("5", "nothing"),
    ];
    for (line, said) in table {
        assert_eq!(shown(line), said, "{line}");
    }
}

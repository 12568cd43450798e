//! What an agent may ask, and how policy names what it would touch.

use serde_json::{Value, json};
use sessiond_protocol::{Location, ToolCall};

use super::pattern;

/// WIRE-8: a grant is never wider than what was asked.
#[test]
fn what_a_call_would_touch_is_its_command_its_file_or_all_of_its_input() {
    let place = |path: &str| Location {
        path: path.to_owned(),
        line: None,
    };
    let cases = [
        (
            json!({"command": "rm -r x", "cwd": "/w"}),
            vec![],
            "rm -r x",
        ),
        (json!({"file_path": "/w/f", "content": "c"}), vec![], "/w/f"),
        (json!({"path": "/w/f"}), vec![], "/w/f"),
        (json!({"url": "https://x"}), vec![], "https://x"),
        (
            json!({"command": ["rm", "x"]}),
            vec![],
            r#"{"command":["rm","x"]}"#,
        ),
        (
            json!({"query": "q"}),
            vec![place("/w/f")],
            r#"{"query":"q"}"#,
        ),
        (Value::Null, vec![place("/w/f")], "/w/f"),
        (Value::Null, vec![place("/a"), place("/b")], "A title"),
        (Value::Null, vec![], "A title"),
    ];
    for (input, locations, expected) in cases {
        let call = ToolCall {
            title: "A title".to_owned(),
            input,
            locations,
            ..ToolCall::default()
        };
        assert_eq!(pattern(&call), expected);
    }
}

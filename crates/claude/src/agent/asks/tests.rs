//! What the CLI asks, read and answered.

use serde_json::{Value, json};
use sessiond_protocol::{Outcome, RequestBody, ToolCall};

use super::{Call, Decision, Question, decision, permission, read};

fn question(request: Value) -> Question {
    let Value::Object(request) = request else {
        panic!("an object")
    };
    read(&request)
}

/// ADAPT-5: what is asked about a call names the call; what lacks that, or is of another kind, is
/// refused and never taken for something else.
#[test]
fn each_request_is_read_and_what_is_not_served_is_named() {
    let call = Call {
        id: "toolu_1".to_owned(),
        name: "Bash".to_owned(),
        input: json!({ "command": "ls" }),
    };
    let asked = json!({ "subtype": "can_use_tool", "tool_name": "Bash",
        "input": { "command": "ls" }, "tool_use_id": "toolu_1" });
    assert_eq!(question(asked), Question::Permission(call.clone()));
    let input = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "ls" }, "tool_use_id": "toolu_1" });
    let hook = json!({ "subtype": "hook_callback", "callback_id": "before_tool", "input": input });
    assert_eq!(question(hook.clone()), Question::BeforeTool(call));
    let mut foreign = hook;
    foreign["callback_id"] = "another".into();
    let cases = [
        (foreign, "hook_callback"),
        (
            json!({ "subtype": "can_use_tool", "tool_name": "Bash" }),
            "can_use_tool",
        ),
        (
            json!({ "subtype": "request_user_dialog" }),
            "request_user_dialog",
        ),
        (json!({}), ""),
    ];
    for (request, subtype) in cases {
        assert_eq!(question(request), Question::Unknown(subtype.to_owned()));
    }
}

/// ADAPT-5: only a clear yes is one; an input that the client changed is what runs.
#[test]
fn only_a_clear_yes_allows_a_call() {
    let selected = |option: &str| Outcome::Selected {
        option: option.to_owned(),
    };
    let input = json!({ "command": "ls" });
    let other = json!({ "command": "pwd" });
    let changed = Outcome::Changed {
        input: other.clone(),
    };
    for (outcome, runs) in [
        (selected("allow_once"), Some(&input)),
        (selected("allow_always"), Some(&input)),
        (changed, Some(&other)),
        (selected("reject_once"), None),
        (selected("whatever"), None),
        (Outcome::Cancelled, None),
        (Outcome::Unanswered, None),
        (Outcome::Passed, None),
    ] {
        let told = format!("{outcome:?}");
        match (decision(outcome, input.clone()), runs) {
            (Decision::Allow(with), Some(runs)) => assert_eq!(with, *runs, "{told}"),
            (Decision::Deny(_), None) => {}
            (decided, _) => panic!("{told}: {decided:?}"),
        }
    }
}

/// SEC-5: a grant is never wider than what was asked.
#[test]
fn the_pattern_of_a_question_is_all_that_would_be_touched() {
    for (input, expected) in [
        (json!({ "command": "ls", "description": "d" }), "ls"),
        (json!({ "file_path": "/a", "content": "x" }), "/a"),
        (json!({ "a": 1 }), "{\"a\":1}"),
    ] {
        let call = ToolCall {
            input,
            ..ToolCall::default()
        };
        let RequestBody::Permission(asked) = permission(&call) else {
            panic!("a permission")
        };
        assert_eq!(asked.pattern, expected);
    }
}

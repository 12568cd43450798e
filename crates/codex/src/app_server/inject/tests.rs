use serde_json::json;
use sessiond_protocol::{Item, ToolStatus};

use super::items;

#[test]
fn messages_thoughts_and_calls_with_their_outputs_are_items() {
    let given = [
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "q"}]}),
        json!({"role": "assistant", "content": "a"}),
        json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}),
        json!({"type": "function_call", "name": "f", "call_id": "1", "arguments": "{\"x\":1}"}),
        json!({"type": "function_call_output", "call_id": "1", "output": "done"}),
        json!({"type": "function_call", "name": "g", "call_id": "2", "arguments": "not json"}),
    ];
    let items = items(&given).unwrap_or_default();
    let kinds: Vec<_> = items
        .iter()
        .map(|item| format!("{:?}", item.kind()))
        .collect();
    assert_eq!(
        kinds,
        [
            "UserMessage",
            "AgentMessage",
            "Thought",
            "ToolCall",
            "ToolCall"
        ]
    );
    let call = |at: usize| match items.get(at) {
        Some(Item::ToolCall(call)) => (call.status, call.input.clone()),
        other => panic!("{other:?}"),
    };
    assert_eq!(call(3), (ToolStatus::Completed, json!({"x": 1})));
    assert_eq!(call(4), (ToolStatus::Unknown, json!("not json")));
}

#[test]
fn what_no_agent_could_be_told_is_refused() {
    for bad in [
        json!({"type": "message", "role": "system", "content": "x"}),
        json!({"type": "web_search_call"}),
        json!("text"),
    ] {
        assert!(items(std::slice::from_ref(&bad)).is_err(), "{bad}");
    }
}

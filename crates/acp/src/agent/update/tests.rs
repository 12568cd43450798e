//! What is read of an update, and what is not.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use sessiond_protocol::{Severity, ToolContent, ToolKind, ToolStatus};

use super::{Chunk, Piece, Update, read};

fn with<T>(update: Value, then: impl FnOnce(Option<Update<'_>>) -> T) -> T {
    let params = json!({ "sessionId": "s", "update": update }).to_string();
    let params: &RawValue = serde_json::from_str(&params).unwrap();
    then(read(params).map(|(session, update)| {
        assert_eq!(session, "s");
        update
    }))
}

/// ADAPT-6: one word for each update of the protocol that says what becomes of it.
#[test]
fn every_update_of_the_protocol_is_read_or_passed_on_as_it_is() {
    let text = json!({ "type": "text", "text": "a\n\"b" });
    let cases = [
        (
            json!({ "sessionUpdate": "user_message_chunk", "content": text }),
            "user",
        ),
        (
            json!({ "sessionUpdate": "agent_message_chunk", "content": text }),
            "agent",
        ),
        (
            json!({ "sessionUpdate": "agent_thought_chunk", "content": text }),
            "thought",
        ),
        (
            json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "t" }),
            "call",
        ),
        (
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c" }),
            "call",
        ),
        (json!({ "sessionUpdate": "plan", "entries": [] }), "plan"),
        (
            json!({ "sessionUpdate": "available_commands_update", "availableCommands": [] }),
            "commands",
        ),
        (
            json!({ "sessionUpdate": "current_mode_update", "currentModeId": "m" }),
            "mode",
        ),
        (
            json!({ "sessionUpdate": "config_option_update", "configOptions": [] }),
            "options",
        ),
        (
            json!({ "sessionUpdate": "session_info_update", "title": "t" }),
            "title",
        ),
        (
            json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2 }),
            "usage",
        ),
        (
            json!({ "sessionUpdate": "notice", "severity": "error", "title": "t" }),
            "notice",
        ),
        (
            json!({ "sessionUpdate": "plan_update", "plan": {} }),
            "other",
        ),
        (
            json!({ "sessionUpdate": "plan_removed", "planId": "p" }),
            "other",
        ),
        (
            json!({ "sessionUpdate": "compaction_update", "compactionId": "c" }),
            "other",
        ),
        (
            json!({ "sessionUpdate": "compaction_summary_chunk" }),
            "other",
        ),
        (
            json!({ "sessionUpdate": "subagent_update", "sessionId": "x" }),
            "other",
        ),
        (json!({ "sessionUpdate": "session_message" }), "other"),
        (json!({ "sessionUpdate": "session_message_chunk" }), "other"),
        (
            json!({ "sessionUpdate": "prompt_suggestions_update" }),
            "other",
        ),
        (json!({ "sessionUpdate": "cursor_update" }), "other"),
        (json!({ "sessionUpdate": "_ours" }), "other"),
        // Malformed: nothing.
        (json!({ "sessionUpdate": "agent_message_chunk" }), "nothing"),
        (
            json!({ "sessionUpdate": "tool_call", "title": "t" }),
            "nothing",
        ),
        (json!({ "sessionUpdate": 5 }), "nothing"),
        (json!("text"), "nothing"),
    ];
    for (update, expected) in cases {
        let word = with(update.clone(), |read| match read {
            None => "nothing",
            Some(Update::User(_)) => "user",
            Some(Update::Agent(_)) => "agent",
            Some(Update::Thought(_)) => "thought",
            Some(Update::Call(_)) => "call",
            Some(Update::Plan(_)) => "plan",
            Some(Update::Commands(_)) => "commands",
            Some(Update::Mode(_)) => "mode",
            Some(Update::Options(_)) => "options",
            Some(Update::Title(_)) => "title",
            Some(Update::Usage(_)) => "usage",
            Some(Update::Notice(..)) => "notice",
            Some(Update::Other) => "other",
        });
        assert_eq!(word, expected, "{update}");
    }
}

#[test]
fn text_is_read_with_its_escapes_and_its_message() {
    let chunk = |id| json!({ "sessionUpdate": "agent_message_chunk", "messageId": id, "content": { "type": "text", "text": "é\u{1F600}\\\"" } });
    for (id, message) in [
        (json!("m"), Some("m")),
        (Value::Null, None),
        (json!(5), None),
    ] {
        with(chunk(id), |read| {
            let content = Piece::Text("é\u{1F600}\\\"".into());
            let message = message.map(str::to_owned);
            assert_eq!(read, Some(Update::Agent(Chunk { content, message })));
        });
    }
}

#[test]
fn of_a_tool_call_everything_is_kept_and_what_cannot_be_read_did_not_change() {
    let update = json!({
        "sessionUpdate": "tool_call", "toolCallId": "c", "title": "Edit", "name": "edit",
        "kind": "edit", "status": "in_progress", "rawInput": {"a": 1}, "rawOutput": [2],
        "locations": [{"path": "/f", "line": 3}, {"line": 4}],
        "content": [
            {"type": "content", "content": {"type": "text", "text": "t", "more": true}},
            {"type": "diff", "path": "/f", "newText": "n"},
            {"type": "terminal", "terminalId": "x"},
            {"type": "session", "sessionId": "child"},
        ],
    });
    with(update, |read| {
        let Some(Update::Call(call)) = read else {
            panic!()
        };
        assert_eq!(
            (call.kind, call.status),
            (Some(ToolKind::Edit), Some(ToolStatus::Running))
        );
        assert_eq!(
            (call.input, call.output),
            (Some(json!({"a": 1})), Some(json!([2])))
        );
        assert_eq!(call.locations.unwrap().len(), 1);
        let content = call.content.unwrap();
        assert_eq!(content.len(), 3);
        let kept = serde_json::to_value(&content[0]).unwrap();
        assert_eq!(kept["content"]["more"], true);
        assert!(matches!(&content[2], ToolContent::Terminal { terminal } if terminal == "x"));
    });
    let update = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c", "kind": "switch_mode",
        "status": "paused", "title": null, "content": null,
    });
    with(update, |read| {
        let Some(Update::Call(call)) = read else {
            panic!()
        };
        assert_eq!((call.kind, call.status), (Some(ToolKind::Other), None));
        assert_eq!((call.title, call.content), (None, None));
    });
}

#[test]
fn a_cost_and_a_severity_are_read() {
    let update = json!({
        "sessionUpdate": "usage_update", "used": 1, "size": 2,
        "cost": {"amount": 0.5, "currency": "USD"},
    });
    with(update, |read| {
        let Some(Update::Usage(usage)) = read else {
            panic!()
        };
        assert_eq!((usage.used, usage.size), (1, 2));
        assert!(usage.cost.is_some());
    });
    let notice =
        |severity| json!({ "sessionUpdate": "notice", "severity": severity, "title": "t" });
    for (severity, expected) in [
        ("error", Severity::Error),
        ("warning", Severity::Warning),
        ("info", Severity::Info),
        ("later", Severity::Info),
    ] {
        with(notice(severity), |read| {
            assert_eq!(read, Some(Update::Notice(expected, "t".to_owned())));
        });
    }
}

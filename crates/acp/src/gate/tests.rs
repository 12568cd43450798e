use agent_client_protocol_schema::v1::SessionUpdate;
use serde_json::{Value, json};

use super::*;

/// ADAPT-1: each capability opens its own gate and no other.
#[test]
fn each_capability_opens_one_gate() {
    let cases = [
        (json!({}), None),
        (json!({"session": {}, "elicitation": {}}), None),
        (
            json!({"fs": {"readTextFile": true}, "terminal": true}),
            None,
        ),
        (
            json!({"session": {"configOptions": {"boolean": {}}}}),
            Some(Gate::Booleans),
        ),
        (json!({"session": {"configOptions": {}}}), None),
        (
            json!({"session": {"compaction": {}}}),
            Some(Gate::Compaction),
        ),
        (json!({"session": {"notices": {}}}), Some(Gate::Notices)),
        (json!({"plan": {}}), Some(Gate::Plans)),
        (json!({"subagents": {}}), Some(Gate::Subagents)),
        (json!({"elicitation": {"form": {}}}), Some(Gate::Forms)),
        (json!({"elicitation": {"url": {}}}), Some(Gate::Urls)),
        // A marker that is no object is none.
        (json!({"plan": true, "session": {"notices": 1}}), None),
    ];
    for (capabilities, expected) in cases {
        let client: ClientCapabilities = serde_json::from_value(capabilities.clone()).unwrap();
        let expected: Gates = expected.into_iter().collect();
        assert_eq!(Gates::from(&client), expected, "{capabilities}");
    }
}

/// acp.md 1.7: every variant that version 1 has stands in the table, and a variant that it does not
/// have never passes.
#[test]
fn the_table_of_updates_is_the_schemas() {
    let text = json!({"type": "text", "text": "x"});
    let cases: [(Value, Passage); 21] = [
        (
            json!({"sessionUpdate": "user_message_chunk", "content": text}),
            Passage::Baseline,
        ),
        (
            json!({"sessionUpdate": "agent_message_chunk", "content": text}),
            Passage::Baseline,
        ),
        (
            json!({"sessionUpdate": "agent_thought_chunk", "content": text}),
            Passage::Baseline,
        ),
        (
            json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "t"}),
            Passage::Baseline,
        ),
        (
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t"}),
            Passage::Baseline,
        ),
        (
            json!({"sessionUpdate": "plan", "entries": []}),
            Passage::Baseline,
        ),
        (
            json!({"sessionUpdate": "available_commands_update", "availableCommands": []}),
            Passage::Baseline,
        ),
        (
            json!({"sessionUpdate": "current_mode_update", "currentModeId": "m"}),
            Passage::Baseline,
        ),
        (
            json!({"sessionUpdate": "config_option_update", "configOptions": []}),
            Passage::Baseline,
        ),
        (
            json!({"sessionUpdate": "session_info_update"}),
            Passage::Baseline,
        ),
        (
            json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
            Passage::Baseline,
        ),
        (
            json!({"sessionUpdate": "plan_update",
                "plan": {"type": "items", "planId": "p", "entries": []}}),
            Passage::Gated(Gate::Plans),
        ),
        (
            json!({"sessionUpdate": "plan_removed", "planId": "p"}),
            Passage::Gated(Gate::Plans),
        ),
        (
            json!({"sessionUpdate": "notice", "severity": "info", "title": "t"}),
            Passage::Gated(Gate::Notices),
        ),
        (
            json!({"sessionUpdate": "compaction_update", "compactionId": "c",
                "status": "in_progress"}),
            Passage::Gated(Gate::Compaction),
        ),
        (
            json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "c",
                "content": text}),
            Passage::Gated(Gate::Compaction),
        ),
        (
            json!({"sessionUpdate": "subagent_update", "sessionId": "child"}),
            Passage::Gated(Gate::Subagents),
        ),
        (
            json!({"sessionUpdate": "session_message", "messageId": "m"}),
            Passage::Gated(Gate::Subagents),
        ),
        (
            json!({"sessionUpdate": "session_message_chunk", "messageId": "m", "content": text}),
            Passage::Gated(Gate::Subagents),
        ),
        (
            json!({"sessionUpdate": "prompt_suggestions_update", "suggestions": []}),
            Passage::Never,
        ),
        (
            json!({"sessionUpdate": "cursor_update", "cursorId": "c"}),
            Passage::Never,
        ),
    ];
    for (update, expected) in cases {
        assert_eq!(
            passage(update["sessionUpdate"].as_str().unwrap()),
            expected,
            "{update}"
        );
        // What passes is what the schema reads; what never does is not compiled into it.
        let reads = serde_json::from_value::<SessionUpdate>(update.clone()).is_ok();
        assert_eq!(reads, expected != Passage::Never, "{update}");
    }
    for variant in [
        "",
        "_own",
        "state_update",
        "replay_complete",
        "user_message",
    ] {
        assert_eq!(passage(variant), Passage::Never, "{variant}");
    }
}

use serde_json::json;

use super::{Hooks, Verdict, Word};

#[test]
fn matchers_are_whole_patterns_of_tools() {
    let hooks = Hooks::read(Some(&json!({
        "PreToolUse": [
            {"matcher": "Bash", "hookCallbackIds": ["bash"]},
            {"matcher": "Write|Edit", "hookCallbackIds": ["edits"]},
            {"matcher": "mcp__.*", "hookCallbackIds": ["mcp"]},
            {"matcher": "*", "hookCallbackIds": ["star"]},
            {"matcher": "(", "hookCallbackIds": ["broken"]},
            {"hookCallbackIds": ["all"]},
        ],
        "Stop": [],
    })));
    let table: [(&str, Option<&str>, &[&str]); 6] = [
        ("PreToolUse", Some("Bash"), &["bash", "star", "all"]),
        ("PreToolUse", Some("Bashful"), &["star", "all"]),
        ("PreToolUse", Some("Edit"), &["edits", "star", "all"]),
        ("PreToolUse", Some("mcp__s__t"), &["mcp", "star", "all"]),
        ("PreToolUse", Some("("), &["star", "broken", "all"]),
        ("Stop", None, &[]),
    ];
    for (event, tool, expected) in table {
        assert_eq!(hooks.of(event, tool), expected, "{event} {tool:?}");
    }
    assert!(Hooks::read(None).is_empty() && Hooks::read(Some(&json!(null))).is_empty());
}

#[test]
fn answers_are_taken_for_what_they_say() {
    let denied = |reason: &str| Word {
        denied: Some(reason.to_owned()),
        ..Word::default()
    };
    let specific = |members: serde_json::Value| json!({ "hookSpecificOutput": members });
    let table = [
        (json!({}), Word::default()),
        (json!(null), Word::default()),
        (json!({"decision": "block", "reason": "r"}), denied("r")),
        (json!({"decision": "block"}), denied("a hook said no")),
        (
            specific(json!({"permissionDecision": "deny", "permissionDecisionReason": "r"})),
            denied("r"),
        ),
        (
            specific(json!({"permissionDecision": "allow"})),
            Word {
                opinion: Some(Verdict::Allow),
                ..Word::default()
            },
        ),
        (
            specific(json!({"permissionDecision": "ask"})),
            Word {
                opinion: Some(Verdict::Ask),
                ..Word::default()
            },
        ),
        (
            specific(json!({"updatedInput": {"a": 1}})),
            Word {
                input: Some(json!({"a": 1})),
                ..Word::default()
            },
        ),
        (
            specific(json!({"additionalContext": "c"})),
            Word {
                context: vec!["c".to_owned()],
                ..Word::default()
            },
        ),
        (
            json!({"continue": false, "stopReason": "s"}),
            Word {
                stop: Some("s".to_owned()),
                ..Word::default()
            },
        ),
    ];
    for (answer, expected) in table {
        let mut word = Word::default();
        word.take(&answer);
        assert_eq!(word, expected, "{answer}");
    }
}

#[test]
fn the_strictest_of_several_answers_counts() {
    let allow = json!({"hookSpecificOutput": {"permissionDecision": "allow"}});
    let ask = json!({"hookSpecificOutput": {"permissionDecision": "ask"}});
    for answers in [[&allow, &ask], [&ask, &allow]] {
        let mut word = Word::default();
        answers.into_iter().for_each(|answer| word.take(answer));
        assert_eq!(word.opinion, Some(Verdict::Ask));
    }
}

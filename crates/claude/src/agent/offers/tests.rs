//! What the CLI offers, read from its answer to `initialize`.

use serde_json::json;

use super::Offers;

/// ADAPT-4: modes and models are those that the CLI has; the mode it began in is the first.
#[test]
fn modes_models_and_commands_are_read_and_asking_nothing_is_offered_only_where_it_may_be() {
    let answer = json!({
        "current_permission_mode": "plan",
        "claude_code_version": "2.1.332",
        "models": [
            { "value": "opus", "displayName": "Opus" },
            { "value": "default", "displayName": "Default", "description": "d" },
            { "no": "value" },
        ],
        "commands": [
            { "name": "compact", "description": "sums up", "argumentHint": "" },
            { "name": "review", "argumentHint": "<pr>" },
            7,
        ],
    });
    let offers = Offers::read(&answer, &[]);
    let ids: Vec<_> = offers.modes.iter().map(|mode| &*mode.id).collect();
    assert_eq!(ids, ["plan", "default", "acceptEdits", "dontAsk"]);
    assert_eq!(offers.model(), Some("default"));
    let commands: Vec<_> = offers
        .commands
        .iter()
        .map(|command| (&*command.name, command.hint.as_deref()))
        .collect();
    assert_eq!(commands, [("compact", None), ("review", Some("<pr>"))]);
    assert_eq!(offers.version.as_deref(), Some("2.1.332"));

    let args = ["--allow-dangerously-skip-permissions".to_owned()];
    let offers = Offers::read(&answer, &args);
    assert!(
        offers
            .modes
            .iter()
            .any(|mode| mode.id == "bypassPermissions")
    );

    // A CLI that says nothing of itself asks.
    let offers = Offers::read(&json!({}), &[]);
    assert_eq!((&*offers.mode, offers.model()), ("default", None));
}

//! Modes and config options, in step both ways.

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, AgentOption, Choice, Command, ErrorCode, Event, Op, OptionSetting, OptionValue,
    SessionChanged, WireError,
};

use crate::harness::{S, Stage, commands_shown, options_shown, turn, view};

fn options(model: &str, fast: bool) -> Vec<AgentOption> {
    let choice = |id: &str| Choice {
        id: id.into(),
        name: id.to_uppercase(),
        description: None,
        group: Some("All".into()),
    };
    let option = |id: &str, category: Option<&str>, value, choices| AgentOption {
        id: id.into(),
        name: id.to_uppercase(),
        description: None,
        category: category.map(Into::into),
        value,
        choices,
    };
    let models = vec![choice("big"), choice("small")];
    vec![
        option(
            "model",
            Some("model"),
            OptionValue::Choice(model.into()),
            models.clone(),
        ),
        option("fast", None, OptionValue::Boolean(fast), vec![]),
        // The mode under another name.
        option(
            "kind",
            Some("mode"),
            OptionValue::Choice("big".into()),
            models,
        ),
    ]
}

/// What the client sees of [`options`], in this mode.
fn shown(mode: &str, model: &str, fast: Option<bool>) -> Value {
    let mut all = options_shown(mode);
    let list = all.as_array_mut().unwrap();
    list.push(
        json!({"id": "model", "name": "MODEL", "category": "model", "type": "select",
        "currentValue": model,
        "options": [{"value": "big", "name": "BIG"}, {"value": "small", "name": "SMALL"}]}),
    );
    if let Some(fast) = fast {
        list.push(json!({"id": "fast", "name": "FAST", "type": "boolean", "currentValue": fast}));
    }
    all
}

async fn stage(capabilities: Value) -> (Stage, Value) {
    let mut stage = Stage::initialized(capabilities).await;
    stage
        .request(1, "session/new", json!({"cwd": "/w", "mcpServers": []}))
        .await;
    let new = stage.submitted().await;
    let mut view = view();
    view.agent.options = options("big", false);
    stage.accept(&new, Accepted::Session(Box::new(view)));
    let answer = stage.result(1).await;
    stage.told().await;
    (stage, answer["configOptions"].clone())
}

fn changed(change: SessionChanged) -> Event {
    Event::SessionChanged(change)
}

fn told(options: &Value) -> Value {
    json!({"sessionUpdate": "config_option_update", "configOptions": options})
}

const BOOLEANS: &str = r#"{"session": {"configOptions": {"boolean": {}}}}"#;

/// ADAPT-1, acp.md 1.5: options that are on or off are for clients that show such; the list is
/// complete each time, and the mode stands in it once.
#[tokio::test]
async fn options_are_told_whole_and_booleans_only_to_who_shows_them() {
    let cases = [
        (json!({}), None),
        (serde_json::from_str(BOOLEANS).unwrap(), Some(false)),
    ];
    for (capabilities, fast) in cases {
        let (mut stage, offered) = stage(capabilities).await;
        assert_eq!(offered, shown("ask", "big", fast));
        let params = json!({"sessionId": S, "configId": "model", "value": "small"});
        stage.request(2, "session/set_config_option", params).await;
        let set = stage.submitted().await;
        let setting = OptionSetting {
            id: "model".into(),
            value: OptionValue::Choice("small".into()),
        };
        let (mode, options_set) = (None, vec![setting]);
        assert_eq!(
            set.op,
            Op::SessionConfigure {
                mode,
                options: options_set
            }
        );
        // Its event comes before its receipt, and is not told beside the answer.
        let change = SessionChanged {
            options: Some(options("small", false)),
            ..Default::default()
        };
        stage.happen_in(None, None, changed(change));
        stage.accept(&set, Accepted::Done {});
        let all = json!({"configOptions": shown("ask", "small", fast)});
        assert_eq!(stage.result(2).await, all);
        stage.quiet().await;
    }
}

#[tokio::test]
async fn an_option_takes_only_what_it_has_and_what_the_client_can_know_of() {
    let malformed = (-32602, Value::Null);
    for (capabilities, accepted) in [
        (json!({}), false),
        (serde_json::from_str(BOOLEANS).unwrap(), true),
    ] {
        let (mut stage, _) = stage(capabilities).await;
        for (id, value) in [
            ("model", json!("huge")),
            ("none", json!("big")),
            ("kind", json!("small")),
            ("mode", json!("none")),
        ] {
            let params = json!({"sessionId": S, "configId": id, "value": value});
            stage.request(2, "session/set_config_option", params).await;
            assert_eq!(stage.error(2).await, malformed, "{id}");
        }
        let params = json!({"sessionId": S, "configId": "fast", "type": "boolean", "value": true});
        stage.request(3, "session/set_config_option", params).await;
        if accepted {
            let set = stage.submitted().await;
            stage.refuse(&set, WireError::new(ErrorCode::Storage, "no space"));
            assert_eq!(stage.error(3).await.0, 4005);
        } else {
            assert_eq!(stage.error(3).await, malformed);
        }
        stage.quiet().await;
    }
}

/// acp.md 1.5: what the agent changes by itself is told, also between turns.
#[tokio::test]
async fn what_the_agent_changes_is_told_both_ways_whenever_it_changes() {
    let (mut stage, _) = stage(json!({})).await;
    let change = SessionChanged {
        options: Some(options("small", true)),
        ..Default::default()
    };
    stage.happen_in(None, None, changed(change.clone()));
    assert_eq!(stage.update().await, told(&shown("ask", "small", None)));
    // Nothing is told that the client has already.
    stage.happen_in(None, None, changed(change));
    let mode = |mode: &str| SessionChanged {
        mode: Some(mode.into()),
        ..Default::default()
    };
    stage.happen_in(None, None, changed(mode("auto")));
    let current = json!({"sessionUpdate": "current_mode_update", "currentModeId": "auto"});
    assert_eq!(stage.update().await, current);
    assert_eq!(stage.update().await, told(&shown("auto", "small", None)));
    let command = Command {
        name: "go".into(),
        description: "Goes".into(),
        hint: None,
    };
    let commands = SessionChanged {
        commands: Some(vec![command]),
        ..Default::default()
    };
    stage.happen_in(None, None, changed(commands));
    let expected = json!({"sessionUpdate": "available_commands_update",
        "availableCommands": [{"name": "go", "description": "Goes"}]});
    assert_eq!(stage.update().await, expected);
    stage.quiet().await;
}

/// acp.md 5.3: some clients drop an update right behind the answer that names the session.
#[tokio::test]
async fn commands_are_told_again_at_the_first_prompt_and_not_at_the_second() {
    let mut stage = Stage::with_session(json!({})).await;
    for (id, number) in [(2, 1), (3, 2)] {
        let prompt = json!({"sessionId": S, "prompt": [{"type": "text", "text": "hi"}]});
        stage.request(id, "session/prompt", prompt).await;
        let start = stage.submitted().await;
        stage.accept(&start, Accepted::Turn { turn: turn(number) });
        if number == 1 {
            assert_eq!(stage.update().await, commands_shown());
        }
        stage.end(turn(number), sessiond_protocol::TurnOutcome::Completed);
        assert_eq!(stage.result_of_prompt(id).await, "end_turn");
    }
}

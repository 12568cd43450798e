//! What a user may choose, and is shown all of each time.

use serde_json::{Value, json};
use sessiond_protocol::{Accepted, Event, Op, OptionSetting, OptionValue, SessionChanged};

use super::updates::{flag, model};
use super::{initialized, with_session};
use crate::harness::{S, Stage, view};

async fn configured(stage: &mut Stage, id: u64, more: Value) {
    stage.ask_about(id, "session/set_config_option", more).await;
}

#[tokio::test]
async fn an_option_that_is_set_is_answered_with_all_of_them() {
    let mut stage = with_session(json!({})).await;
    let change = SessionChanged {
        options: Some(vec![flag(), model()]),
        ..SessionChanged::default()
    };
    stage.happen_in(None, None, Event::SessionChanged(change));
    stage.update().await;
    let choice = |id: &str, value: &str| (id.to_owned(), OptionValue::Choice(value.into()));
    let table = [
        ("mode", json!("id"), json!("auto"), Op::set_mode("auto")),
        (
            "model",
            json!("id"),
            json!("large"),
            set(choice("model", "large")),
        ),
        (
            "fast",
            json!("boolean"),
            json!(false),
            set(("fast".into(), OptionValue::Boolean(false))),
        ),
    ];
    for (config, kind, value, op) in table {
        configured(
            &mut stage,
            2,
            json!({"configId": config, "type": kind, "value": value}),
        )
        .await;
        let configure = stage.submitted().await;
        assert_eq!(configure.op, op);
        let change = match op {
            Op::SessionConfigure {
                mode: Some(mode), ..
            } => SessionChanged {
                mode: Some(mode),
                ..SessionChanged::default()
            },
            _ => SessionChanged {
                options: Some(vec![flag_off(config), model()]),
                ..SessionChanged::default()
            },
        };
        stage.happen_in(None, None, Event::SessionChanged(change));
        stage.accept(&configure, Accepted::Done {});
        let answer = stage.result(2).await;
        let options = answer["configOptions"].as_array().unwrap();
        assert_eq!(options.len(), 3, "always all of them");
        assert_eq!(options[0]["currentValue"], "auto");
    }
    stage.quiet().await;
}

fn flag_off(config: &str) -> sessiond_protocol::AgentOption {
    let value = OptionValue::Boolean(config != "fast");
    sessiond_protocol::AgentOption { value, ..flag() }
}

fn set((id, value): (String, OptionValue)) -> Op {
    Op::SessionConfigure {
        mode: None,
        options: vec![OptionSetting { id, value }],
    }
}

#[tokio::test]
async fn an_option_or_a_value_that_is_not_there_is_refused() {
    let mut stage = with_session(json!({})).await;
    for asked in [
        json!({"configId": "mode", "type": "id", "value": "nonsense"}),
        json!({"configId": "nonsense", "type": "id", "value": "ask"}),
        json!({"configId": "mode", "type": "boolean", "value": true}),
        json!({"configId": "mode", "type": "_mine", "value": "ask"}),
        json!({"configId": "mode", "value": "ask"}),
        json!({"configId": "mode", "type": "id"}),
    ] {
        configured(&mut stage, 2, asked.clone()).await;
        assert_eq!(stage.error(2).await.0, -32602, "{asked}");
    }
    stage.quiet().await;
}

#[tokio::test]
async fn options_are_those_that_a_session_would_begin_with() {
    for (about, agent) in [(json!(null), Some("script")), (json!(S), None)] {
        let mut stage = initialized(json!({})).await;
        let params = json!({"cwd": "/w", "sessionId": about});
        stage.request(1, "session/options", params).await;
        let asked = stage.submitted().await;
        let agent = agent.map(str::to_owned);
        assert_eq!(asked.op, Op::AgentOptions { agent });
        assert_eq!(asked.session.is_some(), about.is_string());
        let (agent, mode) = (Box::new(view().agent), Some("auto".into()));
        stage.accept(&asked, Accepted::Agent { agent, mode });
        assert_eq!(
            stage.result(1).await["configOptions"][0]["currentValue"],
            "auto"
        );
    }
}

#[tokio::test]
async fn options_to_begin_with_are_handed_on_and_none_is_named_twice() {
    let option =
        |id: &str, kind: &str, value: Value| json!({"configId": id, "type": kind, "value": value});
    let mut stage = initialized(json!({})).await;
    let options = json!([
        option("mode", "id", json!("auto")),
        option("fast", "boolean", json!(true))
    ]);
    stage
        .request(
            1,
            "session/new",
            json!({"cwd": "/w", "configOptions": options}),
        )
        .await;
    let Op::SessionNew(new) = stage.op().await else {
        panic!("not a new session")
    };
    assert_eq!(new.setup.mode.as_deref(), Some("auto"));
    let (id, value) = ("fast".to_owned(), OptionValue::Boolean(true));
    assert_eq!(new.setup.options, [OptionSetting { id, value }]);
    for wrong in [
        json!([option("a", "id", json!("x")), option("a", "id", json!("y"))]),
        json!([{"configId": "a"}]),
        json!([option("a", "_mine", json!(1))]),
        json!(7),
    ] {
        stage
            .request(
                2,
                "session/new",
                json!({"cwd": "/w", "configOptions": wrong}),
            )
            .await;
        assert_eq!(stage.error(2).await.0, -32602, "{wrong}");
    }
}

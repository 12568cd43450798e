//! Pitfalls that clients have reported of agents (acp.md 5), where no other test is about them.

use serde_json::{Value, json};
use sessiond_protocol::{Accepted, Event, EventFrame, ServerFrame, TurnOutcome};

use crate::events::{delta, ended_item, message, started};
use crate::harness::{OTHER, S, Stage, ended, item, other_view, session, turn};

/// acp.md 5.1, 6.4 point 4: nothing of a turn comes behind its answer.
#[tokio::test]
async fn all_of_a_turn_is_told_before_its_answer() {
    let mut stage = Stage::with_turn(json!({})).await;
    stage.happen(Some(item(1)), started(message("")));
    for number in 0..50_u64 {
        stage.passing(Some(item(1)), delta(number * 2, "x "));
    }
    stage.happen(Some(item(1)), ended_item(message(&"x ".repeat(50))));
    stage.end(turn(1), TurnOutcome::Completed);
    // Late, and about a turn that is over.
    stage.passing(Some(item(1)), delta(100, "late"));
    stage.happen(Some(item(2)), ended_item(message("late")));
    let mut text = String::new();
    loop {
        let told = stage.told().await;
        if told["id"] == 2 {
            break;
        }
        let update = &told["params"]["update"];
        assert_eq!(update["sessionUpdate"], "agent_message_chunk", "{told}");
        text.push_str(update["content"]["text"].as_str().unwrap());
    }
    assert_eq!(text, "x ".repeat(50));
    stage.quiet().await;
}

/// acp.md 5.9, 5.10: markers are objects, switches are booleans, choices stand in a flat list.
#[tokio::test]
async fn capabilities_are_objects_and_options_are_flat() {
    let mut stage = Stage::new().await;
    stage
        .request(1, "initialize", json!({"protocolVersion": 1}))
        .await;
    let introduction = stage.result(1).await;
    let capabilities = &introduction["agentCapabilities"];
    for (name, marker) in capabilities["sessionCapabilities"].as_object().unwrap() {
        assert!(marker.is_object(), "{name}: {marker}");
    }
    assert!(capabilities["auth"]["status"].is_object());
    for switch in [
        "/loadSession",
        "/mcpCapabilities/http",
        "/promptCapabilities/image",
    ] {
        assert!(
            capabilities.pointer(switch).is_some_and(Value::is_boolean),
            "{switch}"
        );
    }
    stage
        .request(2, "session/new", json!({"cwd": "/w", "mcpServers": []}))
        .await;
    let new = stage.submitted().await;
    stage.accept(&new, Accepted::Session(Box::new(crate::harness::view())));
    let answer = stage.result(2).await;
    for option in answer["configOptions"].as_array().unwrap() {
        for choice in option["options"].as_array().unwrap() {
            assert!(
                choice["value"].is_string() && choice.get("group").is_none(),
                "{choice}"
            );
        }
    }
}

/// acp.md 5.18: each update carries the id of its own session.
#[tokio::test]
async fn two_sessions_never_mix() {
    let mut stage = Stage::with_turn(json!({})).await;
    stage
        .request(3, "session/new", json!({"cwd": "/w", "mcpServers": []}))
        .await;
    let new = stage.submitted().await;
    stage.accept(&new, Accepted::Session(Box::new(other_view())));
    assert_eq!(stage.result(3).await["sessionId"], OTHER);
    stage.told().await;
    let prompt = json!({"sessionId": OTHER, "prompt": [{"type": "text", "text": "hi"}]});
    stage.request(4, "session/prompt", prompt).await;
    let start = stage.submitted().await;
    stage.accept(&start, Accepted::Turn { turn: turn(2) });
    stage.told().await;
    let say = |stage: &Stage, whose: &str, number: u8, event: Event| {
        stage.say(ServerFrame::Event(EventFrame {
            turn: Some(turn(number)),
            item: Some(item(number)),
            ..EventFrame::new(whose.parse().unwrap(), event)
        }));
    };
    for (whose, number) in [(S, 1), (OTHER, 2)] {
        say(&stage, whose, number, started(message("")));
    }
    for round in 0..10_u64 {
        say(&stage, S, 1, delta(round, "a"));
        say(&stage, OTHER, 2, delta(round, "b"));
    }
    for (whose, number) in [(OTHER, 2), (S, 1)] {
        say(
            &stage,
            whose,
            number,
            ended(TurnOutcome::Completed, None, None),
        );
    }
    let (mut ours, mut others) = (String::new(), String::new());
    let mut answered = Vec::new();
    while answered.len() < 2 {
        let told = stage.told().await;
        let text = told
            .pointer("/params/update/content/text")
            .and_then(Value::as_str);
        match told["params"]["sessionId"].as_str() {
            Some(id) if id == session().to_string() => ours.push_str(text.unwrap()),
            Some(_) => others.push_str(text.unwrap()),
            None => answered.push(told["id"].clone()),
        }
    }
    assert_eq!((ours, others), ("a".repeat(10), "b".repeat(10)));
    assert_eq!(answered, [json!(4), json!(2)]);
}

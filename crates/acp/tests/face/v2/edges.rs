//! What the tables of the other files leave: what is refused, what comes twice, what is cut.

use serde_json::{Value, json};
use sessiond_acp::Versions;
use sessiond_protocol::{
    Accepted, AttachMode, Choice, Cost, DriftClass, ErrorCode, Event, Finish, Item, ItemKind, Op,
    OptionValue, Outcome, RequestBody, SessionChanged, Stream, ToolCall, ToolStatus, TurnOutcome,
    Usage, WireError, prompt_item,
};

use super::questions::{asked, request};
use super::updates::{flag, model};
use super::{blocked, idle, initialized, running, said, started, text_of, with_session, with_turn};
use crate::harness::{S, Stage, item, turn, view};

fn message() -> Event {
    super::starts(Item::AgentMessage {
        text: String::new(),
        finish: Finish::Whole,
    })
}

fn delta(stream: Stream, offset: u64, text: &str) -> Event {
    Event::ItemDelta {
        stream,
        offset,
        text: text.into(),
    }
}

fn call(input: Value) -> Event {
    super::starts(Item::ToolCall(Box::new(ToolCall {
        title: "Run it".into(),
        status: ToolStatus::Running,
        input,
        ..ToolCall::default()
    })))
}

/// While the agent talks on, not all of the turn waits for the user.
#[tokio::test]
async fn a_turn_in_which_the_agent_talks_on_does_not_wait() {
    let (mut stage, _) = asked().await;
    stage.happen(Some(item(2)), message());
    stage.passing(Some(item(2)), delta(Stream::Text, 0, "and"));
    let chunk = text_of(item(2), "agent_message_chunk", "and");
    assert_eq!(stage.update().await, chunk);
    assert_eq!(stage.update().await, running());
}

/// A question that was never settled is gone with its turn.
#[tokio::test]
async fn no_turn_waits_for_what_the_one_before_asked() {
    let (mut stage, _) = asked().await;
    stage.end(turn(1), TurnOutcome::Cancelled);
    assert_eq!(stage.update().await["status"], "failed");
    assert_eq!(stage.update().await, idle("cancelled"));
    stage.prompt(3, turn(2)).await;
    stage.begin(turn(2));
    assert_eq!(stage.update().await, running());
    stage.update().await;
    stage.result(3).await;
    let pending = super::starts(Item::ToolCall(Box::default()));
    stage.happen_in(Some(turn(2)), Some(item(5)), pending);
    assert_eq!(stage.update().await["status"], "pending");
    stage.quiet().await;
}

/// A link is for who offered to open such; that it was followed is told once, to who was sent there.
#[tokio::test]
async fn a_link_is_asked_of_who_opens_such_and_its_completion_is_told_once() {
    let link = || RequestBody::ElicitationUrl {
        message: "Sign in".into(),
        url: "https://sign.in/x".into(),
        elicitation: "e1".into(),
    };
    let completed = |stage: &mut Stage, name: &str| {
        let (method, params) = (
            "elicitation/complete".into(),
            json!({"elicitationId": name}),
        );
        stage.happen_in(None, None, Event::Extension { method, params });
    };
    for capabilities in [json!({}), json!({"elicitation": {"form": {}}})] {
        let mut stage = with_turn(capabilities).await;
        stage.say(request(1, None, link()));
        assert_eq!(stage.answered().await.outcome, Outcome::Unanswered);
        completed(&mut stage, "e1");
        stage.quiet().await;
    }
    let mut stage = with_turn(json!({"elicitation": {"url": {}}})).await;
    stage.say(request(1, None, link()));
    let asked = stage.told().await;
    assert_eq!(asked["params"]["url"], "https://sign.in/x");
    assert_eq!(stage.update().await, blocked());
    stage.answer(&asked, json!({"action": "accept"})).await;
    stage.answered().await;
    assert_eq!(stage.update().await, running());
    for name in ["e2", "e1", "e1"] {
        completed(&mut stage, name);
    }
    assert_eq!(stage.told().await["params"], json!({"elicitationId": "e1"}));
    stage.quiet().await;
}

/// A method of the protocol that nobody knows here is not asked: the agent hears that.
#[tokio::test]
async fn what_is_no_extension_is_not_asked_of_the_client() {
    let mut stage = with_turn(json!({})).await;
    let (method, params) = ("session/unheard_of".to_owned(), json!({}));
    stage.say(request(1, None, RequestBody::Extension { method, params }));
    assert!(matches!(
        stage.answered().await.outcome,
        Outcome::Failed { .. }
    ));
    stage.quiet().await;
}

/// A replay of a turn that runs: text and output that came in overlapping pieces come once.
#[tokio::test]
async fn a_replay_joins_what_came_in_pieces() {
    let mut stage = initialized(json!({})).await;
    let params = json!({"cwd": "/w", "replayFrom": {"type": "start"}});
    stage.ask_about(1, "session/resume", params).await;
    let resume = stage.submitted().await;
    stage.begin(turn(1));
    stage.happen(Some(item(1)), message());
    for (offset, text) in [
        (0, "so"),
        (0, "so fa"),
        (3, "far"),
        (9, "lost behind a gap"),
    ] {
        stage.happen(
            Some(item(1)),
            Event::ItemPartial {
                kind: ItemKind::AgentMessage,
                offset,
                text: text.into(),
            },
        );
    }
    let mut running_view = view();
    running_view.turn = Some(turn(1));
    running_view.cursor = sessiond_protocol::Cursor(99);
    stage.accept(&resume, Accepted::Session(Box::new(running_view)));
    stage.update().await;
    let chunk = text_of(item(1), "agent_message_chunk", "so far");
    assert_eq!(stage.update().await, chunk);
}

/// WIRE-4: of the output of a call that runs a resume shows the newest part.
#[tokio::test]
async fn a_replay_shows_the_newest_output_up_to_a_bound() {
    let mut stage = initialized(json!({})).await;
    let params = json!({"cwd": "/w", "replayFrom": {"type": "start"}});
    stage.ask_about(1, "session/resume", params).await;
    let resume = stage.submitted().await;
    stage.begin(turn(1));
    stage.happen(Some(item(1)), call(Value::Null));
    let piece = "é".repeat(50_000);
    for number in 0..50_u64 {
        stage.happen(
            Some(item(1)),
            Event::ItemPartial {
                kind: ItemKind::ToolCall,
                offset: number * 100_000,
                text: piece.clone(),
            },
        );
    }
    let mut running_view = view();
    running_view.turn = Some(turn(1));
    running_view.cursor = sessiond_protocol::Cursor(99);
    stage.accept(&resume, Accepted::Session(Box::new(running_view)));
    let mut shown = String::new();
    loop {
        let update = stage.update().await;
        match update["sessionUpdate"].as_str() {
            Some("replay_complete") => break,
            Some("terminal_output_chunk") => {
                let bytes = super::fold::decoded(&update["data"]);
                shown.push_str(&String::from_utf8_lossy(&bytes));
            }
            _ => {}
        }
    }
    let bytes = shown.len();
    assert!((1 << 20..=2 << 20).contains(&bytes), "{bytes} bytes");
}

/// A terminal's directory is shown where it is absolute: nobody knows what another is below of.
#[tokio::test]
async fn a_relative_directory_of_a_terminal_is_not_shown() {
    let mut stage = with_turn(json!({})).await;
    stage.happen(
        Some(item(1)),
        call(json!({"command": "ls", "cwd": "below"})),
    );
    stage.update().await;
    stage.passing(Some(item(1)), delta(Stream::Output, 0, "x"));
    let opened = stage.update().await;
    assert_eq!(
        (&opened["command"], &opened["cwd"]),
        (&json!("ls"), &Value::Null)
    );
}

/// What a session has cost stands beside what fills its context.
#[tokio::test]
async fn the_cost_of_a_session_is_told_in_its_currency() {
    let mut stage = with_session(json!({})).await;
    let usage = Usage {
        used: 3,
        size: 9,
        cost: Cost::of(0.25, "USD".parse().unwrap()),
        ..Usage::default()
    };
    stage.happen_in(None, None, Event::Usage(usage));
    let cost = json!({"amount": 0.25, "currency": "USD"});
    assert_eq!(stage.update().await["cost"], cost);
}

/// An option takes values of its own kind; choices that share a heading stand under one.
#[tokio::test]
async fn an_option_takes_its_own_values_and_a_heading_stands_once() {
    let mut stage = with_session(json!({})).await;
    let mut model = model();
    model.choices.push(Choice {
        id: "tiny".into(),
        name: "Tiny".into(),
        description: None,
        group: Some("Cheap".into()),
    });
    let change = SessionChanged {
        options: Some(vec![flag(), model]),
        ..SessionChanged::default()
    };
    stage.happen_in(None, None, Event::SessionChanged(change));
    let shown = stage.update().await["configOptions"][2]["options"].clone();
    let headings: Vec<&Value> = shown
        .as_array()
        .unwrap()
        .iter()
        .map(|group| &group["groupId"])
        .collect();
    assert_eq!(headings, ["Cheap", "Dear"]);
    assert_eq!(shown[0]["options"].as_array().unwrap().len(), 2);
    for asked in [
        json!({"configId": "model", "type": "boolean", "value": true}),
        json!({"configId": "model", "type": "id", "value": "nonsense"}),
        json!({"configId": "fast", "type": "id", "value": "small"}),
    ] {
        stage
            .ask_about(2, "session/set_config_option", asked.clone())
            .await;
        assert_eq!(stage.error(2).await.0, -32602, "{asked}");
    }
    let asked = json!({"configId": "model", "type": "id", "value": "tiny"});
    stage.ask_about(3, "session/set_config_option", asked).await;
    let Op::SessionConfigure { options, .. } = stage.op().await else {
        panic!("not a choice")
    };
    assert_eq!(options[0].value, OptionValue::Choice("tiny".into()));
}

/// A session is used once its resume is answered, and a prompt has blocks that were offered.
#[tokio::test]
async fn a_prompt_that_may_not_be_is_refused_before_anything_happens() {
    let mut stage = initialized(json!({})).await;
    let text = json!([{"type": "text", "text": "hi"}]);
    stage
        .ask_about(1, "session/resume", json!({"cwd": "/w"}))
        .await;
    let resume = stage.submitted().await;
    stage
        .ask_about(2, "session/prompt", json!({"prompt": text}))
        .await;
    assert_eq!(stage.error(2).await, (-32002, json!({"sessionId": S})));
    stage.accept(&resume, Accepted::Session(Box::new(view())));
    stage.update().await;
    stage.result(1).await;
    for block in [
        json!({"type": "image", "mimeType": "image/png", "data": "AA=="}),
        json!({"type": "audio", "mimeType": "audio/wav", "data": "AA=="}),
    ] {
        let prompt = json!({"prompt": [block]});
        stage.ask_about(3, "session/prompt", prompt).await;
        assert_eq!(stage.error(3).await.0, -32602, "{block}");
    }
    stage.quiet().await;
}

/// What is said in a turn before its own prompt is shown, and answers nothing.
#[tokio::test]
async fn a_prompt_is_answered_by_its_own_message_and_by_no_other() {
    let mut stage = with_session(json!({})).await;
    stage.prompt(2, turn(1)).await;
    stage.happen_in(Some(turn(1)), None, started());
    assert_eq!(stage.update().await, running());
    stage.happen_in(Some(turn(1)), Some(item(7)), said("meanwhile"));
    let chunk = text_of(item(7), "user_message_chunk", "meanwhile");
    assert_eq!(stage.update().await, chunk);
    stage.quiet().await;
    let own = Some(prompt_item(turn(1)));
    stage.happen_in(Some(turn(1)), own, said("hi"));
    stage.update().await;
    assert_eq!(stage.result(2).await, json!({"messageId": turn(1)}));
}

/// A session that is closed leaves no prompt without an answer, and may be gone already.
#[tokio::test]
async fn closing_answers_what_waits_and_succeeds_where_the_session_is_gone() {
    let mut stage = with_session(json!({})).await;
    stage.prompt(2, turn(1)).await;
    stage.ask_about(3, "session/close", json!({})).await;
    let close = stage.submitted().await;
    stage.accept(&close, Accepted::Done {});
    assert_eq!(stage.error(2).await.0, -32800);
    assert_eq!(stage.result(3).await, json!({}));
    let mut stage = with_session(json!({})).await;
    stage.ask_about(3, "session/close", json!({})).await;
    let close = stage.submitted().await;
    let gone = WireError::new(ErrorCode::NotFound, "no such session");
    stage.refuse(&close, gone);
    assert_eq!(stage.result(3).await, json!({}));
}

/// RESUME-16: what the user accepts by the environment is accepted of every session, beside what the
/// client accepts of one.
#[tokio::test]
async fn a_resume_says_what_the_user_and_the_client_accept() {
    let accept = vec![DriftClass::Roots];
    let mut stage = Stage::accepting(accept, (Versions::V2, 2)).await;
    let info = json!({"name": "client", "version": "1"});
    stage
        .request(0, "initialize", json!({"protocolVersion": 2, "info": info}))
        .await;
    stage.result(0).await;
    let meta = json!({"sessiond": {"accept": ["repository"]}});
    stage
        .ask_about(1, "session/resume", json!({"cwd": "/w", "_meta": meta}))
        .await;
    let Op::SessionResume(resume) = stage.op().await else {
        panic!("not a resume")
    };
    assert_eq!(resume.accept, [DriftClass::Repository, DriftClass::Roots]);
    assert_eq!(resume.mode, AttachMode::Control);
}

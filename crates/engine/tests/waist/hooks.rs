//! Hooks and MCP of a client, through the waist.

use serde_json::json;
use sessiond_log::Store;
use sessiond_protocol::{
    Accepted, Content, Event, HistoryItem, Hook, Item, OnDisconnect, Op, Outcome, Replay,
    RequestBody, RequestKind, SessionId, SessionNew, ToolStatus, TurnId, TurnOutcome, Verdict,
};

use crate::harness::{Client, engine};

async fn hooked(client: &mut Client) -> SessionId {
    let new = SessionNew {
        setup: Default::default(),
        id: None,
        cwd: "/w".into(),
        agent: None,
        answers: vec![RequestKind::Permission, RequestKind::Hook],
        on_disconnect: OnDisconnect::Cancel,
    };
    match client.submit(None, Op::SessionNew(new)).await {
        Verdict::Accepted(Accepted::Session(view)) => view.session,
        other => panic!("{other:?}"),
    }
}

/// What an agent was told by hooks before it was opened, and what users said.
pub(crate) fn heard(history: &[HistoryItem]) -> String {
    let heard = history.iter().filter_map(|entry| match &entry.item {
        Item::UserMessage { content } => {
            let texts = content.iter().filter_map(Content::as_text);
            Some(format!("{:?} {}|", entry.origin, texts.collect::<String>()))
        }
        _ => None,
    });
    heard.collect()
}

/// Answers what is asked, by point, until the turn ends; the points in order.
async fn answer_all(
    client: &mut Client,
    turn: TurnId,
    mut say: impl FnMut(&Hook) -> Outcome,
) -> (Vec<&'static str>, TurnOutcome) {
    let mut points = Vec::new();
    loop {
        let ended = client.events.iter().find_map(|frame| match &frame.event {
            Event::TurnEnded(ended) if frame.turn == Some(turn) => Some(ended.outcome),
            _ => None,
        });
        if let Some(outcome) = ended {
            return (points, outcome);
        }
        let Some(request) = client.requests.pop() else {
            client.next().await;
            continue;
        };
        let RequestBody::Hook(hook) = &request.body else {
            panic!("{request:?}");
        };
        points.push(match hook {
            Hook::Prompt { .. } => "prompt",
            Hook::BeforeTool { .. } => "before",
            Hook::AfterTool { .. } => "after",
            Hook::Stop { .. } => "stop",
        });
        let outcome = say(hook);
        client.answer(&request, outcome).await;
    }
}

fn denied(reason: &str) -> Outcome {
    let reason = reason.into();
    Outcome::Denied { reason }
}

fn calls(client: &Client) -> Vec<ToolStatus> {
    let ended = client.events.iter().filter_map(|frame| match &frame.event {
        Event::ItemEnded {
            item: Item::ToolCall(call),
        } => Some(call.status),
        _ => None,
    });
    ended.collect()
}

#[tokio::test]
async fn a_client_has_its_say_at_the_four_points_of_a_turn() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = hooked(&mut client).await;
    let turn = client.start(session, "call").await;
    let told = answer_all(&mut client, turn, |_| Outcome::Passed).await;
    let points = vec!["prompt", "before", "after", "stop"];
    assert_eq!(told, (points, TurnOutcome::Completed));
    assert_eq!(calls(&client), [ToolStatus::Completed]);
}

#[tokio::test]
async fn a_client_changes_a_prompt_and_a_call_and_makes_a_turn_go_on() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = hooked(&mut client).await;
    let turn = client.start(session, "say:original").await;
    let mut stops = 0;
    let (_, outcome) = answer_all(&mut client, turn, |hook| match hook {
        Hook::Prompt { .. } => Outcome::Changed {
            input: json!([{"type": "text", "text": "call"}]),
        },
        Hook::BeforeTool { .. } => Outcome::Changed {
            input: json!({"changed": true}),
        },
        Hook::AfterTool { .. } => Outcome::Passed,
        Hook::Stop { continued, .. } => {
            assert_eq!(*continued, stops);
            stops += 1;
            if stops == 1 {
                denied("say:more")
            } else {
                Outcome::Passed
            }
        }
    })
    .await;
    assert_eq!(outcome, TurnOutcome::Completed);
    assert_eq!(client.said(), [r#"with {"changed":true}"#, "more"]);
}

/// LOG-8: an agent that is opened anew knows what the one before it was told by hooks.
#[tokio::test]
async fn what_hooks_told_an_agent_is_part_of_the_conversation_that_the_next_one_gets() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = hooked(&mut client).await;
    let turn = client.start(session, "say:original").await;
    let mut stops = 0;
    answer_all(&mut client, turn, |hook| match hook {
        Hook::Prompt { .. } => Outcome::Changed {
            input: json!([{"type": "text", "text": "call"}]),
        },
        Hook::AfterTool { .. } => denied("say:after"),
        Hook::Stop { .. } if stops == 0 => {
            stops += 1;
            denied("say:more")
        }
        _ => Outcome::Passed,
    })
    .await;
    drop(client);
    engine.drain().await.unwrap();
    let mut client = Client::connect(&engine).await;
    client.resume(session, Replay::None).await;
    client.turn(session, "history").await;
    let expected = "Hook call|Hook say:after|Hook say:more|";
    assert_eq!(client.said(), [expected], "and not what the hook replaced");
}

#[tokio::test]
async fn a_denied_call_does_not_run_and_a_denied_prompt_is_no_turn_of_the_agent() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = hooked(&mut client).await;
    let turn = client.start(session, "call").await;
    let (points, _) = answer_all(&mut client, turn, |hook| match hook {
        Hook::BeforeTool { .. } => denied("no tools"),
        _ => Outcome::Passed,
    })
    .await;
    assert_eq!(points, ["prompt", "before", "stop"]);
    assert_eq!(calls(&client), [ToolStatus::Failed]);
    assert_eq!(client.said(), ["denied: no tools"]);
    let turn = client.start(session, "say:never").await;
    let (points, outcome) = answer_all(&mut client, turn, |_| denied("no prompts")).await;
    assert_eq!((points, outcome), (vec!["prompt"], TurnOutcome::Failed));
    assert_eq!(client.said().len(), 1);
}

/// SQEQ-4: at a point where no agent runs, the end comes without the grace of one.
#[tokio::test]
async fn an_interrupt_at_a_hook_ends_the_turn() {
    let engine = engine(Store::in_memory());
    let mut client = Client::connect(&engine).await;
    let session = hooked(&mut client).await;
    for pass in 0..2 {
        let turn = client.start(session, "say:x").await;
        for _ in 0..pass {
            let request = client.request().await;
            client.answer(&request, Outcome::Passed).await;
            while client
                .requests
                .first()
                .is_none_or(|open| open.id == request.id)
            {
                client.next().await;
            }
        }
        client.request().await;
        let interrupt = Op::TurnInterrupt {
            turn: None,
            queued: sessiond_protocol::Queued::Keep,
        };
        client.submit(Some(session), interrupt).await;
        assert_eq!(client.ended(turn).await, TurnOutcome::Cancelled);
    }
}

/// LOG-5, RESUME-6: what was asked is in the log before it is asked; a client that goes leaves
/// nothing open.
#[tokio::test]
async fn a_client_that_goes_at_a_hook_leaves_a_cancelled_turn_and_no_open_request() {
    let store = Store::in_memory();
    let engine = engine(store);
    let mut client = Client::connect(&engine).await;
    let session = hooked(&mut client).await;
    client.start(session, "call").await;
    client.request().await;
    drop(client);
    engine.drain().await.unwrap();
    let mut client = Client::connect(&engine).await;
    client.resume(session, Replay::All).await;
    let kinds: Vec<&str> = client.events.iter().map(|e| e.event.kind()).collect();
    let opened = kinds.iter().position(|kind| *kind == "request.opened");
    let closed = kinds.iter().position(|kind| *kind == "request.closed");
    assert!(opened.is_some() && opened < closed, "{kinds:?}");
    assert!(!kinds.contains(&"item.started"), "{kinds:?}");
    assert_eq!(client.said(), [""; 0]);
}

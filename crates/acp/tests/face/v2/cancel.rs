//! The cancel matrix (acp.md 2.4, 6.4 point 5): whatever is cancelled, exactly one answer each.

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, ClientFrame, ErrorCode, Event, Item, Op, Queued, Stoppable, Stream, Submission,
    ToolCall, ToolStatus, TurnId, TurnOutcome, WireError, prompt_item,
};

use super::{idle, said, shown, with_session, with_turn};
use crate::harness::{OTHER, S, Stage, item, turn};

async fn cancel(stage: &mut Stage) -> Submission {
    stage
        .notify("session/cancel", json!({"sessionId": S}))
        .await;
    stage.submitted().await
}

fn interrupts(submission: &Submission) -> (Option<TurnId>, Queued) {
    match submission.op {
        Op::TurnInterrupt { turn, queued } => (turn, queued),
        ref other => panic!("{other:?}"),
    }
}

/// A turn that waited is taken back.
fn take_back(stage: &mut Stage, turn: TurnId) {
    stage.happen_in(Some(turn), Some(prompt_item(turn)), said("never"));
    stage.end(turn, TurnOutcome::Cancelled);
}

#[tokio::test]
async fn cancelling_ends_the_turn_and_takes_back_what_waits() {
    let mut stage = with_turn(json!({})).await;
    stage.prompt(3, turn(2)).await;
    let interrupt = cancel(&mut stage).await;
    assert_eq!(interrupts(&interrupt), (None, Queued::Cancel));
    stage.accept(&interrupt, Accepted::Done {});
    // What the agent still says comes before the end.
    stage.happen(
        Some(item(1)),
        super::ends(Item::AgentMessage {
            text: "last words".into(),
            finish: sessiond_protocol::Finish::Cut,
        }),
    );
    stage.end(turn(1), TurnOutcome::Cancelled);
    take_back(&mut stage, turn(2));
    assert_eq!(stage.update().await["sessionUpdate"], "agent_message_chunk");
    assert_eq!(stage.update().await, idle("cancelled"));
    // Its message never became part of the conversation: it is not shown.
    assert_eq!(stage.error(3).await.0, -32800);
    stage.quiet().await;
}

#[tokio::test]
async fn cancelling_before_the_first_word_still_answers_the_prompt() {
    let mut stage = with_session(json!({})).await;
    stage.prompt(2, turn(1)).await;
    cancel(&mut stage).await;
    stage.begin(turn(1));
    stage.end(turn(1), TurnOutcome::Cancelled);
    assert_eq!(stage.update().await, super::running());
    stage.update().await;
    assert_eq!(stage.result(2).await, json!({"messageId": turn(1)}));
    assert_eq!(stage.update().await, idle("cancelled"));
    stage.quiet().await;
}

#[tokio::test]
async fn cancelling_twice_or_after_the_end_changes_nothing() {
    let mut stage = with_turn(json!({})).await;
    cancel(&mut stage).await;
    cancel(&mut stage).await;
    stage.end(turn(1), TurnOutcome::Cancelled);
    assert_eq!(stage.update().await, idle("cancelled"));
    cancel(&mut stage).await;
    stage.quiet().await;
}

#[tokio::test]
async fn cancelling_what_is_not_there_is_passed_over() {
    let mut stage = with_turn(json!({})).await;
    for params in [
        json!({"sessionId": OTHER}),
        json!({"sessionId": "x"}),
        json!({}),
        json!(7),
    ] {
        stage.notify("session/cancel", params).await;
    }
    stage.quiet().await;
}

#[tokio::test]
async fn a_finish_that_crossed_the_cancellation_stays_a_finish() {
    let mut stage = with_turn(json!({})).await;
    cancel(&mut stage).await;
    stage.end(turn(1), TurnOutcome::Completed);
    assert_eq!(stage.update().await, idle("end_turn"));
    stage.quiet().await;
}

#[tokio::test]
async fn cancelling_the_request_of_a_prompt_that_waits_takes_back_only_that() {
    let mut stage = with_turn(json!({})).await;
    stage.prompt(3, turn(2)).await;
    stage.quiet().await;
    stage
        .notify("$/cancel_request", json!({"requestId": 3}))
        .await;
    let interrupt = stage.submitted().await;
    assert_eq!(interrupts(&interrupt), (Some(turn(2)), Queued::Keep));
    take_back(&mut stage, turn(2));
    assert_eq!(stage.error(3).await.0, -32800);
    stage.quiet().await;
}

#[tokio::test]
async fn cancelling_the_request_of_a_prompt_that_has_no_turn_yet_is_remembered() {
    let mut stage = with_turn(json!({})).await;
    stage
        .ask_about(
            3,
            "session/prompt",
            json!({"prompt": [{"type": "text", "text": "two"}]}),
        )
        .await;
    let start = stage.submitted().await;
    stage
        .notify("$/cancel_request", json!({"requestId": 3}))
        .await;
    // The cancellation has come when what follows it has.
    stage.request("list", "session/list", json!({})).await;
    stage.submitted().await;
    stage.accept(&start, Accepted::Turn { turn: turn(2) });
    let interrupt = stage.submitted().await;
    assert_eq!(interrupts(&interrupt), (Some(turn(2)), Queued::Keep));
}

#[tokio::test]
async fn cancelling_the_request_of_a_prompt_that_was_answered_does_nothing() {
    let mut stage = with_turn(json!({})).await;
    for id in [json!(2), json!(77), json!("2"), json!(null)] {
        stage
            .notify("$/cancel_request", json!({"requestId": id}))
            .await;
    }
    stage.quiet().await;
}

fn call(status: ToolStatus) -> ToolCall {
    ToolCall {
        name: "run".into(),
        title: "Run it".into(),
        status,
        stoppable: Stoppable::Yes,
        ..ToolCall::default()
    }
}

/// Begins a call that can be stopped, with output where it is to have a terminal.
async fn with_call(printed: &str) -> Stage {
    let mut stage = with_turn(json!({})).await;
    let running = Item::ToolCall(Box::new(call(ToolStatus::Running)));
    stage.happen(Some(item(1)), super::starts(running));
    assert_eq!(stage.update().await["capabilities"], json!({"cancel": {}}));
    if !printed.is_empty() {
        stage.passing(
            Some(item(1)),
            Event::ItemDelta {
                stream: Stream::Output,
                offset: 0,
                text: printed.into(),
            },
        );
        assert_eq!(stage.update().await["capabilities"], json!({"cancel": {}}));
        stage.update().await;
        stage.update().await;
    }
    stage
}

#[tokio::test]
async fn one_call_is_stopped_and_the_turn_goes_on() {
    for (method, member, printed) in [
        ("tool_call/cancel", "toolCallId", ""),
        ("tool_call/cancel", "toolCallId", "some"),
        ("terminal/cancel", "terminalId", "some"),
    ] {
        let mut stage = with_call(printed).await;
        let mut params = json!({});
        params[member] = shown(item(1));
        stage.ask_about(3, method, params.clone()).await;
        let stop = stage.submitted().await;
        assert_eq!(stop.op, Op::CallCancel { item: item(1) });
        stage.accept(&stop, Accepted::Done {});
        assert_eq!(stage.result(3).await, json!({}));
        let ended = Item::ToolCall(Box::new(call(ToolStatus::Cancelled)));
        stage.happen(Some(item(1)), super::ends(ended));
        if !printed.is_empty() {
            let closed = stage.update().await;
            assert_eq!(closed["sessionUpdate"], "terminal_update");
            assert_eq!(
                (&closed["exitStatus"], &closed["capabilities"]),
                (&json!({}), &Value::Null)
            );
        }
        let mut patch = json!({"sessionUpdate": "tool_call_update", "toolCallId": item(1),
            "status": "cancelled", "capabilities": null});
        if !printed.is_empty() {
            patch["content"] = json!([]);
        }
        assert_eq!(stage.update().await, patch);
        // Now it is final.
        stage.ask_about(4, method, params).await;
        assert_eq!(stage.error(4).await.0, -32602);
        stage.quiet().await;
    }
}

#[tokio::test]
async fn what_cannot_be_stopped_by_itself_is_not() {
    let mut stage = with_call("").await;
    let whole = Item::ToolCall(Box::new(ToolCall {
        stoppable: Stoppable::No,
        ..call(ToolStatus::Running)
    }));
    stage.happen(Some(item(2)), super::starts(whole));
    assert!(stage.update().await.get("capabilities").is_none());
    for (method, params) in [
        ("tool_call/cancel", json!({"toolCallId": item(2)})),
        ("tool_call/cancel", json!({"toolCallId": item(9)})),
        ("tool_call/cancel", json!({"toolCallId": "nonsense"})),
        ("tool_call/cancel", json!({})),
        // It has no terminal.
        ("terminal/cancel", json!({"terminalId": item(1)})),
        ("terminal/cancel", json!({"terminalId": "nonsense"})),
    ] {
        stage.ask_about(3, method, params.clone()).await;
        assert_eq!(stage.error(3).await.0, -32602, "{method} {params}");
    }
    stage
        .request(
            4,
            "tool_call/cancel",
            json!({"sessionId": OTHER, "toolCallId": item(1)}),
        )
        .await;
    assert_eq!(stage.error(4).await, (-32002, json!({"sessionId": OTHER})));
}

/// acp.md 1.6: who takes an extension back is answered once.
#[tokio::test]
async fn an_extension_that_the_client_takes_back_is_taken_back_from_the_agent() {
    let mut stage = with_session(json!({})).await;
    stage.ask_about(2, "_own/ask", json!({})).await;
    let asked = stage.submitted().await;
    stage
        .notify("$/cancel_request", json!({"requestId": 2}))
        .await;
    let withdrawn = ClientFrame::Withdraw {
        id: asked.id.clone(),
    };
    assert_eq!(stage.sent().await, withdrawn);
    stage.refuse(&asked, WireError::new(ErrorCode::Refused, "taken back"));
    assert_eq!(stage.error(2).await, (-32800, Value::Null));
}

//! In which order a client hears of things (acp.md 2.4, 6.4 point 4).

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, Cursor, ErrorCode, Event, Item, Op, Replay, Stop, Stream, TurnOutcome, TurnStage,
    Usage, WireError,
};

use super::{initialized, running, said, started, text_of, with_session, with_turn};
use crate::harness::{S, Stage, item, session, turn, view};

fn delta(text: &str) -> Event {
    Event::ItemDelta {
        stream: Stream::Text,
        offset: 0,
        text: text.into(),
    }
}

fn message() -> Event {
    super::starts(Item::AgentMessage {
        text: String::new(),
        finish: sessiond_protocol::Finish::Whole,
    })
}

#[tokio::test]
async fn a_new_session_is_told_by_its_answer_alone() {
    let mut stage = initialized(json!({})).await;
    stage.request(1, "session/new", json!({"cwd": "/w"})).await;
    let new = stage.submitted().await;
    assert!(matches!(&new.op, Op::SessionNew(new) if new.cwd == "/w"));
    stage.accept(&new, Accepted::Session(Box::new(view())));
    let mut answer = stage.result(1).await;
    assert_eq!(answer["sessionId"], S);
    assert_eq!(answer["configOptions"][0]["configId"], "mode");
    assert_eq!(answer["availableCommands"].take(), commands());
    stage.quiet().await;
}

fn commands() -> Value {
    json!([
        {"type": "command", "name": "run", "description": "Runs a command",
            "input": {"type": "text", "hint": "COMMAND"}},
        {"type": "command", "name": "usage", "description": "Says usage"},
    ])
}

#[tokio::test]
async fn a_turn_is_running_then_echo_then_answer_then_text_then_idle() {
    let mut stage = with_session(json!({})).await;
    stage.prompt(2, turn(1)).await;
    stage.begin(turn(1));
    assert_eq!(stage.update().await, running());
    let echo = text_of(turn(1), "user_message_chunk", "hi");
    assert_eq!(stage.update().await, echo);
    // The answer names the message that was echoed.
    let answer = stage.result(2).await;
    assert_eq!(answer, json!({"messageId": echo["messageId"]}));
    stage.passing(Some(item(1)), message());
    stage.passing(Some(item(1)), delta("hello"));
    let chunk = text_of(item(1), "agent_message_chunk", "hello");
    assert_eq!(stage.update().await, chunk);
    stage.end(turn(1), TurnOutcome::Completed);
    assert_eq!(stage.update().await, super::idle("end_turn"));
    stage.quiet().await;
}

#[tokio::test]
async fn a_prompt_that_waits_is_answered_when_its_turn_begins() {
    let mut stage = with_turn(json!({})).await;
    stage.prompt(3, turn(2)).await;
    let queued = Event::TurnQueued {
        input: vec![],
        place: sessiond_protocol::Place::Last,
        keyed: None,
    };
    stage.happen_in(Some(turn(2)), None, queued);
    stage.quiet().await;
    stage.end(turn(1), TurnOutcome::Completed);
    stage.begin(turn(2));
    assert_eq!(stage.update().await, super::idle("end_turn"));
    assert_eq!(stage.update().await, running());
    let echo = text_of(turn(2), "user_message_chunk", "hi");
    assert_eq!(stage.update().await, echo);
    assert_eq!(stage.result(3).await, json!({"messageId": turn(2)}));
}

#[tokio::test]
async fn input_that_comes_from_elsewhere_is_shown_too() {
    let mut stage = with_session(json!({})).await;
    // A turn that nobody here began, and what was added to it.
    stage.begin(turn(1));
    stage.happen(Some(item(7)), said("and this"));
    assert_eq!(stage.update().await, running());
    let echo = text_of(turn(1), "user_message_chunk", "hi");
    assert_eq!(stage.update().await, echo);
    let more = text_of(item(7), "user_message_chunk", "and this");
    assert_eq!(stage.update().await, more);
}

#[tokio::test]
async fn how_a_turn_ended_is_said_in_one_word() {
    let failed = Some(WireError::new(ErrorCode::Storage, "the disk failed"));
    let done = TurnOutcome::Completed;
    let table = [
        (done, None, None, "end_turn", Value::Null),
        (done, Some(Stop::EndTurn), None, "end_turn", Value::Null),
        (done, Some(Stop::MaxTokens), None, "max_tokens", Value::Null),
        (
            done,
            Some(Stop::MaxRequests),
            None,
            "max_turn_requests",
            Value::Null,
        ),
        (done, Some(Stop::Refusal), None, "refusal", Value::Null),
        (TurnOutcome::Cancelled, None, None, "cancelled", Value::Null),
        (
            TurnOutcome::Failed,
            None,
            failed,
            "error",
            json!({"code": 4005, "message": "the disk failed"}),
        ),
        (
            TurnOutcome::Failed,
            None,
            None,
            "error",
            json!({"code": -32603, "message": "The turn failed"}),
        ),
    ];
    for (outcome, stop, error, reason, shown) in table {
        let mut stage = with_turn(json!({})).await;
        let ended = crate::harness::ended(outcome, stop, error);
        stage.happen(None, ended);
        let mut idle = stage.update().await;
        assert_eq!(idle["error"].take(), shown, "{outcome:?}");
        assert_eq!(
            (&idle["state"], &idle["stopReason"]),
            (&json!("idle"), &json!(reason))
        );
    }
}

/// Tokens of every kind and their sum stand in the state that ends the turn.
#[tokio::test]
async fn the_tokens_of_a_turn_are_told_with_its_end() {
    let mut stage = with_turn(json!({})).await;
    let Event::TurnEnded(mut ended) = crate::harness::ended(TurnOutcome::Completed, None, None)
    else {
        panic!("an end")
    };
    ended.usage = Some(Usage {
        input: 10,
        output: 20,
        thought: Some(3),
        cached_read: Some(4),
        cached_write: Some(5),
        ..Usage::default()
    });
    stage.happen(None, Event::TurnEnded(ended));
    let expected = json!({
        "totalTokens": 42, "inputTokens": 10, "outputTokens": 20, "thoughtTokens": 3,
        "cachedReadTokens": 4, "cachedWriteTokens": 5,
    });
    assert_eq!(stage.update().await["usage"], expected);
}

/// What becomes of a key: the first turn's message, once it is one (acp.md 2.4).
#[tokio::test]
async fn the_same_key_gets_the_same_message() {
    let mut stage = with_session(json!({})).await;
    let prompt = json!({"prompt": [{"type": "text", "text": "hi"}], "idempotencyKey": "mine"});
    for id in [2, 3] {
        stage.ask_about(id, "session/prompt", prompt.clone()).await;
    }
    let first = stage.submitted().await;
    let Op::TurnStart {
        idempotency_key, ..
    } = &first.op
    else {
        panic!("{first:?}")
    };
    assert_eq!(
        idempotency_key.as_ref().map(|key| key.as_str()),
        Some("mine")
    );
    let again = stage.submitted().await;
    stage.accept(&first, Accepted::Turn { turn: turn(1) });
    let waits = |stage| Accepted::Repeated {
        turn: turn(1),
        stage,
    };
    stage.accept(&again, waits(TurnStage::Waiting));
    stage.quiet().await;
    stage.begin(turn(1));
    stage.update().await;
    stage.update().await;
    assert_eq!(stage.result(2).await, json!({"messageId": turn(1)}));
    assert_eq!(stage.result(3).await, json!({"messageId": turn(1)}));
    // And much later, of a turn that nobody here saw.
    stage.ask_about(4, "session/prompt", prompt).await;
    let later = stage.submitted().await;
    stage.accept(&later, waits(TurnStage::Begun));
    assert_eq!(stage.result(4).await, json!({"messageId": turn(1)}));
    stage.quiet().await;
}

#[tokio::test]
async fn what_is_no_key_is_refused_and_never_taken_for_none() {
    let mut stage = with_session(json!({})).await;
    let long = "x".repeat(256);
    for key in [
        json!(""),
        json!(long),
        json!(7),
        json!({}),
        json!(["a"]),
        json!(true),
    ] {
        let prompt = json!({"prompt": [{"type": "text", "text": "hi"}], "idempotencyKey": key});
        stage.ask_about(2, "session/prompt", prompt).await;
        assert_eq!(stage.error(2).await, (-32602, Value::Null), "{key}");
    }
    for (key, is_key) in [(json!(null), false), (json!("é".repeat(255)), true)] {
        let prompt = json!({"prompt": [{"type": "text", "text": "hi"}], "idempotencyKey": key});
        stage.ask_about(3, "session/prompt", prompt).await;
        let start = stage.submitted().await;
        let Op::TurnStart {
            idempotency_key, ..
        } = &start.op
        else {
            panic!("{start:?}")
        };
        assert_eq!(idempotency_key.is_some(), is_key);
        let reused = WireError::new(ErrorCode::KeyReused, "reused");
        stage.refuse(&start, reused);
        assert_eq!(stage.error(3).await.0, -32602);
    }
}

async fn resuming(stage: &mut Stage, id: u64, from: Value) -> sessiond_protocol::Submission {
    let params = json!({"cwd": "/w", "replayFrom": from});
    stage.ask_about(id, "session/resume", params).await;
    stage.submitted().await
}

#[tokio::test]
async fn a_resume_without_a_replay_is_its_state_and_its_answer() {
    for from in [json!(null), json!("absent")] {
        let mut stage = initialized(json!({})).await;
        let mut params = json!({"cwd": "/w", "sessionId": S});
        if from.is_null() {
            params["replayFrom"] = from;
        }
        stage.request(1, "session/resume", params).await;
        let resume = stage.submitted().await;
        assert!(matches!(&resume.op, Op::SessionResume(resume) if resume.replay == Replay::None));
        stage.accept(&resume, Accepted::Session(Box::new(view())));
        let idle = json!({"sessionUpdate": "state_update", "state": "idle"});
        assert_eq!(stage.update().await, idle);
        let answer = stage.result(1).await;
        assert_eq!(answer["availableCommands"], commands());
        assert_eq!(answer["configOptions"][0]["currentValue"], "ask");
        stage.quiet().await;
    }
}

#[tokio::test]
async fn a_replay_ends_with_one_word_then_the_state_then_the_answer() {
    let mut stage = initialized(json!({})).await;
    let resume = resuming(&mut stage, 1, json!({"type": "start"})).await;
    assert!(matches!(&resume.op, Op::SessionResume(resume) if resume.replay == Replay::All));
    stage.begin(turn(1));
    stage.end(turn(1), TurnOutcome::Completed);
    stage.accept(&resume, Accepted::Session(Box::new(view())));
    let echo = text_of(turn(1), "user_message_chunk", "hi");
    assert_eq!(stage.update().await, echo);
    assert_eq!(
        stage.update().await,
        json!({"sessionUpdate": "replay_complete"})
    );
    let idle = json!({"sessionUpdate": "state_update", "state": "idle"});
    assert_eq!(stage.update().await, idle);
    stage.result(1).await;
    stage.quiet().await;
}

#[tokio::test]
async fn an_empty_replay_ends_with_its_word_too_and_one_that_failed_does_not() {
    let mut stage = initialized(json!({})).await;
    let resume = resuming(&mut stage, 1, json!({"type": "start"})).await;
    stage.accept(&resume, Accepted::Session(Box::new(view())));
    assert_eq!(stage.update().await["sessionUpdate"], "replay_complete");
    assert_eq!(stage.update().await["sessionUpdate"], "state_update");
    stage.result(1).await;

    let mut stage = initialized(json!({})).await;
    let resume = resuming(&mut stage, 1, json!({"type": "start"})).await;
    stage.begin(turn(1));
    stage.update().await;
    stage.refuse(
        &resume,
        WireError::new(ErrorCode::Storage, "the disk failed"),
    );
    assert_eq!(stage.error(1).await.0, 4005);
    stage.quiet().await;
}

#[tokio::test]
async fn a_place_to_replay_from_that_nobody_knows_is_refused() {
    let mut stage = initialized(json!({})).await;
    for from in [
        json!({"type": "_mine"}),
        json!({"type": "cursor", "cursorId": "x"}),
        json!({}),
        json!(7),
    ] {
        let params = json!({"cwd": "/w", "replayFrom": from});
        stage.ask_about(1, "session/resume", params).await;
        assert_eq!(stage.error(1).await.0, -32602, "{from}");
    }
}

#[tokio::test]
async fn a_session_that_runs_is_resumed_as_running_and_what_is_in_flight_comes_behind_the_answer() {
    let mut stage = initialized(json!({})).await;
    let resume = resuming(&mut stage, 1, json!(null)).await;
    stage.passing(Some(item(1)), message());
    stage.passing(Some(item(1)), delta("so far"));
    let mut view = view();
    view.turn = Some(turn(1));
    stage.accept(&resume, Accepted::Session(Box::new(view)));
    assert_eq!(stage.update().await, running());
    stage.result(1).await;
    let chunk = text_of(item(1), "agent_message_chunk", "so far");
    assert_eq!(stage.update().await, chunk);
    stage.end(turn(1), TurnOutcome::Cancelled);
    assert_eq!(stage.update().await, super::idle("cancelled"));
}

#[tokio::test]
async fn a_session_that_runs_is_replayed_up_to_now_and_goes_on() {
    let mut stage = initialized(json!({})).await;
    let resume = resuming(&mut stage, 1, json!({"type": "start"})).await;
    stage.begin(turn(1));
    let call = sessiond_protocol::ToolCall {
        title: "Run it".into(),
        ..sessiond_protocol::ToolCall::default()
    };
    stage.happen(Some(item(2)), super::starts(Item::ToolCall(Box::new(call))));
    let printed = |offset, text: &str| Event::ItemPartial {
        kind: sessiond_protocol::ItemKind::ToolCall,
        offset,
        text: text.into(),
    };
    stage.happen(Some(item(2)), printed(0, "o"));
    stage.happen(Some(item(2)), printed(1, "ut"));
    stage.passing(Some(item(1)), message());
    stage.passing(Some(item(1)), delta("so far"));
    let mut view = view();
    view.turn = Some(turn(1));
    view.cursor = Cursor(5);
    stage.accept(&resume, Accepted::Session(Box::new(view)));
    assert_eq!(stage.update().await["sessionUpdate"], "user_message_chunk");
    assert_eq!(stage.update().await["sessionUpdate"], "tool_call_update");
    // What a call that runs has printed is its terminal.
    assert_eq!(stage.update().await["sessionUpdate"], "terminal_update");
    assert_eq!(
        stage.update().await["sessionUpdate"],
        "tool_call_content_chunk"
    );
    assert_eq!(stage.update().await["data"], "b3V0");
    let chunk = text_of(item(1), "agent_message_chunk", "so far");
    assert_eq!(stage.update().await, chunk);
    assert_eq!(stage.update().await["sessionUpdate"], "replay_complete");
    assert_eq!(stage.update().await, running());
    stage.result(1).await;
    let more = Event::ItemDelta {
        stream: Stream::Text,
        offset: 6,
        text: ", and on".into(),
    };
    stage.passing(Some(item(1)), more);
    let chunk = text_of(item(1), "agent_message_chunk", ", and on");
    assert_eq!(stage.update().await, chunk);
}

/// What a new process records about a turn that a dead one left open was shown when it was resumed.
#[tokio::test]
async fn what_is_recorded_later_about_an_old_turn_is_not_told_again() {
    let mut stage = with_session(json!({})).await;
    stage.happen_in(
        Some(turn(9)),
        Some(item(1)),
        super::ends(Item::AgentMessage {
            text: "half".into(),
            finish: sessiond_protocol::Finish::Interrupted,
        }),
    );
    stage.end(turn(9), TurnOutcome::Interrupted);
    stage.quiet().await;
}

#[tokio::test]
async fn closing_says_the_end_of_what_ran_first_and_nothing_afterwards() {
    let mut stage = with_turn(json!({})).await;
    stage.prompt(3, turn(2)).await;
    stage.ask_about(4, "session/close", json!({})).await;
    let close = stage.submitted().await;
    assert_eq!(
        (&close.op, close.session),
        (&Op::SessionClose {}, Some(session()))
    );
    stage.end(turn(1), TurnOutcome::Cancelled);
    stage.happen_in(
        Some(turn(2)),
        Some(sessiond_protocol::prompt_item(turn(2))),
        said("two"),
    );
    stage.end(turn(2), TurnOutcome::Cancelled);
    stage.accept(&close, Accepted::Done {});
    assert_eq!(stage.update().await, super::idle("cancelled"));
    assert_eq!(stage.error(3).await.0, -32800);
    assert_eq!(stage.result(4).await, json!({}));
    stage.happen_in(Some(turn(3)), None, started());
    stage.quiet().await;
    stage
        .ask_about(
            5,
            "session/prompt",
            json!({"prompt": [{"type": "text", "text": "hi"}]}),
        )
        .await;
    assert_eq!(stage.error(5).await, (-32002, json!({"sessionId": S})));
}

#[tokio::test]
async fn two_sessions_do_not_mix() {
    let mut stage = with_turn(json!({})).await;
    let other = crate::harness::OTHER;
    stage.request(9, "session/new", json!({"cwd": "/w"})).await;
    let new = stage.submitted().await;
    let mut view = view();
    view.session = other.parse().unwrap();
    stage.accept(&new, Accepted::Session(Box::new(view)));
    stage.result(9).await;
    stage.end(turn(1), TurnOutcome::Completed);
    assert_eq!(stage.update().await, super::idle("end_turn"));
    stage
        .request(10, "session/close", json!({"sessionId": other}))
        .await;
    let close = stage.submitted().await;
    assert_eq!(close.session, Some(other.parse().unwrap()));
}

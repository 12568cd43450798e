//! Compactions: asked for by a command, told to who offered it.

use serde_json::{Value, json};
use sessiond_protocol::{
    Accepted, AgentInfo, Command, Compaction, Cursor, ErrorCode, Event, Item, Op, Queued,
    SessionView, Stretch, TurnOutcome, WireError,
};

use crate::events::ended_item;
use crate::harness::{S, Stage, item, turn, view};
use crate::replay::{load, loaded, replayed};

/// A summary takes the place of what was said.
pub(crate) fn summed_up(summary: &str) -> Event {
    ended_item(Item::Compaction(Box::new(Compaction {
        summary: summary.into(),
        covers: Stretch {
            from: Cursor(1),
            to: Cursor(5),
        },
        window: 1,
        digest: String::new(),
    })))
}

/// How it is shown to who offered it, in both versions.
pub(crate) fn shown(summary: &str) -> Value {
    json!({"sessionUpdate": "compaction_update", "compactionId": item(1), "status": "completed",
        "summary": [{"type": "text", "text": summary}]})
}

/// A session whose agent the engine can ask for a summary.
pub(crate) fn compacting_view() -> SessionView {
    let agent = AgentInfo {
        commands: vec![Command::compaction()],
        ..view().agent
    };
    SessionView { agent, ..view() }
}

/// The prompt that asks for one.
pub(crate) fn command() -> Value {
    json!({"sessionId": S, "prompt": [{"type": "text", "text": "/compact"}]})
}

async fn compacting(capabilities: Value) -> Stage {
    let mut stage = Stage::initialized(capabilities).await;
    let params = json!({"cwd": "/w", "mcpServers": []});
    stage.request(1, "session/new", params).await;
    let new = stage.submitted().await;
    stage.accept(&new, Accepted::Session(Box::new(compacting_view())));
    stage.told().await;
    let commands = stage.update().await;
    assert_eq!(commands["availableCommands"][0]["name"], "compact");
    stage
}

/// CTX-2: live and replayed; who does not know compactions is told in words that are nobody's.
#[tokio::test]
async fn a_compaction_is_told_to_who_offered_it_and_marked_for_all_others() {
    let mark = json!({"sessionUpdate": "agent_message_chunk",
        "_meta": {"sessiond": {"marker": "compacted"}},
        "content": {"type": "text",
            "text": "[Compacted: the agent goes on from a summary of what was said before.]"}});
    for (capabilities, expected) in [
        (json!({}), mark),
        (json!({"session": {"compaction": {}}}), shown("so far")),
    ] {
        let mut stage = Stage::initialized(capabilities.clone()).await;
        let load = load(&mut stage).await;
        stage.happen(Some(item(1)), summed_up("so far"));
        loaded(&mut stage, &load).await;
        assert_eq!(replayed(&mut stage).await, std::slice::from_ref(&expected));
        let mut stage = Stage::with_turn(capabilities).await;
        stage.happen(Some(item(1)), summed_up("so far"));
        assert_eq!(stage.update().await, expected);
        stage.quiet().await;
    }
}

#[tokio::test]
async fn the_command_alone_asks_the_engine_and_is_answered_when_the_compaction_has_ended() {
    let mut stage = compacting(json!({"session": {"compaction": {}}})).await;
    stage.request(2, "session/prompt", command()).await;
    let compact = stage.submitted().await;
    assert_eq!(compact.op, Op::SessionCompact {});
    stage.accept(&compact, Accepted::Turn { turn: turn(1) });
    // acp.md 5.3: the commands are told again, once.
    stage.update().await;
    stage.happen(Some(item(1)), summed_up("so far"));
    stage.end(turn(1), TurnOutcome::Completed);
    assert_eq!(stage.update().await, shown("so far"));
    assert_eq!(stage.result_of_prompt(2).await, "end_turn");
}

#[tokio::test]
async fn a_command_of_that_name_that_is_the_agents_own_goes_to_it() {
    let mut stage = Stage::with_session(json!({})).await;
    stage.request(2, "session/prompt", command()).await;
    assert!(matches!(stage.op().await, Op::TurnStart { .. }));
}

#[tokio::test]
async fn a_compaction_that_is_refused_or_stopped_says_so() {
    let mut stage = compacting(json!({})).await;
    stage.request(2, "session/prompt", command()).await;
    let compact = stage.submitted().await;
    let busy = WireError::new(ErrorCode::Busy, "a turn is running or waits");
    stage.refuse(&compact, busy);
    assert_eq!(stage.error(2).await, (4001, Value::Null));
    stage.request(3, "session/prompt", command()).await;
    let compact = stage.submitted().await;
    stage.accept(&compact, Accepted::Turn { turn: turn(1) });
    stage.update().await;
    let cancelled = json!({"requestId": 3});
    stage.notify("$/cancel_request", cancelled).await;
    let interrupt = Op::TurnInterrupt {
        turn: Some(turn(1)),
        queued: Queued::Keep,
    };
    assert_eq!(stage.op().await, interrupt);
    stage.end(turn(1), TurnOutcome::Cancelled);
    assert_eq!(stage.result_of_prompt(3).await, "cancelled");
}

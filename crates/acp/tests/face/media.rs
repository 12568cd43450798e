//! Pictures and sounds that an agent says: shown whole, live and replayed, in both versions.

use serde_json::{Value, json};
use sessiond_acp::Versions;
use sessiond_protocol::{Accepted, Content, Cursor, Event, ItemKind, TurnOutcome};

use crate::events::{delta, ended_item, message, started};
use crate::harness::{S, Stage, item, turn, view};
use crate::replay::{load, loaded, replayed};

/// A block with a member that nobody here knows (WIRE-2), and how a client gets it.
fn picture(data: &str) -> (Content, Value) {
    let shown = json!({"type": "image", "data": data, "mimeType": "image/png",
        "uri": "file:///p.png"});
    (serde_json::from_value(shown.clone()).unwrap(), shown)
}

fn sound() -> (Content, Value) {
    let shown = json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"});
    (serde_json::from_value(shown.clone()).unwrap(), shown)
}

fn chunk(voice: &str, id: u8, content: &Value) -> Value {
    json!({"sessionUpdate": voice, "messageId": item(id).to_string(), "content": content})
}

fn said(kind: ItemKind, content: &Content) -> Event {
    let content = content.clone();
    Event::ItemContent { kind, content }
}

/// ADAPT-6, RESUME-10
#[tokio::test]
async fn what_an_agent_shows_is_shown_live_and_by_each_load_as_it_was() {
    let ((picture, picture_shown), (sound, sound_shown)) = (picture("AAAA"), sound());
    let expected = [
        chunk("agent_message_chunk", 1, &picture_shown),
        chunk("agent_thought_chunk", 2, &sound_shown),
    ];
    let mut stage = Stage::with_turn(json!({})).await;
    stage.happen(Some(item(1)), said(ItemKind::AgentMessage, &picture));
    stage.happen(Some(item(2)), said(ItemKind::Thought, &sound));
    for expected in &expected {
        assert_eq!(stage.update().await, *expected);
    }
    let mut stage = Stage::initialized(json!({})).await;
    let load = load(&mut stage).await;
    stage.happen(Some(item(1)), said(ItemKind::AgentMessage, &picture));
    stage.happen(Some(item(2)), said(ItemKind::Thought, &sound));
    loaded(&mut stage, &load).await;
    assert_eq!(replayed(&mut stage).await, expected);
}

/// A picture stands where it was said, also behind text that is still open in a replay.
#[tokio::test]
async fn a_picture_stands_between_the_texts_around_it() {
    let (picture, shown) = picture("AAAA");
    let mut stage = Stage::initialized(json!({})).await;
    let load = load(&mut stage).await;
    stage.passing(Some(item(1)), started(message("")));
    stage.passing(Some(item(1)), delta(0, "look"));
    stage.happen(Some(item(1)), ended_item(message("look")));
    stage.happen(Some(item(2)), said(ItemKind::AgentMessage, &picture));
    stage.happen(Some(item(3)), ended_item(message("so")));
    loaded(&mut stage, &load).await;
    let text = |id, text: &str| {
        let content = json!({"type": "text", "text": text});
        chunk("agent_message_chunk", id, &content)
    };
    let expected = [
        text(1, "look"),
        chunk("agent_message_chunk", 2, &shown),
        text(3, "so"),
    ];
    assert_eq!(replayed(&mut stage).await, expected);
}

/// The same picture by the rules of version 2.
#[tokio::test]
async fn version_2_shows_it_live_and_replayed() {
    let (picture, shown) = picture("AAAA");
    let expected = chunk("agent_message_chunk", 1, &shown);
    let mut stage = Stage::speaking(Versions::Auto, 2).await;
    let info = json!({"name": "client", "version": "1"});
    let params = json!({"protocolVersion": 2, "info": info});
    stage.request(0, "initialize", params).await;
    stage.result(0).await;
    let params = json!({"sessionId": S, "cwd": "/w", "replayFrom": {"type": "start"}});
    stage.request(1, "session/resume", params).await;
    let resume = stage.submitted().await;
    stage.happen(Some(item(1)), said(ItemKind::AgentMessage, &picture));
    stage.end(turn(1), TurnOutcome::Completed);
    let mut all = view();
    all.cursor = Cursor(2);
    all.turn = Some(turn(2));
    stage.accept(&resume, Accepted::Session(Box::new(all)));
    assert_eq!(stage.update().await, expected);
    let complete = json!({"sessionUpdate": "replay_complete"});
    assert_eq!(stage.update().await, complete);
    let running = json!({"sessionUpdate": "state_update", "state": "running"});
    assert_eq!(stage.update().await, running);
    stage.result(1).await;
    let live = said(ItemKind::AgentMessage, &picture);
    stage.happen_in(Some(turn(2)), Some(item(1)), live);
    assert_eq!(stage.update().await, expected);
}

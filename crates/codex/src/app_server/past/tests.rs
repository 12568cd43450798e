use serde_json::{Value, json};
use sessiond_protocol::{Cursor, EventFrame, SessionId, TurnId};
use uuid::Uuid;

use super::{ItemsView, Past};

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// A log: each event with its turn and item.
fn past(events: &[(Value, u128, u128)]) -> Past {
    let mut past = Past::default();
    for (at, (event, turn, item)) in events.iter().enumerate() {
        let mut frame = json!({
            "session": id(1), "cursor": at + 1, "at": format!("2026-01-01T00:00:{at:02}Z"),
            "event": event,
        });
        if *turn > 0 {
            frame["turn"] = json!(id(*turn));
        }
        if *item > 0 {
            frame["item"] = json!(id(*item));
        }
        let frame: EventFrame =
            serde_json::from_value(frame).unwrap_or_else(|error| panic!("{event}: {error}"));
        past.apply(&frame);
    }
    past
}

fn opened() -> (Value, u128, u128) {
    let event = json!({
        "type": "session.opened", "start": "new", "id": id(1), "format": 1, "program": "p",
        "source": "codex-app-server", "cwd": "/w", "agent": {"name": "script", "version": null},
        "model": null, "instructions": null, "mode": "ask", "principal": null,
        "workspace": {"root": null, "repository": null, "worktree": null, "branch": null},
        "parent": null,
    });
    (event, 0, 0)
}

fn started(turn: u128) -> (Value, u128, u128) {
    let config = json!({"agent": "script", "version": null, "model": null, "mode": null,
        "cwd": "/w", "policy": 0});
    (
        json!({"type": "turn.started", "base": 1, "config": config}),
        turn,
        0,
    )
}

fn said(turn: u128, text: &str) -> (Value, u128, u128) {
    let content = json!([{"type": "text", "text": text}]);
    let item = json!({"type": "user_message", "content": content});
    (
        json!({"type": "item.ended", "item": item}),
        turn,
        turn.max(90),
    )
}

fn ended(turn: u128, outcome: &str) -> (Value, u128, u128) {
    let event = json!({"type": "turn.ended", "outcome": outcome, "stop": null, "bookmark": 0});
    (event, turn, 0)
}

fn shape(past: &Past) -> Vec<(String, String)> {
    let turns = past.turns().map(|turn| turn.json(ItemsView::Full));
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    turns
        .map(|turn| {
            (
                word(&turn["status"]),
                word(&turn["items"][0]["content"][0]["text"]),
            )
        })
        .collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let own = |(status, text): &(&str, &str)| ((*status).to_owned(), (*text).to_owned());
    pairs.iter().map(own).collect()
}

#[test]
fn turns_have_their_items_and_ends() {
    let mut past = past(&[
        opened(),
        started(2),
        said(2, "one"),
        ended(2, "completed"),
        started(3),
        said(3, "two"),
        ended(3, "cancelled"),
        started(4),
        said(4, "three"),
    ]);
    past.settle(SessionId::new(id(1)), Some(TurnId::new(id(4))));
    let wanted = [
        ("completed", "one"),
        ("interrupted", "two"),
        ("inProgress", "three"),
    ];
    assert_eq!(shape(&past), pairs(&wanted));
    assert_eq!(past.preview(), "one");
    assert_eq!(past.before(&id(3).to_string()), Some(Cursor(4)));
    assert_eq!(past.before(&id(2).to_string()), Some(Cursor(1)));
    assert_eq!(past.before("none"), None);
}

/// RESUME-6: what a dead process left open is shown as its end would be.
#[test]
fn a_turn_that_nobody_runs_is_interrupted() {
    let mut past = past(&[opened(), started(2), said(2, "one")]);
    past.settle(SessionId::new(id(1)), None);
    assert_eq!(shape(&past), pairs(&[("interrupted", "one")]));
}

/// CKPT-2
#[test]
fn what_was_rewound_or_cleared_away_is_not_shown() {
    let rewind = json!({"type": "marker", "marker": "rewind", "to": 4, "ran": 0,
        "kept": [{"from": 1, "to": 4}]});
    let mut events = vec![
        opened(),
        started(2),
        said(2, "one"),
        ended(2, "completed"),
        started(3),
        said(3, "two"),
        ended(3, "completed"),
        (rewind, 0, 0),
        started(4),
        said(4, "three"),
        ended(4, "completed"),
    ];
    let seen = shape(&past(&events));
    assert_eq!(seen, pairs(&[("completed", "one"), ("completed", "three")]));
    events.push((json!({"type": "marker", "marker": "clear"}), 0, 0));
    events.push(started(5));
    events.push(said(5, "four"));
    let past = past(&events);
    assert_eq!(shape(&past), pairs(&[("inProgress", "four")]));
    assert_eq!(past.before(&id(5).to_string()), Some(Cursor(11)));
}

#[test]
fn what_was_appended_without_a_turn_is_shown_as_turns() {
    let (mut first, mut second) = (said(0, "one"), said(0, "two"));
    (first.2, second.2) = (91, 93);
    let answer = json!({"type": "item.ended", "item": {"type": "agent_message", "text": "a"}});
    let past = past(&[
        opened(),
        first,
        (answer.clone(), 0, 92),
        second,
        (answer, 0, 94),
    ]);
    assert_eq!(
        shape(&past),
        pairs(&[("completed", "one"), ("completed", "two")])
    );
    let items: Vec<_> = past.turns().map(|turn| turn.items.len()).collect();
    assert_eq!(items, [2, 2]);
}

use sessiond_protocol::{
    Cursor, Event, EventFrame, Item, ItemId, ItemKind, SessionId, ToolCall, ToolStatus, TurnConfig,
    TurnId,
};
use uuid::Uuid;

use super::{Conversation, Life, one_line};

const SESSION: SessionId = SessionId::new(Uuid::from_u128(1));
const TURN: TurnId = TurnId::new(Uuid::from_u128(2));

/// Durable events of one turn, from cursor 1.
fn frames(events: Vec<(u128, Event)>) -> Vec<EventFrame> {
    let frame = |(index, (item, event)): (usize, (u128, Event))| EventFrame {
        session: SESSION,
        cursor: Some(Cursor(index as u64 + 1)),
        turn: Some(TURN),
        item: Some(ItemId::new(Uuid::from_u128(item))),
        cause: None,
        at: None,
        event,
    };
    events.into_iter().enumerate().map(frame).collect()
}

/// A turn that a process left in the middle of a sentence and of a tool call.
fn open_turn() -> Vec<EventFrame> {
    let config = TurnConfig {
        agent: "script".into(),
        version: None,
        model: None,
        mode: None,
        cwd: "/w".into(),
        permission: None,
        policy: 0,
    };
    let call = ToolCall {
        title: "Run `make`".into(),
        status: ToolStatus::Running,
        ..ToolCall::default()
    };
    let kind = ItemKind::AgentMessage;
    frames(vec![
        (
            9,
            Event::TurnStarted {
                base: Cursor(1),
                config,
                keyed: None,
            },
        ),
        (
            10,
            Event::ItemStarted {
                item: Item::ToolCall(Box::new(call)),
            },
        ),
        (
            11,
            Event::ItemPartial {
                kind,
                offset: 0,
                text: "half a sen".into(),
            },
        ),
    ])
}

/// RESUME-6
#[test]
fn what_a_dead_process_left_open_is_marked() {
    let text = Conversation::new(SESSION, Life::Resting, open_turn()).to_string();
    assert!(
        text.contains("tool       Run `make` [outcome unknown]"),
        "{text}"
    );
    assert!(
        text.contains("agent      half a sen [interrupted]"),
        "{text}"
    );
    assert!(text.contains("turn       interrupted:"), "{text}");
}

#[test]
fn what_another_process_is_doing_is_shown_as_under_way() {
    let life = Life::Held("process 7 on here".into());
    let text = Conversation::new(SESSION, life, open_turn()).to_string();
    assert!(
        text.contains("open now, held by process 7 on here"),
        "{text}"
    );
    assert!(text.contains("tool       Run `make` [running]"), "{text}");
    assert!(text.contains("agent      half a sen [streaming]"), "{text}");
    assert!(!text.contains("interrupted"), "{text}");
}

#[test]
fn provisional_events_follow_the_recorded_ones() {
    let frames = Conversation::new(SESSION, Life::Resting, open_turn()).into_frames();
    let cursors: Vec<bool> = frames.iter().map(|frame| frame.cursor.is_some()).collect();
    assert_eq!(cursors, [true, true, true, false, false, false]);
}

/// SEC-1
#[test]
fn nothing_shown_can_steer_a_terminal() {
    assert_eq!(one_line("a\u{1b}[31m\n b\u{7}"), "a\u{fffd}[31m b\u{fffd}");
}

//! What clients change of the conversation, between its turns.

use sessiond_protocol::{
    Content, ContextStart, Course, Cursor, Event, EventFrame, Finish, IfBusy, Item, Marker, Op,
    Standing, Stop, ToolCall, ToolContent, ToolStatus, limits,
};

use super::{
    attest::{arrive, attested},
    bench::{Bench, CLIENT, STRANGER},
    ops::{clear, close, rename, start},
};
use crate::core::{Cause, ConnId, Input};

/// A client wants to go back; the course is that of the log.
fn rewind_by(bench: &mut Bench, conn: ConnId, to: u64) -> Vec<String> {
    let mut course = Course::default();
    bench.log().iter().for_each(|frame| course.apply(frame));
    bench.take(Input::Rewind {
        cause: Cause {
            conn,
            id: "back".to_owned().try_into().unwrap(),
        },
        to: Cursor(to),
        course: Box::new(course),
    })
}

fn rewind(bench: &mut Bench, to: u64) -> Vec<String> {
    rewind_by(bench, CLIENT, to)
}

fn turn(bench: &mut Bench, text: &str) -> u64 {
    bench.submit(text, start(text, IfBusy::Reject));
    bench.done(Stop::EndTurn);
    bench.log().len() as u64
}

fn standing(bench: &Bench) -> Standing {
    let mut standing = Standing::default();
    bench.log().iter().for_each(|frame| standing.apply(frame));
    standing
}

const REWOUND: [&str; 4] = [
    "!drop",
    "append synced: marker",
    "event marker",
    "receipt back done",
];

/// CKPT-2: synced before the receipt, with the agent gone, and the next turn names the marker.
#[test]
fn a_rewind_drops_the_agent_and_is_the_base_of_the_next_turn() {
    let mut bench = Bench::attached();
    let first = turn(&mut bench, "one");
    turn(&mut bench, "two");
    bench.submit("t", rename("Mine"));
    assert_eq!(rewind(&mut bench, first), REWOUND);
    let marker = standing(&bench).cursor;
    assert_eq!(bench.title(), Some("Mine"));
    turn(&mut bench, "three");
    let base = |frame: &EventFrame| match frame.event {
        Event::TurnStarted { base, .. } => Some(base),
        _ => None,
    };
    let bases: Vec<_> = bench.log().iter().filter_map(base).collect();
    assert_eq!(bases, [Cursor(1), Cursor(1), marker]);
}

/// CKPT-2: who may not, and when not.
#[test]
fn a_rewind_is_refused_under_a_turn_to_no_bookmark_and_to_who_looks_on() {
    let mut bench = Bench::attached();
    let first = turn(&mut bench, "one");
    assert_eq!(rewind(&mut bench, first - 1), ["receipt back invalid"]);
    assert_eq!(rewind(&mut bench, first + 1), ["receipt back invalid"]);
    bench.take(Input::Viewed { conn: STRANGER });
    let viewer = rewind_by(&mut bench, STRANGER, first);
    assert_eq!(viewer, ["receipt back view_only"]);
    bench.submit("two", start("two", IfBusy::Reject));
    assert_eq!(rewind(&mut bench, first), ["receipt back busy"]);
    bench.done(Stop::EndTurn);
    assert_eq!(rewind(&mut bench, first), REWOUND);
    bench.submit("close", close());
    assert_eq!(rewind(&mut bench, first), ["receipt back not_found"]);
}

/// LOG-17: what a dead process left open is recorded first, and is left behind then.
#[test]
fn a_rewind_after_a_kill_leaves_behind_what_was_open() {
    let mut bench = Bench::attached();
    let first = turn(&mut bench, "one");
    bench.submit("two", start("two", IfBusy::Reject));
    let call = bench.start_call("run");
    let mut bench = bench.killed();
    let rewound = rewind(&mut bench, first);
    assert_eq!(rewound[1], "append synced: item.ended turn.ended marker");
    let Some(Event::Marker(Marker::Rewind { ran, calls, .. })) =
        bench.log().last().map(|frame| &frame.event)
    else {
        panic!("a rewind is recorded last");
    };
    assert_eq!((*ran, calls.as_slice()), (1, &[call][..]), "CKPT-3");
}

/// RESUME-1, RESUME-5: a context is empty where nothing of the conversation is in force.
#[test]
fn a_resume_says_whether_a_rewind_left_anything_to_resume() {
    type Step = fn(&mut Bench);
    let back: Step = |bench| drop(rewind(bench, 5));
    let beginning: Step = |bench| drop(rewind(bench, 1));
    let cleared: Step = |bench| drop(bench.submit("c", clear()));
    let mark: Step = |bench| {
        let newest = standing(bench).cursor.0;
        rewind(bench, newest);
    };
    for (steps, start) in [
        (&[][..], ContextStart::Resumed),
        (&[back], ContextStart::Resumed),
        (&[back, mark], ContextStart::Resumed),
        (&[beginning], ContextStart::Cleared),
        (&[beginning, mark], ContextStart::Cleared),
        (&[cleared], ContextStart::Cleared),
        (&[cleared, mark], ContextStart::Cleared),
        (&[cleared, back], ContextStart::Resumed),
    ] {
        let mut bench = Bench::attached();
        turn(&mut bench, "one");
        assert!(bench.log().len() >= 5);
        turn(&mut bench, "two");
        for step in steps {
            step(&mut bench);
        }
        let mut bench = bench.killed();
        arrive(&mut bench, Vec::new());
        bench.submit("r", rename("so that it is recorded"));
        assert_eq!(attested(&bench)[0].start, start);
    }
}

fn user(text: &str) -> Item {
    let content = vec![Content::text(text)];
    Item::UserMessage { content }
}

fn agent(text: &str) -> Item {
    let (text, finish) = (text.into(), Finish::Whole);
    Item::AgentMessage { text, finish }
}

fn call(status: ToolStatus, content: Vec<ToolContent>) -> Item {
    Item::ToolCall(Box::new(ToolCall {
        status,
        content,
        ..ToolCall::default()
    }))
}

fn append(items: Vec<Item>) -> Op {
    Op::SessionAppend { items }
}

/// LOG-5, SQEQ-1: synced before the receipt, under the submission that caused them, with ids of
/// their own; and a place to go back to, at which nothing has run.
#[test]
fn appended_items_are_stored_before_the_receipt_and_open_the_agent_anew() {
    let mut bench = Bench::attached();
    let items = vec![
        user("one"),
        agent("two"),
        call(ToolStatus::Completed, Vec::new()),
    ];
    assert_eq!(
        bench.submit("a", append(items)),
        [
            "!drop",
            "append synced: item.ended item.ended item.ended session.changed",
            "event item.ended",
            "event item.ended",
            "event item.ended",
            "event session.changed",
            "receipt a done"
        ]
    );
    assert_eq!(bench.title(), Some("one"));
    let (log, standing) = (bench.log(), standing(&bench));
    let ids: std::collections::HashSet<_> = log[1..4].iter().filter_map(|f| f.item).collect();
    assert_eq!(ids.len(), 3);
    for frame in &log[1..4] {
        assert_eq!(frame.turn, None);
        assert_eq!(frame.cause.as_ref().map(|cause| cause.as_str()), Some("a"));
    }
    assert_eq!(standing.bookmark, Cursor(4));
    assert!(!standing.is_blank());
    turn(&mut bench, "three");
    assert_eq!(rewind(&mut bench, 3), REWOUND);
    assert_eq!(rewind(&mut bench, 1), REWOUND);
    let Some(Event::Marker(Marker::Rewind { ran, .. })) = bench.log().last().map(|f| &f.event)
    else {
        panic!("a rewind is recorded last");
    };
    assert_eq!(*ran, 0, "what was appended did not run here");
}

/// Whole items only, between turns, by who controls.
#[test]
fn what_cannot_be_appended_is_refused_with_its_place_and_nothing_is_stored() {
    let terminal = ToolContent::Terminal {
        terminal: "t".into(),
    };
    let plan = Item::Plan {
        entries: Vec::new(),
    };
    let empty = Item::UserMessage {
        content: Vec::new(),
    };
    for (items, pointer) in [
        (Vec::new(), "/op/items"),
        (vec![user("x"); limits::APPENDED_ITEMS + 1], "/op/items"),
        (vec![user("x"), empty], "/op/items/1"),
        (vec![call(ToolStatus::Running, Vec::new())], "/op/items/0"),
        (
            vec![call(ToolStatus::Completed, vec![terminal])],
            "/op/items/0",
        ),
        (vec![plan], "/op/items/0"),
    ] {
        let mut bench = Bench::attached();
        let refused = bench.submit("a", append(items));
        assert_eq!(refused, ["receipt a invalid"], "{pointer}");
        assert_eq!(bench.pointer(), Some(pointer));
    }
    let mut bench = Bench::attached();
    bench.submit("s", start("go", IfBusy::Reject));
    assert_eq!(
        bench.submit("a", append(vec![user("x")])),
        ["receipt a busy"]
    );
    let mut bench = Bench::lean();
    let thought = Item::Thought {
        text: "hm".into(),
        finish: Finish::Whole,
    };
    let appended = bench.submit("a", append(vec![thought, agent("x")]));
    assert_eq!(appended[1], "append synced: item.ended", "LOG-8");
}

//! The course of a conversation: what is in force after clears and rewinds, and what they leave.

#![expect(
    clippy::unwrap_used,
    reason = "clippy sees tests only in functions marked so; all of this is tests"
)]

use std::collections::BTreeMap;

use sessiond_protocol::{
    Content, Course, Cursor, Event, EventFrame, Finish, History, Item, ItemId, Marker, NoBookmark,
    SessionChanged, SessionId, Standing, Stop, ToolCall, ToolKind, ToolStatus, TurnConfig,
    TurnEnded, TurnId, TurnOutcome, limits,
};
use uuid::Uuid;

/// A log and what folds it.
#[derive(Clone, Default)]
struct Log {
    frames: Vec<EventFrame>,
    course: Course,
    standing: Standing,
    history: History,
    ids: u128,
}

impl Log {
    fn new() -> Self {
        let mut log = Self::default();
        let header = serde_json::json!({"type": "session.opened", "start": "new",
            "id": session(), "format": 1, "program": "p", "source": "s", "cwd": "/w",
            "agent": {"name": "a", "version": null}, "model": null, "instructions": null,
            "mode": null, "principal": null, "workspace": {"root": null, "repository": null,
            "worktree": null, "branch": null}, "parent": null});
        log.happens((None, None), serde_json::from_value(header).unwrap());
        log
    }

    fn id(&mut self) -> Uuid {
        self.ids += 1;
        Uuid::from_u128(self.ids)
    }

    fn happens(&mut self, (turn, item): (Option<TurnId>, Option<ItemId>), event: Event) -> Cursor {
        let cursor = Cursor(self.frames.len() as u64 + 1);
        let frame = EventFrame {
            turn,
            item,
            cursor: Some(cursor),
            ..EventFrame::new(session(), event)
        };
        self.course.apply(&frame);
        self.standing.apply(&frame);
        self.history.apply(frame.clone());
        self.frames.push(frame);
        cursor
    }

    fn begin(&mut self) -> TurnId {
        let turn = TurnId::new(self.id());
        let config = TurnConfig {
            agent: "a".into(),
            version: None,
            model: None,
            mode: None,
            cwd: "/w".into(),
            permission: None,
            policy: 0,
        };
        let (base, keyed) = (self.standing.base, None);
        let started = Event::TurnStarted {
            base,
            config,
            keyed,
        };
        self.happens((Some(turn), None), started);
        turn
    }

    fn says(&mut self, turn: TurnId, text: &str) {
        let item = Item::AgentMessage {
            text: text.into(),
            finish: Finish::Whole,
        };
        let id = ItemId::new(self.id());
        self.happens((Some(turn), Some(id)), Event::ItemEnded { item });
    }

    fn call(&mut self, turn: TurnId, kind: ToolKind, statuses: &[ToolStatus]) -> ItemId {
        let id = ItemId::new(self.id());
        let place = (Some(turn), Some(id));
        let call = |status| {
            Box::new(ToolCall {
                kind,
                status,
                ..ToolCall::default()
            })
        };
        let item = Item::ToolCall(call(ToolStatus::Pending));
        self.happens(place, Event::ItemStarted { item });
        for status in statuses {
            let event = if status.is_final() {
                let item = Item::ToolCall(call(*status));
                Event::ItemEnded { item }
            } else {
                let call = call(*status);
                Event::ItemChanged { call }
            };
            self.happens(place, event);
        }
        id
    }

    fn end(&mut self, turn: TurnId) -> Cursor {
        let ended = TurnEnded {
            outcome: TurnOutcome::Completed,
            stop: Some(Stop::EndTurn),
            usage: None,
            bookmark: Cursor::START,
            error: None,
        };
        self.happens((Some(turn), None), Event::TurnEnded(ended))
    }

    fn turn(&mut self, text: &str) -> Cursor {
        let turn = self.begin();
        self.says(turn, text);
        self.end(turn)
    }

    fn back(&mut self, to: Cursor) -> Cursor {
        let marker = self.course.rewind(to).unwrap();
        self.happens((None, None), Event::Marker(marker))
    }

    fn clear(&mut self) -> Cursor {
        self.happens((None, None), Event::Marker(Marker::Clear {}))
    }
}

fn session() -> SessionId {
    SessionId::new(Uuid::from_u128(7))
}

fn texts<'a>(frames: impl IntoIterator<Item = &'a EventFrame>) -> Vec<String> {
    let text = |frame: &EventFrame| match &frame.event {
        Event::ItemEnded {
            item: Item::AgentMessage { text, .. },
        } => Some(text.clone()),
        _ => None,
    };
    frames.into_iter().filter_map(text).collect()
}

fn remembered(history: &History) -> Vec<String> {
    let text = |item: &Item| match item {
        Item::AgentMessage { text, .. } => Some(text.clone()),
        _ => None,
    };
    history
        .items()
        .filter_map(|item| text(&item.item))
        .collect()
}

/// Every way of some steps on: turns, clears, and rewinds to each bookmark that there is. What is
/// in force is what it was at the bookmark, and what came since.
fn every_course(log: &Log, known: &BTreeMap<Cursor, Vec<String>>, steps: usize) -> usize {
    let in_force = &known[&log.standing.bookmark];
    assert_eq!(remembered(&log.history), *in_force);
    let held = log.standing.in_force();
    let shown = log.frames.iter().filter(|frame| held.shows(frame));
    assert_eq!(texts(shown), *in_force);
    // Who takes up a checkpoint, and who reads only what is in force, knows the same.
    let mut later = Standing::default();
    let checkpoint = EventFrame {
        cursor: Some(log.standing.cursor.next()),
        ..EventFrame::new(session(), Event::Marker(log.standing.checkpoint()))
    };
    later.apply(&checkpoint);
    assert_eq!(later.in_force(), held);
    let mut part = History::default();
    let read = log
        .frames
        .iter()
        .filter(|f| held.contains(f.cursor.unwrap()));
    read.for_each(|frame| part.apply(frame.clone()));
    assert_eq!(remembered(&part), *in_force);
    if steps == 0 {
        return 1;
    }
    let mut courses = 0;
    let mut go_on = |next: &dyn Fn(&mut Log) -> Cursor, then: Vec<String>| {
        let (mut log, mut known) = (log.clone(), known.clone());
        known.insert(next(&mut log), then);
        courses += every_course(&log, &known, steps - 1);
    };
    let said = format!("said {}", log.frames.len());
    let more = in_force.iter().cloned().chain([said.clone()]).collect();
    go_on(&|log| log.turn(&said), more);
    go_on(&|log| log.clear(), Vec::new());
    for (bookmark, then) in known {
        go_on(&|log| log.back(*bookmark), then.clone());
    }
    courses
}

/// RESUME-1, CKPT-2, CTX-8: originals stay places to go back to, whatever was left behind.
#[test]
fn every_course_of_five_steps_is_in_force_as_it_was_at_its_bookmarks() {
    let log = Log::new();
    let known = BTreeMap::from([(log.standing.bookmark, Vec::new())]);
    let courses = every_course(&log, &known, 5);
    assert_eq!(courses, 3 * 4 * 5 * 6 * 7);
}

/// CKPT-2: to nothing but a bookmark, and the error says which is near.
#[test]
fn what_is_no_bookmark_is_refused_with_the_nearest_one_before() {
    let mut log = Log::new();
    let header = Cursor(1);
    let first = log.turn("one");
    let clear = log.clear();
    let turn = log.begin();
    log.says(turn, "two");
    // The end of a turn that waited, while another one is active.
    let other = TurnId::new(log.id());
    let inside = log.end(other);
    let second = log.end(turn);
    let back = log.back(first);
    for (at, before) in [
        (0, None),
        (2, Some(header)),
        (clear.0 + 1, Some(clear)),
        (inside.0, Some(clear)),
        (back.0 + 1, Some(back)),
        (u64::MAX, Some(back)),
    ] {
        let at = Cursor(at);
        assert_eq!(log.course.rewind(at), Err(NoBookmark { at, before }));
    }
    for bookmark in [header, first, clear, second, back] {
        assert!(log.course.rewind(bookmark).is_ok(), "{bookmark}");
    }
    assert_eq!(
        log.course.rewind(inside).unwrap_err().to_string(),
        format!("event {inside} is no bookmark; the nearest one before it is {clear}")
    );
}

/// CKPT-3: what tools did stays done, and the marker says that they ran.
#[test]
fn a_rewind_notes_the_calls_that_ran_in_what_it_leaves_behind() {
    use ToolStatus::{Cancelled, Completed, Failed, Running, Unknown};
    let mut log = Log::new();
    let turn = log.begin();
    log.call(turn, ToolKind::Execute, &[Running, Completed]);
    let kept = log.end(turn);
    let turn = log.begin();
    let ran = [
        log.call(turn, ToolKind::Execute, &[Running, Completed]),
        log.call(turn, ToolKind::Edit, &[Completed]),
        log.call(turn, ToolKind::Other, &[Running, Cancelled]),
        log.call(turn, ToolKind::Delete, &[Failed]),
        log.call(turn, ToolKind::Fetch, &[Unknown]),
    ];
    for (kind, statuses) in [
        (ToolKind::Execute, &[Cancelled][..]),
        (ToolKind::Read, &[Running, Completed]),
        (ToolKind::Search, &[Completed]),
    ] {
        log.call(turn, kind, statuses);
    }
    let second = log.end(turn);
    let noted = |log: &Log, to| match log.course.rewind(to) {
        Ok(Marker::Rewind { ran, calls, .. }) => (ran, calls),
        other => panic!("{other:?}"),
    };
    assert_eq!(noted(&log, kept), (5, ran.to_vec()));
    assert_eq!(noted(&log, second), (0, Vec::new()));
    log.back(kept);
    assert_eq!(noted(&log, Cursor(1)).0, 1, "the others are left already");
    // A call that nothing closed yet, as after a kill, may have run.
    let turn = log.begin();
    let open = log.call(turn, ToolKind::Execute, &[]);
    assert_eq!(noted(&log, kept), (1, vec![open]));
    for _ in 0..limits::NOTED_CALLS {
        log.call(turn, ToolKind::Execute, &[Completed]);
    }
    let (ran, calls) = noted(&log, kept);
    assert_eq!(ran as usize, limits::NOTED_CALLS + 1);
    assert_eq!(calls.len(), limits::NOTED_CALLS);
}

/// CKPT-2: title and mode stay as they are, and a prompt that waited at a bookmark waits no more.
#[test]
fn who_is_shown_the_conversation_is_shown_changes_of_the_session_and_no_queue() {
    let mut log = Log::new();
    let turn = log.begin();
    let waits = TurnId::new(log.id());
    let queued = Event::TurnQueued {
        input: vec![Content::text("later")],
        place: Default::default(),
        keyed: None,
    };
    log.happens((Some(waits), None), queued);
    let first = log.end(turn);
    let config = log.begin();
    let title = SessionChanged {
        title: Some("Named since".into()),
        ..Default::default()
    };
    log.happens((None, None), Event::SessionChanged(title));
    log.end(config);
    log.back(first);
    let held = log.standing.in_force();
    let shown = log.frames.iter().filter(|frame| held.shows(frame));
    let kinds: Vec<_> = shown.map(|frame| frame.event.kind()).collect();
    assert_eq!(
        kinds,
        [
            "session.opened",
            "turn.started",
            "turn.ended",
            "session.changed",
            "marker"
        ]
    );
    assert_eq!(log.standing.title.as_deref(), Some("Named since"));
    // What came before a clear is not shown, whatever it changed.
    log.clear();
    let held = log.standing.in_force();
    let shown = log.frames.iter().filter(|frame| held.shows(frame));
    assert_eq!(shown.count(), 1);
}

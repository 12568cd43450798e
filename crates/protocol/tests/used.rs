//! What was used in all turns of a session: part of the fold.

use sessiond_protocol::{
    Cursor, Event, EventFrame, ForkPoint, SessionId, Standing, TurnEnded, TurnId, TurnOutcome,
    Usage,
};
use uuid::Uuid;

fn usage(input: u64, output: u64, thought: Option<u64>) -> Usage {
    Usage {
        used: input,
        size: 1000,
        input,
        output,
        thought,
        ..Usage::default()
    }
}

fn ended(cursor: u64, usage: Option<Usage>) -> EventFrame {
    let ended = TurnEnded {
        outcome: TurnOutcome::Completed,
        stop: None,
        usage,
        bookmark: Cursor(cursor),
        error: None,
    };
    EventFrame {
        cursor: Some(Cursor(cursor)),
        turn: Some(TurnId::new(Uuid::from_u128(cursor.into()))),
        ..EventFrame::new(SessionId::new(Uuid::from_u128(1)), Event::TurnEnded(ended))
    }
}

/// RESUME-4: accounting is restored, whatever of the log is read for it.
#[test]
fn turns_add_up_through_a_checkpoint() {
    let mut standing = Standing::default();
    assert_eq!(standing.used, None);
    standing.apply(&ended(1, Some(usage(100, 20, None))));
    standing.apply(&ended(2, None));
    standing.apply(&ended(3, Some(usage(150, 10, Some(4)))));
    let all = standing.used.unwrap();
    assert_eq!((all.input, all.output, all.thought), (250, 30, Some(4)));
    assert_eq!(
        (all.used, all.size),
        (150, 1000),
        "the context is the newest"
    );

    let mut later = Standing::default();
    let marker = Event::Marker(standing.checkpoint());
    later.apply(&EventFrame {
        event: marker,
        ..ended(4, None)
    });
    later.apply(&ended(5, Some(usage(1, 1, None))));
    assert_eq!(later.used.map(|used| used.input), Some(251));
}

/// RESUME-9: billed usage of a fork starts at zero.
#[test]
fn a_fork_has_used_nothing() {
    let mut standing = Standing::default();
    standing.apply(&ended(1, Some(usage(100, 20, None))));
    standing.comes_from(ForkPoint {
        session: SessionId::new(Uuid::from_u128(9)),
        at: Cursor(1),
    });
    assert_eq!(standing.used, None);
    standing.apply(&ended(2, Some(usage(7, 2, None))));
    assert_eq!(standing.used.map(|used| used.input), Some(7));
}

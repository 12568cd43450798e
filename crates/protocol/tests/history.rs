//! Where a conversation broke off.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use sessiond_protocol::{
    Cursor, Event, EventFrame, History, Marker, SessionId, TurnConfig, TurnEnded, TurnId,
    TurnOutcome,
};

/// What happens to a turn of this number.
enum Beat {
    Begins(u8),
    Ends(u8, TurnOutcome),
    Cleared,
}

use Beat::{Begins, Cleared, Ends};

fn turn(number: u8) -> TurnId {
    format!("00000000-0000-7000-8000-0000000001{number:02}")
        .parse()
        .unwrap()
}

fn event(beat: &Beat) -> (Option<u8>, Event) {
    match beat {
        Begins(number) => {
            let started = Event::TurnStarted {
                base: Cursor(1),
                config: TurnConfig {
                    agent: "a".into(),
                    version: None,
                    model: None,
                    mode: None,
                    cwd: "/w".into(),
                    permission: None,
                    policy: 0,
                },
                keyed: None,
            };
            (Some(*number), started)
        }
        Ends(number, outcome) => {
            let ended = Event::TurnEnded(TurnEnded {
                outcome: *outcome,
                stop: None,
                usage: None,
                bookmark: Cursor(1),
                error: None,
            });
            (Some(*number), ended)
        }
        Cleared => (None, Event::Marker(Marker::Clear {})),
    }
}

/// RESUME-5: a turn that failed or was cut is open until a later one ends well.
#[test]
fn a_conversation_is_broken_off_from_the_first_turn_behind_which_none_ended_well() {
    use TurnOutcome::{Cancelled, Completed, Failed, Interrupted, NotRun};
    let table: [(&[Beat], &[u8]); 8] = [
        (&[], &[]),
        (&[Begins(1), Ends(1, Completed)], &[]),
        (&[Begins(1)], &[1]),
        (&[Begins(1), Ends(1, Interrupted)], &[1]),
        (
            &[Begins(1), Ends(1, Failed), Begins(2), Ends(2, Interrupted)],
            &[1, 2],
        ),
        (
            &[
                Begins(1),
                Ends(1, Interrupted),
                Begins(2),
                Ends(2, Cancelled),
            ],
            &[],
        ),
        (&[Begins(1), Ends(1, Completed), Ends(2, NotRun)], &[]),
        (&[Begins(1), Ends(1, Failed), Cleared], &[]),
    ];
    let session: SessionId = "00000000-0000-7000-8000-000000000001".parse().unwrap();
    for (number, (beats, expected)) in table.iter().enumerate() {
        let mut history = History::default();
        for (at, beat) in beats.iter().enumerate() {
            let (of, event) = event(beat);
            history.apply(EventFrame {
                cursor: Some(Cursor(at as u64 + 2)),
                turn: of.map(turn),
                ..EventFrame::new(session, event)
            });
        }
        let expected: Vec<_> = expected.iter().map(|number| turn(*number)).collect();
        assert_eq!(history.broken_off(), expected, "row {number}");
    }
}

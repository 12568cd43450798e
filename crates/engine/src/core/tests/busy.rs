//! What becomes of input while a turn is active.

use sessiond_protocol::{Event, IfBusy, Item, Queued, Stop, TurnId, TurnOutcome, limits};

use super::{
    bench::Bench,
    ops::{interrupt, keyed, start, steer},
};

/// SQEQ-1, SQEQ-2: steered input is an item of the active turn, under its own cause.
#[test]
fn a_steer_is_an_item_of_the_active_turn_and_goes_to_the_agent() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("one", IfBusy::Reject));
    bench.say("so far");
    let steered = [
        "append written: item.ended item.ended",
        "receipt s2 turn",
        "event item.ended",
        "event item.ended",
        "steered",
    ];
    assert_eq!(bench.submit("s2", start("two", IfBusy::Steer)), steered);
    let steered = [
        "append written: item.ended",
        "receipt s3 turn",
        "event item.ended",
        "steered",
    ];
    assert_eq!(bench.submit("s3", steer("three", None)), steered);
    let last = bench.log().last().unwrap();
    assert_eq!(last.turn, bench.active());
    assert_eq!(last.cause.as_ref().map(|cause| cause.as_str()), Some("s3"));
    assert!(matches!(
        last.event,
        Event::ItemEnded {
            item: Item::UserMessage { .. }
        }
    ));
    assert_eq!(bench.take_steers(), ["steers 2"]);
    assert_eq!(bench.take_steers(), ["steers 0"]);
    assert_eq!(
        bench.done(Stop::EndTurn),
        ["append synced: turn.ended", "event turn.ended"]
    );
}

/// What was accepted is not lost to an agent that is just coming to its end.
#[test]
fn a_steer_that_the_agent_did_not_take_is_its_next_prompt_in_the_same_turn() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("one", IfBusy::Reject));
    bench.submit("s2", steer("two", None));
    bench.say("and");
    assert_eq!(
        bench.done(Stop::EndTurn),
        [
            "append written: item.ended",
            "event item.ended",
            "start agent"
        ]
    );
    bench.done(Stop::EndTurn);
    assert_eq!(bench.outcomes(), [TurnOutcome::Completed]);
    bench.submit("s3", start("one", IfBusy::Reject));
    bench.submit("s4", steer("two", None));
    bench.fail();
    assert_eq!(
        bench.outcomes(),
        [TurnOutcome::Completed, TurnOutcome::Failed]
    );
}

/// R5: a steer is for the turn that its client means.
#[test]
fn a_steer_without_its_turn_is_refused_with_the_active_one() {
    let mut bench = Bench::attached();
    assert_eq!(
        bench.submit("s1", steer("x", None)),
        ["receipt s1 turn_not_active"]
    );
    bench.submit("s2", start("one", IfBusy::Reject));
    let other = TurnId::new(uuid::Uuid::from_u128(99));
    assert_eq!(
        bench.submit("s3", steer("x", Some(other))),
        ["receipt s3 turn_not_active of the active turn"]
    );
    let active = bench.active();
    assert_eq!(
        bench
            .submit("s4", steer("x", active))
            .get(1)
            .map(String::as_str),
        Some("receipt s4 turn")
    );
    bench.submit("s5", interrupt(Queued::Keep));
    assert_eq!(
        bench.submit("s6", steer("x", active)),
        ["receipt s6 turn_not_active"],
        "what is being stopped takes nothing more"
    );
    assert_eq!(
        bench
            .submit("s7", start("x", IfBusy::Steer))
            .first()
            .map(String::as_str),
        Some("append written: turn.queued"),
        "but what is wanted in any case waits"
    );
}

#[test]
fn steers_that_the_agent_does_not_take_are_bounded() {
    let mut bench = Bench::attached();
    bench.submit("s0", start("one", IfBusy::Reject));
    for n in 1..=limits::STEERS {
        bench.submit(&format!("s{n}"), steer("more", None));
    }
    assert_eq!(
        bench.submit("over", steer("more", None)),
        ["receipt over queue_full"]
    );
    bench.take_steers();
    assert_ne!(
        bench.submit("again", steer("more", None)),
        ["receipt again queue_full"]
    );
}

/// R3, SQEQ-3: the end of the replaced turn comes before the start of the new one.
#[test]
fn a_replacement_stops_the_active_turn_and_comes_before_those_that_wait() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("one", IfBusy::Reject));
    bench.submit("s2", start("waits", IfBusy::Queue));
    assert_eq!(
        bench.submit("s3", start("instead", IfBusy::Replace)),
        [
            "!cancel",
            "append written: turn.queued",
            "receipt s3 turn",
            "event turn.queued",
        ]
    );
    bench.done(Stop::EndTurn);
    assert_eq!(bench.outcomes(), [TurnOutcome::Cancelled]);
    assert_eq!(bench.prompts(), ["one", "instead"]);
    bench.done(Stop::EndTurn);
    assert_eq!(bench.prompts(), ["one", "instead", "waits"]);
}

#[test]
fn a_replacement_replaces_the_one_that_has_not_begun() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("one", IfBusy::Reject));
    for n in 0..=limits::QUEUED_TURNS {
        bench.submit(&format!("q{n}"), start("waits", IfBusy::Queue));
    }
    bench.submit("s2", start("instead", IfBusy::Replace));
    assert_eq!(
        bench.submit("s3", start("rather", IfBusy::Replace)),
        [
            "append synced: item.ended turn.ended turn.queued",
            "event item.ended",
            "event turn.ended",
            "receipt s3 turn",
            "event turn.queued",
        ],
        "also when as many wait as may"
    );
    bench.done(Stop::EndTurn);
    assert_eq!(bench.prompts(), ["one", "instead", "rather"]);
    let cancelled = TurnOutcome::Cancelled;
    assert_eq!(bench.outcomes(), [cancelled, cancelled]);
}

#[test]
fn without_an_active_turn_every_policy_begins_one() {
    for if_busy in [
        IfBusy::Reject,
        IfBusy::Queue,
        IfBusy::Steer,
        IfBusy::Replace,
    ] {
        let mut bench = Bench::attached();
        let begun = bench.submit("s1", start("one", if_busy));
        assert_eq!(begun.last().map(String::as_str), Some("start agent"));
        let mut bench = Bench::attached();
        let begun = bench.submit("s1", keyed("k", "one", if_busy));
        assert_eq!(begun.last().map(String::as_str), Some("start agent"));
    }
}

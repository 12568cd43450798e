//! A summary takes the place of what was said.

use serde_json::json;
use sessiond_protocol::{
    Compaction, Cursor, Event, EventFrame, IfBusy, Item, Op, Queued, Stop, Stretch, TurnOutcome,
    limits,
};

use super::{
    bench::Bench,
    ops::{clear, close, interrupt, start, steer},
};
use crate::{
    agent::{AgentError, CompactionReport},
    core::{Input, digest::digest},
};

fn compact(bench: &mut Bench) -> Vec<String> {
    bench.submit("c", Op::SessionCompact {})
}

fn summed_up(bench: &mut Bench, summary: &str) -> Vec<String> {
    let (summary, usage) = (summary.to_owned(), None);
    bench.take(Input::Compacted(CompactionReport { summary, usage }))
}

fn turn(bench: &mut Bench, text: &str) -> u64 {
    bench.submit(text, start(text, IfBusy::Reject));
    bench.done(Stop::EndTurn);
    bench.log().len() as u64
}

fn compactions(bench: &Bench) -> Vec<(Cursor, Compaction)> {
    let compaction = |frame: &EventFrame| match &frame.event {
        Event::ItemEnded {
            item: Item::Compaction(compaction),
        } => Some((frame.cursor?, Compaction::clone(compaction))),
        _ => None,
    };
    bench.log().iter().filter_map(compaction).collect()
}

fn bases(bench: &Bench) -> Vec<Cursor> {
    let base = |frame: &EventFrame| match frame.event {
        Event::TurnStarted { base, .. } => Some(base),
        _ => None,
    };
    bench.log().iter().filter_map(base).collect()
}

fn newest_outcome(bench: &Bench) -> Option<TurnOutcome> {
    match &bench.log().last()?.event {
        Event::TurnEnded(ended) => Some(ended.outcome),
        _ => None,
    }
}

/// CTX-2, LOG-5: durable at its begin and at its end, and what later turns begin after.
#[test]
fn a_compaction_is_a_turn_without_a_prompt_and_the_base_of_the_next_one() {
    let mut bench = Bench::attached();
    let said = turn(&mut bench, "one");
    let begun = ["receipt c turn", "event turn.started", "start compaction"];
    let lines = compact(&mut bench);
    assert_eq!(lines[0], "append synced: turn.started");
    assert_eq!(lines[1..], begun);
    let ended = [
        "append synced: item.ended turn.ended",
        "event item.ended",
        "event turn.ended",
    ];
    assert_eq!(summed_up(&mut bench, "all of it"), ended);
    let (at, compaction) = compactions(&bench).remove(0);
    let covers = Stretch {
        from: Cursor(1),
        to: Cursor(said),
    };
    let hashed = json!({"covers": {"from": 1, "to": said}, "summary": "all of it", "window": 1});
    let expected = Compaction {
        summary: "all of it".into(),
        covers,
        window: 1,
        digest: digest(&hashed),
    };
    assert_eq!(compaction, expected);
    turn(&mut bench, "two");
    compact(&mut bench);
    summed_up(&mut bench, "more");
    let (again, second) = compactions(&bench).remove(1);
    assert_eq!((second.window, second.covers.from), (2, Cursor(1)));
    bench.submit("clear", clear());
    let cleared = Cursor(bench.log().len() as u64);
    turn(&mut bench, "three");
    let bases = bases(&bench);
    assert_eq!(bases, [Cursor(1), Cursor(1), at, at, cleared]);
    assert!(again < cleared);
}

/// CTX-1, SQEQ-2: what refuses it, and that nothing is recorded then.
#[test]
fn a_compaction_is_refused_under_a_turn_and_where_nothing_was_said_since() {
    let mut bench = Bench::attached();
    assert_eq!(
        compact(&mut bench),
        ["receipt c invalid"],
        "nothing was said"
    );
    bench.submit("one", start("one", IfBusy::Reject));
    assert_eq!(compact(&mut bench), ["receipt c busy"]);
    bench.done(Stop::EndTurn);
    compact(&mut bench);
    assert_eq!(compact(&mut bench), ["receipt c busy"], "it is a turn, too");
    summed_up(&mut bench, "one");
    let newest = bench.log().len();
    assert_eq!(compact(&mut bench), ["receipt c invalid"], "nothing new");
    let mut bench = bench.killed();
    assert_eq!(
        compact(&mut bench),
        ["receipt c invalid"],
        "nor in the next run"
    );
    bench.submit("clear", clear());
    assert_eq!(compact(&mut bench), ["receipt c invalid"], "it is cleared");
    assert_eq!(bench.log().len(), newest + 1);
    bench.submit("close", close());
    assert_eq!(compact(&mut bench), ["receipt c not_found"]);
}

/// CTX-2: a summary that is none, or failed, leaves everything as it was, with the agent gone.
#[test]
fn without_a_summary_nothing_is_compacted() {
    let long = "x".repeat(limits::SUMMARY_BYTES + 1);
    let reports = [Some(""), Some(" \n"), Some(long.as_str()), None];
    for report in reports {
        let mut bench = Bench::attached();
        turn(&mut bench, "one");
        compact(&mut bench);
        let lines = match report {
            Some(summary) => summed_up(&mut bench, summary),
            None => bench.take(Input::AgentDone(Err(AgentError::failed("as told")))),
        };
        let ended = ["!drop", "append synced: turn.ended", "event turn.ended"];
        assert_eq!(lines, ended);
        assert_eq!(newest_outcome(&bench), Some(TurnOutcome::Failed));
        turn(&mut bench, "two");
        assert_eq!(bases(&bench), [Cursor(1); 3]);
        assert!(compactions(&bench).is_empty());
        let whole = "x".repeat(limits::SUMMARY_BYTES);
        compact(&mut bench);
        summed_up(&mut bench, &whole);
        assert_eq!(compactions(&bench).len(), 1, "it can be tried again");
    }
}

/// SQEQ-3, SQEQ-4: it is interrupted as a turn is, and a summary that comes after that is none.
#[test]
fn an_interrupted_compaction_is_cancelled_though_its_summary_came() {
    let mut bench = Bench::attached();
    turn(&mut bench, "one");
    compact(&mut bench);
    let lines = bench.submit("i", interrupt(Queued::Keep));
    assert_eq!(lines, ["!cancel", "receipt i done"]);
    let ended = ["!drop", "append synced: turn.ended", "event turn.ended"];
    assert_eq!(summed_up(&mut bench, "too late"), ended);
    assert_eq!(newest_outcome(&bench), Some(TurnOutcome::Cancelled));
    assert!(compactions(&bench).is_empty());
}

/// SQEQ-2: nothing is added to a compaction; what shall be said waits for its end.
#[test]
fn input_waits_for_the_end_of_a_compaction() {
    let mut bench = Bench::attached();
    turn(&mut bench, "one");
    compact(&mut bench);
    let refused = bench.submit("s", steer("more", None));
    assert_eq!(refused, ["receipt s turn_not_active"]);
    let queued = bench.submit("two", start("two", IfBusy::Steer));
    assert_eq!(queued[1], "receipt two turn");
    assert_eq!(queued[2], "event turn.queued");
    let lines = summed_up(&mut bench, "one");
    assert_eq!(lines.last().unwrap(), "start agent");
    let (at, _) = compactions(&bench).remove(0);
    assert_eq!(bases(&bench), [Cursor(1), Cursor(1), at]);
}

/// LOG-17, CTX-2: a process that dies under it leaves what was; one that dies right after the
/// record of the summary has compacted.
#[test]
fn a_killed_compaction_counts_from_its_record_on() {
    for (recorded, base_is_compaction) in [(false, false), (true, true)] {
        let mut bench = Bench::attached();
        turn(&mut bench, "one");
        compact(&mut bench);
        if recorded {
            summed_up(&mut bench, "one");
            bench = bench.without_the_newest();
        }
        let mut bench = bench.killed();
        let lines = bench.submit("two", start("two", IfBusy::Reject));
        assert!(lines[0].contains("turn.ended turn.started"), "{lines:?}");
        let base = bases(&bench).pop();
        let compaction = compactions(&bench).pop().map(|(at, _)| at);
        assert_eq!(base == compaction, base_is_compaction);
    }
}

/// CTX-1, LOG-17: what a dead process left open counts as said, and is recorded with what comes of
/// it; by what is refused nothing is recorded.
#[test]
fn what_was_left_open_behind_a_summary_is_something_new() {
    for (waits, expected) in [(true, "append synced"), (false, "receipt again invalid")] {
        let mut bench = Bench::attached();
        turn(&mut bench, "one");
        compact(&mut bench);
        if waits {
            bench.submit("two", start("two", IfBusy::Queue));
        }
        summed_up(&mut bench, "one");
        while !matches!(
            bench.log().last().unwrap().event,
            Event::ItemEnded {
                item: Item::Compaction(_)
            }
        ) {
            bench = bench.without_the_newest();
        }
        let mut bench = bench.killed();
        let lines = bench.submit("again", Op::SessionCompact {});
        assert!(lines[0].starts_with(expected), "{lines:?}");
        assert_eq!(lines.len() == 1, !waits, "{lines:?}");
    }
}

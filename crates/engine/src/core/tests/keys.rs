//! Idempotency keys: once is once, also after a crash.

use sessiond_protocol::{IfBusy, Stop, limits};

use super::{
    bench::Bench,
    ops::{keyed, start, steer},
};
use crate::core::Input;

/// A prompt under a key for each way it can be accepted: begun, queued, steered, replacing.
const WAYS: [(&str, IfBusy); 4] = [
    ("begun", IfBusy::Reject),
    ("queued", IfBusy::Queue),
    ("steered", IfBusy::Steer),
    ("replacing", IfBusy::Replace),
];

/// All ways used once, in a session where they all stand at the same time.
fn used() -> Bench {
    let mut bench = Bench::attached();
    for (key, if_busy) in WAYS {
        bench.submit(key, keyed(key, key, if_busy));
    }
    assert_eq!(bench.receipts().len(), 4);
    bench
}

fn repeats_and_refuses(bench: &mut Bench, first: &[(String, String)]) {
    let log = bench.log().len();
    for (key, _) in WAYS {
        for if_busy in [IfBusy::Reject, IfBusy::Queue, IfBusy::Replace] {
            let again = bench.submit(key, keyed(key, key, if_busy));
            assert_eq!(again, [format!("receipt {key} turn")]);
            let newest = bench.receipts().last().cloned();
            assert!(
                newest.is_some_and(|newest| first.contains(&newest)),
                "{key}"
            );
        }
        let other = bench.submit(key, keyed(key, "something else", IfBusy::Queue));
        let [receipt] = other.as_slice() else {
            panic!("{other:?}")
        };
        assert!(receipt.starts_with(&format!("receipt {key} key_reused")));
    }
    assert_eq!(bench.log().len(), log, "nothing was done");
}

#[test]
fn the_same_submission_again_gets_the_same_receipt_and_does_nothing() {
    let mut bench = used();
    let first = bench.receipts().to_vec();
    repeats_and_refuses(&mut bench, &first);
    bench.done(Stop::EndTurn);
    bench.done(Stop::EndTurn);
    bench.done(Stop::EndTurn);
    repeats_and_refuses(&mut bench, &first);
}

/// RESUME-4: keys are part of the fold.
#[test]
fn keys_survive_a_crash_and_stand_in_checkpoints() {
    let bench = used();
    let first = bench.receipts().to_vec();
    let mut bench = bench.killed();
    repeats_and_refuses(&mut bench, &first);
    bench.take(Input::Settle);
    bench.take(Input::Checkpoint);
    let mut bench = bench.killed_since_checkpoint();
    repeats_and_refuses(&mut bench, &first);
}

/// RESUME-18
#[test]
fn a_fork_knows_no_key_of_its_parent() {
    let bench = used();
    let mut bench = bench.forked();
    let begun = bench.submit("begun", keyed("begun", "begun", IfBusy::Reject));
    assert_eq!(begun.last().map(String::as_str), Some("start agent"));
}

#[test]
fn the_newest_keys_are_known_and_older_ones_forgotten() {
    let mut bench = Bench::attached();
    for n in 0..=limits::IDEMPOTENCY_KEYS {
        let key = n.to_string();
        bench.submit(&key, keyed(&key, "go", IfBusy::Reject));
        bench.done(Stop::EndTurn);
    }
    assert_eq!(
        bench.submit("again", keyed("1", "go", IfBusy::Reject)),
        ["receipt again turn"]
    );
    let begun = bench.submit("again", keyed("0", "go", IfBusy::Reject));
    assert_eq!(begun.last().map(String::as_str), Some("start agent"));
}

#[test]
fn a_key_of_input_that_was_refused_is_free() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    assert_eq!(
        bench.submit("s2", keyed("k", "more", IfBusy::Reject)),
        ["receipt s2 turn_active of the active turn"]
    );
    bench.submit("s3", steer("x", None));
    bench.take_steers();
    bench.done(Stop::EndTurn);
    let begun = bench.submit("s4", keyed("k", "less", IfBusy::Reject));
    assert_eq!(begun.last().map(String::as_str), Some("start agent"));
}

/// What differs only in how it is written is the same input.
#[test]
fn the_order_of_members_is_no_part_of_the_content() {
    let input = |text: &str| sessiond_protocol::Op::TurnStart {
        input: serde_json::from_str(text).unwrap(),
        if_busy: IfBusy::Reject,
        idempotency_key: Some("k".to_owned().try_into().unwrap()),
    };
    let mut bench = Bench::attached();
    bench.submit(
        "s1",
        input(r#"[{"type":"text","text":"a","x":1,"y":{"p":1,"q":2}}]"#),
    );
    assert_eq!(
        bench.submit(
            "s2",
            input(r#"[{"y":{"q":2,"p":1},"x":1,"text":"a","type":"text"}]"#)
        ),
        ["receipt s2 turn"]
    );
}

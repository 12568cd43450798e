//! Idempotency keys: once is once, also after a crash.

use std::{path::Path, sync::Arc};

use sessiond_log::{
    Store,
    fs::{Fs, MemoryFs},
};
use sessiond_protocol::{Event, EventFrame, IfBusy, Marker, Stop, limits};

use super::{
    bench::Bench,
    ops::{keyed, start, steer},
};
use crate::core::{Digests, Input};

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

/// The ways whose turns wait while the others' run.
const WAITING: &[&str] = &["queued", "replacing"];

fn repeats_and_refuses(bench: &mut Bench, first: &[(String, String)], waiting: &[&str]) {
    let log = bench.log().len();
    for (key, _) in WAYS {
        for if_busy in [IfBusy::Reject, IfBusy::Queue, IfBusy::Replace] {
            let again = bench.submit(key, keyed(key, key, if_busy));
            let stage = if waiting.contains(&key) {
                "Waiting"
            } else {
                "Begun"
            };
            assert_eq!(again, [format!("receipt {key} again {stage}")]);
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
    repeats_and_refuses(&mut bench, &first, WAITING);
    bench.done(Stop::EndTurn);
    bench.done(Stop::EndTurn);
    bench.done(Stop::EndTurn);
    repeats_and_refuses(&mut bench, &first, &[]);
}

/// RESUME-4: keys are part of the fold.
#[test]
fn keys_survive_a_crash_and_stand_in_checkpoints() {
    let bench = used();
    let first = bench.receipts().to_vec();
    let mut bench = bench.killed();
    repeats_and_refuses(&mut bench, &first, &[]);
    bench.take(Input::Settle);
    bench.take(Input::Checkpoint);
    let mut bench = bench.killed_since_checkpoint();
    repeats_and_refuses(&mut bench, &first, &[]);
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
        ["receipt again again Begun"]
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
        ["receipt s2 again Begun"]
    );
}

/// What an event keeps of input with its key.
fn kept(frame: &mut EventFrame) -> Option<&mut String> {
    match &mut frame.event {
        Event::TurnQueued { keyed, .. } | Event::TurnStarted { keyed, .. } => {
            keyed.as_mut().map(|keyed| &mut keyed.content)
        }
        Event::Marker(Marker::Key { keyed }) => Some(&mut keyed.content),
        _ => None,
    }
}

/// What programs kept of a text before digests were keyed.
fn plain(text: &str) -> String {
    let canonical = format!(r#"[{{"text":"{text}","type":"text"}}]"#);
    let hex = blake3::hash(canonical.as_bytes()).to_hex();
    hex.chars().take(32).collect()
}

/// LOG-8: who has the log and not the store's keys cannot try out what the input was.
#[test]
fn what_is_kept_of_input_is_keyed_and_names_how_and_by_which_key() {
    let digests: Vec<String> = used()
        .log()
        .iter()
        .filter_map(|frame| kept(&mut frame.clone()).cloned())
        .collect();
    assert_eq!(digests.len(), WAYS.len());
    for (digest, (text, _)) in digests.iter().zip(WAYS) {
        let parts: Vec<&str> = digest.split('.').collect();
        let [algorithm, key, digits] = parts.as_slice() else {
            panic!("{digest}")
        };
        assert_eq!(
            (*algorithm, key.len(), digits.len()),
            ("blake3-keyed-1", 16, 32)
        );
        assert_ne!(*digits, plain(text));
    }
}

/// LOG-8, RESUME-4: logs of before are read as they are.
#[test]
fn a_plain_digest_of_an_older_program_is_understood() {
    let mut texts = WAYS.iter().map(|(text, _)| *text);
    let bench = used();
    let first = bench.receipts().to_vec();
    let mut bench = bench.killed_and_rewritten(|frame| {
        if let Some(content) = kept(frame) {
            *content = plain(texts.next().unwrap());
        }
    });
    repeats_and_refuses(&mut bench, &first, &[]);
}

/// LOG-8, TASK-5: where the digest cannot be compared any more nothing is done a second time.
#[test]
fn a_digest_outlives_the_change_of_the_stores_key_and_without_its_key_nothing_runs_again() {
    let fs: Arc<dyn Fs> = Arc::new(MemoryFs::new());
    let store = || Store::open(Arc::clone(&fs), Path::new(":memory:")).unwrap();
    let mut bench = Bench::attached();
    bench.learn(Digests::read(&store(), &[]).unwrap());
    bench.submit("k", keyed("k", "go", IfBusy::Reject));
    bench.done(Stop::EndTurn);
    let old = store().digest_key().unwrap().id().to_owned();
    fs.remove(Path::new("keys/blob-current")).unwrap();
    let mut bench = bench.killed();
    bench.learn(Digests::read(&store(), &[old]).unwrap());
    let again = bench.submit("k", keyed("k", "go", IfBusy::Reject));
    assert_eq!(again, ["receipt k again Begun"]);
    bench.submit("l", keyed("l", "go", IfBusy::Reject));
    bench.done(Stop::EndTurn);
    let mut bench = bench.killed();
    bench.learn(Digests::read(&Store::in_memory(), &[]).unwrap());
    for key in ["k", "l"] {
        let log = bench.log().len();
        let refused = bench.submit(key, keyed(key, "go", IfBusy::Reject));
        assert!(refused[0].starts_with(&format!("receipt {key} key_reused")));
        assert_eq!((refused.len(), bench.log().len()), (1, log));
    }
}

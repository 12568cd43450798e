use std::collections::BTreeMap;

use super::super::{Finding, judge};
use crate::check::Check;
use crate::driver::{End, Played, SweepEnd};
use crate::recording::{Recorder, Sync, What};
use crate::schema::Schemas;
use crate::scope::Variables;
use crate::tongue::Tongue;

/// A recording from words: `CALL:PATH`, `holders:PATH,PATH` of the text `it`, `lost`, or a mark.
fn found(script: &str) -> String {
    let recorder = Recorder::new();
    for word in script.split_whitespace() {
        let what = match word.split_once(':') {
            Some(("holders", files)) => {
                let files = files.split(',').filter(|file| !file.is_empty());
                What::Holders("it".to_owned(), files.map(str::to_owned).collect())
            }
            Some((call, path)) => What::Synced(Sync {
                call: call.to_owned(),
                path: path.to_owned(),
            }),
            None if word == "lost" => What::Watched(Err("a signal".to_owned())),
            None => What::Mark(word.to_owned()),
        };
        recorder.add(0, what);
    }
    let played = Played {
        recording: recorder.look().clone(),
        labels: BTreeMap::new(),
        variables: Variables::default(),
        names: BTreeMap::new(),
        tongues: Vec::new(),
        end: End::Done,
        sweep: SweepEnd::Within,
    };
    let check =
        r#"{"id": "x", "req": "y", "synced": {"mark": "it", "after": "asked", "before": "told"}}"#;
    let check: Check = serde_json::from_str(check).expect("a check");
    let schemas = Schemas::of(Tongue::AcpV1).expect("schemas");
    match judge(&check, &played, &schemas) {
        Finding::Holds => "holds".to_owned(),
        Finding::Broken(why) => format!("broken: {why}"),
        Finding::Unreached(why) => format!("unreached: {why}"),
        Finding::Skipped(why) => format!("skipped: {why}"),
    }
}

#[test]
fn a_sync_counts_for_its_file_between_the_two_points() {
    let cases = [
        ("asked fsync:/l told holders:/l", "holds"),
        ("asked fdatasync:/m told holders:/l,/m", "holds"),
        ("asked fsync:/s.db-wal told holders:/s.db", "holds"),
        ("asked msync:/s.db told holders:/s.db-wal", "holds"),
        ("asked sync:/ told holders:/l", "holds"),
        ("asked syncfs:/ told holders:/l", "holds"),
        ("open:/l asked told holders:/l", "holds"),
        (
            "asked told fsync:/l holders:/l",
            "broken: /l was not synced between asked and told; nothing was",
        ),
        (
            "fsync:/l asked told holders:/l",
            "broken: /l was not synced between asked and told; nothing was",
        ),
        (
            "asked told open:/l holders:/l",
            "broken: /l was not synced between asked and told; nothing was",
        ),
        (
            "asked fsync:/o fsync:/o-wal told holders:/l",
            "broken: /l was not synced between asked and told; only /o",
        ),
        (
            "asked fsync:/l told holders:",
            "broken: no file holds \"it\"",
        ),
        ("asked fsync:/l told", "unreached: it: it was not reached"),
        (
            "asked fsync:/l holders:/l",
            "unreached: told: it was not reached",
        ),
        (
            "io_uring: asked told holders:/l",
            "skipped: it has a ring for calls, in which a sync is not seen",
        ),
        (
            "asked lost fsync:/l told holders:/l",
            "skipped: not all of it was seen: a signal",
        ),
    ];
    for (script, expected) in cases {
        assert_eq!(found(script), expected, "{script}");
    }
}

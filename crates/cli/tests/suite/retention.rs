//! Retention: what `sessions gc` does about the age of sessions when the configuration says so.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use sessiond_log::{Content, Durability, Lease, NewRecord, Owner, Store, Subject};

use crate::harness::{Home, listed};

/// A home with one session that serves as a pattern for older ones.
struct Past {
    home: Home,
    pattern: Subject,
    config: String,
}

impl Past {
    fn new(config: &str) -> Past {
        let home = Home::new();
        home.run(&["exec", "hello"]).well();
        let pattern = listed(&home).remove(0).parse().unwrap();
        let config = home.write("c.toml", config).to_str().unwrap().to_owned();
        Past {
            home,
            pattern,
            config,
        }
    }

    fn store(&self) -> Store {
        Store::open_real(&self.home.store()).unwrap()
    }

    /// A session like the pattern whose records are of so many days ago, the last one of `last`.
    fn session(&self, number: u8, days: i64, last: i64) -> String {
        let id = format!("0191f0aa-0000-7000-8000-0000000000{number:02x}");
        let at = |days: i64| {
            let time = Timestamp::now() - SignedDuration::from_hours(24 * days);
            format!("{time:.3}")
        };
        let store = self.store();
        let mut batch: Vec<NewRecord> = store
            .read(&self.pattern)
            .unwrap()
            .records
            .iter()
            .map(|record| NewRecord {
                kind: record.kind.clone(),
                at: at(days),
                data: record.data.to_string(),
            })
            .collect();
        batch.last_mut().unwrap().at = at(last);
        let subject = id.parse().unwrap();
        let lease = store.create(&subject, &Owner::current()).unwrap();
        let writer = lease.writer().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime
            .block_on(writer.append(batch, Durability::Synced))
            .unwrap();
        runtime.block_on(writer.shutdown()).unwrap();
        id
    }

    fn hold(&self, session: &str) -> Lease {
        let subject = session.parse().unwrap();
        self.store().claim(&subject, &Owner::current()).unwrap()
    }

    fn gc(&self, args: &[&str]) -> Value {
        let fixed = ["sessions", "gc", "--json", "--config", &self.config];
        let args: Vec<&str> = fixed.iter().chain(args).copied().collect();
        serde_json::from_str(&self.home.run(&args).well().stdout).unwrap()
    }

    fn trash(&self) -> Vec<(String, Content)> {
        let stones = self.store().tombstones().unwrap().into_iter();
        stones.map(|s| (s.subject.to_string(), s.content)).collect()
    }
}

/// LOG-12, LOG-14
#[test]
fn what_was_not_used_for_too_long_goes_to_the_trash_and_what_is_needed_stays() {
    let past = Past::new("[retention]\nsessions_days = 30\n");
    let old = past.session(1, 31, 31);
    let recent = past.session(2, 29, 29);
    let used = past.session(3, 400, 1);
    let future = past.session(4, 400, -400);
    let open = past.session(5, 400, 400);
    let parent = past.session(6, 400, 400);
    let damaged = past.session(7, 400, 400);
    let archived = past.session(8, 400, 400);
    past.home.run(&["sessions", "fork", &parent]).well();
    past.home.run(&["sessions", "archive", &archived]).well();
    let log = past
        .home
        .store()
        .join("sessions")
        .join(&damaged)
        .join("log");
    let segment = std::fs::read_dir(log).unwrap().next().unwrap().unwrap();
    let mut bytes = std::fs::read(segment.path()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(segment.path(), bytes).unwrap();

    let held = past.hold(&open);
    let before = past.home.sessions();
    let expected = |report: &Value| {
        assert_eq!(report["expired"], json!([old]), "{report:#}");
        let spared = json!([
            { "session": open, "reason": "busy" },
            { "session": parent, "reason": "fork_parent" },
            { "session": damaged, "reason": "damaged" },
        ]);
        assert_eq!(report["spared"], spared, "{report:#}");
    };
    expected(&past.gc(&["--dry-run"]));
    assert_eq!(past.home.sessions(), before, "a look changes nothing");
    expected(&past.gc(&[]));
    drop(held);
    assert_eq!(past.trash(), [(old.clone(), Content::Kept)]);
    let left = listed(&past.home);
    for session in [&recent, &used, &future, &open, &parent, &damaged] {
        assert!(left.contains(session), "{session}: {left:?}");
    }
    assert_eq!(left.len(), 8, "with the pattern and the fork: {left:?}");

    // LOG-19
    let trail = past.store().audit_trail().unwrap().into_iter();
    let decided: Vec<_> = trail
        .filter(|entry| entry.action == "expire")
        .map(|entry| (entry.subject.unwrap().to_string(), entry.reason))
        .collect();
    let reasons = [
        (&old, "older_than_kept"),
        (&open, "busy"),
        (&parent, "fork_parent"),
        (&damaged, "damaged"),
    ];
    assert_eq!(
        decided,
        reasons.map(|(id, why)| (id.clone(), why.to_owned()))
    );

    past.home.run(&["sessions", "restore", &old]).well();
    past.home.run(&["sessions", "show", &old]).well();
}

/// LOG-12: off unless configured, and one command applies it.
#[test]
fn nothing_goes_by_its_age_unless_configured_and_asked_for() {
    let past = Past::new("");
    let old = past.session(1, 4000, 4000);
    let report = past.gc(&[]);
    assert_eq!(
        (&report["expired"], &report["spared"]),
        (&json!([]), &json!([]))
    );
    let config = past
        .home
        .write("c.toml", "[retention]\nsessions_days = 1\n");
    let config = config.to_str().unwrap();
    for command in [
        &["sessions", "list"][..],
        &["sessions", "verify"],
        &["exec", "more"],
        &["doctor"],
    ] {
        past.home
            .run(&[command, &["--config", config]].concat())
            .well();
    }
    assert!(listed(&past.home).contains(&old));
    let told = past
        .home
        .run(&["sessions", "gc", "--config", config])
        .well();
    let said = format!("{old} was not used for too long; it is in the trash now");
    assert!(told.stdout.contains(&said), "{}", told.stdout);
}

/// LOG-12: the trash comes between, even where it keeps nothing for long.
#[test]
fn what_is_in_the_trash_for_too_long_is_deleted_and_its_tombstone_stays() {
    let past = Past::new("[retention]\nsessions_days = 1\ntrash_days = 0\n");
    let old = past.session(1, 2, 2);
    let report = past.gc(&[]);
    assert_eq!(
        (&report["expired"], &report["trashed"]),
        (&json!([old]), &0.into())
    );
    assert_eq!(past.trash(), [(old.clone(), Content::Kept)]);
    assert_eq!(past.gc(&["--trash-days", "1"])["trashed"], 0);
    assert_eq!(past.gc(&["--dry-run"])["trashed"], 1);
    assert_eq!(past.gc(&[])["trashed"], 1);
    assert_eq!(past.trash(), [(old, Content::Deleted)]);
}

//! `sessiond doctor` and `sessiond agents`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::harness::{Home, is_root};

fn report(home: &Home, args: &[&str]) -> (Option<i32>, Value) {
    let done = home.run(&[&["doctor", "--json"], args].concat());
    (done.code, serde_json::from_str(&done.stdout).unwrap())
}

fn finding<'a>(report: &'a Value, topic: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|found| found["topic"] == topic)
        .unwrap_or_else(|| panic!("{report:#}"))
}

#[test]
fn a_good_place_is_found_good_and_every_subject_is_looked_at() {
    let home = Home::new();
    home.run(&["exec", "something to keep"]).well();
    let (code, report) = report(&home, &[]);
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(report["healthy"], true);
    for topic in [
        "store",
        "access",
        "lock",
        "sync",
        "tools",
        "versions",
        "agent script",
    ] {
        assert_eq!(finding(&report, topic)["health"], "good", "{report:#}");
    }
    let occupied = finding(&report, "occupied")["detail"].as_str().unwrap();
    assert!(occupied.starts_with("1 sessions") && occupied.contains("MiB"));
    let kept = |report: &Value| -> String {
        let kept = finding(report, "retention")["detail"].as_str().unwrap();
        kept.to_owned()
    };
    assert!(kept(&report).starts_with("off"), "{report:#}");
    let config = home.write("c.toml", "[retention]\nsessions_days = 90\n");
    let (_, configured) = self::report(&home, &["--config", config.to_str().unwrap()]);
    assert!(kept(&configured).contains("90 days"), "{configured:#}");
    let text = home.run(&["doctor"]).well().stdout;
    assert!(text.contains(home.store().to_str().unwrap()), "{text}");
}

/// WIRE-10
#[test]
fn it_says_what_the_stdout_guard_can_promise_to_this_user() {
    let expected = |home: &Home, health: &str| {
        let (code, report) = report(home, &[]);
        assert_eq!(
            (code, &finding(&report, "stdout")["health"]),
            (Some(0), &health.into())
        );
    };
    expected(&Home::of_plain_user(), "good");
    if is_root() {
        expected(&Home::new(), "warning");
    }
}

#[test]
fn a_store_that_cannot_be_used_is_exit_74() {
    let home = Home::of_plain_user();
    home.write("file", "");
    let closed = home.path("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    let closed = closed.join("store");
    for store in [closed.to_str().unwrap(), "file"] {
        let (code, report) = report(&home, &["--store", store]);
        assert_eq!(code, Some(74), "{report:#}");
        assert_eq!(finding(&report, "store")["health"], "bad");
    }
}

#[test]
fn agents_whose_programs_are_missing_are_named() {
    let home = Home::new();
    let text = "[agents.there]\nkind = \"acp\"\ncommand = [\"sh\"]\n\
                [agents.gone]\nkind = \"acp\"\ncommand = [\"no-such-program\"]\n\
                [agents.later]\nkind = \"codex\"\ncommand = [\"sh\"]\n";
    let config = home.write("config.toml", text);
    let config = config.to_str().unwrap();
    let (code, report) = report(&home, &["--config", config]);
    assert_eq!(code, Some(0));
    let detail = |topic| {
        finding(&report, topic)["detail"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(detail("agent there").contains("`sh` can be run"));
    assert!(detail("agent later").contains("kind codex, `sh` can be run"));
    assert!(detail("agent gone").contains("`no-such-program` does not exist"));
    let list = home.run(&["agents", "--json", "--config", config]).well();
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let names: Vec<_> = list["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| &a["name"])
        .collect();
    assert_eq!(names, ["gone", "later", "script", "there"]);
    let text = home.run(&["agents"]).well().stdout;
    assert_eq!(text, "script           script     (default)\n");
}

//! `sessiond sessions`: what is stored.

use serde_json::{Value, json};
use sessiond_protocol::limits::PAGE_SESSIONS;

use crate::harness::{Home, Permissions, Server, append, listed, only_session, opened};

#[test]
fn the_list_is_newest_first_and_may_be_of_one_directory() {
    let home = Home::new();
    let other = home.path("other");
    std::fs::create_dir(&other).unwrap();
    home.run(&["exec", "older"]).well();
    let mut elsewhere = home.command(&["exec", "newer"]);
    elsewhere.current_dir(&other);
    assert!(elsewhere.output().unwrap().status.success());
    let titles = |args: &[&str]| -> Vec<String> {
        let list = home.run(args).well();
        let list: Value = serde_json::from_str(&list.stdout).unwrap();
        let rows = list["sessions"].as_array().unwrap();
        rows.iter()
            .map(|row| row["title"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(titles(&["sessions", "list", "--json"]), ["newer", "older"]);
    assert_eq!(
        titles(&["sessions", "list", "--json", "--cwd", "other"]),
        ["newer"]
    );
    assert_eq!(
        titles(&["sessions", "list", "--json", "--cwd", "/nowhere"]),
        [""; 0]
    );
    let lines = home.run(&["sessions", "list"]).well().stdout;
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].contains("newer") && lines[1].contains("older"),
        "{lines:?}"
    );
}

#[test]
fn an_empty_store_has_an_empty_list() {
    let home = Home::new();
    assert_eq!(
        home.run(&["sessions", "list"]).well().stdout,
        "no sessions\n"
    );
    let list = home.run(&["sessions", "list", "--json"]).well();
    assert_eq!(list.stdout, "{\"sessions\":[]}\n");
}

#[test]
fn a_session_that_is_not_there_and_a_name_that_is_none_are_told_apart() {
    let home = Home::new();
    let table = [
        ("0191f0aa-0000-7000-8000-000000000000", 1),
        ("0191F0AA-0000-7000-8000-000000000000", 2),
        ("../../../../etc/passwd", 1),
        ("", 2),
    ];
    for (id, code) in table {
        let done = home.run(&["sessions", "show", id]);
        assert_eq!(done.code, Some(code), "{id:?}: {}", done.stderr);
        assert!(!done.stderr.is_empty());
    }
}

/// LOG-12
#[test]
fn the_list_says_what_the_store_occupies_and_shows_what_it_leaves_out() {
    let home = Home::new();
    for prompt in ["stays", "put away", "thrown away"] {
        home.run(&["exec", prompt]).well();
    }
    home.run(&["sessions", "archive", "put away"]).well();
    home.run(&["sessions", "rm", "thrown away"]).well();
    let list = home.run(&["sessions", "list"]).well();
    assert_eq!(list.stdout.lines().count(), 1, "{}", list.stdout);
    let said = "1 sessions, 1 archived, 1 in the trash; the store occupies 0.";
    assert!(list.stderr.contains(said), "{}", list.stderr);
    let doctor = home.run(&["doctor"]).well().stdout;
    assert!(doctor.contains(said), "{doctor}");

    let ids = |flag: &str, member: &str| -> Vec<Value> {
        let list = home.run(&["sessions", "list", flag, "--json"]).well();
        let mut list: Value = serde_json::from_str(&list.stdout).unwrap();
        let rows = list[member].take();
        let rows = rows.as_array().unwrap();
        let text = home.run(&["sessions", "list", flag]).well().stdout;
        assert_eq!(text.lines().count(), rows.len(), "{text}");
        for row in rows {
            assert!(text.contains(row["session"].as_str().unwrap()), "{text}");
        }
        rows.clone()
    };
    let archived = ids("--archived", "archived");
    assert_eq!(archived.len(), 1);
    // A line of it says as much as one of the others.
    let (title, cwd) = (&archived[0]["title"], &archived[0]["cwd"]);
    assert_eq!(
        (title, cwd),
        (&"put away".into(), &home.work().to_str().into())
    );
    let line = home.run(&["sessions", "list", "--archived"]).well().stdout;
    let time = archived[0]["updated_at"].as_str().unwrap();
    for part in ["put away", home.work().to_str().unwrap(), &time[..19]] {
        assert!(line.contains(part), "{line}");
    }
    let archived = archived[0]["session"].as_str().unwrap();
    for content in ["kept", "deleted"] {
        let removed = ids("--removed", "removed");
        assert_eq!(removed.len(), 1);
        assert_eq!(removed[0]["content"], content);
        assert!(removed[0]["removed_at"].as_str().unwrap().ends_with('Z'));
        assert_ne!(removed[0]["session"], archived);
        home.run(&["sessions", "gc", "--trash-days", "0"]).well();
    }
    let said = "1 sessions, 1 archived, 0 in the trash";
    let list = home.run(&["sessions", "list"]).well();
    assert!(list.stderr.contains(said), "{}", list.stderr);
    home.run(&["sessions", "unarchive", archived]).well();
    let text = home.run(&["sessions", "list", "--archived"]).well().stdout;
    assert_eq!(text, "no archived sessions\n");
}

/// LOG-14
#[test]
fn a_time_that_is_not_the_logs_has_a_question_mark() {
    let home = Home::new();
    home.run(&["exec", "now"]).well();
    let flagged = || {
        let json = home.run(&["sessions", "list", "--json"]).well().stdout;
        let list: Value = serde_json::from_str(&json).unwrap();
        let text = home.run(&["sessions", "list"]).well().stdout;
        (list["sessions"][0]["recency"].clone(), text.contains("Z? "))
    };
    assert_eq!(flagged(), (Value::Null, false));
    // By a clock that was ahead by far.
    let message = json!({ "type": "agent_message", "text": "x" });
    let said = json!({ "type": "item.ended", "item": message });
    let session = only_session(&home);
    append(&home, &session, "9000-01-01T00:00:00.000Z", &[said]);
    assert_eq!(flagged(), ("clamped".into(), true));
}

/// RESUME-2: more sessions than the engine gives in one page.
#[test]
fn lists_and_titles_go_by_all_the_pages() {
    let home = Home::new();
    let count = PAGE_SESSIONS as usize + 1;
    for number in 0..count {
        let session = format!("0191f0aa-0000-7000-8000-{number:012x}");
        let cwd = home.work();
        let title = json!({ "type": "session.changed", "title": "Fix it" });
        let events = [opened(&session, cwd.to_str().unwrap()), title];
        append(&home, &session, "2026-01-01T00:00:00.000Z", &events);
    }
    let mut ids = listed(&home);
    assert!(ids.is_sorted_by(|a, b| a > b), "the same time: by id");
    ids.dedup();
    assert_eq!(ids.len(), count);
    let done = home.run(&["sessions", "show", "Fix it"]);
    assert_eq!(done.code, Some(2));
    assert!(
        ids.iter().all(|id| done.stderr.contains(id)),
        "{}",
        done.stderr
    );
}

/// RESUME-6
#[test]
fn a_session_in_use_is_shown_as_it_stands_and_after_its_death_as_left_open() {
    let home = Home::new();
    let mut server = Server::start(&home);
    server.permissions = Permissions::Hold;
    let session = server.new_session(&home);
    server.prompt(&session, "before the tool\n/run true");
    server.asked("session/request_permission");
    let shown = home.run(&["sessions", "show", &session]).well().stdout;
    assert!(
        shown.contains(&format!("held by process {}", server.pid())),
        "{shown}"
    );
    assert!(shown.contains("agent      before the tool"), "{shown}");
    assert!(shown.contains("[waiting for an answer]"), "{shown}");
    server.kill();
    let before = home.sessions();
    let shown = home.run(&["sessions", "show", &session]).well().stdout;
    assert!(!shown.contains("held by"), "{shown}");
    assert!(shown.contains("[outcome unknown]"), "{shown}");
    assert!(shown.contains("turn       interrupted"), "{shown}");
    let frames = home
        .run(&["sessions", "show", "--json", &session])
        .well()
        .stdout;
    let last: Value = serde_json::from_str(frames.lines().last().unwrap()).unwrap();
    assert_eq!(last["event"]["outcome"], "interrupted");
    assert_eq!(last.get("cursor"), None, "nothing recorded it yet");
    assert_eq!(home.sessions(), before, "looking changes nothing");
}

//! `sessiond sessions`: what is stored.

use serde_json::Value;

use crate::harness::{Home, Permissions, Server};

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
fn a_session_that_is_not_there_and_an_id_that_is_none_are_told_apart() {
    let home = Home::new();
    let table = [
        ("0191f0aa-0000-7000-8000-000000000000", 1),
        ("0191F0AA-0000-7000-8000-000000000000", 2),
        ("../../../../etc/passwd", 2),
        ("", 2),
    ];
    for (id, code) in table {
        let done = home.run(&["sessions", "show", id]);
        assert_eq!(done.code, Some(code), "{id:?}: {}", done.stderr);
        assert!(!done.stderr.is_empty());
    }
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

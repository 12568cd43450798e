//! `sessiond sessions fork`: a new session with an old one's history.

use serde_json::Value;

use crate::harness::{Files, Home, Permissions, Server, listed, only_session};

fn fork(home: &Home, args: &[&str]) -> String {
    let args: Vec<&str> = ["sessions", "fork", "--json"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    let forked: Value = serde_json::from_str(&home.run(&args).well().stdout).unwrap();
    forked["session"].as_str().unwrap().to_owned()
}

fn frames(home: &Home, session: &str) -> Vec<Value> {
    let shown = home.run(&["sessions", "show", "--json", session]).well();
    let lines = shown.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// RESUME-9, RESUME-18
#[test]
fn a_fork_has_the_history_and_neither_session_changes_the_other() {
    let home = Home::new();
    home.run(&["exec", "shared"]).well();
    let parent = only_session(&home);
    let child = fork(&home, &[&parent]);
    assert_eq!(listed(&home).len(), 2);
    let folder = |session: &str| Files::below(&home.store().join("sessions").join(session));
    let (before, shared) = (folder(&parent), frames(&home, &parent));
    home.run(&["exec", "--session", &child, "only in the child"])
        .well();
    assert_eq!(folder(&parent), before);
    assert_eq!(frames(&home, &parent), shared);
    let child_frames = frames(&home, &child);
    let ids = child_frames.iter().map(|frame| frame["session"].as_str());
    assert!(
        ids.clone().all(|id| id == Some(&child)),
        "its own id everywhere"
    );
    assert_eq!(child_frames[0]["event"]["id"], child.as_str());
    let shown = home.run(&["sessions", "show", &child]).well().stdout;
    assert!(
        shown.contains(&format!("fork       of {parent}")),
        "{shown}"
    );
    let marker = child_frames.iter().find(|f| f["event"]["marker"] == "fork");
    assert_eq!(marker.unwrap()["event"]["parent"], parent.as_str());

    home.run(&["exec", "--session", &parent, "only in the parent"])
        .well();
    assert_eq!(frames(&home, &child), child_frames);
    home.run(&["sessions", "rm", &parent]).well();
    assert_eq!(frames(&home, &child), child_frames);
    home.run(&["sessions", "verify"]).well();
    assert_eq!(listed(&home), [child]);
}

/// RESUME-9: its messages are its parent's, and so is the time it was last used.
#[test]
fn the_list_shows_when_a_fork_was_forked_and_the_turns_it_has_from_its_parent() {
    let home = Home::new();
    for prompt in ["one", "two"] {
        home.run(&["exec", "--json", prompt]).well();
    }
    let parent = listed(&home).remove(0);
    home.run(&["exec", "--session", &parent, "three"]).well();
    let child = fork(&home, &[&parent]);
    let row = |session: &str| {
        let list = home.run(&["sessions", "list", "--json"]).well();
        let list: Value = serde_json::from_str(&list.stdout).unwrap();
        let mut rows = list["sessions"].as_array().unwrap().iter();
        rows.find(|row| row["session"] == session).unwrap().clone()
    };
    let marked = frames(&home, &child);
    let marked = marked.iter().find(|f| f["event"]["marker"] == "fork");
    let (of_child, of_parent) = (row(&child), row(&parent));
    assert_eq!(of_child["created_at"], marked.unwrap()["at"]);
    assert_ne!(of_child["created_at"], of_parent["created_at"]);
    assert_eq!(of_child["updated_at"], of_parent["updated_at"]);
    assert_eq!(
        (&of_child["turns"], &of_parent["turns"]),
        (&2.into(), &2.into())
    );
    // Its own turns count beside them, as the notes of a running session have it too.
    home.run(&["exec", "--session", &child, "four"]).well();
    assert_eq!(row(&child)["turns"], 3);
    assert_eq!(row(&child)["created_at"], of_child["created_at"]);
    std::fs::remove_file(home.store().join("index.sqlite")).unwrap();
    assert_eq!(row(&child)["turns"], 3);
    assert_eq!(row(&child)["created_at"], of_child["created_at"]);
}

/// RESUME-17
#[test]
fn a_fork_point_is_an_event_of_the_session() {
    let home = Home::new();
    home.run(&["exec", "shared"]).well();
    let parent = only_session(&home);
    let child = fork(&home, &[&parent, "--at", "1"]);
    let kinds: Vec<_> = frames(&home, &child)
        .iter()
        .map(|frame| frame["event"]["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["session.opened", "marker"]);
    let before = home.sessions();
    for at in ["0", "999"] {
        let done = home.run(&["sessions", "fork", &parent, "--at", at]);
        assert_eq!(done.code, Some(2), "{at}: {}", done.stderr);
    }
    let nowhere = "0191f0aa-0000-7000-8000-000000000000";
    assert_eq!(home.run(&["sessions", "fork", nowhere]).code, Some(1));
    assert_eq!(home.sessions(), before);
}

/// RESUME-8, RESUME-9
#[test]
fn what_was_allowed_and_what_was_open_in_the_parent_stays_the_parents() {
    let home = Home::new();
    let mut server = Server::start(&home);
    server.permissions = Permissions::Hold;
    let parent = server.new_session(&home);
    let prompt = server.prompt(&parent, "/run true");
    let question = server.asked("session/request_permission");
    let busy = home.run(&["sessions", "fork", &parent]);
    assert_eq!(busy.code, Some(75), "{}", busy.stderr);
    server.select(&question, "allow_always");
    server.response(prompt);
    server.quit();

    let last = frames(&home, &parent).len();
    let all = fork(&home, &[&parent]);
    let open = frames(&home, &parent)
        .iter()
        .position(|f| f["event"]["type"] == "request.opened");
    let cut = fork(&home, &[&parent, "--at", &(open.unwrap() + 1).to_string()]);
    assert!(last > 0);
    let shown = home.run(&["sessions", "show", &cut]).well().stdout;
    assert!(shown.contains("outcome unknown"), "{shown}");
    let closed = frames(&home, &cut);
    assert!(
        closed.iter().all(|frame| frame.get("cursor").is_some()),
        "all of it is recorded"
    );

    let mut server = Server::start(&home);
    server.permissions = Permissions::Hold;
    server.load(&home, &all);
    server.prompt(&all, "/run true");
    let asked = server.until("a question or the end", |frame| {
        frame["method"] == "session/request_permission" || frame.get("result").is_some()
    });
    assert_eq!(
        asked["method"], "session/request_permission",
        "the fork asks anew"
    );
}

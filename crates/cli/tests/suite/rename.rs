//! `sessiond sessions rename`: the user's word on a title.

use serde_json::Value;

use crate::harness::{Home, Server, only_session};

/// A session with one finished turn.
fn finished(home: &Home, prompt: &str) -> String {
    home.run(&["exec", prompt]).well();
    only_session(home)
}

fn title(home: &Home, session: &str) -> String {
    let list = home.run(&["sessions", "list", "--json"]).well();
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let mut rows = list["sessions"].as_array().unwrap().iter();
    let row = rows.find(|row| row["session"] == session).unwrap();
    row["title"].as_str().unwrap().to_owned()
}

#[test]
fn a_title_of_the_users_stays_whatever_prompts_and_the_agent_say() {
    let home = Home::new();
    let session = finished(&home, "hello");
    assert_eq!(title(&home, &session), "hello");
    let renamed = home.run(&["sessions", "rename", &session, "Mine", "--json"]);
    let renamed: Value = serde_json::from_str(&renamed.well().stdout).unwrap();
    assert_eq!(renamed["session"], session.as_str());
    let more = ["exec", "--session", &session, "/title Theirs\nmore"];
    home.run(&more).well();
    assert_eq!(title(&home, &session), "Mine");
    assert!(home.log(&session).contains(r#""titled_by":"user""#));
}

#[test]
fn a_name_without_text_and_a_session_that_is_not_there_are_refused() {
    let home = Home::new();
    let session = finished(&home, "hello");
    let before = home.sessions();
    let nowhere = "0191f0aa-0000-7000-8000-000000000000";
    for (session, title, code) in [(&*session, " ", 2), (nowhere, "x", 1), ("no-title", "x", 1)] {
        let done = home.run(&["sessions", "rename", session, title]);
        assert_eq!(
            done.code,
            Some(code),
            "{session} {title:?}: {}",
            done.stderr
        );
    }
    assert_eq!(home.sessions(), before, "a refusal leaves no trace");
}

/// LOG-7
#[test]
fn a_session_in_use_keeps_its_name_and_the_holder_is_named() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    server.turn(&session, "hello");
    let done = home.run(&["sessions", "rename", &session, "Mine"]);
    assert_eq!(done.code, Some(75), "{}", done.stderr);
    let holder = format!("process {}", server.pid());
    assert!(done.stderr.contains(&holder), "{}", done.stderr);
    assert_eq!(title(&home, &session), "hello");
}

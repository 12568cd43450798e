//! `sessiond sessions archive`, `unarchive`, `rm` and `restore`.

use serde_json::Value;

use crate::harness::{Files, Home, Server, listed, only_session};

/// LOG-10
#[test]
fn an_archived_session_is_out_of_the_lists_and_comes_back_as_it_was() {
    let home = Home::new();
    home.run(&["exec", "hello"]).well();
    let session = only_session(&home);
    let before = home.sessions();
    let moved = home
        .run(&["sessions", "archive", &session, "--json"])
        .well();
    let moved: Value = serde_json::from_str(&moved.stdout).unwrap();
    assert_eq!(moved["moved_to"], "archive");
    assert_eq!(listed(&home), [""; 0]);
    assert_eq!(home.run(&["sessions", "show", &session]).code, Some(1));
    assert_eq!(home.run(&["sessions", "archive", &session]).code, Some(1));
    home.run(&["sessions", "unarchive", &session]).well();
    assert_eq!(listed(&home), [session.as_str()]);
    assert_eq!(home.sessions(), before);
    assert_eq!(home.run(&["sessions", "unarchive", &session]).code, Some(1));
    home.run(&["exec", "--session", &session, "more"]).well();
}

/// LOG-12
#[test]
fn a_removed_session_is_whole_in_the_trash_wherever_it_was() {
    for archived in [false, true] {
        let home = Home::new();
        home.run(&["exec", "hello"]).well();
        let session = only_session(&home);
        let before = Files::below(&home.store().join("sessions").join(&session));
        if archived {
            home.run(&["sessions", "archive", &session]).well();
        }
        let said = home.run(&["sessions", "rm", &session]).well().stdout;
        assert!(said.contains("`sessiond sessions restore`"), "{said}");
        assert_eq!(listed(&home), [""; 0]);
        let trash = home.store().join("trash");
        let name = Files::below(&trash).first_folder();
        assert!(name.starts_with(&session), "{name}");
        assert_eq!(Files::below(&trash.join(name)), before);
        assert_eq!(home.run(&["sessions", "rm", &session]).code, Some(1));
        // LOG-9: the list knows that it is back.
        let back = home
            .run(&["sessions", "restore", &session, "--json"])
            .well();
        let back: Value = serde_json::from_str(&back.stdout).unwrap();
        assert_eq!(back["moved_to"], "store");
        assert_eq!(listed(&home), [session.as_str()]);
        let now = Files::below(&home.store().join("sessions").join(&session));
        assert_eq!(now, before);
        home.run(&["exec", "--session", &session, "more"]).well();
        for (command, place) in [("restore", "the trash"), ("unarchive", "the archive")] {
            let again = home.run(&["sessions", command, &session]);
            assert_eq!(again.code, Some(1), "{command}: {}", again.stderr);
            assert!(again.stderr.contains(place), "{command}: {}", again.stderr);
        }
    }
}

/// LOG-7
#[test]
fn a_session_in_use_stays_where_it_is() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    server.turn(&session, "hello");
    for command in ["archive", "rm"] {
        let done = home.run(&["sessions", command, &session]);
        assert_eq!(done.code, Some(75), "{command}: {}", done.stderr);
        let holder = format!("process {}", server.pid());
        assert!(done.stderr.contains(&holder), "{command}: {}", done.stderr);
    }
    assert_eq!(server.turn(&session, "still here"), "end_turn");
}

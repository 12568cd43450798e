//! A store that somebody meddled with, and ids that are none.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Files, Home, Server, is_root, listed, only_session};

/// Texts that are no session id, as a command line can hold them.
fn bad_ids() -> Vec<String> {
    let long = "a".repeat(4096);
    let fixed = [
        "",
        ".",
        "..",
        "../sessions",
        "/etc/passwd",
        "a/b",
        "0199B0C5-7E51-7D3C-9F6E-2B1F0A4C8D10/..",
        "сессия",
        "会话",
        "e\u{301}",
        "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10\n",
    ];
    let fixed = fixed.into_iter().map(str::to_owned);
    fixed.chain([long]).collect()
}

/// LOG-13, SEC-1: each is refused as what it is, and nothing is made for it.
#[test]
fn what_is_no_session_id_never_becomes_a_path() {
    let home = Home::new();
    home.run(&["exec", "hello"]).well();
    let before = home.sessions();
    for id in bad_ids() {
        for command in [
            "show",
            "fork",
            "archive",
            "unarchive",
            "rm",
            "verify",
            "repair",
            "export",
        ] {
            let done = home.run(&["sessions", command, "--", &id]);
            let shown: String = id.chars().take(40).collect();
            assert!(
                matches!(done.code, Some(1 | 2)),
                "{command} {shown:?}: {:?} {}",
                done.code,
                done.stderr
            );
            assert!(!done.stderr.is_empty(), "{command} {shown:?}");
        }
    }
    let mut server = Server::start(&home);
    let nul = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d10\0".to_owned();
    for id in bad_ids().into_iter().chain([nul]) {
        let params = json!({ "sessionId": id, "cwd": home.work(), "mcpServers": [] });
        let asked = server.send("session/load", params);
        let answer = server.response(asked);
        assert!(answer["error"]["code"].is_i64(), "{answer}");
    }
    server.quit();
    assert_eq!(home.sessions(), before);
    assert_eq!(
        Files::below(&home.work()),
        Files::below(Path::new("/nonexistent"))
    );
}

/// The command fails as the store does, and says this of it.
#[track_caller]
fn refused(home: &Home, args: &[&str], reason: &str) {
    let done = home.run(args);
    assert_eq!(done.code, Some(74), "{args:?}: {}", done.stderr);
    assert!(done.stderr.contains(reason), "{args:?}: {}", done.stderr);
}

/// LOG-15: a link below the store is never followed, whatever it stands for.
#[test]
fn a_link_planted_in_the_store_is_not_followed() {
    type Place = fn(&str) -> String;
    let plants: [(&str, Place); 5] = [
        ("the session", |id| format!("sessions/{id}")),
        ("its log", |id| format!("sessions/{id}/log")),
        ("its lock", |id| format!("sessions/{id}/LOCK")),
        ("its owner record", |id| format!("open/{id}")),
        ("its blobs", |id| format!("sessions/{id}/blobs")),
    ];
    for (what, place) in plants {
        let home = Home::new();
        home.run(&["exec", "hello"]).well();
        let session = only_session(&home);
        let outside = home.path("outside");
        fs::create_dir(&outside).unwrap();
        let planted = home.store().join(place(&session));
        if planted.is_dir() {
            fs::rename(&planted, outside.join("kept")).unwrap();
        } else if planted.exists() {
            fs::remove_file(&planted).unwrap();
        }
        symlink(outside.join("kept"), &planted).unwrap();
        let before = Files::below(&outside);
        let text = "x".repeat(70_000);
        let _either = home.run(&["exec", "--session", &session, &text]);
        assert_eq!(Files::below(&outside), before, "{what}");
    }
}

/// LOG-11: what a newer program wrote is read as far as it is known, and never written to.
#[test]
fn a_store_of_a_newer_format_is_shown_and_left_as_it_is() {
    let home = Home::new();
    home.run(&["exec", "hello"]).well();
    let session = only_session(&home);
    fs::write(home.store().join("STORE"), "{\"format\":3}\n").unwrap();
    let before = home.sessions();
    let shown = home.run(&["sessions", "show", &session]).well();
    assert!(shown.stdout.contains("hello"), "{}", shown.stdout);
    assert_eq!(listed(&home), [session.as_str()]);
    for args in [
        &["exec", "new"][..],
        &["exec", "--session", &session, "more"],
        &["sessions", "rename", &session, "title"],
        &["sessions", "rm", &session],
    ] {
        refused(&home, args, "newer");
    }
    assert_eq!(home.sessions(), before);
}

/// LOG-13: directories that a naive key takes for one another keep their sessions apart.
#[test]
fn directories_that_look_alike_do_not_share_sessions() {
    let home = Home::new();
    let names = [
        "a-b",
        "a/b",
        "a_b",
        "caf\u{e9}",
        "cafe\u{301}",
        "会话",
        "文档",
    ];
    let mut server = Server::start(&home);
    let mut made = Vec::new();
    for name in names {
        let cwd = home.path(name);
        fs::create_dir_all(&cwd).unwrap();
        let params = json!({ "cwd": cwd, "mcpServers": [] });
        let answer = server.call("session/new", params);
        let session = answer["sessionId"].as_str().unwrap().to_owned();
        assert_eq!(server.turn(&session, "hello"), "end_turn");
        made.push((cwd, session));
    }
    for (cwd, session) in &made {
        let answer = server.call("session/list", json!({ "cwd": cwd }));
        let rows = answer["sessions"].as_array().unwrap();
        let ids: Vec<_> = rows.iter().map(|row| &row["sessionId"]).collect();
        assert_eq!(ids, [&Value::from(session.as_str())], "{}", cwd.display());
    }
}

/// Takes the right to write from a directory and all below it, or gives it back.
fn set_writable(path: &Path, mode: u32) {
    if path.is_dir() {
        fs::set_permissions(path, fs::Permissions::from_mode(mode | 0o500)).unwrap();
        for entry in fs::read_dir(path).unwrap() {
            set_writable(&entry.unwrap().path(), mode);
        }
    } else {
        fs::set_permissions(path, fs::Permissions::from_mode(mode | 0o400)).unwrap();
    }
}

/// LOG-15: a store that is somebody else's is neither used nor changed.
#[test]
fn a_store_of_somebody_else_is_refused() {
    let home = Home::of_plain_user();
    home.run(&["exec", "hello"]).well();
    let session = only_session(&home);
    if !is_root() {
        // Nobody but root can give a directory away; the log's own test plays the owner then.
        return;
    }
    chown(home.store(), Some(12_345), None).unwrap();
    fs::set_permissions(home.store(), fs::Permissions::from_mode(0o777)).unwrap();
    let before = home.sessions();
    for args in [
        &["exec", "new"][..],
        &["exec", "--session", &session, "more"],
    ] {
        refused(&home, args, "store");
    }
    assert_eq!(home.sessions(), before);
}

/// LOG-6, RESUME-3: what can only be read is shown, and every write says that it failed.
#[test]
fn a_store_that_cannot_be_written_is_shown_all_the_same() {
    let home = Home::of_plain_user();
    home.run(&["exec", "hello"]).well();
    let session = only_session(&home);
    let before = home.sessions();
    set_writable(&home.store(), 0);
    let shown = home.run(&["sessions", "show", &session]).well();
    assert!(shown.stdout.contains("hello"), "{}", shown.stdout);
    assert_eq!(listed(&home), [session.as_str()]);
    for args in [
        &["exec", "new"][..],
        &["exec", "--session", &session, "more"],
    ] {
        refused(&home, args, "ermission");
    }
    set_writable(&home.store(), 0o200);
    assert_eq!(home.sessions(), before);
    home.run(&["exec", "--session", &session, "more"]).well();
}

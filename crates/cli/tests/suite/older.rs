//! `sessiond sessions archive --older`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Home, Server};

/// Turns of 60,000 characters both ways, until a checkpoint has been due: it is after 2 MiB.
const TURNS: usize = 20;

fn bytes(path: &Path) -> u64 {
    if !path.is_dir() {
        return fs::metadata(path).unwrap().len();
    }
    let entries = fs::read_dir(path).unwrap();
    entries.map(|entry| bytes(&entry.unwrap().path())).sum()
}

/// LOG-10: a long session is compressed behind its checkpoint; whoever opens, shows or loads it
/// sees what they saw.
#[test]
fn a_session_whose_older_part_is_compressed_is_used_as_before() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    server.turn(&session, "the first");
    server.quit();
    let older = ["sessions", "archive", &session, "--older"];
    let nothing = home.run(&older).well();
    assert!(
        nothing.stdout.contains("nothing older"),
        "{}",
        nothing.stdout
    );
    let mut server = Server::start(&home);
    server.load(&home, &session);
    for _ in 0..TURNS {
        server.turn(&session, &"x".repeat(60_000));
    }
    server.turn(&session, "the last");
    let busy = home.run(&older);
    assert_eq!(busy.code, Some(75), "{}", busy.stderr);
    server.quit();

    let shown = home.run(&["sessions", "show", &session, "--json"]).well();
    let directory = home.store().join("sessions").join(&session);
    let before = bytes(&directory);
    let done = home
        .run(&["sessions", "archive", &session, "--older", "--json"])
        .well();
    let done: Value = serde_json::from_str(&done.stdout).unwrap();
    assert!(done["segments"].as_u64() >= Some(1), "{done}");
    assert!(bytes(&directory) < before / 2, "{done}");

    let again = home.run(&["sessions", "show", &session, "--json"]).well();
    assert!(again.stdout == shown.stdout, "the same events");
    home.run(&["sessions", "verify", &session]).well();
    let mut server = Server::start(&home);
    let replay = server.load(&home, &session);
    let texts = replay.texts();
    assert!(texts.iter().any(|text| text.contains("the first")));
    assert!(texts.iter().any(|text| text.contains("the last")));
    server.turn(&session, "on");
    server.quit();
    home.run(&["sessions", "verify", &session]).well();
}

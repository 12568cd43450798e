//! `sessiond sessions verify` and `repair`: what is wrong with a log, and taking note of it.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{Claude, Home, Server, only_session};

/// The last segment of the only session's log.
fn last_segment(home: &Home, session: &str) -> PathBuf {
    let log = home.store().join("sessions").join(session).join("log");
    let mut segments: Vec<_> = fs::read_dir(log)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    segments.sort();
    segments.pop().unwrap()
}

/// Changes a byte in the middle of the line that holds `text` first, and gives the line's offset.
fn flip(segment: &PathBuf, text: &str) -> u64 {
    let mut bytes = fs::read(segment).unwrap();
    let found = bytes.windows(text.len()).position(|w| w == text.as_bytes());
    let found = found.unwrap();
    bytes[found] ^= 1;
    fs::write(segment, &bytes).unwrap();
    let start = bytes[..found].iter().rposition(|byte| *byte == b'\n');
    start.map_or(0, |line_end| line_end + 1) as u64
}

fn tear(segment: &PathBuf) {
    let mut file = OpenOptions::new().append(true).open(segment).unwrap();
    file.write_all(br#"{"v":1,"seq":99,"epo"#).unwrap();
}

/// The one report of `sessions verify --json`, and its exit code.
fn verify(home: &Home, args: &[&str]) -> (Option<i32>, Value) {
    let args: Vec<&str> = ["sessions", "verify", "--json"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    let done = home.run(&args);
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    (done.code, report["sessions"][0].clone())
}

/// LOG-3, LOG-4
#[test]
fn damage_is_found_with_its_place_noted_by_repair_and_never_touched() {
    let home = Home::new();
    home.run(&["exec", "find me"]).well();
    let session = only_session(&home);
    let (code, clean) = verify(&home, &[]);
    assert_eq!((code, &clean["health"]), (Some(0), &Value::from("clean")));
    let segment = last_segment(&home, &session);
    let offset = flip(&segment, "find me");
    let damaged = fs::read(&segment).unwrap();

    let (code, report) = verify(&home, &[&session]);
    assert_eq!(code, Some(1));
    assert_eq!(report["health"], "damaged");
    let place = &report["found"][0];
    assert_eq!(place["file"], segment.to_str().unwrap());
    assert_eq!(place["offset"], offset);
    assert_eq!(place["reason"], "checksum");
    let line = damaged[offset as usize..].split_inclusive(|byte| *byte == b'\n');
    assert_eq!(place["length"], line.clone().next().unwrap().len());
    let text = String::from_utf8_lossy(&damaged);
    let seq = place["seq"].as_u64().unwrap();
    let lines = text.lines().filter(|line| line.contains("\"seq\""));
    assert!(
        lines
            .clone()
            .nth(seq as usize - 1)
            .unwrap()
            .contains("\"item.ended\"")
    );
    let told = home.run(&["sessions", "verify"]);
    assert_eq!(told.code, Some(1));
    assert!(
        told.stdout.contains(&format!("byte {offset}")),
        "{}",
        told.stdout
    );

    home.run(&["sessions", "repair", &session]).well();
    let (code, report) = verify(&home, &[]);
    assert_eq!(code, Some(0));
    assert_eq!(report["repaired"][0]["offset"], offset);
    assert_eq!(fs::read(&segment).unwrap(), damaged, "its bytes stay");
    let repaired = home.sessions();
    home.run(&["sessions", "repair", &session]).well();
    assert_eq!(home.sessions(), repaired, "again it does nothing");
}

/// LOG-4
#[test]
fn an_unfinished_end_is_found_unless_somebody_is_writing_it() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let session = server.new_session(&home);
    server.turn(&session, "hello");
    tear(&last_segment(&home, &session));
    let (code, report) = verify(&home, &[]);
    assert_eq!((code, &report["health"]), (Some(0), &Value::from("clean")));
    let holder = format!("process {}", server.pid());
    assert!(report["holder"].as_str().unwrap().contains(&holder));
    let repair = home.run(&["sessions", "repair", &session]);
    assert_eq!(repair.code, Some(75), "{}", repair.stderr);
    assert!(repair.stderr.contains(&holder), "{}", repair.stderr);
    server.kill();
    let (code, report) = verify(&home, &[]);
    assert_eq!((code, &report["health"]), (Some(1), &Value::from("torn")));
    assert_eq!(report["found"][0]["reason"], "torn");
    home.run(&["sessions", "repair", &session]).well();
    assert_eq!(verify(&home, &[]).0, Some(0));
}

/// LOG-10, CKPT-6: the archive is looked at too, and what was set aside is named without being a
/// failure.
#[test]
fn archived_sessions_are_looked_at_and_remains_are_named() {
    let home = Home::new();
    home.run(&["exec", "find me"]).well();
    let session = only_session(&home);
    home.run(&["sessions", "archive", &session]).well();
    let (code, report) = verify(&home, &[]);
    assert_eq!((code, &report["place"]), (Some(0), &Value::from("archive")));
    let told = home.run(&["sessions", "verify"]).well().stdout;
    assert!(told.contains("archived"), "{told}");
    let log = home.store().join("archive").join(&session).join("log");
    let segment = fs::read_dir(log).unwrap().next().unwrap().unwrap().path();
    flip(&segment, "find me");
    for args in [&[][..], &[session.as_str()]] {
        let (code, report) = verify(&home, args);
        assert_eq!((code, &report["health"]), (Some(1), &"damaged".into()));
        assert_eq!(report["found"][0]["file"], segment.to_str().unwrap());
    }
    home.run(&["sessions", "rm", &session]).well();

    let aside = format!("aside/{session}.1");
    fs::create_dir_all(home.store().join(&aside)).unwrap();
    let all = home.run(&["sessions", "verify", "--json"]).well().stdout;
    let all: Value = serde_json::from_str(&all).unwrap();
    assert_eq!(all["aside"], serde_json::json!([aside]));
    let told = home.run(&["sessions", "verify"]).well().stdout;
    assert!(told.starts_with(&format!("{aside}: remains")), "{told}");
}

#[test]
fn what_is_not_there_and_what_cannot_be_read_are_told_apart() {
    let home = Home::new();
    assert_eq!(home.run(&["sessions", "verify"]).well().stdout, "");
    home.run(&["exec", "hello"]).well();
    let nowhere = "0191f0aa-0000-7000-8000-000000000000";
    for command in ["verify", "repair"] {
        let done = home.run(&["sessions", command, nowhere]);
        assert_eq!(done.code, Some(1), "{command}: {}", done.stderr);
        assert_eq!(home.run(&["sessions", command, "../x"]).code, Some(1));
        assert_eq!(home.run(&["sessions", command, ""]).code, Some(2));
    }
    let log = home
        .store()
        .join("sessions")
        .join(only_session(&home))
        .join("log");
    fs::remove_dir_all(&log).unwrap();
    fs::write(&log, "").unwrap();
    let done = home.run(&["sessions", "verify", "--json"]);
    assert_eq!(done.code, Some(74), "{}{}", done.stdout, done.stderr);
}

/// LOG-4: a program of Claude is told of the loss in its next turn, once: nothing stands behind a
/// result.
#[test]
fn a_program_of_claude_is_told_once_that_its_log_is_damaged() {
    let home = Home::new();
    home.run(&["exec", "find me"]).well();
    let session = only_session(&home);
    flip(&last_segment(&home, &session), "find me");
    let mut claude = Claude::start(&home, &["--resume", &session]);
    for text in ["next", "and another"] {
        assert_eq!(claude.turn(text)["is_error"], false, "{text}");
    }
    let (_, frames) = claude.end();
    let is_notice = |frame: &&Value| frame["subtype"] == "informational";
    let notices: Vec<_> = frames.iter().filter(is_notice).collect();
    let [notice] = &notices[..] else {
        panic!("{notices:?}");
    };
    assert_eq!(notice["level"], "warning");
    let text = "the session's log is damaged: 1 place cannot be read";
    assert_eq!(notice["content"], text);
    let results: Vec<_> = frames
        .iter()
        .filter(|frame| frame["type"] == "result" || frame["subtype"] == "informational")
        .map(|frame| frame["type"].as_str().unwrap())
        .collect();
    assert_eq!(results, ["system", "result", "result"]);
}

//! `sessiond transcript`, and imports of transcripts.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{Ended, Home, only_session};

const ID: &str = "aaaaaaaa-1111-4000-8000-000000000014";

/// A transcript of the real program.
fn fixture(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../claude/tests/transcripts");
    PathBuf::from(folder).join(name)
}

fn copied(home: &Home, name: &str, file: &str) -> String {
    let path = home.path(file);
    fs::copy(fixture(name), &path).unwrap();
    path.to_str().unwrap().to_owned()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// ADAPT-4, RESUME-2: a transcript becomes a session of the same id that can be resumed, and is
/// written again byte for byte.
#[test]
fn a_transcript_becomes_a_session_and_is_written_again_as_it_was() {
    let home = Home::new();
    let name = "30n_parallel_tools_split.jsonl";
    let file = copied(&home, name, &format!("{ID}.jsonl"));
    let taken = home.run(&["transcript", "convert", &file, "--to", "sessiond", "--json"]);
    let taken = json(&taken.well().stdout);
    assert_eq!(taken["session"], ID);
    assert_eq!(only_session(&home), ID);
    let shown = home.run(&["sessions", "show", ID]).well().stdout;
    for said in [
        "old question",
        "two tools",
        "echo a [completed]",
        "echo b [completed]",
    ] {
        assert!(shown.contains(said), "{shown}");
    }
    let back = home.run(&["transcript", "convert", ID, "--to", "claude", "-o", "-"]);
    let original = fs::read_to_string(fixture(name)).unwrap();
    assert!(back.well().stdout == original, "it is not what it was");
    home.run(&["sessions", "verify"]).well();
    home.run(&["sessions", "gc"]).well();

    // An export takes the original along.
    let export = home.path("x.sessiond");
    let export = export.to_str().unwrap();
    home.run(&["sessions", "export", ID, "-o", export]).well();
    let back = home.run(&["transcript", "convert", export, "--to", "claude", "-o", "-"]);
    assert!(back.well().stdout == original, "it is not what it was");

    // What is said here follows what was said there.
    home.run(&["exec", "--session", ID, "and here"]).well();
    let file = home.path("more.jsonl");
    let file = file.to_str().unwrap();
    let wrote = home.run(&[
        "transcript",
        "convert",
        ID,
        "--to",
        "claude",
        "-o",
        file,
        "--json",
    ]);
    let wrote = json(&wrote.well().stdout);
    let mode = fs::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(wrote["bytes"], text.len());
    let added = text.strip_prefix(&original).unwrap();
    assert!(added.contains("and here"), "{added}");
    let again = home.run(&["transcript", "convert", ID, "--to", "claude", "-o", file]);
    assert_eq!(again.code, Some(2), "the file is there: {}", again.stderr);
}

/// ADAPT-4: without a file to write it goes where the CLI looks for it.
#[test]
fn a_session_is_written_where_the_program_looks_for_it() {
    let home = Home::new();
    home.run(&["exec", "/think hm\n/say hello"]).well();
    let session = only_session(&home);
    let config = home.path("config");
    let mut command = home.command(&["transcript", "convert", &session, "--to", "claude"]);
    let output = command.env("CLAUDE_CONFIG_DIR", &config).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 thoughts: left out"), "{said}");
    let projects = fs::read_dir(config.join("projects")).unwrap();
    let project = projects.map(|entry| entry.unwrap().path()).next().unwrap();
    let text = fs::read(project.join(format!("{session}.jsonl"))).unwrap();
    assert_eq!(sessiond_claude::transcript::check(&text), []);
}

/// ADAPT-11: an import says what it was not proved on, and what is damaged, with the place.
#[test]
fn an_import_reads_around_damage_and_reports_it() {
    let home = Home::new();
    let file = copied(&home, "30d_truncated_tail.before.jsonl", "t.jsonl");
    let other = "0191f0aa-0000-7000-8000-000000000000";
    let taken = home
        .run(&["sessions", "import", &file, "--as", other])
        .well();
    for said in ["damage, read around", "line 3", "1.0.0", "2 items"] {
        assert!(taken.stdout.contains(said), "{}", taken.stdout);
    }
    let again = home.run(&["sessions", "import", &file, "--as", other]);
    assert_eq!(again.code, Some(1), "{}", again.stderr);
    assert!(again.stderr.contains("--as ID"), "{}", again.stderr);
}

#[test]
fn what_cannot_be_converted_is_refused_with_what_to_do() {
    let home = Home::new();
    home.run(&["exec", "hello"]).well();
    let session = only_session(&home);
    let odd = home.path("odd");
    fs::write(&odd, "no transcript\n").unwrap();
    let odd = odd.to_str().unwrap();
    for (arguments, says) in [
        (vec![odd, "--to", "sessiond"], "neither a transcript"),
        (vec!["/not/there", "--to", "sessiond"], "is no file"),
        (vec![&session, "--to", "sessiond"], "sessions export"),
        (vec![odd, "--to", "martian"], "possible values"),
    ] {
        let done = home.run(&[vec!["transcript", "convert"], arguments].concat());
        assert_eq!(done.code, Some(2), "{}", done.stderr);
        assert!(done.stderr.contains(says), "{}", done.stderr);
    }
}

/// A transcript that grows is printed as it grows.
#[test]
fn a_transcript_is_followed_while_it_is_written() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let home = Home::new();
    let file = copied(&home, "30a_minimal.before.jsonl", "t.jsonl");
    let mut command = home.command(&["transcript", "follow", &file, "--json"]);
    let mut child = Ended(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut next = || json(&lines.next().unwrap().unwrap());
    assert_eq!(next()["item"]["type"], "user_message");
    assert_eq!(next()["item"]["text"], "old answer");
    let entry = r#"{"parentUuid":"bbbbbbbb-0000-4000-8000-000000000002","type":"user","uuid":"bbbbbbbb-0000-4000-8000-000000000009","message":{"role":"user","content":"more"}}"#;
    let mut writer = fs::OpenOptions::new().append(true).open(&file).unwrap();
    writer.write_all(format!("{entry}\n").as_bytes()).unwrap();
    assert_eq!(next()["item"]["content"][0]["text"], "more");
    fs::copy(fixture("41a_user_branches.before.jsonl"), &file).unwrap();
    assert_eq!(next()["type"], "anew");
}

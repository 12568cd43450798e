use std::process::{Command, Stdio};

use super::{run, said};

#[test]
fn a_list_is_one_id_a_line_and_nothing_else() {
    let output = run(&["acp", "--list"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.lines().count() > 250);
    for line in text.lines() {
        let (case, check) = line.split_once('#').expect("case and check");
        assert!(case.starts_with("acp.") && !check.is_empty(), "{line}");
        assert!(!line.contains(' '), "{line}");
    }
    let two = [
        "acp",
        "--list",
        "-k",
        "acp.prompt.text#answered",
        "-k",
        "acp.v2.sessions.new#",
    ];
    let two = run(&two).stdout;
    assert_eq!(
        two,
        b"acp.prompt.text#answered\nacp.v2.sessions.new#answered\n"
    );
    let core = run(&["acp", "--list", "--level", "core"]).stdout;
    assert!(core.len() < text.len(), "core is a part of all");
    let one = run(&["acp", "--list", "-k", "acp.prompt.text#answered"]).stdout;
    assert_eq!(one, b"acp.prompt.text#answered\n");
}

/// Each check has a rule, and each rule a place where it is written.
#[test]
fn every_check_is_explained() {
    for suite in [
        "acp",
        "sqeq",
        "claude",
        "codex-exec",
        "codex-app-server",
        "cross",
        "transcript",
    ] {
        let ids = String::from_utf8(run(&[suite, "--list"]).stdout).expect("text");
        let (code, text) = said(&run(&[suite, "--explain"]));
        assert_eq!(code, Some(0), "{text}");
        let sources = text.matches("\n    source: ").count();
        assert_eq!(sources, ids.lines().count(), "{suite}");
        for id in ids.lines() {
            assert!(text.contains(&format!("{id}\n    ")), "{id}");
        }
    }
    let (_, text) = said(&run(&[
        "acp",
        "--explain",
        "-k",
        "acp.cancel.twice#answered",
    ]));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5, "{text}");
    assert_eq!(lines[0], "acp.cancel.twice#answered");
    assert_eq!(lines[2], "    seen when: Cancelled twice");
    assert!(lines[3].starts_with("    rule: v1.cancel.answer"), "{text}");
    assert!(
        lines[4].contains("https://github.com/agentclientprotocol/"),
        "{text}"
    );
}

#[test]
fn mistakes_of_usage_end_with_2() {
    let rows: [&[&str]; 12] = [
        &[],
        &["acp"],
        &["no-such-suite", "--list"],
        &["acp", "--level", "heroic", "--list"],
        &["acp", "--target", "/no/such/file.toml"],
        &["acp", "--", "/no/such/program"],
        &["acp", "--", "./no/such/program"],
        &["acp", "-k", "no such check", "--", "true"],
        &["acp", "--baseline", "/no/such/file.toml", "--", "true"],
        &["acp", "--update", "--", "true"],
        &[
            "acp",
            "--update",
            "--baseline",
            "a",
            "--baseline",
            "b",
            "--",
            "true",
        ],
        &["acp", "--keep", "/dev/null/folder", "--", "true"],
    ];
    for arguments in rows {
        let (code, text) = said(&run(arguments));
        assert_eq!(code, Some(2), "{arguments:?}: {text}");
    }
}

#[test]
fn a_program_that_is_not_there_is_a_target_that_fails() {
    let (code, text) = said(&run(&[
        "acp",
        "--level",
        "core",
        "--",
        "no-such-program-at-all",
    ]));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("the process ended (127)"), "{text}");
}

/// CONF-1: a folder that is too deep for the suite's sockets is named, and what to do about it.
#[test]
fn a_folder_that_is_too_deep_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let deep = folder.path().join("d".repeat(100));
    std::fs::create_dir(&deep).expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_sessiond-conformance"))
        .args(["acp", "-k", "acp.negotiation.initialize#", "--", "true"])
        .env("TMPDIR", &deep)
        .stdin(Stdio::null())
        .output()
        .expect("the suite starts");
    let (code, text) = said(&output);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains(&*deep.to_string_lossy()), "{text}");
    assert!(text.contains("set TMPDIR"), "{text}");
}

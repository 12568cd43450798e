use super::{run, said};

/// One entry of a transcript.
const ENTRY: &str = r#"{"uuid":"a","parentUuid":null,"isSidechain":false,"type":"user","timestamp":"2026-01-01T00:00:00.000Z","sessionId":"s","cwd":"/","version":"1","message":{"role":"user","content":"hello"}}"#;
/// What follows it, and nothing that is there.
const ORPHAN: &str = r#"{"uuid":"b","parentUuid":"gone","isSidechain":false,"type":"user","timestamp":"2026-01-01T00:00:01.000Z","sessionId":"s","cwd":"/","version":"1","message":{"role":"user","content":"more"}}"#;
/// The head of a rollout.
const HEAD: &str = r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"s","timestamp":"","cwd":"/","originator":"o","cli_version":"1"}}"#;

/// CONF-1: a file is judged by itself, and a finding names line and member.
#[test]
fn a_transcript_is_judged_without_a_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let sound = format!("{ENTRY}\n");
    let rows: [(&str, String, &[&str], i32, &str); 8] = [
        ("a transcript", sound.clone(), &[], 0, "conformant, "),
        ("a rollout", format!("{HEAD}\n"), &[], 0, "conformant, "),
        (
            "a gap",
            format!("{sound}{ORPHAN}\n"),
            &[],
            1,
            "line 2: parentUuid gone is no entry",
        ),
        (
            "no end",
            ENTRY.to_owned(),
            &[],
            1,
            "the last line has no end",
        ),
        (
            "a broken line",
            format!("{sound}{{\"torn\n{ENTRY}\n"),
            &[],
            1,
            "line 2 is no JSON",
        ),
        (
            "neither shape",
            "hello\n".to_owned(),
            &[],
            2,
            "`--shape` says which",
        ),
        (
            "a shape that is said",
            "hello\n".to_owned(),
            &["--shape", "codex"],
            1,
            "line 1 is no JSON",
        ),
        (
            "nothing",
            String::new(),
            &["--shape", "claude"],
            1,
            "it holds nothing",
        ),
    ];
    for (what, text, more, expected, says) in rows {
        let path = folder.path().join("x.jsonl");
        std::fs::write(&path, text).expect("written");
        let path = path.to_string_lossy();
        let mut arguments = vec!["transcript"];
        arguments.extend(more);
        arguments.extend(["--", &*path]);
        let (code, text) = said(&run(&arguments));
        assert_eq!(code, Some(expected), "{what}: {text}");
        assert!(text.contains(says), "{what}: {text}");
    }
}

/// A program of which nobody knows where it writes is no target: nothing could be red.
#[test]
fn a_program_without_a_profile_is_a_mistake_of_usage() {
    let (code, text) = said(&run(&["transcript", "--", "true"]));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("shapes"), "{text}");
}

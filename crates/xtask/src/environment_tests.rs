use std::collections::BTreeSet;
use std::path::Path;

use super::Environment;

fn made(target: &Path) -> Environment {
    Environment::make(target, "x", Path::new("/opt/sessiond/bin/sessiond")).expect("a corner")
}

#[test]
fn a_program_sees_what_we_give_it_and_nothing_else() {
    let target = tempfile::tempdir().expect("a temporary folder");
    let output = made(target.path())
        .command(Path::new("env"))
        .output()
        .expect("env runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names: BTreeSet<&str> = text
        .lines()
        .filter_map(|l| Some(l.split_once('=')?.0))
        .collect();
    let expected = [
        "ANTHROPIC_API_KEY",
        "HOME",
        "LANG",
        "OPENAI_API_KEY",
        "PATH",
        "PYTHONDONTWRITEBYTECODE",
        "SESSIOND_BIN",
        "SESSIOND_HOME",
        "SESSIOND_PEERS",
        "TERM",
    ];
    assert_eq!(names, BTreeSet::from(expected));
    assert!(text.contains("ANTHROPIC_API_KEY=dummy\n"), "{text}");
    assert!(
        text.contains(&format!("HOME={}/run/x/home\n", target.path().display())),
        "{text}"
    );
}

#[test]
fn a_corner_begins_empty_each_time() {
    let target = tempfile::tempdir().expect("a temporary folder");
    let left = made(target.path()).work().join("left");
    std::fs::write(&left, "").expect("a file");
    made(target.path());
    assert!(!left.exists());
}

#[test]
fn as_installed_sessiond_is_first_on_path() {
    let target = tempfile::tempdir().expect("a temporary folder");
    let mut command = made(target.path())
        .as_installed(Path::new("sh"))
        .expect("a PATH");
    let output = command
        .args(["-c", "echo $PATH"])
        .output()
        .expect("sh runs");
    assert!(output.stdout.starts_with(b"/opt/sessiond/bin:"));
}

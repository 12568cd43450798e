//! A session whose surroundings have changed, from the command line.

use std::fs;

use crate::harness::{Home, only_session};

/// Makes the project's directory a repository whose git directory is `name`.
fn repository(home: &Home, name: &str) {
    let git = home.path(name);
    fs::create_dir_all(&git).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    home.write(".git", &format!("gitdir: {}\n", git.display()));
}

/// RESUME-7, RESUME-16: exit code and variable as contract.md says.
#[test]
fn another_repository_at_the_same_place_is_refused_until_the_user_accepts_it() {
    let home = Home::new();
    repository(&home, "one");
    home.run(&["exec", "hello"]).well();
    let session = only_session(&home);
    repository(&home, "two");
    let before = home.sessions();
    for args in [
        &["exec", "--session", &session, "again"][..],
        &["exec", "--last", "again"],
        &["exec", "--session", &session, "--accept", "roots", "again"],
        &["sessions", "rename", &session, "mine"],
    ] {
        let refused = home.run(args);
        assert_eq!(refused.code, Some(1), "{args:?}");
        let said = "SESSIOND_ACCEPT=repository";
        assert!(refused.stderr.contains(said), "{args:?} {}", refused.stderr);
    }
    assert_eq!(home.sessions(), before, "a refused resume writes nothing");
    let wrong = home.run(&["exec", "--session", &session, "--accept", "all", "again"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);

    let accepted = home.command(&["exec", "--session", &session, "again"]);
    let accepted = { accepted }
        .env("SESSIOND_ACCEPT", "repository")
        .output()
        .unwrap();
    assert_eq!(accepted.status.code(), Some(0), "{accepted:?}");
    home.run(&["exec", "--session", &session, "once more"])
        .well();
    let shown = home.run(&["sessions", "show", &session]).well().stdout;
    let resumed = shown.lines().filter(|line| line.starts_with("resume"));
    let resumed: Vec<&str> = resumed.collect();
    assert_eq!(resumed.len(), 1, "{shown}");
    assert!(resumed[0].ends_with("; accepted: repository"), "{shown}");
}

//! The configuration and the environment.

use crate::harness::Home;

#[test]
fn a_mistake_is_named_with_file_and_line_and_is_exit_2() {
    let home = Home::new();
    let path = home.write(
        "c.toml",
        "default_agent = \"script\"\n\n[agents.x]\nkind = \"gpt\"\n",
    );
    let path = path.to_str().unwrap();
    for args in [
        &["acp"][..],
        &["exec", "x"],
        &["sessions", "list"],
        &["agents"],
    ] {
        let done = home.run(&[args, &["--config", path]].concat());
        assert_eq!(done.code, Some(2), "{args:?}");
        assert_eq!(done.stdout, "", "{args:?}");
        assert!(
            done.stderr.contains(&format!("{path}:4: unknown variant")),
            "{}",
            done.stderr
        );
    }
}

#[test]
fn every_common_option_can_be_given_by_environment() {
    let home = Home::new();
    let config = home.write("c.toml", "[agents.mine]\nkind = \"script\"\n");
    let run = |variables: &[(&str, &str)]| {
        let mut command = home.command(&["exec", "--json", "hi"]);
        command.envs(variables.iter().copied());
        let output = command.output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let config = config.to_str().unwrap();
    let log = home.path("diagnostics");
    let (code, stdout) = run(&[
        ("SESSIOND_CONFIG", config),
        ("SESSIOND_AGENT", "mine"),
        ("SESSIOND_LOG_FILE", log.to_str().unwrap()),
    ]);
    assert_eq!(code, Some(0));
    assert!(stdout.contains("\"name\":\"mine\""), "{stdout}");
    assert!(log.exists());
    assert_eq!(run(&[("SESSIOND_AGENT", "nobody")]).0, Some(2));
    let empty = [
        ("SESSIOND_CONFIG", ""),
        ("SESSIOND_AGENT", ""),
        ("SESSIOND_LOG_FILE", ""),
    ];
    assert_eq!(
        run(&empty).0,
        Some(0),
        "an empty variable counts as one that is not set"
    );
}

#[test]
fn the_store_is_where_the_user_keeps_state() {
    let home = Home::new();
    let state = home.path("state");
    let mut command = home.command(&["exec", "hi"]);
    command
        .env_remove("SESSIOND_HOME")
        .env("XDG_STATE_HOME", &state);
    assert!(command.output().unwrap().status.success());
    assert!(state.join("sessiond/sessions").is_dir());
}

/// LOG-15
#[test]
fn all_that_is_stored_is_private() {
    use std::os::unix::fs::MetadataExt;
    let home = Home::new();
    home.run(&["exec", "secret"]).well();
    let mut folders = vec![home.store()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let meta = entry.metadata().unwrap();
            let expected = if meta.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(meta.mode() & 0o777, expected, "{:?}", entry.path());
            if meta.is_dir() {
                folders.push(entry.path());
            }
        }
    }
}

/// SEC-1
#[test]
fn diagnostics_carry_nothing_of_what_was_said() {
    let home = Home::new();
    let log = home.path("diagnostics");
    let prompt = "the prompt's own words\n/run echo words of a tool";
    home.run(&["exec", "-vv", "--log-file", log.to_str().unwrap(), prompt])
        .well();
    let failed = home.run(&[
        "exec",
        "-vv",
        "--log-file",
        log.to_str().unwrap(),
        "/fail words",
    ]);
    assert_eq!(failed.code, Some(1));
    let text = std::fs::read_to_string(log).unwrap();
    assert!(text.contains("the command failed"), "{text}");
    assert!(!text.contains("words"), "{text}");
}

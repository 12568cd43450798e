use std::path::Path;

use super::Config;

fn parse(text: &str) -> Result<Config, String> {
    Config::parse(text, Path::new("/c.toml")).map_err(|failure| failure.to_string())
}

#[test]
fn mistakes_are_named_with_file_and_line() {
    let table = [
        (
            "default_agnet = \"x\"\n",
            "/c.toml:1: unknown field `default_agnet`",
        ),
        (
            "\n[agents.a]\nkind = \"script\"\ncolour = 1\n",
            "/c.toml:4: unknown field `colour`",
        ),
        (
            "[agents.a]\nkind = \"gpt\"\n",
            "/c.toml:2: unknown variant `gpt`",
        ),
        ("[agents.a]\nkind = \n", "/c.toml:2: "),
        (
            "[agents.a]\ncommand = [\"x\"]\n",
            "/c.toml:1: missing field `kind`",
        ),
        (
            "\n[agents.a]\nkind = \"acp\"\n",
            "/c.toml:2: agent `a`: kind acp needs `command",
        ),
        (
            "[agents.a]\nkind = \"script\"\ncommand = [\"x\"]\n",
            "/c.toml:1: agent `a`: kind script",
        ),
        (
            "[agents.script]\nkind = \"codex\"\n",
            "/c.toml:1: agent `script`: this name",
        ),
    ];
    for (text, begins) in table {
        let message = parse(text).unwrap_err();
        assert!(message.starts_with(begins), "{text:?} gave {message:?}");
    }
}

/// SEC-1
#[test]
fn a_mistake_in_env_does_not_show_its_value() {
    let text = "[agents.a]\nkind = \"codex\"\nenv = { KEY = \"s3cret\", 5 }\n";
    assert!(!parse(text).unwrap_err().contains("s3cret"));
}

#[test]
fn the_default_agent_is_the_named_one_then_the_configured_one_then_the_built_in() {
    let empty = Config::default();
    assert_eq!(empty.default_agent(None).unwrap(), "script");
    let config = parse("default_agent = \"mine\"\n[agents.mine]\nkind = \"script\"\n").unwrap();
    assert_eq!(config.default_agent(None).unwrap(), "mine");
    assert_eq!(config.default_agent(Some("script")).unwrap(), "script");
}

#[test]
fn an_agent_that_is_not_there_is_a_mistake_of_the_command_line() {
    let config = parse("[agents.c]\nkind = \"codex\"\n").unwrap();
    assert_eq!(config.default_agent(Some("c")).unwrap(), "c");
    let nobody = config.default_agent(Some("nobody")).unwrap_err();
    assert_eq!(nobody.exit_code(), 2);
}

/// A kind whose program everybody knows needs no command.
#[test]
fn an_agent_without_a_command_is_its_kind_s_own() {
    for (kind, own) in [("claude", "claude"), ("codex", "codex")] {
        let config = parse(&format!("[agents.a]\nkind = \"{kind}\"\n")).unwrap();
        assert_eq!(config.agents()["a"].command(), [own]);
    }
}

#[test]
fn a_named_file_must_exist() {
    let failure = Config::load(Some(Path::new("/nowhere/config.toml"))).unwrap_err();
    assert_eq!(failure.exit_code(), 2);
    assert!(
        failure
            .to_string()
            .starts_with("/nowhere/config.toml: cannot be read")
    );
}

/// LOG-8, LOG-16
#[test]
fn sessions_are_stored_whole_unless_the_file_says_lean() {
    use sessiond_protocol::PersistenceState;
    let cases = [
        ("", PersistenceState::On),
        ("persistence = \"extended\"\n", PersistenceState::On),
        ("persistence = \"lean\"\n", PersistenceState::Lean),
    ];
    for (text, expected) in cases {
        let config = Config::parse(text, Path::new("/c.toml")).unwrap();
        assert_eq!(config.persistence(), expected, "{text}");
    }
    let off = parse("persistence = \"off\"\n").unwrap_err();
    assert!(off.starts_with("/c.toml:1: unknown variant `off`"), "{off}");
}

/// LOG-12
#[test]
fn everything_is_kept_unless_the_file_says_for_how_long() {
    let days = |text: &str| {
        let kept = parse(text).unwrap().retention();
        (kept.sessions_days.map(|days| days.get()), kept.trash_days)
    };
    let table = [
        ("", (None, None)),
        ("[retention]\n", (None, None)),
        ("[retention]\nsessions_days = 90\n", (Some(90), None)),
        ("[retention]\ntrash_days = 0\n", (None, Some(0))),
    ];
    for (text, expected) in table {
        assert_eq!(days(text), expected, "{text}");
    }
    for (text, begins) in [
        (
            "[retention]\nsessions_days = 0\n",
            "/c.toml:2: invalid value",
        ),
        ("[retention]\nsessions_days = -1\n", "/c.toml:2: "),
        ("[retention]\ntrash_days = \"7\"\n", "/c.toml:2: "),
        ("[retention]\ndays = 7\n", "/c.toml:2: unknown field `days`"),
    ] {
        let message = parse(text).unwrap_err();
        assert!(message.starts_with(begins), "{text:?} gave {message:?}");
    }
}

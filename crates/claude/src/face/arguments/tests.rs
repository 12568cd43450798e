use serde_json::json;

use super::{Arguments, Asked, BadArguments, GoOn, rules};
use crate::face::flags;
use crate::face::mode::Mode;

fn read(words: &[&str]) -> Result<Arguments, BadArguments> {
    Arguments::read(words.iter().map(|word| (*word).to_owned()))
}

const SESSION: &str = "0191f0aa-0000-7000-8000-000000000001";

fn table() -> Vec<(&'static str, &'static str, Arguments)> {
    let with = |change: &dyn Fn(&mut Arguments)| {
        let mut arguments = Arguments::default();
        change(&mut arguments);
        arguments
    };
    vec![
        ("--output-format", "stream-json", with(&|_| {})),
        ("--input-format", "stream-json", with(&|_| {})),
        ("--system-prompt", "", with(&|_| {})),
        ("--setting-sources", "", with(&|_| {})),
        ("--tools", "", with(&|it| it.tools = Some(Vec::new()))),
        (
            "--system-prompt",
            "-x",
            with(&|it| it.instructions = Some("-x".into())),
        ),
        (
            "--append-system-prompt",
            "a=b",
            with(&|it| it.more_instructions = Some("a=b".into())),
        ),
        ("--tools", "default", with(&|_| {})),
        (
            "--tools",
            "Bash,Read",
            with(&|it| it.tools = Some(vec!["Bash".into(), "Read".into()])),
        ),
        (
            "--settings",
            "{}",
            with(&|it| it.settings = Some("{}".into())),
        ),
        ("--model", "m", with(&|it| it.model = Some("m".into()))),
        (
            "--permission-mode",
            "acceptEdits",
            with(&|it| it.mode = Some(Mode::AcceptEdits)),
        ),
        (
            "--permission-prompt-tool",
            "stdio",
            with(&|it| it.asked = Some(Asked::Program)),
        ),
        (
            "--permission-prompt-tool",
            "mcp__my_server__may__i",
            with(&|it| {
                it.asked = Some(Asked::Tool {
                    server: "my_server".into(),
                    tool: "may__i".into(),
                });
            }),
        ),
        (
            "--allowedTools",
            "Bash(git log:*, a),Read mcp__s__t",
            with(&|it| {
                it.allowed = vec![
                    "Bash(git log:*, a)".into(),
                    "Read".into(),
                    "mcp__s__t".into(),
                ];
            }),
        ),
        (
            "--disallowedTools",
            "Bash",
            with(&|it| it.disallowed = vec!["Bash".into()]),
        ),
        (
            "--resume",
            "a title",
            with(&|it| it.go_on = GoOn::Named("a title".into())),
        ),
        (
            "--session-id",
            SESSION,
            with(&|it| it.session = Some(SESSION.parse().unwrap())),
        ),
        ("--add-dir", "/d", with(&|it| it.roots = vec!["/d".into()])),
        (
            "--mcp-config",
            "{}",
            with(&|it| it.mcp_config = vec!["{}".into()]),
        ),
        (
            "--json-schema",
            r#"{"type":"object"}"#,
            with(&|it| it.schema = Some(json!({"type": "object"}))),
        ),
        ("--max-turns", "3", with(&|it| it.max_turns = Some(3))),
        (
            "--max-budget-usd",
            "0.5",
            with(&|it| it.max_cost = Some(0.5)),
        ),
    ]
}

/// ADAPT-2: the Python SDK writes two words, the TypeScript SDK joins them.
#[test]
fn both_spellings_of_a_flag_mean_the_same() {
    for (flag, value, expected) in table() {
        let apart = read(&[flag, value]);
        let joined = read(&[&format!("{flag}={value}")]);
        assert_eq!(apart, Ok(expected.clone()), "{flag} {value}");
        assert_eq!(joined, Ok(expected), "{flag}={value}");
    }
}

#[test]
fn flags_without_a_value_are_taken() {
    let words = [
        "--verbose",
        "--continue",
        "--fork-session",
        "--no-session-persistence",
        "--include-partial-messages",
        "--include-hook-events",
        "--replay-user-messages",
        "--dangerously-skip-permissions",
        "--strict-mcp-config",
        "-p",
    ];
    let expected = Arguments {
        go_on: GoOn::Newest,
        fork: true,
        unstored: true,
        partial: true,
        hook_events: true,
        replay: true,
        mode: Some(Mode::BypassPermissions),
        ..Arguments::default()
    };
    assert_eq!(read(&words), Ok(expected));
}

#[test]
fn every_known_flag_with_a_value_takes_one_that_looks_like_a_flag() {
    for name in flags::with_value() {
        let read = read(&[name, "--verbose"]);
        let taken = |error: &BadArguments| !error.0.contains("unknown");
        assert!(read.as_ref().err().is_none_or(taken), "{name}: {read:?}");
        // It was the value: nothing is left that could be unknown.
        assert!(super::Arguments::read([name.to_owned()]).is_err(), "{name}");
    }
}

#[test]
fn a_debug_filter_is_taken_only_where_it_is_one() {
    for words in [
        &["--debug", "api", "-p"][..],
        &["--debug", "-p"],
        &["--debug=api", "-p"],
    ] {
        assert_eq!(
            read(words).unwrap().without_meaning,
            ["--debug"],
            "{words:?}"
        );
    }
}

#[test]
fn command_lines_that_make_no_sense_are_refused() {
    let table: [(&[&str], &str); 11] = [
        (&["--no-such-flag"], "unknown option '--no-such-flag'"),
        (
            &["--no-such-flag=a secret"],
            "unknown option '--no-such-flag'",
        ),
        (&["hello"], "prompts come on stdin, as stream-json"),
        (&["--model"], "--model needs a value"),
        (
            &["--output-format", "text"],
            "--output-format text is not served here; it is stream-json",
        ),
        (
            &["--session-id=nonsense"],
            "Invalid session ID. Must be a valid UUID.",
        ),
        (
            &["--resume=x", "--session-id", SESSION],
            "--session-id with --continue or --resume also needs --fork-session.",
        ),
        (
            &["--resume="],
            "--resume needs the id or the title of a session",
        ),
        (
            &["--resume-session-at=x"],
            "--resume-session-at needs --resume",
        ),
        (
            &["--max-turns", "many"],
            "--max-turns: the value is not one that it takes",
        ),
        (
            &["--permission-prompt-tool", "ask"],
            "--permission-prompt-tool is stdio, or a tool as mcp__SERVER__TOOL",
        ),
    ];
    for (words, message) in table {
        assert_eq!(
            read(words),
            Err(BadArguments(message.to_owned())),
            "{words:?}"
        );
    }
}

#[test]
fn rules_are_split_outside_of_parentheses() {
    let table: [(&str, &[&str]); 5] = [
        ("", &[]),
        ("Bash", &["Bash"]),
        ("Bash,  Read", &["Bash", "Read"]),
        ("Bash(a, b c),Skill(x)", &["Bash(a, b c)", "Skill(x)"]),
        ("Bash(echo (a, b))", &["Bash(echo (a, b))"]),
    ];
    for (list, expected) in table {
        assert_eq!(rules(list), expected, "{list}");
    }
}

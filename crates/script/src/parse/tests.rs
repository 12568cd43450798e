//! Tables of scripts and the steps they become.

use std::time::Duration;

use serde_json::{Map, Value, json};
use sessiond_protocol::Content;

use super::{line, prompt, script};
use crate::command::{COMMANDS, Command, PIECE_BYTES_MAX, REPEAT_MAX, STREAM_BYTES_MAX};
use crate::step::{Pieces, Step};

fn s(text: &str) -> String {
    text.to_owned()
}

fn pieces(count: usize, bytes: usize, delay: u64) -> Step {
    Step::Stream(Pieces {
        count,
        bytes,
        delay: Duration::from_millis(delay),
    })
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

#[test]
fn every_command_reads_its_arguments() {
    let repeated = |times, step| Step::Repeat {
        times,
        step: Box::new(step),
    };
    let table = [
        ("/say hello  world ", Step::Say(s("hello  world "))),
        ("/stream 3 10", pieces(3, 10, 0)),
        ("/stream 3 10 250", pieces(3, 10, 250)),
        ("/stream  3  10  250 ", pieces(3, 10, 250)),
        ("/think hm", Step::Think(s("hm"))),
        ("/sleep 2", Step::Sleep(Duration::from_secs(2))),
        ("/sleep 0.25", Step::Sleep(Duration::from_millis(250))),
        ("/read a b.txt ", Step::Read { path: s("a b.txt") }),
        (
            "/write a.txt two  words",
            Step::Write {
                path: s("a.txt"),
                text: s("two  words"),
            },
        ),
        (
            "/edit a x => y",
            Step::Edit {
                path: s("a"),
                old: s("x"),
                new: s("y"),
            },
        ),
        (
            "/edit a x y => z => w",
            Step::Edit {
                path: s("a"),
                old: s("x y"),
                new: s("z => w"),
            },
        ),
        (
            "/edit a x =>",
            Step::Edit {
                path: s("a"),
                old: s("x"),
                new: s(""),
            },
        ),
        (
            "/edit a x => ",
            Step::Edit {
                path: s("a"),
                old: s("x"),
                new: s(""),
            },
        ),
        (
            "/run echo 'a  b' | cat",
            Step::Run {
                command: s("echo 'a  b' | cat"),
            },
        ),
        (
            "/ask which one?",
            Step::Ask {
                question: s("which one?"),
            },
        ),
        (
            "/plan one; two;; three ;",
            Step::Plan(vec![s("one"), s("two"), s("three")]),
        ),
        (r#"/json {"a": 1}"#, Step::Say(s(r#"{"a": 1}"#))),
        (
            r#"/mcp files list {"deep": [1, 2]}"#,
            Step::Mcp {
                server: s("files"),
                tool: s("list"),
                arguments: object(json!({ "deep": [1, 2] })),
            },
        ),
        ("/usage", Step::Usage),
        ("/fail it broke", Step::Fail(s("it broke"))),
        ("/refuse ", Step::Refuse),
        ("/title My work ", Step::Title(s("My work"))),
        ("/repeat 3 /say x", repeated(3, Step::Say(s("x")))),
        (
            "/repeat 2 plain words",
            repeated(2, Step::Echo(s("plain words"))),
        ),
        ("no command", Step::Echo(s("no command"))),
        (
            " /say is no command behind a blank",
            Step::Echo(s(" /say is no command behind a blank")),
        ),
    ];
    for (text, step) in table {
        assert_eq!(line(text), Ok(step), "{text}");
    }
}

#[test]
fn a_wrong_form_is_answered_with_the_right_one() {
    let too_long = format!("/stream 1 {}", PIECE_BYTES_MAX + 1);
    let too_much = format!("/stream {} 2", STREAM_BYTES_MAX / 2 + 1);
    let too_often = format!("/repeat {} /say x", REPEAT_MAX + 1);
    let overflow = format!("/stream {} 1000000", usize::MAX);
    let table = [
        "/say",
        "/say  ",
        "/think",
        "/json ",
        "/fail",
        "/title ",
        "/read",
        "/run",
        "/ask",
        "/stream",
        "/stream 3",
        "/stream x 3",
        "/stream 3 -1",
        "/stream 0 3",
        "/stream 3 0",
        "/stream 3 3 soon",
        "/stream 3 3 3 3",
        &too_long,
        &too_much,
        &overflow,
        "/sleep",
        "/sleep soon",
        "/sleep -1",
        "/sleep NaN",
        "/sleep inf",
        "/sleep 1e300",
        "/write",
        "/write a",
        "/write a ",
        "/edit",
        "/edit a",
        "/edit a b",
        "/edit a b=>c",
        "/edit a  => c",
        "/plan",
        "/plan ;;",
        "/mcp",
        "/mcp s",
        "/mcp s t",
        "/mcp s t {",
        "/mcp s t [1]",
        "/usage now",
        "/refuse now",
        "/repeat",
        "/repeat 3",
        "/repeat x /say y",
        "/repeat 0 /say y",
        "/repeat -1 /say y",
        "/repeat 2 /repeat 2 /say y",
        &too_often,
    ];
    for text in table {
        let name = text
            .trim_start_matches('/')
            .split(' ')
            .next()
            .expect("a name");
        let form = Command::named(name).expect("a command").form();
        assert_eq!(line(text), Err(format!("The form is: {form}")), "{text}");
    }
}

#[test]
fn an_unknown_command_is_answered_with_all_there_are() {
    for (text, name) in [
        ("/xyz 1", "/xyz"),
        ("/", "/"),
        ("//", "//"),
        ("/Say x", "/Say"),
    ] {
        let answer = line(text).expect_err(text);
        assert!(
            answer.starts_with(&format!("There is no command {name}. ")),
            "{answer}"
        );
        for command in &COMMANDS {
            assert!(
                answer.lines().any(|line| line == command.form()),
                "{answer}"
            );
        }
    }
}

#[test]
fn a_mistake_behind_repeat_is_said_once() {
    let form = |name| {
        format!(
            "The form is: {}",
            Command::named(name).expect("a command").form()
        )
    };
    assert_eq!(line("/repeat 9 /sleep soon"), Ok(Step::Say(form("sleep"))));
}

#[test]
fn lines_are_commands_or_parts_of_a_block_of_text() {
    let (say, echo) = (|text| Step::Say(s(text)), |text| Step::Echo(s(text)));
    let table = [
        ("", vec![]),
        (" \n\t\n", vec![]),
        ("one\ntwo", vec![echo("one\ntwo")]),
        ("one\r\n\r\ntwo\r\n", vec![echo("one\n\ntwo")]),
        ("/say a\n/say b", vec![say("a"), say("b")]),
        ("/say a\r\n", vec![say("a")]),
        (
            "\nbefore\n\n/say a\n\nbehind \n\n",
            vec![echo("before"), say("a"), echo("behind ")],
        ),
    ];
    for (text, steps) in table {
        assert_eq!(script(text), steps, "{text:?}");
    }
}

#[test]
fn blocks_begin_lines_and_a_link_counts_as_its_address() {
    let content = |value| serde_json::from_value::<Content>(value).expect("content");
    let blocks = [
        Content::text("/say a"),
        content(json!({ "type": "image", "data": "", "mimeType": "image/png" })),
        content(json!({ "type": "resource_link", "uri": "file:///w/a.rs", "name": "a.rs" })),
        Content::text("/say b"),
    ];
    let echo = Step::Echo(s("file:///w/a.rs"));
    assert_eq!(
        prompt(&blocks),
        [Step::Say(s("a")), echo, Step::Say(s("b"))]
    );
}

#[test]
fn every_command_is_advertised_with_its_hint() {
    for command in &COMMANDS {
        let advertised = command.advertised();
        assert_eq!(advertised.name, command.name);
        assert_eq!(advertised.hint.as_deref(), command.hint);
        assert!(!advertised.description.is_empty());
    }
}

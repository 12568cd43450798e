//! `sessiond-claude`: the lines it writes and the lines it reads (claude.md 3 and 8.1).

use std::io::Write;

use serde_json::{Value, json};

use crate::harness::{Claude, Home, PATIENCE, PROGRAM, finish, user};

/// The longest line that the Python SDK reads, in characters.
const SDK_LINE: usize = 1_048_576;

/// WIRE-4, WIRE-12: whatever the agent says, each line is one that both SDKs read, and stdout has
/// nothing else.
#[test]
fn every_line_is_short_enough_and_one_frame() {
    let long = "y".repeat(2_000_000);
    let table = [
        "/stream 4 900000".to_owned(),
        "/run head -c 3000000 /dev/zero | tr '\\0' x".to_owned(),
        format!("/write f {long}"),
        format!("/json \"{}\"", "\\u0001".repeat(200_000)),
        format!("/think {long}"),
        "/run echo to stdout; echo to stderr >&2".to_owned(),
    ];
    for prompt in table {
        for partial in [&[][..], &["--include-partial-messages"]] {
            let home = Home::new();
            let args = [&PROGRAM[..], &["--dangerously-skip-permissions"], partial].concat();
            let input = format!("{}\n", user(&prompt));
            let done = finish(home.claude(&args), &input).well();
            let shown: String = prompt.chars().take(30).collect();
            assert!(done.stdout.ends_with('\n'));
            for line in done.stdout.lines() {
                let frame: Value = serde_json::from_str(line).unwrap();
                assert!(frame["type"].is_string(), "{shown}");
                assert!(line.chars().count() < SDK_LINE, "{shown}: {}", line.len());
            }
        }
    }
}

/// The text of an answer is whole, however long: it comes in several blocks.
#[test]
fn a_long_answer_is_split_and_whole() {
    let home = Home::new();
    let text = "0123456789".repeat(300_000);
    let mut claude = Claude::start(&home, &[]);
    let result = claude.turn(&format!("/say {text}"));
    let (_, frames) = claude.end();
    let said: String = frames
        .iter()
        .filter(|frame| frame["type"] == "assistant")
        .map(|frame| frame["message"]["content"][0]["text"].as_str().unwrap())
        .collect();
    assert!(said == text, "{} of {}", said.len(), text.len());
    let repeated = result["result"].as_str().unwrap();
    assert!(repeated.ends_with("bytes more are in the messages before]"));
}

#[test]
fn line_separators_in_text_are_escaped() {
    let home = Home::new();
    let input = format!("{}\n", user("a\u{2028}b\u{2029}c"));
    let done = finish(home.claude(&PROGRAM), &input).well();
    assert!(!done.stdout.contains(['\u{2028}', '\u{2029}']));
    assert!(done.stdout.contains("a\\u2028b\\u2029c"));
}

/// WIRE-5: half a pair is read, becomes U+FFFD, and does no harm later.
#[test]
fn a_lone_surrogate_survives() {
    let home = Home::new();
    let line = r#"{"type":"user","message":{"role":"user","content":"half \ud83d pair"}}"#;
    let done = finish(home.claude(&PROGRAM), &format!("{line}\n")).well();
    assert!(
        done.stdout.contains("half \u{fffd} pair"),
        "{}",
        done.stdout
    );
}

/// claude.md 3: a prompt of 12 MiB is read without complaint.
#[test]
fn a_prompt_of_twelve_mebibytes_is_read() {
    let home = Home::new();
    let text = "x".repeat(12 << 20);
    let done = finish(home.claude(&PROGRAM), &format!("{}\n", user(&text))).well();
    let last: Value = serde_json::from_str(done.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["subtype"], "success");
}

/// claude.md 3: what is no message is passed over.
#[test]
fn what_no_version_knows_is_passed_over() {
    let home = Home::new();
    let mut claude = Claude::start(&home, &[]);
    for line in [
        r#"{"type":"martian","x":1}"#,
        r#"{"no_type":1}"#,
        "[1,2]",
        r#""""#,
        "   ",
        r#"{"type":"keep_alive"}"#,
        r#"{"type":"control_cancel_request","request_id":"zzz"}"#,
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"zzz"}}"#,
        r#"{"type":"control_response"}"#,
    ] {
        claude.server.write(format!("{line}\r\n").as_bytes());
    }
    assert_eq!(claude.turn("hello")["result"], "hello");
    assert_eq!(claude.end().0, Some(0));
}

/// WIRE-5, WIRE-14: a line that cannot be a message ends the process with 1; where a prompt is
/// outstanding its result comes first, so that no SDK waits for ever.
#[test]
fn a_broken_line_ends_with_a_result_where_one_is_awaited() {
    let lines: [&[u8]; 8] = [
        b"this is not json\n",
        b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\n",
        b"{\"type\":\"control_request\",\"request_id\":\"x\"}\n",
        b"{\"type\":\"user\"}\n",
        b"{\"type\":\"user\",\"message\":{\"role\":\"assistant\",\"content\":\"x\"}}\n",
        b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":5}}\n",
        b"{\"type\":\"user\",\"x\":\"\xff\xfe\"}\n",
        b"{\"secret\":\n",
    ];
    for line in lines {
        for awaited in [false, true] {
            let home = Home::new();
            let mut claude = Claude::start(&home, &[]);
            if awaited {
                claude.prompt("/say before\n/think x\n/sleep 60");
                claude.frame("assistant");
            }
            claude.server.write(line);
            let (code, frames) = claude.ended(PATIENCE);
            assert_eq!(code, Some(1));
            let results: Vec<&Value> = frames.iter().filter(|it| it["type"] == "result").collect();
            assert_eq!(results.len(), usize::from(awaited));
            if awaited {
                assert_eq!(frames.last(), results.last().copied());
                assert_eq!(results[0]["subtype"], "error_during_execution");
            }
            let stderr = claude.server.stderr();
            assert!(!stderr.is_empty() && !stderr.contains("secret"), "{stderr}");
        }
    }
}

/// ADAPT-2: a prompt without `initialize` works, one right behind it too, and `initialize` twice.
#[test]
fn prompts_need_no_greeting() {
    let home = Home::new();
    let initialize = json!({"type": "control_request", "request_id": "i",
        "request": {"subtype": "initialize"}});
    let prompt = user("hello");
    for lines in [
        vec![&prompt],
        vec![&initialize, &prompt],
        vec![&initialize, &initialize, &prompt],
        vec![&prompt, &initialize],
    ] {
        let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let done = finish(home.claude(&PROGRAM), &input).well();
        let greetings = done.stdout.matches("control_response").count();
        assert_eq!(
            greetings,
            lines.iter().filter(|line| **line == &initialize).count()
        );
        assert_eq!(done.stdout.matches(r#""result":"hello""#).count(), 1);
    }
}

/// A reader that is slow loses nothing and holds nothing that must go on.
#[test]
fn a_reader_that_stops_reading_gets_everything_later() {
    let home = Home::new();
    let mut claude = Claude::start(&home, &["--include-partial-messages"]);
    claude.server.pause_reading();
    claude.prompt("/stream 4000 1000\n/run true");
    let mut input = claude.server.take_input();
    // The next prompt is taken meanwhile.
    writeln!(input, "{}", user("after")).unwrap();
    claude.server.put_input(input);
    claude.server.resume_reading();
    let asked = claude.asked("can_use_tool");
    claude.answer(&asked, json!({"behavior": "allow"}));
    claude.result();
    let (code, frames) = claude.end();
    assert_eq!(code, Some(0));
    let text = |frame: &&Value| frame["event"]["delta"]["text"].as_str().map_or(0, str::len);
    let streamed: usize = frames.iter().map(|frame| text(&frame)).sum();
    assert_eq!(streamed, 4_000_000 + "after".len());
}

use super::super::tests::found_in;
use crate::driver::End;
use crate::judge::Finding;
use crate::tongue::Tongue;

/// A line of the target for each frame.
fn lines(frames: &[&str]) -> String {
    frames.iter().map(|frame| format!("< {frame}\n")).collect()
}

fn assert_rules(tongue: Tongue, rows: &[(&str, String, bool)]) {
    for (rule, script, holds) in rows {
        let check = format!("lines = {{ are = \"{rule}\" }}");
        let found = found_in(tongue, &check, script, End::Done);
        let as_said = match found {
            Finding::Holds => *holds,
            Finding::Broken(_) => !holds,
            _ => false,
        };
        assert!(as_said, "{rule}: {found:?} in {script}");
    }
}

const INIT: &str = r#"{"type":"system","subtype":"init"}"#;
const SAID: &str = r#"{"type":"assistant","message":{"content":[]}}"#;
const RESULT: &str = r#"{"type":"result"}"#;
const REPLAY: &str = r#"{"type":"user","isReplay":true}"#;
const ASKED: &str = "> {\"type\":\"control_request\",\"request_id\":\"q\"}\n";
const CONTROL: &str = r#"{"type":"control_response","response":{"request_id":"q"}}"#;

/// CONF-1: each rule of Claude's lines is kept by one recording and broken by another.
#[test]
fn a_rule_of_claudes_lines_is_kept_or_broken_by_what_was_recorded() {
    let long = |count: usize| format!("< {{\"type\":\"{}\"}}\n", "x".repeat(count));
    // The frame around the type is eleven characters.
    let rows = [
        ("short", long(1_048_576 - 11), true),
        ("short", long(1_048_576 - 10), false),
        ("no_separators", "< {\"a\":\"\\u2028\"}\n".to_owned(), true),
        (
            "no_separators",
            "< {\"a\":\"\u{2028}\"}\n".to_owned(),
            false,
        ),
        (
            "no_separators",
            "< {\"a\":\"\u{2029}\"}\n".to_owned(),
            false,
        ),
        ("controls", ASKED.to_owned() + &lines(&[CONTROL]), true),
        (
            "controls",
            ASKED.to_owned() + &lines(&[CONTROL, CONTROL]),
            false,
        ),
        ("controls", lines(&[CONTROL]), false),
        ("in_turn", lines(&[INIT, SAID, RESULT]), true),
        ("in_turn", lines(&[SAID]), false),
        ("in_turn", lines(&[INIT, RESULT, SAID]), false),
        ("in_turn", lines(&[INIT, RESULT, INIT, SAID, RESULT]), true),
        ("in_turn", lines(&[REPLAY, INIT, RESULT]), true),
    ];
    assert_rules(Tongue::Claude, &rows);
}

const THREAD: &str = r#"{"type":"thread.started"}"#;
const BEGUN: &str = r#"{"type":"turn.started"}"#;
const DONE: &str = r#"{"type":"turn.completed"}"#;
const COMMAND: &str = r#"{"type":"item.started","item":{"id":"i","type":"command_execution"}}"#;
const UPDATED: &str = r#"{"type":"item.updated","item":{"id":"i","type":"command_execution"}}"#;
const RAN: &str = r#"{"type":"item.completed","item":{"id":"i","type":"command_execution"}}"#;
const MESSAGE: &str = r#"{"type":"item.completed","item":{"id":"m","type":"agent_message"}}"#;
const TROUBLE: &str = r#"{"type":"item.completed","item":{"id":"e","type":"error"}}"#;

/// CONF-1: the order of exec's lines, and that no item is open at the end.
#[test]
fn a_rule_of_execs_lines_is_kept_or_broken_by_what_was_recorded() {
    let rows = [
        (
            "exec_order",
            lines(&[THREAD, BEGUN, COMMAND, UPDATED, UPDATED, RAN, MESSAGE, DONE]),
            true,
        ),
        ("exec_order", lines(&[BEGUN, THREAD, DONE]), false),
        ("exec_order", lines(&[THREAD, THREAD, BEGUN, DONE]), false),
        ("exec_order", lines(&[THREAD, BEGUN, BEGUN, DONE]), false),
        ("exec_order", lines(&[THREAD, MESSAGE, BEGUN, DONE]), false),
        ("exec_order", lines(&[THREAD, TROUBLE, BEGUN, DONE]), true),
        ("exec_order", lines(&[THREAD, BEGUN, RAN, DONE]), false),
        ("exec_order", lines(&[THREAD, BEGUN, UPDATED, DONE]), false),
        (
            "exec_order",
            lines(&[THREAD, BEGUN, COMMAND, COMMAND, RAN, DONE]),
            false,
        ),
        (
            "exec_order",
            lines(&[THREAD, BEGUN, MESSAGE, MESSAGE, DONE]),
            false,
        ),
        ("exec_order", lines(&[THREAD, BEGUN, DONE, MESSAGE]), false),
        ("exec_order", lines(&[THREAD, BEGUN, DONE, DONE]), false),
        (
            "items_closed",
            lines(&[THREAD, BEGUN, COMMAND, RAN, DONE]),
            true,
        ),
        (
            "items_closed",
            lines(&[THREAD, BEGUN, COMMAND, DONE]),
            false,
        ),
    ];
    assert_rules(Tongue::Exec, &rows);
}

/// A notification about an item, or about a turn of the thread.
fn told(method: &str, turn: &str, item: &str) -> String {
    let params = match item {
        "" => format!("\"turn\":{{\"id\":\"{turn}\"}}"),
        _ if method.ends_with("delta") => format!("\"turnId\":\"{turn}\",\"itemId\":\"{item}\""),
        _ => format!("\"turnId\":\"{turn}\",\"item\":{{\"id\":\"{item}\"}}"),
    };
    format!("< {{\"method\":\"{method}\",\"params\":{{\"threadId\":\"s\",{params}}}}}\n")
}

/// CONF-1: the order of an app-server's notifications.
#[test]
fn a_rule_of_an_app_servers_lines_is_kept_or_broken_by_what_was_recorded() {
    let started = |turn: &str| told("turn/started", turn, "");
    let completed = |turn: &str| told("turn/completed", turn, "");
    let begun = told("item/started", "t", "i");
    let delta = told("item/agentMessage/delta", "t", "i");
    let ended = told("item/completed", "t", "i");
    let whole = [
        started("t"),
        begun.clone(),
        delta.clone(),
        ended.clone(),
        completed("t"),
    ];
    let rows = [
        ("app_order", whole.concat(), true),
        (
            "app_order",
            whole.concat() + &started("u") + &completed("u"),
            true,
        ),
        ("app_order", begun.clone(), false),
        ("app_order", started("t") + &delta, false),
        ("app_order", started("t") + &ended, false),
        ("app_order", started("t") + &begun + &begun, false),
        ("app_order", completed("t"), false),
        ("app_order", started("t") + &started("u"), false),
        (
            "app_order",
            started("t") + &completed("t") + &completed("t"),
            false,
        ),
        (
            "app_order",
            started("t") + &completed("t") + &started("t"),
            false,
        ),
        ("app_order", whole.concat() + &delta, false),
        ("items_closed", whole.concat(), true),
        (
            "items_closed",
            started("t") + &begun + &completed("t"),
            false,
        ),
        (
            "items_closed",
            started("t") + &begun + &completed("u"),
            true,
        ),
    ];
    assert_rules(Tongue::AppServer, &rows);
}

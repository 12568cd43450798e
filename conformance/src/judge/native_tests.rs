use super::super::tests::found_in;
use crate::driver::End;
use crate::judge::Finding;
use crate::tongue::Tongue;

/// An event of the session `s`: cursor, turn and what happened.
fn event(cursor: Option<u64>, turn: &str, event: &str) -> String {
    let cursor = cursor.map_or(String::new(), |cursor| format!("\"cursor\":{cursor},"));
    format!(
        "< {{\"v\":1,\"type\":\"event\",\"session\":\"s\",{cursor}\"turn\":\"{turn}\",\"item\":\"i\",\"event\":{event}}}\n"
    )
}

const STARTED: &str = r#"{"type":"turn.started"}"#;
const ENDED: &str = r#"{"type":"turn.ended"}"#;
const RECEIPT: &str = "< {\"v\":1,\"type\":\"receipt\",\"id\":\"a\",\"accepted\":{}}\n";
const SUBMISSION: &str = "> {\"v\":1,\"type\":\"submission\",\"id\":\"a\",\"op\":{}}\n";
const RESUME: &str = "> {\"v\":1,\"type\":\"submission\",\"id\":\"b\",\"op\":{\"type\":\"session.resume\",\"session\":\"s\"}}\n";

fn delta(offset: u64, text: &str) -> String {
    let what = format!(
        "{{\"type\":\"item.delta\",\"stream\":\"text\",\"offset\":{offset},\"text\":\"{text}\"}}"
    );
    event(None, "t", &what)
}

fn item_ended(text: &str) -> String {
    let what = format!(
        "{{\"type\":\"item.ended\",\"item\":{{\"type\":\"agent_message\",\"text\":\"{text}\"}}}}"
    );
    event(Some(5), "t", &what)
}

/// CONF-1: each rule of the native protocol is kept by one recording and broken by another.
#[test]
fn a_rule_is_kept_or_broken_by_what_was_recorded() {
    let opened = |digest: &str| {
        let what =
            format!("{{\"type\":\"request.opened\",\"request\":\"r\",\"digest\":\"{digest}\"}}");
        event(Some(3), "t", &what)
    };
    let request = "< {\"v\":1,\"type\":\"request\",\"id\":\"r\",\"digest\":\"d\"}\n";
    let bye = "< {\"v\":1,\"type\":\"bye\"}\n";
    let turn = |turn: &str, from: u64| {
        event(Some(from), turn, STARTED) + &event(Some(from + 1), turn, ENDED)
    };
    let rows: Vec<(&str, String, bool)> = vec![
        ("frames", RECEIPT.to_owned(), true),
        ("frames", "< {\"type\":\"bye\"}\n".to_owned(), false),
        ("receipts", format!("{SUBMISSION}{RECEIPT}"), true),
        ("receipts", format!("{SUBMISSION}{RECEIPT}{RECEIPT}"), false),
        ("receipts", RECEIPT.to_owned(), false),
        ("cursors_grow", turn("t", 2), true),
        ("cursors_grow", turn("t", 2) + &turn("u", 2), false),
        ("cursors_grow", turn("t", 2) + RESUME + &turn("t", 2), true),
        ("turns", turn("t", 2) + &turn("u", 4), true),
        (
            "turns",
            turn("t", 2) + &event(None, "t", "{\"type\":\"item.delta\"}"),
            false,
        ),
        ("turns", turn("t", 2) + RESUME + &turn("t", 2), true),
        (
            "turns",
            event(Some(2), "t", STARTED) + &event(Some(3), "u", STARTED),
            false,
        ),
        (
            "deltas",
            delta(0, "ab") + &delta(2, "c") + &item_ended("abc"),
            true,
        ),
        ("deltas", delta(0, "ab") + &delta(3, "c"), false),
        ("deltas", delta(0, "ab") + &item_ended("abc"), false),
        ("questions", opened("d") + request, true),
        ("questions", opened("e") + request, false),
        ("questions", request.to_owned(), false),
        ("last", format!("{RECEIPT}{bye}"), true),
        ("last", format!("{bye}{RECEIPT}"), false),
    ];
    for (rule, script, holds) in rows {
        let check = format!("lines = {{ are = \"{rule}\" }}");
        let found = found_in(Tongue::Sqeq, &check, &script, End::Done);
        assert_eq!(
            found == Finding::Holds,
            holds,
            "{rule}: {found:?} in {script}"
        );
    }
}

#[test]
fn the_cursors_of_a_window_are_exactly_those_that_were_due() {
    let rows = [
        ("after = 1, to = 3", true),
        ("after = 1", true),
        ("after = 0", false),
        ("after = 1, to = 4", false),
        ("after = 1, to = 2", false),
    ];
    let script = event(Some(2), "t", STARTED) + &delta(0, "x") + &event(Some(3), "t", ENDED);
    for (bounds, holds) in rows {
        let check = format!("cursors = {{ window = [\"begin\", \"end\"], {bounds} }}");
        let found = found_in(Tongue::Sqeq, &check, &script, End::Done);
        assert_eq!(found == Finding::Holds, holds, "{bounds}: {found:?}");
    }
}

/// Live text and its replay are the same talk, whatever it is cut into.
#[test]
fn a_replay_of_the_native_protocol_is_compared_with_what_was_live() {
    let check = "same = { windows = [[\"begin\", \"m\"], [\"m\", \"end\"]] }";
    let live = delta(0, "ab") + &delta(2, "c") + &item_ended("abc");
    for (replay, holds) in [(item_ended("abc"), true), (item_ended("ab"), false)] {
        let script = format!("{live}# m\n{replay}");
        let found = found_in(Tongue::Sqeq, check, &script, End::Done);
        assert_eq!(found == Finding::Holds, holds, "{found:?}");
    }
}

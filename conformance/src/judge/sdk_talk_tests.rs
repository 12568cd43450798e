use super::super::tests::found_in;
use crate::driver::End;
use crate::judge::Finding;
use crate::tongue::Tongue;

/// What a check finds in these frames, each with a mark `m` where it says so.
fn holds(tongue: Tongue, check: &str, frames: &[&str]) -> bool {
    let script: String = frames
        .iter()
        .map(|frame| match *frame {
            "m" => "# m\n".to_owned(),
            frame => format!("< {frame}\n"),
        })
        .collect();
    found_in(tongue, check, &script, End::Done) == Finding::Holds
}

fn text(expected: &str) -> String {
    format!("text = {{ window = [\"begin\", \"end\"], fits = {expected:?} }}")
}

const SAME: &str = "same = { windows = [[\"begin\", \"m\"], [\"m\", \"end\"]] }";
const CLOSED: &str = "tools_closed = { window = [\"begin\", \"end\"] }";

const DELTA: &str = r#"{"type":"stream_event","event":{"delta":{"text":"ab"}}}"#;
const WHOLE: &str =
    r#"{"type":"assistant","uuid":"1","message":{"content":[{"type":"text","text":"abc"}]}}"#;
const THOUGHT: &str = r#"{"type":"assistant","uuid":"2","message":{"content":[{"type":"thinking","thinking":"hm"}]}}"#;
const USE: &str = r#"{"type":"assistant","uuid":"3","message":{"content":[{"type":"tool_use","id":"c","name":"Bash","input":{}}]}}"#;
const RESULT: &str =
    r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c"}]}}"#;
const REPLAY: &str = r#"{"type":"assistant","isReplay":true,"uuid":"4","message":{"content":[{"type":"text","text":"old"}]}}"#;

/// CONF-1: what Claude's frames tell is counted once, streamed or whole.
#[test]
fn the_talk_of_claudes_frames_is_read() {
    let rows: [(String, &[&str], bool); 10] = [
        (text("ab"), &[DELTA], true),
        // The whole message is in place of its pieces.
        (text("abc"), &[DELTA, WHOLE], true),
        (text("abc"), &[WHOLE], true),
        (text("abc"), &[WHOLE, THOUGHT], true),
        (text("abc"), &[REPLAY, WHOLE], true),
        (CLOSED.to_owned(), &[USE, RESULT], true),
        (CLOSED.to_owned(), &[USE], false),
        (SAME.to_owned(), &[WHOLE, "m", DELTA, WHOLE], true),
        (SAME.to_owned(), &[WHOLE, "m", DELTA], false),
        (SAME.to_owned(), &[WHOLE, "m", THOUGHT], false),
    ];
    for (check, frames, expected) in rows {
        assert_eq!(
            holds(Tongue::Claude, &check, frames),
            expected,
            "{check} {frames:?}"
        );
    }
}

const MESSAGE: &str =
    r#"{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"abc"}}"#;
const REASONS: &str =
    r#"{"type":"item.completed","item":{"id":"r","type":"reasoning","text":"hm"}}"#;
const BEGUN: &str = r#"{"type":"item.started","item":{"id":"c","type":"command_execution","command":"x","status":"in_progress"}}"#;
const ENDED: &str = r#"{"type":"item.completed","item":{"id":"c","type":"command_execution","command":"x","status":"completed"}}"#;
const REFUSED: &str = r#"{"type":"item.completed","item":{"id":"c","type":"command_execution","command":"x","status":"declined"}}"#;

/// CONF-1: the items of exec.
#[test]
fn the_talk_of_execs_lines_is_read() {
    let thought =
        "text = { window = [\"begin\", \"end\"], kind = \"thought\", fits = \"hm\" }".to_owned();
    let rows: [(String, &[&str], bool); 7] = [
        (text("abc"), &[MESSAGE, REASONS], true),
        (text("abcabc"), &[MESSAGE, MESSAGE], false),
        (thought.clone(), &[MESSAGE, REASONS], true),
        (thought, &[MESSAGE], false),
        (CLOSED.to_owned(), &[BEGUN, ENDED], true),
        (CLOSED.to_owned(), &[BEGUN, REFUSED], true),
        (CLOSED.to_owned(), &[BEGUN], false),
    ];
    for (check, frames, expected) in rows {
        assert_eq!(
            holds(Tongue::Exec, &check, frames),
            expected,
            "{check} {frames:?}"
        );
    }
}

const PIECE: &str =
    r#"{"method":"item/agentMessage/delta","params":{"threadId":"s","itemId":"a","delta":"ab"}}"#;
const ELSEWHERE: &str = r#"{"method":"item/agentMessage/delta","params":{"threadId":"other","itemId":"b","delta":"no"}}"#;
const ITEM: &str = r#"{"method":"item/completed","params":{"threadId":"s","item":{"id":"a","type":"agentMessage","text":"abc"}}}"#;
const SUMMARY: &str = r#"{"method":"item/completed","params":{"threadId":"s","item":{"id":"r","type":"reasoning","summary":["h","m"]}}}"#;
const READ: &str = r#"{"id":7,"result":{"thread":{"id":"s","turns":[{"items":[{"id":"a","type":"agentMessage","text":"abc"}]}]}}}"#;
const LESS: &str = r#"{"id":7,"result":{"thread":{"id":"s","turns":[]}}}"#;
const PROMPT: &str = r#"{"method":"item/completed","params":{"threadId":"s","item":{"id":"u","type":"userMessage","content":[{"text":"hello"}]}}}"#;

/// CONF-1: what an app-server tells of a thread is what is read of it.
#[test]
fn the_talk_of_an_app_servers_frames_is_read() {
    let kind = |kind: &str, expected: &str| {
        format!("text = {{ window = [\"begin\", \"end\"], kind = {kind:?}, fits = {expected:?} }}")
    };
    let rows: [(String, &[&str], bool); 8] = [
        (text("ab"), &[PIECE, ELSEWHERE], true),
        (text("abc"), &[PIECE, ITEM], true),
        (kind("thought", "hm"), &[SUMMARY], true),
        (kind("user", "hello"), &[PROMPT], true),
        (text("abc"), &[READ], true),
        (SAME.to_owned(), &[PIECE, ITEM, "m", READ], true),
        (SAME.to_owned(), &[PIECE, ITEM, "m", LESS], false),
        (SAME.to_owned(), &[ITEM, "m", PIECE], false),
    ];
    for (check, frames, expected) in rows {
        assert_eq!(
            holds(Tongue::AppServer, &check, frames),
            expected,
            "{check} {frames:?}"
        );
    }
}

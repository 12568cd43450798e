use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Finding, judge};
use crate::check::Check;
use crate::driver::{Asked, Awaited, End, Played, SweepEnd};
use crate::recording::{Ending, Recorder, What};
use crate::schema::Schemas;
use crate::scope::Variables;
use crate::tongue::Tongue;

/// A recording from lines: `> ` to the target, `< ` from it, `# ` a mark.
fn played(script: &str, end: End) -> Played {
    let recorder = Recorder::new();
    let mut labels = BTreeMap::new();
    for line in script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let (way, text) = line.split_at(2);
        match way {
            "> " => {
                let at = recorder.sent(0, text.as_bytes());
                let frame: Value = serde_json::from_str(text).unwrap_or_default();
                if let Some(id) = frame.get("id").filter(|_| frame.get("method").is_some()) {
                    let asked = Asked {
                        process: 0,
                        id: id.clone(),
                        at,
                        awaited: Awaited::Response,
                    };
                    labels.insert(id.to_string(), asked);
                }
            }
            "< " => {
                recorder.lines(0, vec![text.as_bytes().to_vec()], Ending::Lf);
            }
            _ => {
                recorder.add(0, What::Mark(text.to_owned()));
            }
        }
    }
    let mut variables = Variables::default();
    variables.set("session", json!("s"));
    let recording = recorder.look().clone();
    Played {
        recording,
        labels,
        variables,
        tongues: Vec::new(),
        names: BTreeMap::from([("a".to_owned(), vec![0])]),
        end,
        sweep: SweepEnd::Within,
    }
}

fn found(check: &str, script: &str, end: End) -> Finding {
    found_in(Tongue::AcpV1, check, script, end)
}

pub(super) fn found_in(tongue: Tongue, check: &str, script: &str, end: End) -> Finding {
    let check = format!("id = \"x\"\nreq = \"y\"\n{check}");
    let check: Check = toml::from_str(&check).expect("a check");
    judge(
        &check,
        &played(script, end),
        &Schemas::of(tongue).expect("schemas"),
    )
}

const ASK: &str = r#"> {"jsonrpc":"2.0","id":1,"method":"m"}"#;
const ANSWER: &str = r#"< {"jsonrpc":"2.0","id":1,"result":{"a":1}}"#;

/// CONF-1: the verdict is from the recording.
#[test]
fn a_check_holds_or_is_broken_by_what_was_recorded() {
    let chunk = |text: &str| {
        format!(
            "< {}",
            json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s",
                "update": {"sessionUpdate": "agent_message_chunk",
                    "content": {"type": "text", "text": text}}}})
        )
    };
    let (a, b, empty) = (chunk("a"), chunk("b"), chunk(""));
    let call = r#"< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t"}}}"#;
    let rows: Vec<(&str, String, bool)> = vec![
        ("answer = { to = \"1\" }", format!("{ASK}\n{ANSWER}"), true),
        ("answer = { to = \"1\" }", format!("{ANSWER}\n{ASK}"), false),
        (
            "answer = { to = \"1\" }",
            format!("{ASK}\n{ANSWER}\n{ANSWER}"),
            false,
        ),
        (
            "answer = { to = \"1\", fits = { result = { a = 2 } } }",
            format!("{ASK}\n{ANSWER}"),
            false,
        ),
        (
            "some = { frame = { id = 1 }, most = 1 }",
            format!("{ANSWER}\n{ANSWER}"),
            false,
        ),
        (
            "some = { frame = { id = 1 }, least = 2 }",
            ANSWER.to_owned(),
            false,
        ),
        ("some = { frame = { id = 1 } }", ANSWER.to_owned(), true),
        (
            "none = { frame = { id = 1 }, window = [\"begin\", \"m\"] }",
            format!("# m\n{ANSWER}"),
            true,
        ),
        (
            "none = { frame = { id = 1 }, window = [\"m\", \"end\"] }",
            format!("# m\n{ANSWER}"),
            false,
        ),
        (
            "every = { frame = { id = 1 }, fits = { result = { a = 1 } }, least = 1 }",
            ANSWER.to_owned(),
            true,
        ),
        (
            "every = { frame = { id = 1 }, fits = { error = {} } }",
            ANSWER.to_owned(),
            false,
        ),
        (
            "distinct = { frame = {}, at = \"/id\" }",
            format!("{ANSWER}\n{ANSWER}"),
            false,
        ),
        (
            "text = { window = [\"begin\", \"end\"], fits = \"ab\" }",
            format!("{a}\n{b}"),
            true,
        ),
        (
            "same = { windows = [[\"begin\", \"m\"], [\"m\", \"end\"]] }",
            format!("{a}\n{b}\n# m\n{}", chunk("ab")),
            true,
        ),
        (
            "same = { windows = [[\"begin\", \"m\"], [\"m\", \"end\"]], by = \"frames\" }",
            format!("{a}\n{b}\n# m\n{}", chunk("ab")),
            false,
        ),
        // Live, what a turn cost may come before its call, and after it in the replay.
        (
            "same = { windows = [[\"begin\", \"m\"], [\"m\", \"end\"]] }",
            format!("{empty}\n{call}\n{b}\n# m\n{call}\n{empty}\n{b}"),
            true,
        ),
        (
            "same = { windows = [[\"begin\", \"m\"], [\"m\", \"end\"]] }",
            format!("{a}\n{call}\n# m\n{call}\n{a}"),
            false,
        ),
        (
            "covered = { windows = [[\"begin\", \"m\"], [\"m\", \"end\"]] }",
            format!("{a}\n{b}\n# m\n{a}"),
            false,
        ),
        ("lines = { are = \"json\" }", "< hello".to_owned(), false),
        (
            "lines = { are = \"answered_once\" }",
            format!("{ASK}\n{ANSWER}"),
            true,
        ),
        (
            "lines = { are = \"answered_once\" }",
            format!("{ASK}\n{ANSWER}\n{ANSWER}"),
            false,
        ),
        (
            "lines = { are = \"answered_once\" }",
            ANSWER.to_owned(),
            false,
        ),
        (
            "lines = { are = \"messages\" }",
            "< {\"jsonrpc\":\"2.0\",\"id\":1}".to_owned(),
            false,
        ),
        (
            "lines = { are = \"responses\" }",
            "< {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"bad\"}".to_owned(),
            false,
        ),
        ("lines = { are = \"known_sessions\" }", a.clone(), false),
        (
            "lines = { are = \"known_methods\" }",
            "< {\"jsonrpc\":\"2.0\",\"method\":\"session/destroy\"}".to_owned(),
            false,
        ),
    ];
    for (check, script, holds) in rows {
        let finding = found(check, &script, End::Done);
        let expected = if holds {
            matches!(finding, Finding::Holds)
        } else {
            matches!(finding, Finding::Broken(_))
        };
        assert!(expected, "{check}\n{script}\n{finding:?}");
    }
}

#[test]
fn a_case_that_stopped_early_proves_no_absence() {
    let stopped = || End::Stopped("no answer".to_owned());
    let none = "none = { frame = { id = 7 } }";
    assert_eq!(found(none, ANSWER, End::Done), Finding::Holds);
    assert!(matches!(
        found(none, ANSWER, stopped()),
        Finding::Unreached(_)
    ));
    let window = "none = { frame = { id = 7 }, window = [\"never\", \"end\"] }";
    assert!(matches!(
        found(window, ANSWER, End::Done),
        Finding::Unreached(_)
    ));
    let skipped = End::Skipped("not offered".to_owned());
    assert!(matches!(found(none, ANSWER, skipped), Finding::Skipped(_)));
}

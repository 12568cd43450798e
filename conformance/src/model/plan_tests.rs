//! What a prompt makes the model do.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Answer, Ending, Part, Plan};
use crate::model::ask::{Ask, Delivery};
use crate::model::tool::{Call, Form, Offer};

fn ask(prompt: &str, tools: &[&str]) -> Ask {
    let offer = |name: &&str| Offer {
        name: (*name).to_owned(),
        form: Form::Json,
    };
    Ask {
        model: "m".to_owned(),
        prompt: prompt.to_owned(),
        rounds: 0,
        results: Vec::new(),
        tools: tools.iter().map(offer).collect(),
        size: 0,
        delivery: Delivery::Stream,
    }
}

fn answer(ask: &Ask) -> Answer {
    match Plan::of(ask) {
        Plan::Answer(answer) => answer,
        Plan::Refusal(status, _) => panic!("refused with {status}"),
    }
}

fn text(part: &Part) -> String {
    match part {
        Part::Text(pieces) => pieces.concat(),
        other => panic!("no text: {other:?}"),
    }
}

fn call(name: &str, input: Value) -> Part {
    let name = name.to_owned();
    Part::Call(Call { name, input })
}

#[test]
fn each_agents_own_tools_are_called_as_they_want_it() {
    let table = [
        (
            "SHELL[ls]",
            "Bash",
            json!({"command": "ls", "description": "A scripted command"}),
        ),
        (
            "SHELL[ls]",
            "bash",
            json!({"command": "ls", "description": "A scripted command"}),
        ),
        (
            "SHELL[ls]",
            "run_shell_command",
            json!({"command": "ls", "description": "A scripted command"}),
        ),
        ("SHELL[ls]", "exec_command", json!({"cmd": "ls"})),
        (
            "SHELL[ls]",
            "shell",
            json!({"command": ["bash", "-lc", "ls"]}),
        ),
        (
            "SUDO[ls]",
            "shell_command",
            json!({"command": "ls", "sandbox_permissions": "require_escalated",
                "justification": "the script says so"}),
        ),
        (
            "SUDO[ls]",
            "Bash",
            json!({"command": "ls", "description": "A scripted command"}),
        ),
        ("READ[/a]", "Read", json!({"file_path": "/a"})),
        ("READ[/a]", "read", json!({"filePath": "/a"})),
        (
            "WRITE[/a b c]",
            "Write",
            json!({"file_path": "/a", "content": "b c"}),
        ),
        (
            "WRITE[/a b c]",
            "write",
            json!({"filePath": "/a", "content": "b c"}),
        ),
        (
            "WRITE[/a b c]",
            "apply_patch",
            json!({"input": "*** Begin Patch\n*** Add File: /a\n+b c\n*** End Patch\n"}),
        ),
        ("CALL[x {\"a\": [1]}]", "x", json!({"a": [1]})),
    ];
    for (prompt, tool, input) in table {
        let found = answer(&ask(prompt, &["other", tool]));
        assert_eq!(found.parts, [call(tool, input)], "{prompt}");
        assert!(found.calls(), "{prompt}");
    }
}

#[test]
fn a_tool_that_was_not_offered_is_said_and_not_called() {
    for word in ["SHELL", "SUDO", "READ", "WRITE"] {
        let found = answer(&ask(&format!("{word}[x]"), &["other"]));
        assert_eq!(
            text(&found.parts[0]),
            format!("No tool for {word} was offered.")
        );
    }
}

#[test]
fn two_shells_in_one_round_are_two_calls_of_one_reply() {
    let found = answer(&ask("SHELL[a] SHELL[b]", &["exec_command"]));
    let calls = ["a", "b"].map(|command| call("exec_command", json!({"cmd": command})));
    assert_eq!(found.parts, calls);
}

#[test]
fn thoughts_come_first_and_text_keeps_its_order() {
    let found = answer(&ask("SAY[one] THINK[hm] SAY[two]", &[]));
    assert_eq!(found.parts[0], Part::Thought("hm".to_owned()));
    assert_eq!(
        [text(&found.parts[1]), text(&found.parts[2])],
        ["one", "two"]
    );
}

#[test]
fn a_round_without_words_repeats_the_prompt_or_what_tools_returned() {
    assert_eq!(
        text(&answer(&ask("hello", &[])).parts[0]),
        "You said: hello"
    );
    let thought_only = answer(&ask("THINK[hm]", &[]));
    assert_eq!(text(&thought_only.parts[1]), "You said: THINK[hm]");

    let mut after = ask("SHELL[a]", &["Bash"]);
    after.rounds = 1;
    after.results = vec!["x".repeat(300), "two".to_owned()];
    let shown = format!("The tools returned: {} | two", "x".repeat(200));
    assert_eq!(text(&answer(&after).parts[0]), shown);
}

#[test]
fn slow_huge_cut_and_refused_replies_are_as_asked() {
    let slow = answer(&ask("SLOW[3 20]", &[]));
    assert_eq!(text(&slow.parts[0]), "piece 1 piece 2 piece 3 ");
    assert_eq!(slow.pace, Duration::from_millis(20));
    let filled = text(&answer(&ask("SLOW[2 0 400]", &[])).parts[0]);
    assert_eq!(filled.len(), 2 * (400 + "piece 1 ".len()));
    let (one, two) = (&filled[8..58], &filled[58..108]);
    assert!(one != two && filled.matches(one).count() == 1, "{filled}");
    let held = answer(&ask("HOLD[1.5] SAY[a]", &[]));
    assert_eq!(held.hold, Duration::from_millis(1500));
    assert_eq!(text(&held.parts[0]), "a");
    assert_eq!(text(&answer(&ask("HUGE[1000]", &[])).parts[0]).len(), 1000);
    let huge = answer(&ask("HUGE[99999999999]", &[]));
    assert_eq!(text(&huge.parts[0]).len(), super::MOST_BYTES);
    assert_eq!(answer(&ask("SAY[a] CUT[]", &[])).ending, Ending::Cut);
    for (script, status, said) in [
        ("HTTP[529]", 529, "scripted"),
        ("HTTP[400 it broke]", 400, "it broke"),
    ] {
        assert_eq!(
            Plan::of(&ask(script, &[])),
            Plan::Refusal(status, said.to_owned())
        );
    }
}

#[test]
fn text_goes_out_in_three_pieces_and_loses_nothing() {
    for said in ["abcdef", "éééé", "a", "ab", "日本語テキスト"] {
        let found = answer(&ask(&format!("SAY[{said}]"), &[]));
        let Part::Text(pieces) = &found.parts[0] else {
            panic!("no text: {found:?}")
        };
        assert_eq!(pieces.concat(), said);
        assert!(
            pieces.len() <= 3 && pieces.iter().all(|piece| !piece.is_empty()),
            "{pieces:?}"
        );
    }
}

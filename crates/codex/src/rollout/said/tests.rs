use serde_json::{Value, json};

use super::super::tests::{event, head, item, message, read, thread, words};
use super::*;

fn call(id: &str) -> String {
    let arguments = json!({"cmd": id}).to_string();
    item(
        json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id}),
    )
}

fn output(id: &str, output: impl Into<Value>) -> String {
    item(json!({"type": "function_call_output", "call_id": id, "output": output.into()}))
}

fn told(lines: &[String]) -> (Vec<String>, Findings) {
    let (told, findings) = read(&(head(1, json!({})) + &lines.concat()));
    (words(&told), findings)
}

#[test]
fn a_call_is_told_where_it_stood_with_its_result() {
    let lines = [
        call("a"),
        call("b"),
        message("assistant", "meanwhile"),
        output("b", "B"),
        output("a", "A"),
        message("assistant", "done"),
    ];
    let (told, findings) = told(&lines);
    let expected = [
        "exec_command Completed A",
        "exec_command Completed B",
        "[meanwhile]",
        "[done]",
    ];
    assert_eq!(told, expected);
    assert!(findings.is_sound());
}

/// RESUME-6: what nothing tells the end of is unknown, and never told as done.
#[test]
fn a_call_without_a_result_has_an_unknown_outcome() {
    let started = event(json!({"type": "task_started", "turn_id": "t"}));
    let aborted = event(json!({"type": "turn_aborted", "reason": "interrupted"}));
    let unknown = "exec_command Unknown ";
    let table = [
        (vec![call("a")], vec![unknown]),
        (vec![call("a"), message("user", "b")], vec![unknown, "b"]),
        (
            vec![call("a"), started.clone(), output("a", "late")],
            vec![unknown, "unknown Completed late"],
        ),
        (
            vec![
                started.clone(),
                call("a"),
                message("user", "steered"),
                output("a", "A"),
            ],
            vec!["exec_command Completed A", "steered"],
        ),
        (
            vec![started, call("a"), aborted],
            vec![unknown, "notice interrupted by the user"],
        ),
    ];
    for (lines, expected) in table {
        assert_eq!(told(&lines).0, expected);
    }
}

#[test]
fn a_result_whose_call_is_not_there_is_shown_for_what_it_is() {
    let (said, findings) = told(&[output("a", "A")]);
    assert_eq!(said, ["unknown Completed A"]);
    assert_eq!(findings.of(Kind::OrphanResult), 1);
    let (said, findings) = told(&[call("a"), output("a", "A"), output("a", "again")]);
    assert_eq!(said, ["exec_command Completed A"]);
    assert_eq!(findings.of(Kind::LateResult), 1);
}

#[test]
fn a_call_that_waits_too_long_keeps_nothing_from_being_told() {
    let much = "x".repeat(3 << 20);
    let says = message("assistant", &much);
    let lines = [
        call("a"),
        says.clone(),
        says.clone(),
        says,
        message("user", "on"),
        output("a", "A"),
    ];
    let (told, findings) = told(&lines);
    assert_eq!(told[0], "exec_command Unknown ");
    assert_eq!(told[4], "on");
    assert_eq!(
        (
            findings.of(Kind::UnansweredCall),
            findings.of(Kind::OrphanResult)
        ),
        (1, 1)
    );
}

#[test]
fn a_call_ended_as_its_event_says_or_else_as_its_output_does() {
    let completed = |status: &str, code: Value| {
        let item =
            json!({"type": "CommandExecution", "id": "a", "status": status, "exit_code": code});
        event(json!({"type": "item_completed", "item": item}))
    };
    let ended = event(json!({"type": "exec_command_end", "call_id": "a", "exit_code": 2}));
    let refused =
        event(json!({"type": "mcp_tool_call_end", "call_id": "a", "result": {"Err": "x"}}));
    let nothing = String::new();
    let table = [
        (nothing.clone(), "fine", "Completed"),
        (
            nothing.clone(),
            "Process exited with code 1\nOutput:\n",
            "Failed",
        ),
        (
            nothing.clone(),
            "Wall time: 0.1 seconds\naborted by user",
            "Cancelled",
        ),
        (nothing.clone(), "unsupported call: x", "Failed"),
        (
            nothing,
            "exec_command failed: CreateProcess { message: \"Rejected(\"",
            "Cancelled",
        ),
        (completed("declined", json!(null)), "fine", "Cancelled"),
        (completed("failed", json!(7)), "fine", "Failed"),
        (ended, "fine", "Failed"),
        (refused, "fine", "Failed"),
    ];
    for (event, text, status) in table {
        let lines = [call("a"), event, output("a", text)];
        let (told, _) = told(&lines);
        assert!(
            told[0].starts_with(&format!("exec_command {status} ")),
            "{told:?} {text}"
        );
    }
}

#[test]
fn what_the_program_says_in_the_users_name_is_not_the_users() {
    let kinds = |kinds: Value, texts: [&str; 2]| {
        item(json!({
            "type": "message", "role": "user",
            "content": texts.map(|text| json!({"type": "input_text", "text": text})),
            "internal_chat_message_metadata_passthrough": {"content_item_kinds": kinds},
        }))
    };
    let table = [
        (
            message("user", "<environment_context>\n</environment_context>"),
            vec![],
        ),
        (message("user", "# AGENTS.md instructions for /w"), vec![]),
        (message("user", "<turn_aborted>\nx"), vec![]),
        (message("developer", "a"), vec![]),
        (message("user", "<b> is a tag"), vec!["<b> is a tag"]),
        (
            kinds(json!(["user.text", "x.y"]), ["<skill> of mine", "b"]),
            vec!["<skill> of mine"],
        ),
        (kinds(json!(["user.text"]), ["<skill>", "b"]), vec!["b"]),
    ];
    for (line, expected) in table {
        assert_eq!(told(&[line]).0, expected);
    }
}

#[test]
fn pictures_and_sounds_are_kept_as_what_they_are() {
    let content = json!([
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_image", "image_url": "https://x.test/a.png"},
        {"type": "input_audio", "audio_url": "data:audio/wav;base64,AAAA"},
        {"type": "odd"},
    ]);
    let line = item(json!({"type": "message", "role": "user", "content": content}));
    let (told, findings) = told(&[line]);
    assert_eq!(
        told,
        ["see[picture, image/png, 3 bytes][](https://x.test/a.png)[sound, audio/wav, 3 bytes]"]
    );
    assert_eq!(findings.of(Kind::UnknownBlock), 1);
}

#[test]
fn the_same_file_gives_the_same_ids_and_no_id_twice() {
    let own = thread(9);
    let with_id =
        |id: String| item(json!({"type": "message", "role": "assistant", "id": id, "content": []}));
    let twice = with_id(format!("msg_{own}"));
    let text = head(1, json!({})) + &twice + &twice + &with_id("msg_7".to_owned());
    let ids = |text: &str| {
        let file = super::super::tests::file(1, "", text);
        let rollout = super::super::Rollout::read(file, |_| Ok(Vec::new())).unwrap();
        let told = super::super::Fold::new(&rollout);
        told.map(|told| told.unwrap().id.unwrap().uuid())
            .collect::<Vec<_>>()
    };
    let first = ids(&text);
    assert_eq!(first[0], own);
    assert!(first[1] != own && first[2] != first[1]);
    assert_eq!(first, ids(&text));
}

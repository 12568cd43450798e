//! Pictures and sounds that an agent says.

use serde_json::{Value, json};

use crate::harness::{END, Home, in_shell, serve, update};

fn chunks(frames: &[Value]) -> Vec<Value> {
    let update = |frame: &Value| frame["params"]["update"].clone();
    let is_said = |update: &Value| {
        update["sessionUpdate"]
            .as_str()
            .is_some_and(|kind| kind.starts_with("agent_"))
    };
    let content = |update: Value| json!([update["sessionUpdate"], update["content"]]);
    frames
        .iter()
        .map(update)
        .filter(is_said)
        .map(content)
        .collect()
}

fn said(content: &str) -> String {
    update(&format!(
        r#"{{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{content}}}"#
    ))
}

/// LOG-8, ADAPT-6, RESUME-10: kept as they are, those that are large beside the log, and shown again by
/// a load.
#[test]
fn pictures_and_sounds_are_kept_and_shown_as_the_agent_gave_them() {
    let home = Home::new();
    // The agent's line is longer than an argument may be: it is read from a file.
    let large = "A".repeat(400 << 10);
    let picture = format!(r#"{{"type":"image","data":"{large}","mimeType":"image/png"}}"#);
    let line = said(&picture);
    let line = line.trim_start_matches("echo '").trim_end_matches('\'');
    home.write("large", &format!("{line}\n"));
    let sound = r#"{"type":"audio","data":"AAAA","mimeType":"audio/wav","_meta":{"own":1}}"#;
    let text = |text: &str| said(&format!(r#"{{"type":"text","text":"{text}"}}"#));
    let lines = [
        text("look"),
        "cat large".to_owned(),
        said(sound),
        text("so"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).chain([END]).collect();
    let config = in_shell(&home, "{}", &lines);
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    let live = chunks(&server.frames);
    server.quit();
    let kind = "agent_message_chunk";
    let expected = [
        json!([kind, {"type": "text", "text": "look"}]),
        json!([kind, serde_json::from_str::<Value>(&picture).unwrap()]),
        json!([kind, serde_json::from_str::<Value>(sound).unwrap()]),
        json!([kind, {"type": "text", "text": "so"}]),
    ];
    assert_eq!(live, expected);
    assert!(!home.log(&session).contains(&large), "it is beside the log");
    assert!(home.sessions().text().contains(&large));
    let mut server = serve(&home, &config);
    server.load(&home, &session);
    assert_eq!(chunks(&server.frames), expected);
    server.quit();
    let shown = home.run(&["sessions", "show", &session]).well().stdout;
    for words in [
        "[picture, image/png, 307200 bytes]",
        "[sound, audio/wav, 3 bytes]",
    ] {
        assert!(shown.contains(words), "{shown}");
    }
}

use serde_json::{Value, json};
use sessiond_protocol::Content;

use super::{NoPrompt, Prompt};

fn read(line: Value) -> Result<Prompt, NoPrompt> {
    Prompt::read(line.as_object().unwrap())
}

#[test]
fn a_prompt_is_a_text_or_blocks() {
    let table = [
        (json!("hello"), vec![Content::text("hello")]),
        (json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
            vec![Content::text("a"), Content::text("b")]),
        (json!([{"type": "document", "source": {"type": "text", "data": "d"}}]),
            vec![Content::text("d")]),
        (json!([{"type": "martian", "x": 1}]), vec![Content::text(r#"{"type":"martian","x":1}"#)]),
        (json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ=="}}]),
            vec![serde_json::from_value(json!({"type": "image", "data": "QQ==", "mimeType": "image/png"})).unwrap()]),
        (json!([{"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}]),
            vec![serde_json::from_value(json!({"type": "resource_link", "uri": "https://x/y.png", "name": "https://x/y.png"})).unwrap()]),
    ];
    for (content, expected) in table {
        let line = json!({"type": "user", "uuid": "u", "session_id": "default",
            "message": {"role": "user", "content": content}});
        let prompt = read(line).unwrap();
        assert_eq!(
            (prompt.content, prompt.uuid.as_deref()),
            (expected, Some("u"))
        );
    }
}

/// claude.md 3: a `user` line of another shape ends the stream.
#[test]
fn what_is_no_prompt_is_told_apart() {
    let table = [
        (json!({"type": "user"}), NoPrompt::NoMessage),
        (
            json!({"type": "user", "message": "hello"}),
            NoPrompt::NoMessage,
        ),
        (
            json!({"type": "user", "message": {"content": "x"}}),
            NoPrompt::Role,
        ),
        (
            json!({"type": "user", "message": {"role": "assistant", "content": "x"}}),
            NoPrompt::Role,
        ),
        (
            json!({"type": "user", "message": {"role": "user", "content": 1}}),
            NoPrompt::Content,
        ),
    ];
    for (line, expected) in table {
        assert_eq!(read(line.clone()), Err(expected), "{line}");
    }
}

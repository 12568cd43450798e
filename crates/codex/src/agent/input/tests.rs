use serde_json::{Map, Value, json};
use sessiond_protocol::Content;

use super::Input;
use crate::prompt;

fn content(value: Value) -> Content {
    serde_json::from_value(value).expect("content")
}

#[test]
fn every_block_reaches_codex_in_a_form_that_it_takes() {
    let text = |text: &str| json!({ "type": "text", "text": text, "text_elements": [] });
    let cases = [
        (json!({ "type": "text", "text": "hi" }), text("hi")),
        (
            json!({ "type": "image", "data": "AA==", "mimeType": "image/png" }),
            json!({ "type": "image", "url": "data:image/png;base64,AA==" }),
        ),
        (
            json!({ "type": "audio", "data": "AA==", "mimeType": "audio/wav" }),
            text("[a sound that you cannot hear]"),
        ),
        (
            json!({ "type": "resource_link", "uri": "file:///a" }),
            text("file:///a"),
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "file:///a", "text": "b" } }),
            text("file:///a:\nb"),
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "file:///a", "blob": "AA==" } }),
            text("file:///a"),
        ),
    ];
    for (block, expected) in cases {
        let input = Input::of(&[content(block.clone())]);
        assert_eq!(input.parts, [expected], "{block}");
        assert_eq!(
            input.left_out,
            (block["type"] == "audio").then_some("sounds")
        );
    }
}

/// The schema of a Codex client's answer is the schema of the real one's answer, and no words.
#[test]
fn the_shape_of_an_answer_is_codex_s_own() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    let hi = Content::Text {
        text: "hi".to_owned(),
        extra: Map::new(),
    };
    let input = Input::of(&[hi, prompt::schema(&schema)]);
    assert_eq!(input.schema, Some(schema));
    assert_eq!(input.parts.len(), 1);
}

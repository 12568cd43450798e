//! Prompts, for agents that take more or less.

use agent_client_protocol_schema::v1::PromptCapabilities;
use serde_json::json;
use sessiond_protocol::Content;

use super::{blocks, insert};

#[test]
fn an_agent_gets_what_it_takes_and_the_user_hears_what_it_does_not() {
    let prompt: Vec<Content> = serde_json::from_value(json!([
        { "type": "text", "text": "look", "annotations": { "priority": 1 } },
        { "type": "image", "data": "AA==", "mimeType": "image/png" },
        { "type": "resource", "resource": { "uri": "file:///a", "text": "A" } },
        { "type": "resource", "resource": { "uri": "file:///b", "blob": "AA==" } },
        { "type": "resource_link", "uri": "file:///c", "name": "c" },
    ]))
    .unwrap();
    let everything = PromptCapabilities::new().image(true).embedded_context(true);
    let (whole, left_out) = blocks(&prompt, &everything);
    assert_eq!(serde_json::to_value(&prompt).unwrap(), json!(whole));
    assert_eq!(left_out, None);
    let (flat, left_out) = blocks(&prompt, &PromptCapabilities::new());
    assert_eq!(left_out, Some("pictures"));
    let types: Vec<_> = flat
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        types,
        ["text", "text", "text", "resource_link", "resource_link"]
    );
    assert_eq!(flat[0]["annotations"]["priority"], 1);
    assert_eq!(flat[2]["text"], "file:///a:\nA");
}

#[test]
fn a_slash_command_stays_first() {
    for (text, expected) in [("hello", ["more", "hello"]), ("/do it", ["/do it", "more"])] {
        let mut prompt = vec![json!({ "type": "text", "text": text })];
        insert(&mut prompt, json!({ "type": "text", "text": "more" }));
        let texts: Vec<_> = prompt
            .iter()
            .map(|block| block["text"].as_str().unwrap())
            .collect();
        assert_eq!(texts, expected);
    }
}

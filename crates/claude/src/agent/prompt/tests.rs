//! Prompts as the CLI gets them.

use serde_json::{Map, Value, json};
use sessiond_protocol::Content;
use uuid::Uuid;

use super::line;

fn content(prompt: &[Content], before: Option<&str>) -> (Value, Option<&'static str>) {
    let (line, left_out) = line(prompt, (before, Uuid::nil()));
    (line["message"]["content"].clone(), left_out)
}

/// ADAPT-4: a text stays a text, so that commands are commands; pictures and PDFs are given as such,
/// what cannot be given is named.
#[test]
fn each_block_is_given_in_the_form_that_the_cli_takes() {
    let extra = Map::new();
    let picture = Content::Image {
        data: "aGk=".to_owned(),
        mime_type: "image/png".to_owned(),
        extra: extra.clone(),
    };
    let resource = |resource| Content::Resource {
        resource,
        extra: extra.clone(),
    };
    let file = resource(json!({ "uri": "file:///a", "text": "x" }));
    let pdf = resource(json!({ "uri": "f", "blob": "aGk=", "mimeType": "application/pdf" }));
    let sound = Content::Audio {
        data: "aGk=".to_owned(),
        mime_type: "audio/wav".to_owned(),
        extra: extra.clone(),
    };
    let block = |text: &str| json!({ "type": "text", "text": text });
    let (given, left_out) = content(&[Content::text("/compact now")], None);
    assert_eq!((given, left_out), (json!("/compact now"), None));
    let (given, _) = content(&[Content::text("look"), picture, file, pdf], None);
    assert_eq!(
        given,
        json!([
            block("look"),
            { "type": "image",
              "source": { "type": "base64", "media_type": "image/png", "data": "aGk=" } },
            block("file:///a:\nx"),
            { "type": "document",
              "source": { "type": "base64", "media_type": "application/pdf", "data": "aGk=" } },
        ])
    );
    assert_eq!(content(&[sound], None).1, Some("sounds"));
}

/// ADAPT-10: what is handed over stands before the words of the user, and behind a slash command.
#[test]
fn what_is_handed_over_goes_before_the_prompt_unless_that_is_a_command() {
    let block = |text: &str| json!({ "type": "text", "text": text });
    let (given, _) = content(&[Content::text("go")], Some("before"));
    assert_eq!(given, json!([block("before"), block("go")]));
    let (given, _) = content(&[Content::text("/go")], Some("before"));
    assert_eq!(given, json!([block("/go"), block("before")]));
}

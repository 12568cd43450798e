use serde_json::{Value, json};
use sessiond_protocol::{Outcome, RequestBody};

use super::{answer, outcome, question, request};

/// What one side asks the other side reads as it was.
#[test]
fn a_question_is_the_same_on_both_sides() {
    let bodies = [
        RequestBody::Elicitation {
            message: "Who?".to_owned(),
            schema: json!({ "type": "object", "properties": { "name": { "type": "string" } } }),
        },
        RequestBody::ElicitationUrl {
            message: "Log in".to_owned(),
            url: "http://127.0.0.1:1/".to_owned(),
            elicitation: "e1".to_owned(),
        },
    ];
    for body in bodies {
        let asked = request("files", &body).unwrap();
        assert_eq!(asked["subtype"], "elicitation");
        assert_eq!(asked["mcp_server_name"], "files");
        assert_eq!(question(asked.as_object().unwrap()), Some(body));
    }
    let bare = json!({ "subtype": "elicitation", "mcp_server_name": "s", "message": "m" });
    assert!(matches!(
        question(bare.as_object().unwrap()),
        Some(RequestBody::Elicitation { .. })
    ));
    let without_address = json!({ "message": "m", "mode": "url" });
    assert_eq!(question(without_address.as_object().unwrap()), None);
    assert_eq!(question(json!({}).as_object().unwrap()), None);
}

#[test]
fn an_answer_is_the_same_on_both_sides() {
    let content = json!({ "name": "Ada" });
    for (told, meant) in [
        (Outcome::Accepted { content }, "accept"),
        (Outcome::Declined, "decline"),
        (Outcome::Cancelled, "cancel"),
    ] {
        let said = answer(told.clone());
        assert_eq!(said["action"], meant);
        assert_eq!(outcome(Ok(said)), told);
    }
    // Nothing but a clear word is an answer.
    for odd in [json!({}), json!({ "action": 7 }), Value::Null] {
        assert_eq!(outcome(Ok(odd)), Outcome::Declined);
    }
    assert_eq!(outcome(Err("unsupported".to_owned())), Outcome::Declined);
    assert_eq!(answer(Outcome::Unanswered), json!({ "action": "decline" }));
}

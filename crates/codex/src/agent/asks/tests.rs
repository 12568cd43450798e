use serde_json::{Value, json};
use sessiond_protocol::{Outcome, RequestBody};

use super::{Asked, Question, Turn, read, stops};

fn asked(method: &str, params: &Value) -> Asked {
    read(method, params).expect("a question")
}

fn chosen(option: &str) -> Outcome {
    Outcome::Selected {
        option: option.to_owned(),
    }
}

fn options(asked: &Asked) -> Vec<String> {
    let RequestBody::Permission(permission) = asked.body(None) else {
        panic!("no permission");
    };
    let options = permission.options.into_iter();
    options.map(|option| option.id).collect()
}

/// codex.md B8: each decision goes back as Codex wrote it, and what is none rejects.
#[test]
fn a_decision_about_a_command_goes_back_as_codex_offered_it() {
    let amendment =
        json!({ "acceptWithExecpolicyAmendment": { "execpolicy_amendment": ["echo", "hi"] } });
    let params = json!({ "itemId": "c", "command": "echo hi", "reason": "why",
        "availableDecisions": ["accept", amendment, "cancel", "ofTomorrow"] });
    let asked = asked("item/commandExecution/requestApproval", &params);
    let always = "acceptWithExecpolicyAmendment";
    assert_eq!(options(&asked), ["accept", always, "decline", "cancel"]);
    let denied = Outcome::Denied {
        reason: "no".to_owned(),
    };
    let cases = [
        (chosen("accept"), Turn::Runs, json!("accept")),
        (chosen(always), Turn::Runs, amendment),
        (chosen("decline"), Turn::Runs, json!("decline")),
        (chosen("cancel"), Turn::Runs, json!("cancel")),
        (chosen("what was not offered"), Turn::Runs, json!("decline")),
        (Outcome::Cancelled, Turn::Runs, json!("decline")),
        (Outcome::Unanswered, Turn::Runs, json!("decline")),
        (denied, Turn::Runs, json!("decline")),
        (chosen("accept"), Turn::Cancelled, json!("cancel")),
        (Outcome::Cancelled, Turn::Cancelled, json!("cancel")),
    ];
    for (outcome, turn, expected) in cases {
        let answer = asked.answer(&outcome, turn);
        assert_eq!(answer, json!({ "decision": expected }), "{outcome:?}");
        assert_eq!(stops(&answer), expected == "cancel");
    }
}

#[test]
fn a_change_of_files_can_be_allowed_for_the_session() {
    let asked = asked("item/fileChange/requestApproval", &json!({ "itemId": "f" }));
    let expected = ["accept", "acceptForSession", "decline", "cancel"];
    assert_eq!(options(&asked), expected);
}

#[test]
fn more_permissions_are_granted_whole_or_not_at_all() {
    let wanted = json!({ "network": { "enabled": true } });
    let params = json!({ "itemId": "p", "cwd": "/w", "permissions": wanted });
    let asked = asked("item/permissions/requestApproval", &params);
    let granted = |scope: &str| json!({ "permissions": wanted, "scope": scope });
    let refused = json!({ "permissions": {}, "scope": "turn" });
    let cases = [
        (chosen("turn"), Turn::Runs, granted("turn")),
        (chosen("session"), Turn::Runs, granted("session")),
        (chosen("decline"), Turn::Runs, refused.clone()),
        (Outcome::Cancelled, Turn::Runs, refused.clone()),
        (chosen("turn"), Turn::Cancelled, refused),
    ];
    for (outcome, turn, expected) in cases {
        assert_eq!(asked.answer(&outcome, turn), expected, "{outcome:?}");
    }
}

#[test]
fn what_codex_asks_its_user_is_a_form_and_its_answers_go_back() {
    let option = |label: &str| json!({ "label": label, "description": "" });
    let params = json!({ "itemId": "i", "isBlocking": true, "questions": [
        { "id": "colour", "header": "Colour", "question": "Which?", "isOther": false,
          "options": [option("red"), option("blue")] },
        { "id": "name", "header": "Name", "question": "Whose?", "isOther": true,
          "options": [option("mine")] },
    ] });
    let asked = asked("item/tool/requestUserInput", &params);
    let RequestBody::Elicitation { message, schema } = asked.body(None) else {
        panic!("no form");
    };
    assert_eq!(message, "Which?\nWhose?");
    let choices = |id: &str| schema["properties"][id]["enum"].clone();
    assert_eq!(
        (choices("colour"), choices("name")),
        (json!(["red", "blue"]), Value::Null)
    );
    let content = json!({ "colour": "red", "name": "yours" });
    let accepted = asked.answer(&Outcome::Accepted { content }, Turn::Runs);
    let answers = json!({ "colour": { "answers": ["red"] }, "name": { "answers": ["yours"] } });
    assert_eq!(accepted, json!({ "answers": answers }));
    for outcome in [Outcome::Declined, Outcome::Cancelled, Outcome::Unanswered] {
        let answer = asked.answer(&outcome, Turn::Runs);
        assert_eq!(answer, json!({ "answers": {} }), "{outcome:?}");
    }
}

#[test]
fn a_question_of_a_server_is_asked_as_it_is() {
    let method = "mcpServer/elicitation/request";
    let schema = json!({ "type": "object", "properties": {} });
    let form = json!({ "mode": "form", "message": "m", "requestedSchema": schema });
    let form = asked(method, &form);
    let is_form = |question| {
        matches!(
            question,
            Question::Elicitation(RequestBody::Elicitation { .. })
        )
    };
    assert!(is_form(form.question.clone()), "{form:?}");
    let content = json!({ "a": 1 });
    let accepted = Outcome::Accepted {
        content: content.clone(),
    };
    let expected = json!({ "action": "accept", "content": content });
    assert_eq!(form.answer(&accepted, Turn::Runs), expected);
    assert_eq!(form.unasked()["action"], "cancel");
    let url = json!({ "mode": "url", "message": "m", "url": "https://x", "elicitationId": "e" });
    let url = asked(method, &url).question;
    assert!(!is_form(url.clone()), "{url:?}");
}

/// WIRE-8: what Codex asks about a tool of a server, in the form of a server's question, is a question
/// for permission: who decides those decides it, and nothing but a choice that was offered allows.
#[test]
fn a_question_about_a_tool_of_a_server_is_one_for_permission() {
    let params = json!({ "serverName": "calc", "mode": "form",
        "message": "Allow the calc MCP server to run tool \"add\"?",
        "requestedSchema": { "type": "object", "properties": {} },
        "_meta": { "codex_approval_kind": "mcp_tool_call" } });
    let asked = asked("mcpServer/elicitation/request", &params);
    assert_eq!(asked.server.as_deref(), Some("calc"));
    let RequestBody::Permission(permission) = asked.body(None) else {
        panic!("{asked:?}")
    };
    assert_eq!(permission.pattern, params["message"]);
    let selected = |option: &str| Outcome::Selected {
        option: option.to_owned(),
    };
    for (outcome, action) in [
        (selected("accept"), "accept"),
        (selected("session"), "accept"),
        (selected("decline"), "decline"),
        (Outcome::Cancelled, "decline"),
        (Outcome::Unanswered, "decline"),
        (selected("other"), "decline"),
    ] {
        let answer = asked.answer(&outcome, Turn::Runs);
        assert_eq!(answer["action"], action, "{outcome:?}");
    }
    assert_eq!(
        asked.answer(&Outcome::Cancelled, Turn::Cancelled)["action"],
        "decline"
    );
}

#[test]
fn what_is_unknown_or_malformed_is_refused() {
    let cases = [
        ("item/tool/call", json!({}), -32601),
        ("attestation/generate", json!({}), -32601),
        ("item/permissions/requestApproval", json!({}), -32602),
        (
            "item/tool/requestUserInput",
            json!({ "questions": [{}] }),
            -32602,
        ),
        (
            "mcpServer/elicitation/request",
            json!({ "mode": "dance", "message": "m" }),
            -32602,
        ),
    ];
    for (method, params, code) in cases {
        let error = read(method, &params).expect_err(method);
        assert_eq!(error.code(), code, "{method}");
    }
}

//! What an agent behind sessiond asks the user: permission with options of its own, forms, links.

use serde_json::{Value, json};

use crate::harness::{
    END, Home, PATIENCE, Part, Permissions, Replay, Server, answered, eventually, in_shell,
    in_shell_with, request, serve, serve_as, update,
};

/// A question for permission about call `c`, with options whose ids say nothing.
const PERMISSION: &str = r#"{"sessionId":"n1","toolCall":{"toolCallId":"c","title":"Do it","kind":"execute","rawInput":{"command":"x"}},"options":[{"optionId":"7","name":"Sure","kind":"allow_once"},{"optionId":"8","name":"For good","kind":"allow_always"},{"optionId":"9","name":"Not now","kind":"reject_once"},{"optionId":"10","name":"Never","kind":"reject_always"}]}"#;

fn ask(question: &Value, server: &mut Server, result: &Value) {
    server.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
}

/// A server whose agent asks for permission in each turn, with a session.
fn asking(home: &Home) -> (Server, String) {
    let permission = request("p", "session/request_permission", PERMISSION);
    let config = in_shell(home, "{}", &[&permission, END]);
    let mut server = serve(home, &config);
    server.permissions = Permissions::Hold;
    let session = server.new_session(home);
    (server, session)
}

/// WIRE-8, acp.md 5.17: the options are the agent's own, in its order, with its words and kinds; the
/// one that the user chooses is the one that the agent hears.
#[test]
fn permission_is_asked_with_the_options_of_the_agent_and_answered_with_one_of_them() {
    for chosen in ["7", "8", "9", "10"] {
        let home = Home::new();
        let (mut server, session) = asking(&home);
        let prompt = server.prompt(&session, "go");
        let question = server.asked("session/request_permission");
        let expected = json!([
            { "optionId": "7", "name": "Sure", "kind": "allow_once" },
            { "optionId": "8", "name": "For good", "kind": "allow_always" },
            { "optionId": "9", "name": "Not now", "kind": "reject_once" },
            { "optionId": "10", "name": "Never", "kind": "reject_always" },
        ]);
        assert_eq!(question["params"]["options"], expected);
        let call = &question["params"]["toolCall"];
        assert_eq!(
            (&call["title"], &call["kind"]),
            (&json!("Do it"), &json!("execute"))
        );
        let shown = server
            .frames
            .iter()
            .position(|frame| frame["params"]["update"]["toolCallId"] == call["toolCallId"]);
        assert!(
            shown.is_some(),
            "the call is shown before it is asked about"
        );
        server.select(&question, chosen);
        assert_eq!(server.response(prompt)["result"]["stopReason"], "end_turn");
        server.quit();
        let outcome = json!({ "outcome": "selected", "optionId": chosen });
        assert_eq!(answered(&home, "p")["result"]["outcome"], outcome);
    }
}

/// acp.md 5.16: a lone `cancelled`, an error and an answer that is none each reject this one call with
/// the agent's own option; the turn goes on.
#[test]
fn what_is_no_decision_rejects_the_call_and_the_turn_goes_on() {
    let cases = [
        json!({ "result": { "outcome": { "outcome": "cancelled" } } }),
        json!({ "error": { "code": -32601, "message": "Method not found" } }),
        json!({ "result": { "outcome": { "outcome": "_perhaps" } } }),
    ];
    for case in cases {
        let home = Home::new();
        let (mut server, session) = asking(&home);
        let prompt = server.prompt(&session, "go");
        let question = server.asked("session/request_permission");
        let mut answer = json!({ "jsonrpc": "2.0", "id": question["id"] });
        for (member, value) in case.as_object().unwrap() {
            answer[member] = value.clone();
        }
        server.say(&answer);
        assert_eq!(
            server.response(prompt)["result"]["stopReason"],
            "end_turn",
            "{case}"
        );
        server.quit();
        let outcome = json!({ "outcome": "selected", "optionId": "9" });
        assert_eq!(answered(&home, "p")["result"]["outcome"], outcome, "{case}");
    }
}

/// WIRE-8: an option that the agent did not offer decides nothing; the user is asked again.
#[test]
fn an_option_that_the_agent_did_not_offer_is_asked_again() {
    let home = Home::new();
    let (mut server, session) = asking(&home);
    let prompt = server.prompt(&session, "go");
    let question = server.asked("session/request_permission");
    server.select(&question, "allow_once");
    let again = server.asked("session/request_permission");
    assert_eq!(again["params"]["options"], question["params"]["options"]);
    server.select(&again, "7");
    assert_eq!(server.response(prompt)["result"]["stopReason"], "end_turn");
    server.quit();
    assert_eq!(answered(&home, "p")["result"]["outcome"]["optionId"], "7");
}

/// acp.md 5.16: where the turn is cancelled, and only there, the agent hears `cancelled`.
#[test]
fn a_question_of_a_cancelled_turn_is_answered_cancelled() {
    let home = Home::new();
    let (mut server, session) = asking(&home);
    let prompt = server.prompt(&session, "go");
    server.asked("session/request_permission");
    server.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(server.response(prompt)["result"]["stopReason"], "cancelled");
    // It may hear of the cancellation before its question is answered, and end its turn at that.
    let told = eventually("the agent hears both", PATIENCE, || {
        let told = home.read("answers") + &home.read("heard");
        let is_answered = told.contains(r#""id":"p""#) && told.contains("session/cancel");
        is_answered.then_some(told)
    });
    server.quit();
    assert!(told.contains(r#""outcome":"cancelled""#), "{told}");
    let cancels = told.matches(r#""method":"session/cancel""#).count();
    assert_eq!(cancels, 1, "it is told once: {told}");
}

/// WIRE-9: a question about a call that has ended is answered at once, with a rejection, and nobody is
/// asked.
#[test]
fn a_call_that_is_over_is_not_asked_about() {
    let ended = update(
        r#"{"sessionUpdate":"tool_call","toolCallId":"c","title":"Did it","status":"completed"}"#,
    );
    let permission = request("p", "session/request_permission", PERMISSION);
    let home = Home::new();
    let mut server = serve(&home, &in_shell(&home, "{}", &[&ended, &permission, END]));
    server.permissions = Permissions::Hold;
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    let asked = |frame: &Value| frame["method"] == "session/request_permission";
    assert!(!server.frames.iter().any(asked));
    let outcome = json!({ "outcome": "selected", "optionId": "9" });
    assert_eq!(answered(&home, "p")["result"]["outcome"], outcome);
    let shown = format!("{:?}", Replay::of(&server.frames));
    assert!(
        shown.contains("Did it") && !shown.contains("Do it"),
        "{shown}"
    );
    server.quit();
}

const FORM: &str = r#"{"sessionId":"n1","mode":"form","message":"Which?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}"#;
const LINK: &str = r#"{"sessionId":"n1","mode":"url","elicitationId":"e1","message":"Sign in","url":"https://sign.in/x"}"#;

/// ADAPT-1: a form is asked of a client that shows such, and the agent hears what became of it.
#[test]
fn a_form_is_asked_of_a_client_that_shows_such() {
    let answers = [
        json!({ "action": "accept", "content": { "a": "this" } }),
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
    ];
    let ask_form = request("f", "elicitation/create", FORM);
    for expected in answers {
        let home = Home::new();
        let config = in_shell(&home, "{}", &[&ask_form, END]);
        let forms = json!({ "elicitation": { "form": {} } });
        let mut server = serve_as(&home, &config, forms);
        let session = server.new_session(&home);
        let prompt = server.prompt(&session, "go");
        let question = server.asked("elicitation/create");
        let params = &question["params"];
        assert_eq!(params["sessionId"], json!(session));
        assert_eq!(
            (&params["mode"], &params["message"]),
            (&json!("form"), &json!("Which?"))
        );
        assert_eq!(
            params["requestedSchema"]["properties"]["a"]["type"],
            "string"
        );
        ask(&question, &mut server, &expected);
        assert_eq!(server.response(prompt)["result"]["stopReason"], "end_turn");
        server.quit();
        assert_eq!(answered(&home, "f")["result"], expected);
    }
}

/// A link is asked of a client that opens such; that it was followed is told once, of a question that
/// this client was asked.
#[test]
fn a_link_is_asked_of_a_client_that_opens_such_and_its_completion_is_told() {
    let completed = |id: &str| {
        format!(
            r#"echo '{{"jsonrpc":"2.0","method":"elicitation/complete","params":{{"elicitationId":"{id}"}}}}'"#
        )
    };
    let link = request("l", "elicitation/create", LINK);
    let lines = [
        link,
        completed("e2"),
        completed("e1"),
        completed("e1"),
        END.to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let home = Home::new();
    let config = in_shell(&home, "{}", &lines);
    let mut server = serve_as(&home, &config, json!({ "elicitation": { "url": {} } }));
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "go");
    let question = server.asked("elicitation/create");
    let expected = json!({
        "sessionId": session, "mode": "url", "message": "Sign in", "elicitationId": "e1",
        "url": "https://sign.in/x",
    });
    assert_eq!(question["params"], expected);
    ask(&question, &mut server, &json!({ "action": "accept" }));
    assert_eq!(server.response(prompt)["result"]["stopReason"], "end_turn");
    let told: Vec<&Value> = server
        .frames
        .iter()
        .filter(|frame| frame["method"] == "elicitation/complete")
        .map(|frame| &frame["params"]["elicitationId"])
        .collect();
    assert_eq!(told, ["e1"]);
    server.quit();
    assert_eq!(answered(&home, "l")["result"]["action"], "accept");
}

/// ADAPT-1: what the client does not show is declined for it, and it is not asked.
#[test]
fn a_form_or_a_link_that_the_client_does_not_show_is_declined() {
    let cases = [
        (json!({}), FORM),
        (json!({}), LINK),
        (json!({ "elicitation": { "url": {} } }), FORM),
        (json!({ "elicitation": { "form": {} } }), LINK),
    ];
    for (offered, question) in cases {
        let home = Home::new();
        let config = in_shell(
            &home,
            "{}",
            &[&request("e", "elicitation/create", question), END],
        );
        let mut server = serve_as(&home, &config, offered.clone());
        let session = server.new_session(&home);
        assert_eq!(server.turn(&session, "go"), "end_turn");
        let asked = |frame: &Value| frame["method"] == "elicitation/create";
        assert!(!server.frames.iter().any(asked), "{offered} {question}");
        server.quit();
        assert_eq!(
            answered(&home, "e")["result"]["action"],
            "decline",
            "{offered}"
        );
    }
}

/// An agent that asks while no turn runs is answered without anybody being asked.
#[test]
fn what_an_agent_asks_between_turns_is_answered_without_the_user() {
    let later = [
        request("p", "session/request_permission", PERMISSION),
        request("f", "elicitation/create", FORM),
        request(
            "r",
            "fs/read_text_file",
            r#"{"sessionId":"n1","path":"/x"}"#,
        ),
    ];
    let cases = format!("*'\"method\":\"_x/later\"'*)\n{}\n;;", later.join("\n"));
    let home = Home::new();
    let forms = json!({ "elicitation": { "form": {} }, "fs": { "readTextFile": true } });
    let mut server = serve_as(&home, &in_shell_with(&home, "{}", &cases, &[END]), forms);
    server.permissions = Permissions::Hold;
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    server.notify("_x/later", json!({ "sessionId": session }));
    eventually("all three are answered", PATIENCE, || {
        (home.read("answers").lines().count() == 3).then_some(())
    });
    server.quit();
    let result = |id: &str| answered(&home, id)["result"].clone();
    assert_eq!(
        result("p"),
        json!({ "outcome": { "outcome": "cancelled" } })
    );
    assert_eq!(result("f"), json!({ "action": "cancel" }));
    assert_eq!(answered(&home, "r")["error"]["code"], -32601);
    let calls = Replay::of(&server.frames).0;
    assert!(
        !calls.iter().any(|part| matches!(part, Part::Tool { .. })),
        "{calls:?}"
    );
}

/// WIRE-7: what an agent has asked and not waited for is answered when its turn is over, and the
/// question is taken back from the user.
#[test]
fn a_question_that_outlives_its_turn_is_taken_back_on_both_sides() {
    let asks = format!(
        r#"echo '{{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{PERMISSION}}}'; sleep 0.2"#
    );
    let home = Home::new();
    let mut server = serve(&home, &in_shell(&home, "{}", &[&asks, END]));
    server.permissions = Permissions::Hold;
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "go");
    let question = server.asked("session/request_permission");
    assert_eq!(server.response(prompt)["result"]["stopReason"], "end_turn");
    let taken_back = |frame: &Value| {
        frame["method"] == "$/cancel_request" && frame["params"]["requestId"] == question["id"]
    };
    assert!(server.frames.iter().any(taken_back), "{:?}", server.frames);
    eventually("the agent is answered", PATIENCE, || {
        (!home.read("answers").is_empty()).then_some(())
    });
    assert_eq!(answered(&home, "p")["error"]["code"], -32800);
    server.quit();
}

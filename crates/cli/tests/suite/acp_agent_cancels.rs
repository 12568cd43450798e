//! Requests that are taken back on their way through: by the agent, and by the client.

use serde_json::json;

use crate::harness::{END, Home, PATIENCE, Permissions, eventually, in_shell, serve};

/// An agent's question, by the id `q`.
const QUESTION: &str = r#"echo '{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"n1","toolCall":{"toolCallId":"c","title":"Do it","kind":"execute"},"options":[{"optionId":"sure","name":"Sure","kind":"allow_once"},{"optionId":"nope","name":"No","kind":"reject_once"}]}}'"#;

/// What takes it back.
const TAKEN_BACK: &str =
    r#"echo '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"q"}}'"#;

/// WIRE-7, acp.md 1.6: the client is told, the agent is answered once, and the turn goes on.
#[test]
fn a_question_that_the_agent_takes_back_is_taken_back_from_the_client() {
    let home = Home::new();
    let wait = "until [ -e asked ]; do sleep 0.02; done";
    let answer = r#"read -r answer; printf '%s\n' "$answer" >> answers"#;
    let lines = [QUESTION, wait, TAKEN_BACK, answer, END];
    let mut server = serve(&home, &in_shell(&home, "{}", &lines));
    server.permissions = Permissions::Hold;
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "go");
    let question = server.asked("session/request_permission");
    home.write("asked", "");
    let cancel = server.until("the question is taken back", |frame| {
        frame["method"] == "$/cancel_request"
    });
    assert_eq!(cancel["params"]["requestId"], question["id"]);
    // Too late: it counts for nothing.
    server.select(&question, "sure");
    assert_eq!(server.response(prompt)["result"]["stopReason"], "end_turn");
    let answers = home.read("answers");
    assert_eq!(answers.lines().count(), 1, "{answers}");
    assert!(
        answers.contains(r#""id":"q""#) && answers.contains("-32800"),
        "{answers}"
    );
    server.quit();
    let log = home.log(&session);
    assert!(log.contains(r#""kind":"request.closed""#), "{log}");
}

/// acp.md 1.6: what the client takes back of its own is taken back from the agent.
#[test]
fn an_extension_that_the_client_takes_back_is_taken_back_from_the_agent() {
    let home = Home::new();
    let mut server = serve(&home, &in_shell(&home, "{}", &[END]));
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    let asked = server.send("_own/slow", json!({ "sessionId": session }));
    eventually("the agent is asked", PATIENCE, || {
        home.read("answers").contains("_own/slow").then_some(())
    });
    server.notify("$/cancel_request", json!({ "requestId": asked }));
    assert_eq!(server.response(asked)["error"]["code"], -32800);
    eventually("the agent is told", PATIENCE, || {
        home.read("answers")
            .contains("$/cancel_request")
            .then_some(())
    });
    server.quit();
}

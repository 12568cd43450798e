//! A compaction, asked for by an ACP client.

use serde_json::{Value, json};

use crate::harness::{Home, Server};

fn serve(home: &Home) -> Server {
    let mut server = Server::spawn(home.command(&["acp", "--agent", "script"]));
    let capabilities = json!({ "session": { "compaction": {} } });
    let params = json!({ "protocolVersion": 1, "clientCapabilities": capabilities });
    server.call("initialize", params);
    server
}

fn compactions(frames: &[Value]) -> Vec<Value> {
    let update = |frame: &Value| frame["params"]["update"].clone();
    let is_one = |update: &Value| update["sessionUpdate"] == "compaction_update";
    frames.iter().map(update).filter(is_one).collect()
}

/// CTX-2, RESUME-10: the summary is told once, and by every load the same.
#[test]
fn a_client_has_the_conversation_summed_up_and_a_load_shows_it_again() {
    let home = Home::new();
    let mut server = serve(&home);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "alpha"), "end_turn");
    assert_eq!(server.turn(&session, "/compact"), "end_turn");
    let live = compactions(&server.frames);
    assert_eq!(live.len(), 1, "{live:?}");
    assert_eq!(live[0]["status"], "completed");
    let summary = live[0]["summary"][0]["text"].as_str().unwrap();
    assert!(summary.contains("alpha"), "{summary}");
    // There is nothing left that could be summed up.
    let prompt = server.prompt(&session, "/compact");
    assert_eq!(server.response(prompt)["error"]["code"], -32602);
    assert_eq!(server.turn(&session, "beta"), "end_turn");
    server.quit();
    let mut server = serve(&home);
    server.load(&home, &session);
    assert_eq!(compactions(&server.frames), live);
    server.quit();
}

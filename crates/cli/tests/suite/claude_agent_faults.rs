//! What goes wrong with a Claude CLI behind a session: it dies, we die, it writes what is no message.

use crate::harness::{
    Home, claude_behind, claude_peer, notices, runs, serve, sessiond_is_killed_in_a_turn,
    the_agent_is_killed_in_a_turn,
};

/// SQEQ-7, RESUME-6, LOG-17: after SIGKILL of sessiond in the middle of a turn everything that the CLI
/// started is gone, a new process has what was seen, and nothing runs again.
#[test]
fn sessiond_is_killed_under_a_cli_and_the_session_goes_on_in_another_process() {
    let home = Home::new();
    sessiond_is_killed_in_a_turn(&home, &claude_peer(&home), runs);
}

/// ADAPT-5: a CLI that dies in a turn is a failed turn, not a lost session; the next prompt starts it
/// anew, and nothing runs twice.
#[test]
fn a_cli_that_is_killed_in_a_turn_is_started_by_the_next_prompt() {
    let home = Home::new();
    let config = claude_behind(&home, "echo $$ > agent; exec $CLAUDE");
    the_agent_is_killed_in_a_turn(&home, &config, runs);
}

/// WIRE-14: lines that are no messages are passed over, and the user hears of them; a message that was
/// cut ends the CLI, and the turn with it.
#[test]
fn noise_is_passed_over_and_a_cut_message_ends_the_cli() {
    let home = Home::new();
    let noisy = "echo secret noise; exec $CLAUDE";
    let mut server = serve(&home, &claude_behind(&home, noisy));
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    let told = notices(&server.frames);
    assert!(
        told.iter().any(|title| title.contains("no message")),
        "{told:?}"
    );
    assert!(!format!("{:?}", server.frames).contains("secret"));
    server.quit();

    let home = Home::new();
    let cut = r#"$CLAUDE | sed -u '/"type":"result"/s/,"session_id".*/,"session_id":/'"#;
    let mut server = serve(&home, &claude_behind(&home, cut));
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "go");
    let error = server.response(prompt)["error"].clone();
    assert!(
        error["message"].as_str().unwrap().contains("cut off"),
        "{error}"
    );
    server.quit();
}

/// What cannot be started is told with what to do.
#[test]
fn a_cli_that_cannot_be_started_refuses_the_session_and_says_why() {
    for (line, why) in [
        ("exit 3", "exit code 3"),
        ("exec /nonexistent/claude", "exit code"),
        ("cat said; exit 1", "log in first"),
    ] {
        let home = Home::new();
        let said = r#"{"type":"result","errors":["log in first"],"session_id":"x"}"#;
        home.write("said", &format!("{said}\n"));
        let config = claude_behind(&home, line);
        let mut server = serve(&home, &config);
        let params = serde_json::json!({ "cwd": home.work(), "mcpServers": [] });
        let id = server.send("session/new", params);
        let error = server.response(id)["error"].clone();
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains(why) && message.contains("could not be started"),
            "{error}"
        );
        server.quit();
    }
}

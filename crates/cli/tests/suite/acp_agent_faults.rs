//! What goes wrong with an ACP agent behind a session: it dies, we die, it writes what is no message.

use serde_json::json;

use crate::harness::{
    END, Home, Server, behind, in_shell, kill, notices, peer, pid, runs, serve,
    sessiond_is_killed_in_a_turn, the_agent_is_killed_in_a_turn, update,
};

/// SQEQ-7, RESUME-6, LOG-17: after SIGKILL of sessiond in the middle of a turn of an agent behind it,
/// everything that it started is gone, a new process has what was seen, and nothing runs again.
#[test]
fn sessiond_is_killed_under_an_agent_and_the_session_goes_on_in_another_process() {
    let home = Home::new();
    sessiond_is_killed_in_a_turn(&home, &peer(&home), runs);
}

/// ADAPT-5: an agent that dies in a turn is a failed turn, not a lost session; the next prompt
/// starts it anew with what it had.
#[test]
fn an_agent_that_is_killed_in_a_turn_is_started_by_the_next_prompt() {
    let home = Home::new();
    let config = behind(&home, "echo $$ > agent; exec $SESSIOND acp --agent script");
    the_agent_is_killed_in_a_turn(&home, &config, runs);
}

/// An agent that goes away between turns is started by the next prompt, and nobody notices.
#[test]
fn an_agent_that_is_killed_between_turns_is_started_by_the_next_prompt() {
    let home = Home::new();
    let config = behind(&home, "echo $$ > agent; exec $SESSIOND acp --agent script");
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "first"), "end_turn");
    kill(pid(&home, "agent"));
    // The turn may begin before its end was heard of; the one after that must be well.
    let prompt = server.prompt(&session, "second");
    server.response(prompt);
    assert_eq!(server.turn(&session, "third"), "end_turn");
    server.quit();
}

/// WIRE-14: whole lines that are no messages are passed over, 16 in a row at most, and never shown;
/// the user hears of them.
#[test]
fn lines_that_are_no_messages_are_tolerated_up_to_sixteen_in_a_row() {
    let noise = "for i in $(seq 16); do echo secret noise; done";
    let text = update(
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"good"}}"#,
    );
    let home = Home::new();
    let config = in_shell(&home, "{}", &[noise, &text, noise, END]);
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    assert_eq!(notices(&server.frames).len(), 2, "{:?}", server.frames);
    server.quit();
    let home = Home::new();
    let config = in_shell(&home, "{}", &[noise, "echo secret noise", &text, END]);
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "go");
    let error = server.response(prompt)["error"].clone();
    assert!(
        error["message"].as_str().unwrap().contains("16 lines"),
        "{error}"
    );
    let shown = format!("{:?}", server.frames);
    assert!(!shown.contains("secret noise") && !shown.contains("good"));
    server.quit();
}

/// WIRE-14: a message that is cut off, or glued to something, ends the agent's process: what it said
/// is lost, and nothing after it may be taken for the whole.
#[test]
fn a_message_that_is_cut_or_glued_ends_the_process_and_fails_the_turn() {
    let whole = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"n1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"glued"}}}}"#;
    let cut = &whole[..whole.len() - 5];
    for line in [
        format!("{whole}{whole}"),
        cut.to_owned(),
        format!("log: {whole}"),
    ] {
        let home = Home::new();
        let config = in_shell(&home, "{}", &[&format!("echo '{line}'"), END]);
        let mut server = serve(&home, &config);
        let session = server.new_session(&home);
        let prompt = server.prompt(&session, "go");
        let response = server.response(prompt);
        let message = response["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("cut off"), "{line}: {response}");
        assert!(
            !format!("{:?}", server.frames).contains("glued\""),
            "{line}"
        );
        server.quit();
    }
}

/// An agent that cannot be started says why, and what to do about it.
#[test]
fn an_agent_that_does_not_start_says_why() {
    let auth = r#"read l; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"authMethods":[{"id":"key","name":"API key"}]}}'; read l; echo '{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Authentication required"}}'; read l"#;
    let cases = [
        (
            "printf 'oo%s\\n' ps >&2; exit 3",
            &["exit code 3", "Lines on its stderr: 1;"][..],
        ),
        (
            "read l; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":2}}'; read l",
            &["version 1"],
        ),
        (auth, &["login", "It offers: API key."]),
    ];
    for (line, expected) in cases {
        let home = Home::new();
        let mut server = serve(&home, &behind(&home, line));
        let params = json!({ "cwd": home.work(), "mcpServers": [] });
        let id = server.send("session/new", params);
        let error = server.response(id)["error"].clone();
        assert_eq!(error["code"], 4008, "{line}: {error}");
        let message = error["message"].as_str().unwrap();
        for expected in expected {
            assert!(message.contains(expected), "{expected} is not in {message}");
        }
        assert!(!message.contains("oops"));
        server.quit();
    }
    let home = Home::new();
    let config = "default_agent = \"peer\"\n[agents.peer]\nkind = \"acp\"\ncommand = [\"no-such-program\"]\n";
    let config = home.write("config.toml", config).display().to_string();
    let mut server: Server = serve(&home, &config);
    let params = json!({ "cwd": home.work(), "mcpServers": [] });
    let id = server.send("session/new", params);
    let message = server.response(id)["error"]["message"].to_string();
    assert!(message.contains("program not found"), "{message}");
    server.quit();
}

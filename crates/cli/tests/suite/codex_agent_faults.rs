//! What goes wrong with a Codex behind a session: it dies, we die, it writes what is no message, it is
//! too busy.

use serde_json::json;

use crate::harness::{
    Home, Replay, Server, asked_of_codex, codex_behind, codex_in_shell, codex_peer, notices, serve,
    sessiond_is_killed_in_a_turn, tells, the_agent_is_killed_in_a_turn,
};

/// The line that ends its turn.
const END: &str = "ends completed";

/// Waits until a call may run: the client allows what it is asked while it reads.
fn runs(server: &mut Server) {
    server.asked("session/request_permission");
}

fn text(text: &str) -> String {
    tells(
        "item/agentMessage/delta",
        &format!(r#""itemId":"m","delta":"{text}""#),
    )
}

/// SQEQ-7, RESUME-6, LOG-17: after SIGKILL of sessiond in the middle of a turn of Codex everything that
/// it started is gone, a new process has what was seen, and nothing runs again.
#[test]
fn sessiond_is_killed_under_codex_and_the_session_goes_on_in_another_process() {
    let home = Home::new();
    sessiond_is_killed_in_a_turn(&home, &codex_peer(&home), runs);
}

/// ADAPT-5: a Codex that dies in a turn is a failed turn, not a lost session; the next prompt starts it
/// anew with what it had.
#[test]
fn a_codex_that_is_killed_in_a_turn_is_started_by_the_next_prompt() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_sessiond-codex");
    let line = format!("echo $$ > agent; exec {program} app-server");
    let config = codex_behind(&home, &line);
    the_agent_is_killed_in_a_turn(&home, &config, runs);
}

/// WIRE-14: whole lines that are no messages are passed over, 16 in a row at most, and never shown; the
/// user hears of them. A line that was cut ends the turn and the process.
#[test]
fn lines_that_are_no_messages_are_passed_over_and_a_cut_one_ends_the_turn() {
    let noise = "for i in $(seq 16); do echo secret noise; done".to_owned();
    let home = Home::new();
    let lines = [noise.clone(), text("good"), noise.clone(), END.to_owned()];
    let mut server = serve(&home, &codex_in_shell(&home, "", &lines));
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    assert_eq!(notices(&server.frames).len(), 2, "{:?}", server.frames);
    server.quit();
    let cut = r#"echo '{"method":"item/agentMessage/delta","params":{"threadId":"n1","tu'"#;
    for (line, why) in [("echo secret noise", "16 lines"), (cut, "cut off")] {
        let home = Home::new();
        let lines = [text("good"), noise.clone(), line.to_owned(), END.to_owned()];
        let mut server = serve(&home, &codex_in_shell(&home, "", &lines));
        let session = server.new_session(&home);
        let prompt = server.prompt(&session, "go");
        let error = server.response(prompt)["error"].clone();
        assert!(error["message"].as_str().unwrap().contains(why), "{error}");
        server.quit();
        assert!(!home.log(&session).contains("secret"));
    }
}

/// codex.md B4: a Codex that is too busy is asked again, and the turn runs once.
#[test]
fn a_busy_codex_is_asked_again() {
    let home = Home::new();
    let busy = r#"*'"method":"turn/start"'*) if [ ! -e busy ]; then touch busy
echo '{"id":'$id',"error":{"code":-32001,"message":"Server overloaded; retry later."}}'; continue; fi
answer '{"turn":{"id":"t1","items":[],"status":"inProgress"}}'
ends completed;;"#;
    let mut server = serve(&home, &codex_in_shell(&home, busy, &[]));
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    server.quit();
    assert_eq!(asked_of_codex(&home, "turn/start").len(), 2);
}

/// A turn that Codex fails is a failed turn with its reason, and the next one runs.
#[test]
fn a_turn_that_codex_fails_says_why() {
    let home = Home::new();
    let once =
        "if [ -e failed ]; then ends completed; else touch failed; ends failed; fi".to_owned();
    let mut server = serve(&home, &codex_in_shell(&home, "", &[text("half"), once]));
    let session = server.new_session(&home);
    let prompt = server.prompt(&session, "go");
    let error = server.response(prompt)["error"].clone();
    assert!(
        error["message"].as_str().unwrap().contains("no such luck"),
        "{error}"
    );
    assert_eq!(server.turn(&session, "again"), "end_turn");
    server.quit();
}

/// ADAPT-8: what is said about another thread, or another turn, is no part of this one.
#[test]
fn what_belongs_to_another_turn_is_dropped() {
    let home = Home::new();
    let other = |thread: &str, turn: &str, said: &str| {
        format!(
            r#"echo '{{"method":"item/agentMessage/delta","params":{{"threadId":"{thread}","turnId":"{turn}","itemId":"m","delta":"{said}"}}}}'"#
        )
    };
    let lines = [
        text("good"),
        other("n2", "t1", "foreign thread"),
        other("n1", "t0", "foreign turn"),
        END.to_owned(),
    ];
    let mut server = serve(&home, &codex_in_shell(&home, "", &lines));
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    let said = format!("{:?}", Replay::of(&server.frames));
    assert!(said.contains("good") && !said.contains("foreign"), "{said}");
    server.quit();
}

/// What Codex asks that is unknown here is refused, so that it does not wait.
#[test]
fn a_request_that_is_unknown_is_refused_at_once() {
    let home = Home::new();
    let asks = r#"echo '{"id":7,"method":"item/tool/call","params":{"threadId":"n1","turnId":"t1"}}'; read -r answer; printf '%s\n' "$answer" >> answers"#;
    let mut server = serve(
        &home,
        &codex_in_shell(&home, "", &[asks.to_owned(), END.to_owned()]),
    );
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "go"), "end_turn");
    server.quit();
    let answers = home.read("answers");
    assert!(
        answers.contains("\"id\":7") && answers.contains("-32601"),
        "{answers}"
    );
}

/// A Codex that does not start says what to do, and which agent it is.
#[test]
fn a_codex_that_cannot_be_run_says_so() {
    let home = Home::new();
    let config = codex_behind(&home, "exit 3");
    let mut server = serve(&home, &config);
    let cwd = home.work();
    let asked = server.send("session/new", json!({ "cwd": cwd, "mcpServers": [] }));
    let error = server.response(asked)["error"].clone();
    assert!(
        error
            .to_string()
            .contains("the agent `codex` could not be started"),
        "{error}"
    );
    server.quit();
}

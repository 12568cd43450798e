//! An agent's own record of a session and the log: whichever the agent has, it goes on with what the
//! log holds (ADAPT-10).

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Files, Home, Server, behind, inner, listed_in, peer, serve};

/// All that the sessiond behind has recorded, of all its sessions.
fn recorded(home: &Home) -> String {
    Files::below(&home.path("inner").join("sessions")).text()
}

fn shown(server: &Server) -> String {
    format!("{:?}", server.frames)
}

/// The agent's store is gone at once, also while the agent is still on its way out.
fn taken_away(home: &Home) {
    fs::rename(inner(home), home.path("gone")).unwrap();
}

/// A session with two turns, whose server has ended.
fn told(home: &Home, config: &str) -> String {
    let mut server = serve(home, config);
    let session = server.new_session(home);
    assert_eq!(server.turn(&session, "alpha"), "end_turn");
    assert_eq!(server.turn(&session, "beta"), "end_turn");
    server.quit();
    session
}

/// Loads a session in a new process and goes on with it; what was shown meanwhile.
fn go_on(home: &Home, config: &str, session: &str, prompt: &str) -> String {
    let mut server = serve(home, config);
    let replay = server.load(home, session);
    assert_eq!(replay, server.load(home, session));
    assert_eq!(server.turn(session, prompt), "end_turn");
    let shown = shown(&server);
    server.quit();
    shown
}

/// ADAPT-10: an agent that loads its own record goes on with it, and is told nothing twice.
#[test]
fn an_agent_whose_own_record_is_whole_goes_on_with_it() {
    let home = Home::new();
    let config = peer(&home);
    let session = told(&home, &config);
    for prompt in ["gamma", "delta"] {
        go_on(&home, &config, &session, prompt);
    }
    let recorded = recorded(&home);
    assert!(!recorded.contains("sessiond://"), "{recorded}");
    assert_eq!(sessions(&home), 1);
}

/// RESUME-3: a load changes nothing, although it starts the agent.
#[test]
fn a_load_starts_the_agent_and_records_nothing() {
    let home = Home::new();
    let config = peer(&home);
    let session = told(&home, &config);
    let before = home.sessions();
    let mut server = serve(&home, &config);
    server.load(&home, &session);
    server.quit();
    assert!(home.sessions() == before);
}

#[test]
fn an_agent_that_cannot_load_is_given_the_conversation_with_the_next_prompt() {
    let home = Home::new();
    let filter = r#"sed -u 's/"loadSession":true/"loadSession":false/; s/"resume":{},\?//'"#;
    let config = behind(&home, &format!("$SESSIOND acp --agent script | {filter}"));
    let session = told(&home, &config);
    let shown = go_on(&home, &config, &session, "gamma");
    assert!(shown.contains("begins anew"), "{shown}");
    assert_eq!(handed_over(&home, &session)[0]["because"], "began_anew");
    let recorded = recorded(&home);
    assert!(
        recorded.contains(&format!("sessiond://session/{session}#")),
        "{recorded}"
    );
    assert!(
        recorded.contains("alpha\\nyou:\\n    alpha\\nuser:\\n    beta"),
        "{recorded}"
    );
    assert_eq!(sessions(&home), 2);
    // What was handed over is nothing that the user said.
    let replay = serve(&home, &config).load(&home, &session);
    assert!(!format!("{replay:?}").contains("sessiond://"));
}

#[test]
fn an_agent_that_lost_its_record_is_given_the_conversation_and_knows_it_from_then_on() {
    let home = Home::new();
    let config = peer(&home);
    let session = told(&home, &config);
    taken_away(&home);
    let shown = go_on(&home, &config, &session, "gamma");
    assert!(
        shown.contains("could not take up its own record"),
        "{shown}"
    );
    assert!(recorded(&home).contains("sessiond://session/"));
    let before = recorded(&home).matches("sessiond://session/").count();
    go_on(&home, &config, &session, "delta");
    let after = recorded(&home).matches("sessiond://session/").count();
    assert_eq!((before, sessions(&home)), (after, 1));
}

/// ADAPT-10: an agent whose record ends before the log does is given what it lacks, once, and nothing
/// that it has.
#[test]
fn an_agent_whose_own_record_is_behind_is_given_what_it_lacks() {
    let home = Home::new();
    let config = peer(&home);
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "alpha"), "end_turn");
    server.quit();
    let (store, older) = (inner(&home), home.path("older"));
    let copied = |from: &Path, to: &Path| {
        let status = Command::new("cp").arg("-a").args([from, to]).status();
        assert!(status.unwrap().success());
    };
    copied(store.as_ref(), &older);
    go_on(&home, &config, &session, "beta");
    taken_away(&home);
    copied(&older, store.as_ref());
    let shown = go_on(&home, &config, &session, "gamma");
    assert!(shown.contains("lacked the newest messages"), "{shown}");
    assert_eq!(handed_over(&home, &session)[0]["because"], "behind");
    let told = recorded(&home);
    assert!(told.contains("user:\\n    beta"), "{told}");
    assert!(!told.contains("user:\\n    alpha"), "{told}");
    let before = told.matches("sessiond://session/").count();
    go_on(&home, &config, &session, "delta");
    let after = recorded(&home).matches("sessiond://session/").count();
    assert_eq!((before, sessions(&home)), (after, 1));
}

/// ADAPT-10: a turn that the log does not know is never merged; the agent begins anew.
#[test]
fn an_agent_whose_own_record_has_a_foreign_turn_begins_anew() {
    let home = Home::new();
    let config = peer(&home);
    let session = told(&home, &config);
    let store = inner(&home);
    let foreign = [
        "exec",
        "--store",
        &store,
        "--agent",
        "script",
        "--last",
        "foreign words",
    ];
    home.run(&foreign).well();
    let shown = go_on(&home, &config, &session, "gamma");
    assert!(shown.contains("another conversation"), "{shown}");
    assert_eq!(handed_over(&home, &session)[0]["because"], "differs");
    assert!(!shown.contains("foreign words"), "{shown}");
    assert!(recorded(&home).contains("sessiond://session/"));
    assert_eq!(sessions(&home), 2);
}

/// RESUME-5: what an agent that shows no record of its own may lack of a turn that was cut is given to
/// it, once, and the log names it; what ended well before that is not.
#[test]
fn an_agent_that_only_resumes_is_given_the_turn_that_a_kill_cut() {
    let home = Home::new();
    let filter = r#"sed -u 's/"loadSession":true/"loadSession":false/'"#;
    let config = behind(&home, &format!("$SESSIOND acp --agent script | {filter}"));
    let mut server = serve(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "alpha"), "end_turn");
    server.prompt(&session, "beta\n/run echo $$ > pid; exec sleep 60");
    server.until("a call that runs", |frame| {
        frame["params"]["update"]["status"] == "in_progress"
    });
    server.kill();
    assert_eq!(handed_over(&home, &session), [Value::Null; 0]);
    let shown = go_on(&home, &config, &session, "gamma");
    assert!(shown.contains("does not show its own record"), "{shown}");
    let recorded = recorded(&home);
    let text = recorded.split("<sessiond-history").nth(1).unwrap();
    for word in ["may be missing", "user:\\n    beta", "outcome unknown"] {
        assert!(text.contains(word), "{word} is not in {text}");
    }
    assert!(!text.contains("    alpha"), "{text}");
    let marker = &handed_over(&home, &session)[0];
    assert_eq!(marker["because"], "broken_off");
    assert_eq!(
        (&marker["told"], &marker["left_out"]),
        (&json!(3), &json!(0))
    );
    // From then on it has it.
    go_on(&home, &config, &session, "delta");
    assert_eq!(handed_over(&home, &session).len(), 1);
    assert_eq!(sessions(&home), 1);
}

/// What the log says that the agent was given.
fn handed_over(home: &Home, session: &str) -> Vec<Value> {
    let log = home.log(session);
    let events = log.lines().map(|line| {
        let record = serde_json::from_str::<Value>(line).unwrap();
        record["data"]["event"].clone()
    });
    events
        .filter(|event| event["marker"] == "handed_over")
        .collect()
}

/// CTX-9: each turn of such an agent says that its context cannot be verified here.
#[test]
fn each_turn_carries_the_mark_of_a_context_that_cannot_be_verified() {
    let home = Home::new();
    let session = told(&home, &peer(&home));
    let log = home.log(&session);
    let records = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let marks: Vec<Value> = records
        .filter(|record| {
            record["data"]["event"]["marker"] == "context_unverifiable"
                || record["data"]["marker"] == "context_unverifiable"
        })
        .collect();
    assert_eq!(marks.len(), 2, "{log}");
}

fn sessions(home: &Home) -> usize {
    listed_in(home, &inner(home)).len()
}

//! What every kind of agent behind a session shows when it, or sessiond, is killed in a turn. Its
//! program writes its process id to `agent`, and runs what a prompt asks for by `/run`.

use super::{Home, PATIENCE, Part, Server, alive, eventually, kill, serve};

/// The id of a process, which writes it to a file itself.
pub(crate) fn pid(home: &Home, name: &str) -> u32 {
    eventually("a process id", PATIENCE, || {
        home.read(name).trim().parse().ok()
    })
}

/// Waits until a call runs; the client allows it meanwhile.
pub(crate) fn runs(server: &mut Server) {
    server.until("a call that runs", |frame| {
        frame["params"]["update"]["status"] == "in_progress"
    });
}

/// Waits until the command of a call is gone.
fn is_gone(command: u32) {
    eventually("the command is gone", PATIENCE, || {
        (!alive(command)).then_some(())
    });
}

/// SQEQ-7, RESUME-6, LOG-17: after SIGKILL of sessiond in the middle of a turn of an agent behind it,
/// everything that it started is gone, a new process has what was seen, and nothing runs again.
/// `runs` waits until a call runs.
pub(crate) fn sessiond_is_killed_in_a_turn(home: &Home, config: &str, runs: fn(&mut Server)) {
    let mut server = serve(home, config);
    let session = server.new_session(home);
    assert_eq!(
        server.turn(&session, "first\n/run echo one >> ledger"),
        "end_turn"
    );
    let prompt = "seen\n/run echo two >> ledger; echo $$ > pid; exec sleep 60";
    server.prompt(&session, prompt);
    runs(&mut server);
    let running = pid(home, "pid");
    server.kill();
    is_gone(running);
    let mut server = serve(home, config);
    let replay = server.load(home, &session);
    let open = replay.0.iter().rev().find_map(|part| match part {
        Part::Tool { status, text, .. } => Some((status.clone(), text.clone())),
        _ => None,
    });
    let (status, text) = open.unwrap();
    assert_eq!(status, "failed");
    assert!(text.contains("nknown"), "{text}");
    let said = format!("{replay:?}");
    assert!(said.contains("first") && said.contains("seen"), "{said}");
    assert_eq!(server.turn(&session, "and on"), "end_turn");
    server.quit();
    assert_eq!(home.read("ledger"), "one\ntwo\n");
    home.run(&["sessions", "verify"]).well();
}

/// ADAPT-5: an agent that dies in a turn is a failed turn, not a lost session; the next prompt starts
/// it anew with what it had, and nothing runs twice. `runs` waits until a call runs.
pub(crate) fn the_agent_is_killed_in_a_turn(home: &Home, config: &str, runs: fn(&mut Server)) {
    let mut server = serve(home, config);
    let session = server.new_session(home);
    assert_eq!(server.turn(&session, "first"), "end_turn");
    let prompt = "/say seen\n/run echo ran >> ledger; echo $$ > pid; exec sleep 60";
    let prompt = server.prompt(&session, prompt);
    runs(&mut server);
    let running = pid(home, "pid");
    kill(pid(home, "agent"));
    let error = server.response(prompt)["error"].clone();
    assert!(
        error["message"].as_str().unwrap().contains("signal 9"),
        "{error}"
    );
    is_gone(running);
    assert_eq!(server.turn(&session, "and on"), "end_turn");
    let said = format!("{:?}", server.load(home, &session));
    for word in [
        "first",
        "seen",
        "Outcome unknown: the agent went away.",
        "and on",
    ] {
        assert!(said.contains(word), "{word} is not in {said}");
    }
    server.quit();
    assert_eq!(home.read("ledger"), "ran\n");
}

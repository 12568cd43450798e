//! Any ACP agent behind a session: here sessiond itself, behind sessiond.

use serde_json::{Value, json};

use crate::harness::{Home, PATIENCE, Part, Permissions, Replay, eventually, peer, serve as start};

/// ADAPT-5, ADAPT-6: text, a call with its question, its result, and text again.
#[test]
fn a_turn_of_an_acp_agent_is_shown_and_stored_as_any_other() {
    let home = Home::new();
    let config = peer(&home);
    let mut server = start(&home, &config);
    let session = server.new_session(&home);
    assert_eq!(
        server.turn(&session, "before\n/run echo ran >> ledger; echo out\nafter"),
        "end_turn"
    );
    let live = Replay::of(&server.frames);
    server.quit();
    assert_eq!(home.read("ledger"), "ran\n");
    let mut server = start(&home, &config);
    let replay = server.load(&home, &session);
    assert_eq!(replay.without_user(), live.without_user());
    let parts = replay.without_user();
    assert!(
        matches!(
            &*parts,
            [Part::Agent { .. }, Part::Tool { .. }, Part::Agent { .. }]
        ),
        "{parts:?}"
    );
    assert_eq!(server.turn(&session, "and on"), "end_turn");
    server.quit();
}

/// WIRE-8: what the user refuses does not run, and the turn goes on.
#[test]
fn a_call_that_the_user_rejects_does_not_run() {
    let home = Home::new();
    let mut server = start(&home, &peer(&home));
    server.permissions = Permissions::Hold;
    let session = server.new_session(&home);
    let id = server.prompt(&session, "/run touch made\nafter");
    let question = server.asked("session/request_permission");
    server.select(&question, "reject_once");
    let response = server.response(id);
    assert_eq!(response["result"]["stopReason"], "end_turn");
    assert!(!home.path("made").exists());
    assert!(text(&server.frames).contains("after"));
    server.quit();
}

/// SQEQ-4, TASK-4: a cancelled turn ends as cancelled, with what it had asked and what it ran.
#[test]
fn a_turn_is_cancelled_while_it_asks_and_while_it_runs() {
    let home = Home::new();
    let mut server = start(&home, &peer(&home));
    server.permissions = Permissions::Hold;
    let session = server.new_session(&home);
    let asking = server.prompt(&session, "/run touch made");
    server.asked("session/request_permission");
    server.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(server.response(asking)["result"]["stopReason"], "cancelled");
    let running = server.prompt(&session, "/run echo $$ > pid; sleep 60");
    let question = server.asked("session/request_permission");
    server.select(&question, "allow_once");
    let pid = eventually("the command runs", PATIENCE, || {
        home.read("pid").trim().parse::<u32>().ok()
    });
    server.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(
        server.response(running)["result"]["stopReason"],
        "cancelled"
    );
    eventually("the command is gone", PATIENCE, || {
        (!std::path::Path::new(&format!("/proc/{pid}")).exists()).then_some(())
    });
    assert!(!home.path("made").exists());
    assert_eq!(server.turn(&session, "still there"), "end_turn");
    server.quit();
}

/// A mode that is chosen here is in force there, before the next prompt and while a turn runs.
#[test]
fn a_mode_is_put_into_force_with_the_agent() {
    let home = Home::new();
    let mut server = start(&home, &peer(&home));
    server.permissions = Permissions::Hold;
    let session = server.new_session(&home);
    server.call(
        "session/set_mode",
        json!({ "sessionId": session, "modeId": "auto" }),
    );
    assert_eq!(server.turn(&session, "/run echo ran > ran"), "end_turn");
    assert_eq!(home.read("ran"), "ran\n");
    let running = server.prompt(&session, "/sleep 0.5\n/run echo second > second");
    server.call(
        "session/set_mode",
        json!({ "sessionId": session, "modeId": "read-only" }),
    );
    assert_eq!(server.response(running)["result"]["stopReason"], "end_turn");
    assert!(!home.path("second").exists());
    server.quit();
}

/// WIRE-6: a stream of 20,000 updates is relayed without loss.
#[test]
fn a_long_stream_is_relayed_without_loss() {
    let home = Home::new();
    let mut server = start(&home, &peer(&home));
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "/stream 20000 32"), "end_turn");
    assert_eq!(text(&server.frames).len(), 20_000 * 32);
    server.quit();
}

/// SEC-2: an agent has the variables of its own configuration, and none of ours.
#[test]
fn an_agent_gets_its_own_variables_and_none_of_ours() {
    let home = Home::new();
    let config = crate::harness::behind(&home, "env > seen; exec $SESSIOND acp --agent script");
    let mut server = start(&home, &config);
    server.new_session(&home);
    server.quit();
    let seen = home.read("seen");
    assert!(seen.contains("PEER_SECRET=s3cret\n"), "{seen}");
    assert!(!seen.contains("SESSIOND_"), "{seen}");
    assert!(!home.sessions().text().contains("s3cret"));
}

fn text(frames: &[Value]) -> String {
    let chunk = |frame: &Value| {
        let update = &frame["params"]["update"];
        let is_said = update["sessionUpdate"] == "agent_message_chunk";
        is_said.then(|| {
            update["content"]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
    };
    frames.iter().filter_map(chunk).collect()
}

//! The Claude CLI behind a session: here `sessiond-claude` stands in for it.

use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{
    Claude, Files, Home, PATIENCE, PROGRAM, Part, Permissions, Replay, alive, claude_behind,
    claude_peer, eventually, inner, serve as start,
};

/// What the agent said in these frames.
fn text(frames: &[Value]) -> String {
    let chunk = |frame: &Value| {
        let update = &frame["params"]["update"];
        let is_text = update["sessionUpdate"] == "agent_message_chunk";
        is_text.then(|| {
            update["content"]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
    };
    frames.iter().filter_map(chunk).collect()
}

/// ADAPT-5, ADAPT-6: text, a call with its question, its result, and text again; each once, live and
/// replayed, in another process too.
#[test]
fn a_turn_of_the_cli_is_shown_and_stored_as_any_other() {
    let home = Home::new();
    let config = claude_peer(&home);
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
    let [
        Part::Agent { .. },
        Part::Tool { status, text, .. },
        Part::Agent { .. },
    ] = &*parts
    else {
        panic!("{parts:?}")
    };
    assert_eq!(status, "completed");
    assert!(text.contains("out"), "{text}");
    assert_eq!(server.turn(&session, "and on"), "end_turn");
    server.quit();
}

/// WIRE-8, LOG-5: a call is on stable storage before it is asked about; what the user refuses does
/// not run, and the turn goes on.
#[test]
fn a_call_is_recorded_before_it_is_asked_about_and_does_not_run_when_it_is_refused() {
    let home = Home::new();
    let mut server = start(&home, &claude_peer(&home));
    server.permissions = Permissions::Hold;
    let session = server.new_session(&home);
    let id = server.prompt(&session, "/run touch made\nafter");
    let question = server.asked("session/request_permission");
    let log = home.log(&session);
    assert!(
        log.contains("item.started") && log.contains("touch made"),
        "{log}"
    );
    assert!(log.contains("\"native\":\"toolu_"), "{log}");
    server.select(&question, "reject_once");
    assert_eq!(server.response(id)["result"]["stopReason"], "end_turn");
    assert!(!home.path("made").exists());
    assert!(text(&server.frames).contains("after"));
    server.quit();
}

/// What is allowed for good is not asked again, in the same words; anything else is.
#[test]
fn what_is_allowed_for_good_is_not_asked_again() {
    let home = Home::new();
    let mut server = start(&home, &claude_peer(&home));
    server.permissions = Permissions::Hold;
    let session = server.new_session(&home);
    let id = server.prompt(&session, "/run echo one >> ledger");
    let question = server.asked("session/request_permission");
    server.select(&question, "allow_always");
    assert_eq!(server.response(id)["result"]["stopReason"], "end_turn");
    assert_eq!(server.turn(&session, "/run echo one >> ledger"), "end_turn");
    assert_eq!(home.read("ledger"), "one\none\n");
    let id = server.prompt(&session, "/run echo two >> ledger");
    let question = server.asked("session/request_permission");
    server.select(&question, "reject_once");
    server.response(id);
    assert_eq!(home.read("ledger"), "one\none\n");
    server.quit();
}

/// SQEQ-4, TASK-4: a cancelled turn ends as cancelled, with what it had asked and what it ran.
#[test]
fn a_turn_is_cancelled_while_it_asks_and_while_it_runs() {
    let home = Home::new();
    let config = claude_behind(&home, "echo start >> starts; exec $CLAUDE");
    let mut server = start(&home, &config);
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
        (!alive(pid)).then_some(())
    });
    assert!(!home.path("made").exists());
    assert_eq!(server.turn(&session, "still there"), "end_turn");
    // It was told, and not stopped the hard way.
    assert_eq!(home.read("starts"), "start\n");
    server.quit();
}

/// WIRE-6: a long stream is relayed without loss, and no word of it twice.
#[test]
fn a_long_stream_is_relayed_whole_and_once() {
    let home = Home::new();
    let mut server = start(&home, &claude_peer(&home));
    let session = server.new_session(&home);
    assert_eq!(server.turn(&session, "/stream 5000 32"), "end_turn");
    assert_eq!(text(&server.frames).len(), 5000 * 32);
    server.quit();
}

/// A mode that is chosen here is in force there before the next prompt.
#[test]
fn a_mode_is_put_into_force_with_the_cli() {
    let home = Home::new();
    let mut server = start(&home, &claude_peer(&home));
    server.permissions = Permissions::Hold;
    let session = server.new_session(&home);
    let mode = json!({ "sessionId": session, "modeId": "dontAsk" });
    server.call("session/set_mode", mode);
    assert_eq!(server.turn(&session, "/run touch made"), "end_turn");
    assert!(!home.path("made").exists());
    server.quit();
}

/// SEC-2: what an MCP server is given stands in no command line and in no record.
#[test]
fn the_servers_of_a_session_are_given_to_the_cli_on_its_stdin() {
    let home = Home::new();
    let tee = "printf '%s ' \"$@\" > arguments; tee heard | $CLAUDE";
    let mut server = start(&home, &claude_behind(&home, tee));
    let given = json!([{ "name": "files", "command": "/bin/false", "args": ["-x"],
        "env": [{ "name": "KEY", "value": "s3cret" }] }]);
    let params = json!({ "cwd": home.work(), "mcpServers": given });
    let session = server.call("session/new", params);
    let session = session["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(server.turn(&session, "one"), "end_turn");
    assert_eq!(server.turn(&session, "two"), "end_turn");
    let heard = home.read("heard");
    let given: Vec<&str> = heard
        .lines()
        .filter(|line| line.contains("mcp_set_servers"))
        .collect();
    assert_eq!(given.len(), 1, "{heard}");
    assert!(given[0].contains("s3cret"), "{heard}");
    assert!(!home.read("arguments").contains("s3cret"));
    assert!(!home.log(&session).contains("s3cret"));
    server.quit();
}

/// ADAPT-6: a program on an SDK drives the CLI through us: its hook denies a call, its answer changes
/// the input of another, and its own server is called.
#[test]
fn hooks_and_changed_inputs_of_a_program_reach_the_cli() {
    let home = Home::new();
    let config = claude_peer(&home);
    let hooks = json!({ "hooks": { "PreToolUse": [{ "hookCallbackIds": ["h"] }] } });
    let mut command = home.claude(&PROGRAM);
    command.env("SESSIOND_CONFIG", &config);
    let mut claude = Claude::spawn(command);
    let answer = claude.control("initialize", hooks);
    assert_eq!(answer["subtype"], "success", "{answer}");

    claude.prompt("/run touch denied");
    let hook = claude.asked("hook_callback");
    let deny = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse",
        "permissionDecision": "deny", "permissionDecisionReason": "never" } });
    claude.answer(&hook, deny.clone());
    assert_eq!(claude.result()["subtype"], "success");
    assert!(!home.path("denied").exists());

    // What nobody is asked about does not begin either.
    home.write("secret", "s3cret words");
    claude.prompt("/read secret");
    let hook = claude.asked("hook_callback");
    claude.answer(&hook, deny);
    assert_eq!(claude.result()["subtype"], "success");
    let read = Files::below(&Path::new(&inner(&home)).join("sessions")).text();
    assert!(
        read.contains("/read secret") && !read.contains("s3cret"),
        "{read}"
    );

    claude.prompt("/run touch asked");
    let hook = claude.asked("hook_callback");
    claude.answer(&hook, json!({}));
    let question = claude.asked("can_use_tool");
    let input = json!({ "command": "touch changed" });
    claude.answer(
        &question,
        json!({ "behavior": "allow", "updatedInput": input }),
    );
    assert_eq!(claude.result()["subtype"], "success");
    assert!(home.path("changed").exists() && !home.path("asked").exists());
    claude.end();
}

//! What becomes of the threads of `sessiond-codex app-server` when its process ends, at any moment, or
//! another one wants them.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::harness::{Codex, Home, PATIENCE, Server, alive, eventually};

fn thread(id: &str) -> Value {
    json!({ "threadId": id })
}

/// SQEQ-2, LOG-7
#[test]
fn a_thread_has_one_writer() {
    let home = Home::new();
    let mut first = Codex::start(&home);
    let id = first.thread(&home);
    first.run(&id, "mine");
    let mut second = Codex::start(&home);
    let busy = second.refusal("thread/resume", thread(&id));
    assert!(
        busy.starts_with(&format!("thread {id} already has an active writer")),
        "{busy}"
    );
    let read = second.call(
        "thread/read",
        json!({ "threadId": id, "includeTurns": true }),
    );
    assert_eq!(read["thread"]["status"]["type"], "notLoaded");
    for status in ["unsubscribed", "notSubscribed"] {
        assert_eq!(
            first.call("thread/unsubscribe", thread(&id))["status"],
            status
        );
    }
    assert_eq!(
        second.call("thread/unsubscribe", thread(&id))["status"],
        "notLoaded"
    );
    let still = second.refusal("thread/resume", thread(&id));
    assert!(still.contains("already has an active writer"), "{still}");
    first.close_stdin();
    assert_eq!(first.ended().code(), Some(0));
    second.call("thread/resume", thread(&id));
    second.run(&id, "now mine");
    // One id on all faces (ADAPT-7).
    second.close_stdin();
    second.ended();
    let mut editor = Server::start(&home);
    assert_eq!(editor.load(&home, &id).texts(), ["mine", "now mine"]);
}

/// WIRE-13: EOF, SIGTERM and SIGINT interrupt what runs, record it, and take less than the SDK waits;
/// a signal also tells the turn's end.
#[test]
fn the_end_of_the_client_interrupts_the_turn_within_two_seconds() {
    for signal in [None, Some(Signal::TERM), Some(Signal::INT)] {
        for prompt in [
            "/sleep 600",
            "/run sleep 600",
            "/stream 100000 10 1",
            "/ask why",
        ] {
            let home = Home::new();
            let mut codex = Codex::start(&home);
            let id = codex.thread(&home);
            codex.turn(&id, prompt);
            codex.told("turn/started");
            let began = Instant::now();
            match signal {
                None => codex.close_stdin(),
                Some(signal) => {
                    let pid = Pid::from_raw(codex.pid().try_into().unwrap()).unwrap();
                    kill_process(pid, signal).unwrap();
                }
            }
            // Whoever closed its end hears nothing more.
            if signal.is_some() {
                let done = codex.told("turn/completed");
                assert_eq!(done["params"]["turn"]["status"], "interrupted", "{prompt}");
            }
            assert_eq!(codex.ended().code(), Some(0), "{signal:?} {prompt}");
            assert!(
                began.elapsed() < Duration::from_secs(10),
                "{signal:?} {prompt}"
            );
            let log = home.log(&id);
            assert_eq!(
                log.matches("\"kind\":\"turn.ended\"").count(),
                1,
                "{signal:?} {prompt}"
            );
            let mut next = Codex::start(&home);
            let resumed = next.call("thread/resume", thread(&id));
            assert_eq!(
                resumed["thread"]["turns"][0]["status"], "interrupted",
                "{signal:?} {prompt}"
            );
            let done = next.run(&id, "next");
            assert_eq!(
                done["params"]["turn"]["status"], "completed",
                "{signal:?} {prompt}"
            );
        }
    }
}

/// SQEQ-7, RESUME-6: SIGKILL at any moment; the next process shows the turn as interrupted.
#[test]
fn after_sigkill_at_any_moment_the_thread_goes_on() {
    let table = [
        ("hello\n/sleep 600", "turn/started"),
        ("hello\n/sleep 600", "item/agentMessage/delta"),
        (
            "/run echo hi; sleep 600",
            "item/commandExecution/outputDelta",
        ),
        ("/stream 100000 10 1", "item/agentMessage/delta"),
        ("/ask why", "item/tool/requestUserInput"),
        ("hello", "turn/completed"),
    ];
    for (prompt, moment) in table {
        let home = Home::new();
        let mut codex = Codex::start(&home);
        let id = codex.thread(&home);
        codex.turn(&id, prompt);
        if codex.methods(0).iter().all(|method| *method != moment) {
            codex.told(moment);
        }
        codex.kill();
        let mut next = Codex::start(&home);
        let before = home.log(&id);
        let read = next.call(
            "thread/read",
            json!({ "threadId": id, "includeTurns": true }),
        );
        let turn = &read["thread"]["turns"][0];
        let wanted = if moment == "turn/completed" {
            "completed"
        } else {
            "interrupted"
        };
        assert_eq!(turn["status"], wanted, "{moment}: {turn}");
        let items = turn["items"].as_array().unwrap();
        assert!(
            items.iter().all(|item| item["status"] != "inProgress"),
            "{turn}"
        );
        assert_eq!(home.log(&id), before, "reading changes nothing");
        next.call("thread/resume", thread(&id));
        let done = next.run(&id, "next");
        assert_eq!(done["params"]["turn"]["status"], "completed", "{moment}");
        let log = home.log(&id);
        let (begun, ended) = (
            log.matches("\"kind\":\"turn.started\""),
            log.matches("\"kind\":\"turn.ended\""),
        );
        assert_eq!(begun.count(), ended.count(), "{moment}");
    }
}

/// WIRE-10
#[test]
fn what_a_tool_writes_to_our_stdout_does_not_reach_the_client() {
    let home = Home::new();
    let mut codex = Codex::start(&home);
    let id = codex.thread(&home);
    let pid = codex.pid();
    // Every frame is parsed as it comes: one stray byte and this fails.
    codex.run(
        &id,
        &format!("/run echo GARBAGE > /proc/{pid}/fd/1; printf PART > /proc/{pid}/fd/1; echo said"),
    );
    codex.run(&id, "after");
    codex.close_stdin();
    assert_eq!(codex.ended().code(), Some(0));
    eventually("the process to be gone", PATIENCE, || {
        (!alive(pid)).then_some(())
    });
}

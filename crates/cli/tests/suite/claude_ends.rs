//! `sessiond-claude`: the ends. EOF, signals and SIGKILL at each moment of a turn, interrupts at each
//! point, prompts that wait (claude.md 5.3, 8.2).

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::harness::{Claude, Home, PATIENCE, PROGRAM, eventually, finish, user};

/// A moment of a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Moment {
    /// The prompt was just sent.
    Sent,
    /// Text streams.
    Streaming,
    /// A tool is asked about.
    Asked,
    /// A tool runs.
    Running,
    /// A hook is asked.
    Hooked,
}

const MOMENTS: [Moment; 5] = [
    Moment::Sent,
    Moment::Streaming,
    Moment::Asked,
    Moment::Running,
    Moment::Hooked,
];

/// A face whose turn is at a moment. Left alone the turn would end; `wait` makes it last.
fn at(home: &Home, moment: Moment, wait: &str) -> Claude {
    let hooks = match moment {
        Moment::Hooked => json!({"hooks": {"PreToolUse": [{"hookCallbackIds": ["h"]}]}}),
        _ => json!({}),
    };
    let allowed: &[&str] = match moment {
        Moment::Running => &["--allowedTools", "Bash"],
        _ => &[],
    };
    let mut claude = Claude::with(home, allowed, hooks);
    match moment {
        Moment::Sent => claude.prompt(&format!("/say one\n/think y\n{wait}")),
        Moment::Streaming => {
            claude.prompt(&format!(
                "/say before\n/think x\n/stream 20 10 20\n/think y\n{wait}"
            ));
            claude.frame("assistant");
        }
        Moment::Asked => {
            claude.prompt(&format!("/run echo x >> ran\n{wait}"));
            claude.asked("can_use_tool");
        }
        Moment::Running => {
            claude.prompt(&format!(
                "/run echo x >> ran; echo go > going; sleep 1; echo y >> ran\n{wait}"
            ));
            eventually("the tool runs", PATIENCE, || {
                (!home.read("going").is_empty()).then_some(())
            });
        }
        Moment::Hooked => {
            claude.prompt(&format!("/run echo x >> ran\n{wait}"));
            claude.asked("hook_callback");
        }
    }
    claude
}

fn results(frames: &[Value]) -> Vec<&Value> {
    frames
        .iter()
        .filter(|frame| frame["type"] == "result")
        .collect()
}

fn session(frames: &[Value]) -> String {
    let named = frames.iter().find_map(|frame| frame["session_id"].as_str());
    named.unwrap().to_owned()
}

/// claude.md 0.4, 0.5: EOF is no abort. The turn comes to its end, what nobody can be asked is
/// denied at once, and there is exactly one result.
#[test]
fn at_eof_the_turn_ends_and_open_questions_are_denied() {
    for moment in MOMENTS {
        let home = Home::new();
        let mut claude = at(&home, moment, "/say after");
        let (code, frames) = claude.end();
        assert_eq!(code, Some(0), "{moment:?}");
        let results = results(&frames);
        assert_eq!(results.len(), 1, "{moment:?}");
        assert_eq!(results[0]["result"], "after", "{moment:?}");
        let ran = home.read("ran");
        match moment {
            Moment::Running => assert_eq!(ran, "x\ny\n"),
            _ => assert_eq!(ran, "", "{moment:?}"),
        }
        let denied = matches!(moment, Moment::Asked | Moment::Hooked);
        let denials = results[0]["permission_denials"].as_array().unwrap().len();
        assert_eq!(denials, usize::from(denied), "{moment:?}");
    }
}

#[test]
fn eof_without_a_prompt_leaves_nothing() {
    for initialized in [false, true] {
        let home = Home::new();
        let mut claude = Claude::spawn(home.claude(&PROGRAM));
        if initialized {
            claude.control("initialize", json!({}));
        }
        let (code, frames) = claude.end();
        assert_eq!(code, Some(0));
        assert_eq!(
            frames.len(),
            usize::from(initialized),
            "no init, no result: {frames:?}"
        );
        assert!(!home.store().join("sessions").exists());
    }
}

/// WIRE-13: SIGTERM tells the result, as SIGINT does, ends with 143, and the turn is recorded as stopped.
#[test]
fn sigterm_stops_the_turn_and_the_session_goes_on_later() {
    for moment in MOMENTS {
        let home = Home::new();
        let mut claude = at(&home, moment, "/sleep 600");
        kill_process(pid(&claude), Signal::TERM).unwrap();
        let (code, frames) = claude.ended(PATIENCE);
        assert_eq!(code, Some(143), "{moment:?}");
        if moment == Moment::Sent {
            // Whether the turn had begun is not said.
            continue;
        }
        let results = results(&frames);
        assert_eq!(results.len(), 1, "{moment:?}");
        assert_eq!(results[0]["is_error"], true, "{moment:?}");
        let id = session(&frames[1..]);
        let ends = ends(&home, &id);
        assert_eq!(ends, ["cancelled"], "{moment:?}");
        resumed(&home, &id);
    }
}

/// claude.md 5.3: SIGINT is an interrupt and an end: the result, then exit 0.
#[test]
fn sigint_interrupts_and_ends_with_zero() {
    for moment in [Moment::Streaming, Moment::Asked, Moment::Running] {
        let home = Home::new();
        let mut claude = at(&home, moment, "/sleep 600");
        kill_process(pid(&claude), Signal::INT).unwrap();
        let (code, frames) = claude.ended(PATIENCE);
        assert_eq!(code, Some(0), "{moment:?}");
        let results = results(&frames);
        assert_eq!(results.len(), 1, "{moment:?}");
        assert_eq!(
            results[0]["subtype"], "error_during_execution",
            "{moment:?}"
        );
    }
}

/// RESUME-6: after SIGKILL what was told is there, nothing runs again, and the next prompt works.
#[test]
fn after_sigkill_the_session_is_resumed_and_nothing_runs_twice() {
    for moment in MOMENTS {
        let home = Home::new();
        let mut claude = at(&home, moment, "/sleep 600");
        let frames = claude.server.kill().to_vec();
        if moment == Moment::Sent {
            continue;
        }
        let ran = home.read("ran");
        resumed(&home, &session(&frames[1..]));
        assert_eq!(home.read("ran"), ran, "{moment:?}");
        let told = frames.iter().filter(|frame| frame["type"] == "assistant");
        let shown = home
            .run(&["sessions", "show", &session(&frames[1..])])
            .well()
            .stdout;
        for text in told.filter_map(|frame| frame["message"]["content"][0]["text"].as_str()) {
            assert!(shown.contains(text), "{moment:?}: {text}");
        }
    }
}

fn pid(claude: &Claude) -> Pid {
    Pid::from_raw(i32::try_from(claude.server.pid()).unwrap()).unwrap()
}

fn ends(home: &Home, session: &str) -> Vec<String> {
    let shown = home.run(&["sessions", "show", "--json", session]).well();
    let events = shown
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ends = events.filter(|frame| frame["event"]["type"] == "turn.ended");
    ends.map(|frame| frame["event"]["outcome"].as_str().unwrap().to_owned())
        .collect()
}

#[track_caller]
fn resumed(home: &Home, session: &str) {
    let mut claude = Claude::start(home, &[&format!("--resume={session}")]);
    let result = claude.turn("next");
    assert_eq!(
        (&result["result"], &result["session_id"]),
        (&json!("next"), &json!(session))
    );
    assert_eq!(claude.end().0, Some(0));
}

/// claude.md 5.3: an interrupt at any point ends that turn, once, and the next prompt works. What was
/// asked is taken back before the interrupt is answered.
#[test]
fn an_interrupt_ends_the_turn_at_any_point() {
    for moment in MOMENTS {
        let home = Home::new();
        let mut claude = at(&home, moment, "/sleep 600");
        let begin = claude.server.frames.len();
        let answer = claude.control("interrupt", json!({}));
        assert_eq!(
            answer["response"],
            json!({"still_queued": []}),
            "{moment:?}"
        );
        let result = claude.result();
        assert_eq!(result["subtype"], "error_during_execution", "{moment:?}");
        let terminal = match moment {
            Moment::Sent | Moment::Streaming => "aborted_streaming",
            _ => "aborted_tools",
        };
        assert_eq!(result["terminal_reason"], terminal, "{moment:?}");
        let since: Vec<&Value> = claude.server.frames[begin..]
            .iter()
            .map(|it| &it["type"])
            .collect();
        let cancelled = since
            .iter()
            .position(|kind| **kind == "control_cancel_request");
        let answered = since
            .iter()
            .position(|kind| **kind == "control_response")
            .unwrap();
        match moment {
            Moment::Asked | Moment::Hooked => assert!(cancelled.unwrap() < answered, "{moment:?}"),
            _ => assert_eq!(cancelled, None, "{moment:?}"),
        }
        assert_eq!(claude.turn("next")["result"], "next", "{moment:?}");
        let (code, frames) = claude.end();
        assert_eq!((code, results(&frames).len()), (Some(0), 2), "{moment:?}");
        assert!(!home.read("ran").contains('y'), "{moment:?}");
    }
}

#[test]
fn an_interrupt_right_behind_the_prompt_is_not_lost() {
    for _ in 0..10 {
        let home = Home::new();
        let interrupt = json!({"type": "control_request", "request_id": "i",
            "request": {"subtype": "interrupt"}});
        let lines = format!("{}\n{interrupt}\n", user("/sleep 600"));
        let done = finish(home.claude(&PROGRAM), &lines);
        assert_eq!(done.code, Some(1));
        assert_eq!(
            done.stdout.matches("error_during_execution").count(),
            1,
            "{}",
            done.stdout
        );
    }
}

#[test]
fn an_interrupt_while_nothing_runs_changes_nothing() {
    let home = Home::new();
    let mut claude = Claude::start(&home, &[]);
    claude.control("interrupt", json!({}));
    assert_eq!(claude.turn("one")["result"], "one");
    claude.control("interrupt", json!({}));
    assert_eq!(claude.turn("two")["result"], "two");
    assert_eq!(claude.end().0, Some(0));
}

/// Two prompts, and many more than the engine queues: each gets its result, in order.
#[test]
fn prompts_wait_for_each_other() {
    let home = Home::new();
    let input: String = (0..40)
        .map(|n| format!("{}\n", user(&format!("prompt {n}"))))
        .collect();
    let done = finish(home.claude(&PROGRAM), &input).well();
    let frames = done
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let said: Vec<String> = frames
        .filter(|frame| frame["type"] == "result")
        .map(|frame| frame["result"].as_str().unwrap().to_owned())
        .collect();
    let expected: Vec<String> = (0..40).map(|n| format!("prompt {n}")).collect();
    assert_eq!(said, expected);
}

/// claude.md 5.1: a session that is ended by request ends as at the end of its input: what runs comes
/// to its end first.
#[test]
fn end_session_lets_the_turn_end_and_then_the_program() {
    let home = Home::new();
    let mut claude = Claude::start(&home, &[]);
    claude.prompt("/say x\n/think y\n/sleep 0.5\n/say done");
    claude.frame("assistant");
    let answer = claude.control("end_session", json!({}));
    assert_eq!(answer["subtype"], "success", "{answer}");
    assert_eq!(claude.result()["subtype"], "success");
    assert_eq!(claude.ended(PATIENCE).0, Some(0));
}

/// SQEQ-3: an interrupt stops the turn that runs; what waits stays, and the answer lists it.
#[test]
fn what_waits_outlives_an_interrupt() {
    let home = Home::new();
    let mut claude = Claude::start(&home, &[]);
    claude.prompt("/say x\n/think y\n/sleep 600");
    claude.frame("assistant");
    let mut next = user("the next");
    next["uuid"] = json!("0191f0aa-0000-4000-8000-00000000000a");
    claude.server.say(&next);
    let answer = claude.control("interrupt", json!({}));
    assert_eq!(answer["response"]["still_queued"], json!([next["uuid"]]));
    assert_eq!(claude.result()["subtype"], "error_during_execution");
    let result = claude.result();
    assert_eq!(
        (&result["result"], &result["user_message_uuid"]),
        (&json!("the next"), &next["uuid"])
    );
    claude.frame("command_lifecycle");
    let states = claude.server.frames.iter().filter_map(|frame| {
        let is_next = frame["command_uuid"] == next["uuid"];
        is_next.then(|| frame["state"].as_str().unwrap_or_default())
    });
    let states: Vec<&str> = states.collect();
    assert_eq!(states, ["queued", "started", "completed"]);
    claude.prompt("/say x\n/think y\n/sleep 600");
    claude.frame("assistant");
    claude.prompt("never");
    let answer = claude.control("interrupt", json!({"cancel_queued": true}));
    assert_eq!(answer["response"]["still_queued"], json!([]));
    claude.result();
    let (_, frames) = claude.end();
    assert!(!frames.iter().any(|frame| frame["result"] == "never"));
    assert_eq!(results(&frames).len(), 4, "each prompt has its result");
}

/// WIRE-13, contract: the program stops reading; the turn comes to its end and is recorded.
#[test]
fn a_program_that_is_gone_leaves_a_turn_that_ends() {
    let home = Home::new();
    let mut claude = Claude::start(&home, &["--allowedTools", "Bash"]);
    claude.prompt("/stream 50 100 10\n/run echo done > ran");
    claude.frame("system");
    claude.server.close_stdout();
    claude.server.close_stdin();
    claude.server.exit(PATIENCE + Duration::from_secs(5));
    let list = home.run(&["sessions", "list", "--json"]).well();
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let id = list["sessions"][0]["session"].as_str().unwrap();
    assert_eq!(ends(&home, id), ["completed"]);
}

//! Hooks at the four points of a turn.

use serde_json::json;
use sessiond_protocol::{
    Content, Event, Hook, IfBusy, Item, Outcome, Queued, RequestBody, RequestKind, Stop,
    ToolStatus, TurnOutcome, limits,
};

use super::{
    bench::{Bench, CLIENT, STRANGER},
    ops::{interrupt, start, steer},
};
use crate::core::{HOOK_LIMIT, Input, Token};

fn hooked() -> Bench {
    let mut bench = Bench::attached();
    bench.answers(&[RequestKind::Permission, RequestKind::Hook]);
    bench
}

/// A turn whose agent runs.
fn running() -> Bench {
    let mut bench = hooked();
    bench.submit("s1", start("go", IfBusy::Reject));
    bench.answer(CLIENT, Outcome::Passed);
    bench
}

fn denied() -> Outcome {
    let reason = "because".into();
    Outcome::Denied { reason }
}

fn point(bench: &Bench) -> &'static str {
    match &bench.asked().body {
        RequestBody::Hook(Hook::Prompt { .. }) => "prompt",
        RequestBody::Hook(Hook::BeforeTool { .. }) => "before_tool",
        RequestBody::Hook(Hook::AfterTool { .. }) => "after_tool",
        RequestBody::Hook(Hook::Stop { .. }) => "stop",
        _ => "no hook",
    }
}

fn last_call(bench: &Bench) -> (ToolStatus, String) {
    let ended = bench
        .log()
        .iter()
        .rev()
        .find_map(|frame| match &frame.event {
            Event::ItemEnded {
                item: Item::ToolCall(call),
            } => Some((call.status, format!("{:?}", call.content))),
            _ => None,
        });
    ended.unwrap()
}

#[test]
fn a_client_that_answers_no_hooks_has_no_opinion_and_is_not_asked() {
    let mut bench = Bench::attached();
    let begun = bench.submit("s1", start("go", IfBusy::Reject));
    assert_eq!(begun.last().map(String::as_str), Some("start agent"));
    let called = bench.take_call("run");
    assert_eq!(
        called,
        [
            "append synced: item.started",
            "event item.started",
            "started"
        ]
    );
    bench.end_call(ToolStatus::Completed);
    assert_eq!(
        bench.take(Input::CallsEnded { token: Token(99) }),
        ["record done"]
    );
    bench.done(Stop::EndTurn);
    assert_eq!(bench.outcomes(), [TurnOutcome::Completed]);
}

/// LOG-5, WIRE-8: at each point what waits goes on with the answer, in one synced step with it.
#[test]
fn nothing_goes_on_before_the_answer_is_recorded() {
    let mut bench = hooked();
    let begun = bench.submit("s1", start("go", IfBusy::Reject));
    assert_eq!(begun.last().map(String::as_str), Some("request hook"));
    assert!(!begun.contains(&"start agent".to_owned()));
    assert_eq!(bench.asked().deadline, Some(limits::HOOK_SECONDS * 1000));
    let closed = |then: &str| {
        [
            "append synced: request.closed",
            "event request.closed",
            "request closed",
            then,
        ]
        .map(str::to_owned)
    };
    assert_eq!(bench.answer(STRANGER, denied()), ["refused foreign"]);
    assert_eq!(bench.answer(CLIENT, Outcome::Done), ["refused misfit"]);
    assert_eq!(bench.answer(CLIENT, Outcome::Passed), closed("start agent"));
    assert_eq!(
        bench.take_call("run"),
        [
            "append synced: item.started request.opened",
            "event item.started",
            "event request.opened",
            "request hook",
        ]
    );
    assert_eq!(point(&bench), "before_tool");
    assert_eq!(bench.answer(CLIENT, Outcome::Passed), closed("started"));
    bench.end_call(ToolStatus::Completed);
    assert_eq!(point(&bench), "after_tool");
    assert_eq!(bench.take(Input::CallsEnded { token: Token(99) }), [""; 0]);
    assert_eq!(bench.answer(CLIENT, Outcome::Passed), closed("record done"));
    let done = bench.done(Stop::EndTurn);
    assert_eq!(
        (done.last().map(String::as_str), point(&bench)),
        (Some("request hook"), "stop")
    );
    assert_eq!(bench.outcomes(), []);
    bench.answer(CLIENT, Outcome::Passed);
    assert_eq!(bench.outcomes(), [TurnOutcome::Completed]);
}

#[test]
fn a_denied_prompt_ends_its_turn_with_the_reason_and_the_next_one_begins() {
    let mut bench = hooked();
    bench.submit("s1", start("go", IfBusy::Reject));
    bench.submit("s2", start("next", IfBusy::Queue));
    let ended = bench.answer(CLIENT, denied());
    assert!(!ended.contains(&"start agent".to_owned()), "{ended:?}");
    assert_eq!(bench.outcomes(), [TurnOutcome::Failed]);
    let error = bench.log().iter().find_map(|frame| match &frame.event {
        Event::TurnEnded(ended) => ended.error.clone(),
        _ => None,
    });
    assert_eq!(error.unwrap().message, "because");
    assert_eq!(point(&bench), "prompt");
    let input = json!([{"type": "text", "text": "other"}]);
    bench.answer(CLIENT, Outcome::Changed { input });
    assert_eq!(bench.started(), [vec![Content::text("other")]]);
}

#[test]
fn a_denied_call_does_not_run_and_ends_as_failed() {
    let mut bench = running();
    bench.take_call("run");
    assert_eq!(
        bench.answer(CLIENT, denied()),
        [
            "append synced: request.closed item.ended",
            "event request.closed",
            "request closed",
            "event item.ended",
            "denied because",
        ]
    );
    let (status, content) = last_call(&bench);
    assert_eq!(status, ToolStatus::Failed);
    assert!(content.contains("Not run: because"), "{content}");
    // It is the agent's no more.
    assert_eq!(bench.end_call(ToolStatus::Completed), [""; 0]);
    assert_eq!(
        bench.take(Input::CallsEnded { token: Token(99) }),
        ["record done"]
    );
}

#[test]
fn a_changed_call_is_shown_as_it_runs() {
    let mut bench = running();
    bench.take_call("run");
    let input = json!({"command": "true"});
    let changed = bench.answer(
        CLIENT,
        Outcome::Changed {
            input: input.clone(),
        },
    );
    assert_eq!(
        changed.last().map(String::as_str),
        Some("started with other input")
    );
    let shown = bench
        .log()
        .iter()
        .rev()
        .find_map(|frame| match &frame.event {
            Event::ItemChanged { call } => Some(call.input.clone()),
            _ => None,
        });
    assert_eq!(shown, Some(input));
}

#[test]
fn what_is_denied_after_a_call_is_input_for_the_agent() {
    let mut bench = running();
    bench.take_call("run");
    bench.answer(CLIENT, Outcome::Passed);
    bench.end_call(ToolStatus::Completed);
    let told = bench.answer(CLIENT, denied());
    assert_eq!(told.last().map(String::as_str), Some("steered"));
    assert_eq!(bench.take_steers(), ["steers 1"]);
    let changed = Outcome::Changed { input: json!({}) };
    bench.take_call("run");
    bench.answer(CLIENT, Outcome::Passed);
    bench.end_call(ToolStatus::Completed);
    assert_eq!(
        bench.answer(CLIENT, changed),
        ["refused misfit"],
        "what is done is done"
    );
}

#[test]
fn a_denied_stop_makes_the_turn_go_on_so_often_and_no_more() {
    let mut bench = running();
    for _ in 0..limits::CONTINUATIONS {
        bench.done(Stop::EndTurn);
        assert_eq!(point(&bench), "stop");
        let on = bench.answer(CLIENT, denied());
        assert_eq!(on.last().map(String::as_str), Some("start agent"));
        assert_eq!(
            bench.started().last(),
            Some(&vec![Content::text("because")])
        );
    }
    bench.done(Stop::EndTurn);
    assert_eq!(bench.outcomes(), [TurnOutcome::Completed]);
}

/// SQEQ-2: nothing that was accepted for the turn is lost while a hook is asked about its end.
#[test]
fn what_is_added_to_a_turn_while_its_end_is_asked_about_makes_it_go_on() {
    let mut bench = running();
    bench.done(Stop::EndTurn);
    bench.submit("s2", steer("more", None));
    bench.answer(CLIENT, Outcome::Passed);
    assert_eq!(bench.started().last(), Some(&vec![Content::text("more")]));
    assert_eq!(bench.outcomes(), []);
}

/// SQEQ-4
#[test]
fn a_turn_that_is_cancelled_at_a_hook_ends_once_and_nothing_begins() {
    for at in ["prompt", "before_tool", "after_tool", "stop"] {
        let mut bench = hooked();
        bench.submit("s1", start("go", IfBusy::Reject));
        if at != "prompt" {
            bench.answer(CLIENT, Outcome::Passed);
        }
        if at == "before_tool" || at == "after_tool" {
            bench.take_call("run");
        }
        if at == "after_tool" {
            bench.answer(CLIENT, Outcome::Passed);
            bench.end_call(ToolStatus::Completed);
        }
        if at == "stop" {
            bench.done(Stop::EndTurn);
        }
        assert_eq!(point(&bench), at);
        let mut lines = bench.submit("s2", interrupt(Queued::Keep));
        if at == "prompt" || at == "stop" {
            // No agent is there to acknowledge it: it is dropped at once.
            assert_eq!(bench.deadline(), Some(bench.now()));
            let dropped = bench.take(Input::Tick);
            assert_eq!(dropped, ["!drop"], "{at}");
        }
        lines.extend(bench.failed());
        let began = ["start agent", "started"];
        assert!(
            !lines.iter().any(|line| began.contains(&line.as_str())),
            "{at} {lines:?}"
        );
        assert_eq!(bench.outcomes(), [TurnOutcome::Cancelled], "{at}");
        if at == "before_tool" {
            assert_eq!(last_call(&bench).0, ToolStatus::Cancelled);
        }
    }
}

/// A client that does not answer in time, cannot, dismisses the question or goes has no opinion.
#[test]
fn whoever_says_nothing_clear_has_no_opinion() {
    let said = [
        None,
        Some(Outcome::Cancelled),
        Some(Outcome::Failed {
            message: "broken".into(),
        }),
    ];
    for outcome in said {
        let mut bench = hooked();
        bench.submit("s1", start("go", IfBusy::Reject));
        let on = match &outcome {
            Some(outcome) => bench.answer(CLIENT, outcome.clone()),
            None => {
                assert_eq!(bench.deadline(), Some(HOOK_LIMIT));
                bench.pass(HOOK_LIMIT);
                bench.take(Input::Tick)
            }
        };
        assert_eq!(
            on.last().map(String::as_str),
            Some("start agent"),
            "{outcome:?}"
        );
    }
    let mut bench = Bench::attached_until(sessiond_protocol::OnDisconnect::Finish);
    bench.answers_until(
        &[RequestKind::Hook],
        sessiond_protocol::OnDisconnect::Finish,
    );
    bench.submit("s1", start("go", IfBusy::Reject));
    let gone = bench.take(Input::Disconnected { conn: CLIENT });
    assert!(gone.contains(&"start agent".to_owned()), "{gone:?}");
}

/// RESUME-6, TASK-5: a call that a hook was asked about when the process died did not run, and is
/// shown as unknown all the same; nothing runs by itself.
#[test]
fn what_was_asked_of_a_hook_is_closed_with_the_rest_after_a_death() {
    let mut bench = running();
    bench.take_call("run");
    let bench = bench.killed();
    assert_eq!(
        bench.snapshot(),
        ["request.closed", "item.ended", "turn.ended"]
    );
}

/// Contract.md "a kind the controller does not answer falls back".
#[test]
fn each_kind_that_nobody_answers_falls_back_and_one_that_is_answered_is_asked() {
    let mcp = || RequestBody::Mcp {
        server: "s".into(),
        method: "tools/call".into(),
        params: json!({}),
    };
    let terminal =
        |op: fn(String) -> sessiond_protocol::TerminalOp| RequestBody::Terminal(op("t".into()));
    use sessiond_protocol::TerminalOp::{Kill, Output, Release, Wait};
    let bodies = [
        (
            RequestBody::Elicitation {
                message: "?".into(),
                schema: json!({}),
            },
            "declined",
        ),
        (
            RequestBody::FsRead {
                path: "/a".into(),
                line: None,
                limit: None,
            },
            "unanswered",
        ),
        (
            RequestBody::FsWrite {
                path: "/a".into(),
                content: String::new(),
            },
            "unanswered",
        ),
        (terminal(|terminal| Output { terminal }), "unanswered"),
        (terminal(|terminal| Wait { terminal }), "unanswered"),
        (terminal(|terminal| Kill { terminal }), "unanswered"),
        (terminal(|terminal| Release { terminal }), "unanswered"),
        (mcp(), "declined"),
    ];
    for (body, fallback) in bodies {
        let mut bench = Bench::attached();
        bench.submit("s1", start("go", IfBusy::Reject));
        assert_eq!(bench.ask(body.clone()), [format!("reply {fallback}")]);
        bench.answers(&[body.kind()]);
        let asked = bench.ask(body);
        assert!(
            asked
                .last()
                .is_some_and(|line| line.starts_with("request ")),
            "{asked:?}"
        );
    }
    let mut bench = Bench::attached();
    bench.answers(&[RequestKind::Mcp]);
    bench.submit("s1", start("go", IfBusy::Reject));
    let asked = bench.ask(mcp());
    assert_eq!(
        asked.first().map(String::as_str),
        Some("append synced: request.opened")
    );
    let result = Outcome::Result { result: json!({}) };
    assert_eq!(bench.answer(CLIENT, Outcome::Done), ["refused misfit"]);
    assert_eq!(
        bench.answer(CLIENT, result).last().map(String::as_str),
        Some("reply result")
    );
}

//! Text, calls and titles.

use sessiond_protocol::{
    Content, Finish, IfBusy, ItemKind, Stop, ToolCall, ToolStatus, TurnOutcome,
};

use super::{bench::Bench, ops::start};
use crate::{
    agent::{AgentError, Emit},
    core::{Input, PARTIAL_AFTER},
};

/// LOG-1, LOG-8: a picture is an item by itself, durable as text is; what is only thought is not, where
/// thoughts are not.
#[test]
fn a_block_that_is_no_text_ends_the_message_before_it_and_is_recorded() {
    let picture = |kind| {
        let content = Content::Image {
            data: "AAAA".into(),
            mime_type: "image/png".into(),
            extra: serde_json::Map::new(),
        };
        Input::Emitted(Emit::Content(kind, content))
    };
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    bench.say("look:");
    let shown = bench.take(picture(ItemKind::AgentMessage));
    assert_eq!(
        shown,
        [
            "append written: item.ended item.content",
            "event item.ended",
            "event item.content",
        ]
    );
    assert_eq!(bench.say("so")[0], "event item.started");
    bench.done(Stop::EndTurn);
    assert_eq!(
        bench.said(),
        [("look:", Finish::Whole), ("so", Finish::Whole)]
    );
    assert_eq!(bench.take(picture(ItemKind::AgentMessage)), [""; 0]);
    let mut bench = Bench::lean();
    bench.submit("s1", start("go", IfBusy::Reject));
    let thought = bench.take(picture(ItemKind::Thought));
    assert_eq!(thought, ["event item.content"]);
}

/// LOG-8
#[test]
fn lean_persistence_stores_no_thought_and_four_kibibytes_of_running_output() {
    let mut bench = Bench::lean();
    bench.submit("s1", start("go", IfBusy::Reject));
    let thought = |text: &str| Input::Emitted(Emit::Thought(text.into()));
    assert_eq!(
        bench.take(thought("hm")),
        ["event item.started", "event item.delta 0 hm"]
    );
    assert_eq!(bench.deadline(), None, "nothing to store");
    let call = bench.take_call("run");
    assert_eq!(
        call,
        [
            "append synced: item.started",
            "event item.ended",
            "event item.started",
            "started",
        ]
    );
    let id = bench.start_call("run");
    let mut output = |text: String| {
        bench.take(Input::Emitted(Emit::CallOutput(id, text)));
        bench.pass(PARTIAL_AFTER);
        bench.take(Input::Tick)
    };
    // Two bytes a letter: the bound falls into the middle of one.
    let stored = output(format!("x{}", "é".repeat(3000)));
    let expected = format!("event item.partial 0 x{}", "é".repeat(2047));
    assert_eq!(stored, ["append written: item.partial", &expected]);
    assert_eq!(output("more".into()), [""; 0]);
}

#[test]
fn text_before_and_after_a_tool_call_are_two_messages() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    assert_eq!(
        bench.say("Hel"),
        ["event item.started", "event item.delta 0 Hel"]
    );
    assert_eq!(bench.say("lo"), ["event item.delta 3 lo"]);
    let call = bench.take_call("run");
    assert_eq!(
        call,
        [
            "append synced: item.ended item.started",
            "event item.ended",
            "event item.started",
            "started",
        ]
    );
    bench.end_call(ToolStatus::Completed);
    bench.say("Bye");
    bench.done(Stop::EndTurn);
    assert_eq!(
        bench.said(),
        [("Hello", Finish::Whole), ("Bye", Finish::Whole)]
    );
}

/// LOG-17
#[test]
fn text_that_streams_is_stored_after_the_bound_and_only_what_is_new() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    bench.say("one ");
    assert_eq!(bench.deadline(), Some(PARTIAL_AFTER));
    bench.pass(PARTIAL_AFTER);
    assert_eq!(
        bench.take(Input::Tick),
        ["append written: item.partial", "event item.partial 0 one "]
    );
    assert_eq!(bench.deadline(), None);
    bench.say("two");
    bench.pass(PARTIAL_AFTER);
    assert_eq!(
        bench.take(Input::Tick),
        ["append written: item.partial", "event item.partial 4 two"]
    );
}

#[test]
fn a_failed_turn_closes_what_it_left_open() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    bench.say("half a ");
    let call = bench.start_call("run");
    bench.say("sentence");
    bench.take(Input::AgentDone(Err(AgentError::failed("it broke"))));
    assert_eq!(
        bench.said(),
        [("half a ", Finish::Whole), ("sentence", Finish::Cut)]
    );
    assert_eq!(bench.call_status(call), Some(ToolStatus::Failed));
    assert_eq!(bench.outcomes(), [TurnOutcome::Failed]);
}

#[test]
fn titles_come_from_the_first_prompt_and_give_way_to_better_ones() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("\n  Fix the parser\nplease", IfBusy::Reject));
    assert_eq!(bench.title(), Some("Fix the parser"));
    bench.take(Input::Emitted(Emit::Title("Parser".into())));
    bench.done(Stop::EndTurn);
    bench.submit("s2", start("Something else", IfBusy::Reject));
    assert_eq!(bench.title(), Some("Parser"));
}

#[test]
fn a_call_that_ended_is_not_changed_by_what_comes_late() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    let call = bench.start_call("run");
    bench.end_call(ToolStatus::Completed);
    let late = Box::<ToolCall>::default();
    assert_eq!(
        bench.take(Input::Emitted(Emit::CallChanged(call, late.clone()))),
        [""; 0]
    );
    assert_eq!(
        bench.take(Input::Emitted(Emit::CallOutput(call, "x".into()))),
        [""; 0]
    );
    assert_eq!(
        bench.take(Input::Emitted(Emit::CallEnded(call, late))),
        [""; 0]
    );
}

#[test]
fn text_after_the_end_of_a_message_is_another_message() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    bench.say("one");
    let ended = bench.take(Input::Emitted(Emit::MessageEnd));
    assert_eq!(ended, ["append written: item.ended", "event item.ended"]);
    assert_eq!(
        bench.say("two"),
        ["event item.started", "event item.delta 0 two"]
    );
}

/// RESUME-3: what an agent offers is told anew by each run and never stored, so that a load writes
/// nothing because of it.
#[test]
fn commands_and_modes_that_an_agent_tells_are_shown_and_not_stored() {
    let mut bench = Bench::attached();
    for emit in [Emit::Commands(Vec::new()), Emit::Modes(Vec::new())] {
        assert_eq!(bench.take(Input::Noted(emit)), ["event session.changed"]);
    }
    let options = bench.take(Input::Noted(Emit::Options(Vec::new())));
    assert_eq!(options[0], "append written: session.changed");
}

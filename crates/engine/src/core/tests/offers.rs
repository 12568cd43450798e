//! What the agent offers: modes, options, commands, calls that stop by themselves.

use serde_json::json;
use sessiond_protocol::{
    AgentOption, Choice, Event, IfBusy, Item, Mode, ModePolicy, Op, OptionSetting, OptionValue,
    Outcome, PermissionKind, RequestBody, SessionChanged, Stop, Stoppable, ToolCall, ToolStatus,
};

use super::{
    bench::{Bench, CLIENT, STRANGER},
    ops::{permission, start},
};
use crate::{
    agent::Emit,
    core::{Input, Token},
};

fn option(id: &str, value: OptionValue, choices: &[&str]) -> AgentOption {
    let choice = |id: &&str| Choice {
        id: (*id).into(),
        name: (*id).into(),
        description: None,
        group: None,
    };
    AgentOption {
        id: id.into(),
        name: id.into(),
        description: None,
        category: None,
        value,
        choices: choices.iter().map(choice).collect(),
    }
}

fn choice(id: &str) -> OptionValue {
    OptionValue::Choice(id.into())
}

/// A session whose agent has a model and a switch.
fn optioned() -> Bench {
    let mut bench = Bench::attached();
    bench.take(Input::Noted(Emit::Options(vec![
        option("model", choice("small"), &["small", "large"]),
        option("fast", OptionValue::Boolean(false), &[]),
    ])));
    bench
}

/// Options by id, with the values they shall have.
type Wanted<'a> = &'a [(&'a str, OptionValue)];

fn set(settings: Wanted<'_>) -> Op {
    let setting = |(id, value): &(&str, OptionValue)| OptionSetting {
        id: (*id).into(),
        value: value.clone(),
    };
    Op::SessionConfigure {
        mode: None,
        options: settings.iter().map(setting).collect(),
    }
}

fn set_model(id: &str) -> Op {
    set(&[("model", choice(id))])
}

#[test]
fn options_are_set_all_together_or_not_at_all() {
    let on = OptionValue::Boolean(true);
    let refused = ["receipt s1 invalid"];
    let changed = [
        "append synced: session.changed",
        "event session.changed",
        "settings",
        "receipt s1 done",
    ];
    let nothing = ["receipt s1 done"];
    let table: [(Wanted<'_>, &[&str]); 7] = [
        (&[("model", choice("large"))], &changed),
        (
            &[("model", choice("large")), ("fast", on.clone())],
            &changed,
        ),
        (&[("model", choice("small"))], &nothing),
        (&[("model", choice("huge"))], &refused),
        (&[("model", on.clone())], &refused),
        (&[("fast", choice("on"))], &refused),
        (&[("fast", on), ("nothing", choice("x"))], &refused),
    ];
    for (settings, expected) in table {
        let mut bench = optioned();
        let before = bench.settings();
        assert_eq!(bench.submit("s1", set(settings)), expected, "{settings:?}");
        if expected != changed {
            assert_eq!(bench.settings(), before, "{settings:?}");
        }
    }
}

#[test]
fn a_mode_that_the_agent_does_not_have_keeps_its_options_as_they_are() {
    let mut bench = optioned();
    let before = bench.settings();
    let op = Op::SessionConfigure {
        mode: Some("none".into()),
        options: vec![OptionSetting {
            id: "model".into(),
            value: choice("large"),
        }],
    };
    assert_eq!(bench.submit("s1", op), ["receipt s1 invalid"]);
    assert_eq!(bench.settings(), before);
}

/// RESUME-4: modes and options are restored with the rest.
#[test]
fn what_was_set_is_in_force_after_the_process_was_killed() {
    let mut bench = optioned();
    bench.submit("s1", set_model("large"));
    bench.submit("s2", Op::set_mode("auto"));
    let (mode, options) = (
        Some("auto".to_owned()),
        [("fast", OptionValue::Boolean(false))],
    );
    let mut after = bench.killed();
    let settings = after.settings();
    assert_eq!(settings.mode, mode);
    let set: Vec<_> = settings
        .options
        .iter()
        .map(|s| (&*s.id, s.value.clone()))
        .collect();
    assert_eq!(set, [[("model", choice("large"))], options].concat());
    // An agent that tells its options anew tells those that are in force.
    assert_eq!(
        after.submit("s1", set_model("large")),
        ["receipt s1 invalid"]
    );
    let mut offering = after.offering(vec![option("model", choice("small"), &["small", "large"])]);
    assert_eq!(
        offering.submit("s1", set_model("large")),
        ["receipt s1 done"]
    );
}

#[test]
fn an_agent_changes_its_mode_but_never_to_one_that_lets_more_happen() {
    let mut bench = Bench::attached();
    let mut say = |mode: &str| bench.take(Input::Noted(Emit::Mode(mode.into())));
    let changed = [
        "append synced: session.changed",
        "event session.changed",
        "settings",
    ];
    assert_eq!(say("careful"), changed);
    assert_eq!(say("auto"), [""; 0], "looser");
    assert_eq!(say("read-only"), changed);
    assert_eq!(say("read-only"), [""; 0], "the same");
    assert_eq!(say("ask"), [""; 0], "looser");
    assert_eq!(say("nothing known"), [""; 0]);
    assert_eq!(bench.mode(), Some("read-only"));
}

/// SEC-5: what was allowed before a tightening is allowed no more.
#[test]
fn an_agent_that_tightens_its_mode_takes_back_what_was_allowed() {
    let mut bench = Bench::attached();
    bench.submit("s1", start("go", IfBusy::Reject));
    bench.ask(permission());
    let option = PermissionKind::AllowAlways.id().to_owned();
    bench.answer(CLIENT, Outcome::Selected { option });
    assert_eq!(bench.grants(), 1);
    bench.take(Input::Noted(Emit::Mode("read-only".into())));
    assert_eq!(bench.grants(), 0);
}

#[test]
fn a_list_of_modes_never_loosens_the_one_in_force() {
    for (policy, allowed) in [(ModePolicy::Allow, 1), (ModePolicy::Deny, 0)] {
        let mut bench = Bench::attached();
        bench.submit("s1", start("go", IfBusy::Reject));
        bench.ask(permission());
        let option = PermissionKind::AllowAlways.id().to_owned();
        bench.answer(CLIENT, Outcome::Selected { option });
        let ask = Mode {
            id: "ask".into(),
            name: "Ask".into(),
            description: String::new(),
            policy,
        };
        bench.take(Input::Noted(Emit::Modes(vec![ask])));
        assert_eq!(bench.grants(), allowed, "{policy:?}");
        let mut other = permission();
        if let RequestBody::Permission(asked) = &mut other {
            asked.pattern = "something else".into();
        }
        let asked = bench.ask(other);
        let expected = match policy {
            ModePolicy::Deny => "reply selected reject_once",
            _ => "request permission",
        };
        assert!(asked.iter().any(|line| line == expected), "{asked:?}");
    }
}

#[test]
fn commands_and_modes_that_the_agent_says_are_part_of_the_view() {
    let mut bench = Bench::attached();
    let plan = Mode {
        id: "plan".into(),
        name: "Plan".into(),
        description: String::new(),
        policy: ModePolicy::Deny,
    };
    bench.take(Input::Noted(Emit::Modes(vec![plan])));
    let configured = bench.submit("s1", Op::set_mode("plan"));
    assert_eq!(configured.last().unwrap(), "receipt s1 done");
    assert_eq!(
        bench.submit("s2", Op::set_mode("ask")),
        ["receipt s2 invalid"]
    );
    let said = bench.take(Input::Noted(Emit::Commands(Vec::new())));
    assert_eq!(said, ["event session.changed"], "the next run says its own");
    let commands = |frame: &sessiond_protocol::EventFrame| {
        let is = |change: &SessionChanged| change.commands.as_ref().is_some_and(Vec::is_empty);
        matches!(&frame.event, Event::SessionChanged(change) if is(change))
    };
    assert!(!bench.log().iter().any(commands));
}

#[test]
fn an_extension_is_shown_and_never_stored() {
    let mut bench = Bench::attached();
    let stored = bench.log().len();
    let extension = Emit::Extension("_x/y".into(), json!({ "z": 1 }));
    assert_eq!(
        bench.take(Input::Noted(extension.clone())),
        ["event extension"]
    );
    bench.submit("s1", start("go", IfBusy::Reject));
    let in_turn = bench.take(Input::Emitted(extension));
    assert_eq!(in_turn, ["event extension"]);
    let is_extension = |frame: &sessiond_protocol::EventFrame| frame.event.kind() == "extension";
    assert!(!bench.log().iter().skip(stored).any(is_extension));
}

#[test]
fn only_an_open_call_that_can_be_stopped_by_itself_is_stopped() {
    for (stoppable, expected) in [
        (Stoppable::Yes, ["stop call", "receipt s2 done"].as_slice()),
        (Stoppable::No, ["receipt s2 invalid"].as_slice()),
    ] {
        let mut bench = Bench::attached();
        bench.submit("s1", start("go", IfBusy::Reject));
        let call = Box::new(ToolCall {
            name: "run".into(),
            stoppable,
            ..ToolCall::default()
        });
        let token = Token(900);
        bench.take(Input::CallStarted { call, token });
        let item = bench.call();
        let cancel = Op::CallCancel { item };
        assert_eq!(bench.submit("s2", cancel.clone()), expected);
        bench.take(Input::Viewed { conn: STRANGER });
        let stranger = bench.submit_from(STRANGER, "s3", cancel.clone());
        assert_eq!(stranger, ["receipt s3 view_only"]);
        bench.end_call(ToolStatus::Cancelled);
        assert_eq!(bench.submit("s4", cancel), ["receipt s4 invalid"]);
        let ended = |frame: &sessiond_protocol::EventFrame| match &frame.event {
            Event::ItemEnded {
                item: Item::ToolCall(call),
            } => Some(call.status),
            _ => None,
        };
        let statuses: Vec<_> = bench.log().iter().filter_map(ended).collect();
        assert_eq!(statuses, [ToolStatus::Cancelled]);
        bench.done(Stop::EndTurn);
    }
}

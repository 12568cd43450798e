use serde_json::json;

use super::{Mode, Rules, Shown, Verdict};

fn bash(command: &str) -> Shown {
    call("Bash", json!({ "command": command }))
}

fn call(name: &str, input: serde_json::Value) -> Shown {
    Shown {
        id: "t".to_owned(),
        name: name.to_owned(),
        input,
    }
}

fn rules(allowed: &[&str], denied: &[&str]) -> Rules {
    let own = |rules: &[&str]| {
        rules
            .iter()
            .map(|rule| (*rule).to_owned())
            .collect::<Vec<_>>()
    };
    Rules::new(&own(allowed), &own(denied), None)
}

#[test]
fn a_rule_allows_what_it_says_and_no_more() {
    let file = |path: &str| call("Read", json!({ "file_path": path }));
    let table = [
        ("Bash", bash("anything; at all > all"), Verdict::Allow),
        ("Bash", call("Bashful", json!({})), Verdict::Ask),
        ("Bash(*)", bash("x"), Verdict::Allow),
        ("Bash(git log:*)", bash("git log"), Verdict::Allow),
        ("Bash(git log:*)", bash("git log -3"), Verdict::Allow),
        ("Bash(git log:*)", bash("git logger"), Verdict::Ask),
        ("Bash(git log:*)", bash("git log; rm -rf /"), Verdict::Ask),
        (
            "Bash(git log:*)",
            bash("git log && git log"),
            Verdict::Allow,
        ),
        ("Bash(git log:*)", bash("git log $(rm x)"), Verdict::Ask),
        ("Bash(git log:*)", bash("git log > /etc/x"), Verdict::Ask),
        ("Bash(echo *)", bash("echo hi"), Verdict::Allow),
        ("Bash(echo *)", bash("echo hi\nrm x"), Verdict::Ask),
        ("Bash(echo hi)", bash("echo hi there"), Verdict::Ask),
        ("Read(/w/src/**)", file("/w/src/a/b.rs"), Verdict::Allow),
        ("Read(/w/src/**)", file("/w/x"), Verdict::Ask),
        ("mcp__s", call("mcp__s__t", json!({})), Verdict::Allow),
        ("mcp__s__*", call("mcp__s__t", json!({})), Verdict::Allow),
        ("mcp__s__t", call("mcp__s__t", json!({})), Verdict::Allow),
        ("mcp__s", call("mcp__server__t", json!({})), Verdict::Ask),
        ("Bash(", bash("x"), Verdict::Ask),
    ];
    for (rule, call, expected) in table {
        let verdict = rules(&[rule], &[]).verdict(Mode::Default, &call);
        assert_eq!(verdict, expected, "{rule} {}", call.input);
    }
}

/// claude.md 8a: rules that deny come before rules that allow and before the mode.
#[test]
fn rules_and_the_mode_decide_in_order() {
    let edit = call("Edit", json!({"file_path": "/f"}));
    let table = [
        (Mode::Default, rules(&[], &[]), bash("x"), Verdict::Ask),
        (Mode::Auto, rules(&[], &[]), bash("x"), Verdict::Ask),
        (
            Mode::Default,
            rules(&["Bash"], &["Bash"]),
            bash("x"),
            Verdict::Deny,
        ),
        (
            Mode::BypassPermissions,
            rules(&[], &["Bash(rm:*)"]),
            bash("ls; rm x"),
            Verdict::Deny,
        ),
        (
            Mode::BypassPermissions,
            rules(&[], &["Bash(rm:*)"]),
            bash("ls"),
            Verdict::Allow,
        ),
        (
            Mode::AcceptEdits,
            rules(&[], &[]),
            edit.clone(),
            Verdict::Allow,
        ),
        (Mode::AcceptEdits, rules(&[], &[]), bash("x"), Verdict::Ask),
        (
            Mode::AcceptEdits,
            rules(&[], &["Edit"]),
            edit.clone(),
            Verdict::Deny,
        ),
        (Mode::DontAsk, rules(&[], &[]), bash("x"), Verdict::Deny),
        (
            Mode::DontAsk,
            rules(&["Bash"], &[]),
            bash("x"),
            Verdict::Allow,
        ),
        (Mode::Plan, rules(&["Bash"], &[]), bash("x"), Verdict::Deny),
    ];
    for (mode, rules, call, expected) in table {
        assert_eq!(rules.verdict(mode, &call), expected, "{mode} {}", call.name);
    }
}

/// A rule that cannot be read fails closed, whichever side it is on.
#[test]
fn a_rule_that_is_cut_short_allows_nothing_and_denies_all() {
    assert_eq!(
        rules(&["Bash(git"], &[]).verdict(Mode::Default, &bash("git")),
        Verdict::Ask
    );
    assert_eq!(
        rules(&["Bash"], &["Bash(git"]).verdict(Mode::Default, &bash("ls")),
        Verdict::Deny
    );
}

/// `--tools`: what is not listed does not run, whatever else allows it.
#[test]
fn a_tool_that_is_not_listed_is_denied() {
    let only = ["Read".to_owned()];
    let rules = Rules::new(&["Bash".to_owned()], &[], Some(&only));
    let mode = Mode::BypassPermissions;
    assert_eq!(rules.verdict(mode, &bash("ls")), Verdict::Deny);
    assert_eq!(
        rules.verdict(mode, &call("Read", json!({}))),
        Verdict::Allow
    );
    assert_eq!(
        rules.verdict(mode, &call("mcp__s__t", json!({}))),
        Verdict::Allow
    );
}

use serde_json::{Value, json};
use sessiond_protocol::{AgentOption, OptionSetting, OptionValue, Settings};

use super::Offers;

fn offers() -> Offers {
    let models = json!({ "data": [
        { "model": "big", "displayName": "Big", "defaultReasoningEffort": "high",
          "supportedReasoningEfforts": [{ "reasoningEffort": "low" }, { "reasoningEffort": "high" }] },
        { "model": "old", "hidden": true },
        { "model": "small", "displayName": "Small" },
    ] });
    let thread = json!({ "model": "big", "reasoningEffort": null, "approvalPolicy": "on-request",
        "sandbox": { "type": "readOnly", "networkAccess": false } });
    Offers::read(&models, &thread, &["/more".to_owned()])
}

fn values(offers: &Offers) -> Vec<(String, String, Vec<String>)> {
    let shown = |option: &AgentOption| {
        let OptionValue::Choice(value) = option.value.clone() else {
            panic!("{option:?} is no choice");
        };
        let choices = option.choices.iter().map(|choice| choice.id.clone());
        (option.id.clone(), value, choices.collect())
    };
    offers.options().iter().map(shown).collect()
}

fn settings(options: &[(&str, &str)]) -> Settings {
    let setting = |(id, value): &(&str, &str)| OptionSetting {
        id: (*id).to_owned(),
        value: OptionValue::Choice((*value).to_owned()),
    };
    Settings {
        mode: None,
        options: options.iter().map(setting).collect(),
    }
}

#[test]
fn what_is_offered_is_what_codex_lists_with_what_is_in_force() {
    let list = |values: &[&str]| values.iter().map(|&v| v.to_owned()).collect::<Vec<_>>();
    let expected = [
        ("model", "big", list(&["big", "small"])),
        ("reasoning_effort", "high", list(&["high", "low"])),
        (
            "approval_policy",
            "on-request",
            list(&["untrusted", "on-request", "never"]),
        ),
        (
            "sandbox",
            "read-only",
            list(&["read-only", "workspace-write", "danger-full-access"]),
        ),
    ];
    let expected = expected.map(|(id, value, of)| (id.to_owned(), value.to_owned(), of));
    assert_eq!(values(&offers()), expected);
}

#[test]
fn a_turn_is_told_what_is_not_in_force_yet() {
    let cases: [(&[(&str, &str)], Value); 6] = [
        (&[], json!({})),
        (&[("model", "big"), ("sandbox", "read-only")], json!({})),
        (
            &[("model", "small"), ("reasoning_effort", "low")],
            json!({ "model": "small", "effort": "low" }),
        ),
        (
            &[("approval_policy", "never")],
            json!({ "approvalPolicy": "never" }),
        ),
        (
            &[("sandbox", "workspace-write")],
            json!({ "sandboxPolicy": { "type": "workspaceWrite", "writableRoots": ["/more"] } }),
        ),
        (&[("model", "unheard-of"), ("colour", "blue")], json!({})),
    ];
    for (set, expected) in cases {
        let overrides = offers().overrides(&settings(set));
        assert_eq!(Value::Object(overrides), expected, "{set:?}");
    }
}

#[test]
fn what_codex_changes_is_in_force() {
    let mut offers = offers();
    let told = json!({ "model": "small", "effort": "low", "approvalPolicy": "never",
        "sandboxPolicy": { "type": "dangerFullAccess" } });
    assert!(offers.updated(&told));
    assert!(!offers.updated(&told));
    let values: Vec<_> = values(&offers)
        .into_iter()
        .map(|(id, value, _)| (id, value))
        .collect();
    let expected = [
        ("model", "small"),
        ("approval_policy", "never"),
        ("sandbox", "danger-full-access"),
        ("reasoning_effort", "low"),
    ];
    assert_eq!(
        values,
        expected.map(|(id, value)| (id.to_owned(), value.to_owned()))
    );
}

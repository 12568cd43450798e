use serde_json::json;
use sessiond_protocol::{Outcome, Permission, PermissionKind, PermissionOption};

use super::{Said, chosen, content, decision};

fn permission(kinds: &[PermissionKind]) -> Permission {
    let option = |kind: &PermissionKind| PermissionOption {
        id: kind.id().into(),
        name: kind.id().into(),
        kind: *kind,
    };
    Permission {
        title: "t".into(),
        tool: "run".into(),
        pattern: "p".into(),
        options: kinds.iter().map(option).collect(),
    }
}

/// WIRE-8: nothing but a decision that is known lets anything run.
#[test]
fn what_an_answer_says_is_an_option_that_was_offered() {
    let table = [
        (json!({"decision": "accept"}), "allow_once"),
        (json!({"decision": "acceptForSession"}), "allow_always"),
        (json!({"decision": "decline"}), "reject_once"),
        (json!({"decision": "cancel"}), "reject_once"),
        (json!({"decision": "bogus"}), "reject_once"),
        (
            json!({"decision": {"acceptWithExecpolicyAmendment": {}}}),
            "reject_once",
        ),
        (json!({}), "reject_once"),
        (json!(null), "reject_once"),
        (json!([true]), "reject_once"),
    ];
    for (result, option) in table {
        let outcome = chosen(&permission(&PermissionKind::ALL), decision(&result));
        let option = option.to_owned();
        assert_eq!(outcome, Outcome::Selected { option }, "{result}");
    }
}

#[test]
fn without_the_option_the_narrower_one_counts_and_else_none() {
    let once = permission(&[PermissionKind::AllowOnce]);
    let option = "allow_once".to_owned();
    assert_eq!(
        chosen(&once, Said::AcceptForSession),
        Outcome::Selected { option }
    );
    assert_eq!(chosen(&once, Said::Decline), Outcome::Cancelled);
    assert_eq!(chosen(&permission(&[]), Said::Accept), Outcome::Cancelled);
}

#[test]
fn answers_of_the_user_come_in_the_asked_types() {
    let schema = json!({"type": "object", "properties": {
        "name": {"type": "string"}, "age": {"type": "integer"}, "ok": {"type": "boolean"},
        "many": {"type": "array"}, "none": {"type": "string"},
    }});
    let answer = |text: &str| json!({"answers": [text]});
    let result = json!({"answers": {
        "name": answer("n"), "age": answer("7"), "ok": answer("yes"),
        "many": {"answers": ["a", "b"]}, "other": answer("x"),
    }});
    let wanted = json!({"name": "n", "age": 7, "ok": true, "many": ["a", "b"]});
    assert_eq!(
        content(&result, &schema).map(|map| json!(map)),
        Some(wanted)
    );
    for none in [
        json!({}),
        json!({"answers": {}}),
        json!({"answers": {"name": {"answers": []}}}),
    ] {
        assert_eq!(content(&none, &schema), None, "{none}");
    }
}

use std::collections::HashSet;

use serde_json::json;

use super::super::face::SERVED;
use super::{EXPERIMENTAL, METHODS, experimental, unknown};

#[test]
fn the_lists_hold_codexs_methods_each_once() {
    let all: HashSet<_> = METHODS.into_iter().collect();
    assert_eq!(
        (METHODS.len(), all.len(), EXPERIMENTAL.len()),
        (192, 192, 79)
    );
    assert!(
        EXPERIMENTAL
            .iter()
            .chain(&SERVED)
            .all(|name| all.contains(name))
    );
    assert!(SERVED.iter().all(|name| !EXPERIMENTAL.contains(name)));
    assert!(!all.contains("thread/rollback"), "it is gone since 0.171.0");
    let refusal = unknown("thread/rollback");
    assert!(
        METHODS
            .iter()
            .all(|name| refusal.contains(&format!("`{name}`")))
    );
}

#[test]
fn what_needs_the_experimental_api_is_named() {
    let table = [
        (
            "thread/start",
            json!({"historyMode": "legacy"}),
            Some("thread/start.historyMode"),
        ),
        (
            "thread/start",
            json!({"historyMode": null, "cwd": "/w"}),
            None,
        ),
        (
            "thread/fork",
            json!({"beforeTurnId": "t"}),
            Some("thread/fork.beforeTurnId"),
        ),
        ("thread/queue/add", json!({}), Some("thread/queue/add")),
        ("thread/read", json!({"historyMode": 1}), None),
        ("thread/start", json!(null), None),
    ];
    for (method, params, named) in table {
        let needed = experimental(method, &params);
        assert_eq!(needed.as_deref(), named, "{method} {params}");
    }
}

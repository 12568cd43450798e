use std::collections::HashSet;

use serde_json::json;

use super::super::face::SERVED;
use super::{Gate, METHODS, experimental, gate, unknown};

#[test]
fn the_table_holds_codexs_methods_each_once() {
    let all: HashSet<_> = METHODS.into_iter().map(|(name, _)| name).collect();
    let is_experimental = |(_, gate): &&(&str, Gate)| *gate == Gate::Experimental;
    let experimental = METHODS.iter().filter(is_experimental).count();
    assert_eq!((METHODS.len(), all.len(), experimental), (192, 192, 79));
    for served in SERVED {
        assert_eq!(gate(served), Some(Gate::Stable), "{served}");
    }
    assert_eq!(gate("thread/queue/add"), Some(Gate::Experimental));
    assert_eq!(gate("thread/rollback"), None, "it is gone since 0.171.0");
    let refusal = unknown("thread/rollback");
    let names = METHODS.map(|(name, _)| format!("`{name}`"));
    assert!(names.iter().all(|name| refusal.contains(name)));
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

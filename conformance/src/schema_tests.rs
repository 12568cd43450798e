use serde_json::json;

use super::{ACP_V1, Schemas};

/// The digest of `schemas/acp-v1.json` as `generator/` printed it.
const DIGEST: &str = include_str!("../schemas/acp-v1.blake3");

#[test]
fn the_vendored_schemas_are_those_that_were_generated() {
    let digest = blake3::hash(ACP_V1.as_bytes()).to_hex();
    assert_eq!(digest.as_str(), DIGEST.trim());
}

/// CONF-1: every frame is judged by the schema of its method.
#[test]
fn every_method_has_a_schema_that_refuses_what_is_not_its_own() {
    let schemas = Schemas::acp_v1().expect("vendored");
    for (table, least) in [("results", 12), ("calls", 11)] {
        let methods = schemas.schemas[table].as_object().expect("a table").clone();
        assert_eq!(methods.len(), least, "{table}");
        for method in methods.keys() {
            let fault = schemas.fault(table, method, &json!(7));
            assert!(fault.is_some(), "{table}/{method} takes a number");
        }
    }
}

#[test]
fn frames_fit_or_do_not() {
    let schemas = Schemas::acp_v1().expect("vendored");
    let chunk = |kind: &str| {
        json!({"sessionId": "s", "update": {
            "sessionUpdate": kind, "content": {"type": "text", "text": "x"}}})
    };
    assert_eq!(
        schemas.call("session/update", &chunk("agent_message_chunk")),
        None
    );
    assert!(
        schemas
            .call("session/update", &chunk("agentMessageChunk"))
            .is_some()
    );
    assert_eq!(
        schemas.result("session/prompt", &json!({"stopReason": "end_turn"})),
        None
    );
    assert!(
        schemas
            .result("session/prompt", &json!({"stopReason": "done"}))
            .is_some()
    );
    assert!(schemas.result("session/prompt", &json!(null)).is_some());
    assert_eq!(schemas.result("session/load", &json!(null)), None);
    assert_eq!(schemas.result("_other", &json!(7)), None);
    let extra = json!({"sessionId": "s", "colour": "red", "_meta": {"x": 1}});
    let found = schemas.extra_in_result("session/new", &extra);
    assert_eq!(found.as_deref(), Some("colour"));
}

use serde_json::json;

use super::{ACP_V1, ACP_V2, Schemas};
use crate::tongue::Tongue;

/// The digests of `schemas/acp-v1.json` and `acp-v2.json` as `generator/` printed them.
const DIGESTS: [(&str, &str); 2] = [
    (ACP_V1, include_str!("../schemas/acp-v1.blake3")),
    (ACP_V2, include_str!("../schemas/acp-v2.blake3")),
];

#[test]
fn the_vendored_schemas_are_those_that_were_generated() {
    for (schemas, digest) in DIGESTS {
        let found = blake3::hash(schemas.as_bytes()).to_hex();
        assert_eq!(found.as_str(), digest.trim());
    }
}

/// CONF-1: every frame is judged by the schema of its method.
#[test]
fn every_method_has_a_schema_that_refuses_what_is_not_its_own() {
    let rows = [
        (
            Tongue::AcpV1,
            [
                ("results", 12),
                ("calls", 11),
                ("requests", 9),
                ("answers", 9),
            ],
        ),
        (
            Tongue::AcpV2,
            [
                ("results", 12),
                ("calls", 4),
                ("requests", 9),
                ("answers", 2),
            ],
        ),
    ];
    for (tongue, tables) in rows {
        let schemas = Schemas::of(tongue).expect("vendored");
        for (table, least) in tables {
            let methods = schemas.schemas[table].as_object().expect("a table").clone();
            assert_eq!(methods.len(), least, "{tongue:?} {table}");
            for method in methods.keys() {
                let fault = schemas.fault(table, method, &json!(7));
                assert!(fault.is_some(), "{table}/{method} takes a number");
            }
        }
    }
}

#[test]
fn frames_of_the_native_protocol_fit_or_do_not() {
    let schemas = Schemas::of(Tongue::Sqeq).expect("vendored");
    let sound = json!({"v": 1, "type": "receipt", "id": "a", "accepted": {}});
    assert_eq!(schemas.frame(&sound), None);
    for broken in [
        json!({"v": 1, "type": "receipt", "id": "a"}),
        json!({"type": "receipt", "id": "a", "accepted": {}}),
        json!({"v": 1, "type": "sesame"}),
        json!(7),
    ] {
        assert!(schemas.frame(&broken).is_some(), "{broken}");
    }
}

#[test]
fn frames_fit_or_do_not() {
    let schemas = Schemas::of(Tongue::AcpV1).expect("vendored");
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

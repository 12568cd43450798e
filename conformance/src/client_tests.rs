use serde_json::{Value, json};

use super::Client;
use crate::case::{Elicitation, Permission};
use crate::schema::Schemas;
use crate::tongue::Tongue;

const PERMISSIONS: [Permission; 5] = [
    Permission::Allow,
    Permission::Always,
    Permission::Reject,
    Permission::Cancelled,
    Permission::NotOffered,
];

/// A client that offers everything, and its folder.
fn client() -> (tempfile::TempDir, Client) {
    let folder = tempfile::tempdir().expect("a folder");
    let offers = json!({
        "fs": {"readTextFile": true, "writeTextFile": true},
        "terminal": true,
        "elicitation": {"form": {}},
    });
    let client = Client::new(Tongue::AcpV1, folder.path(), offers);
    (folder, client)
}

/// CONF-1: what the suite answers fits the schema as well, unless a case wants it not to.
#[test]
fn every_answer_of_ours_fits_the_schema_of_its_method() {
    let (folder, client) = client();
    let path = folder.path().join("file").to_string_lossy().into_owned();
    let option = |kind: &str| json!({"optionId": kind, "name": kind, "kind": kind});
    let rows = [
        ("fs/write_text_file", json!({"path": path, "content": "x"})),
        ("fs/read_text_file", json!({"path": path})),
        ("terminal/create", json!({"command": "true"})),
        ("terminal/output", json!({"terminalId": "terminal-1"})),
        (
            "terminal/wait_for_exit",
            json!({"terminalId": "terminal-1"}),
        ),
        ("terminal/kill", json!({"terminalId": "terminal-1"})),
        ("terminal/release", json!({"terminalId": "terminal-1"})),
        (
            "elicitation/create",
            json!({"requestedSchema": {"properties": {"answer": {}}}}),
        ),
        (
            "session/request_permission",
            json!({"options": [option("allow_once"), option("allow_always"), option("reject_once")]}),
        ),
    ];
    for tongue in [Tongue::AcpV1, Tongue::AcpV2] {
        let schemas = Schemas::of(tongue).expect("vendored");
        for (method, params) in &rows {
            for permission in PERMISSIONS {
                client.set_permission(permission);
                for elicitation in [Elicitation::Accept, Elicitation::Decline] {
                    client.set_elicitation(elicitation);
                    let answer = client.outcome(method, params).expect("answered");
                    let answer = answer.unwrap_or_else(|code| panic!("{method}: {code}"));
                    let fault = schemas.own("answers", method, &answer);
                    assert_eq!(fault, None, "{method} {permission:?}");
                }
            }
        }
    }
}

#[test]
fn every_answer_in_the_native_protocol_fits_its_schema() {
    let (_folder, client) = client();
    let schemas = Schemas::of(Tongue::Sqeq).expect("the project's own");
    let option = |kind: &str| json!({"id": kind, "name": kind, "kind": kind});
    let options =
        json!({"options": [option("allow_once"), option("allow_always"), option("reject_once")]});
    let frame = |outcome: Value| {
        json!({"v": 1, "type": "answer", "request": "0199d7a0-0000-7000-8000-000000000001",
            "digest": "d", "outcome": outcome})
    };
    for permission in PERMISSIONS {
        client.set_permission(permission);
        let outcome = client.native(&"permission".into(), &options);
        let frame = frame(outcome.expect("answered"));
        let fault = schemas.own("answers", "", &frame);
        assert_eq!(fault, None, "{permission:?}");
    }
    client.set_permission(Permission::Malformed);
    let outcome = client.native(&"permission".into(), &options);
    let frame = frame(outcome.expect("answered"));
    assert!(schemas.own("answers", "", &frame).is_some());
}

use serde_json::json;

use super::*;

/// ADAPT-1: only a top-level `sessionId` is rewritten.
#[test]
fn only_the_top_level_session_id_is_rewritten() {
    let session: SessionId = "00000000-0000-7000-8000-000000000001".parse().unwrap();
    let ours = session.to_string();
    let cases = [
        (json!({"sessionId": "theirs"}), json!({"sessionId": ours})),
        (
            json!({"sessionId": "theirs", "a": {"sessionId": "child"}}),
            json!({"sessionId": ours, "a": {"sessionId": "child"}}),
        ),
        (json!({"a": 1}), json!({"a": 1})),
        (json!([{"sessionId": "x"}]), json!([{"sessionId": "x"}])),
        (json!(null), json!(null)),
    ];
    for (params, expected) in cases {
        assert_eq!(of_session(params, session), expected);
    }
}

use sessiond_protocol::Holder;

use super::*;

/// RESUME-3, RESUME-16, LOG-7
#[test]
fn each_error_of_the_waist_has_its_code_and_data() {
    let plain = |code| WireError::new(code, "said so");
    let mut held = plain(ErrorCode::Busy);
    held.holder = Some(Holder {
        pid: 7,
        host: "here".into(),
    });
    let mut drifted = plain(ErrorCode::Drifted);
    drifted.fields = vec![sessiond_protocol::DriftClass::Roots].into();
    let cases = [
        (
            plain(ErrorCode::NotFound),
            -32002,
            Some(r#"{"sessionId":"abc"}"#),
        ),
        (held, 4001, Some(r#"{"holder":{"pid":7,"host":"here"}}"#)),
        (plain(ErrorCode::Busy), 4001, None),
        (plain(ErrorCode::Damaged), 4002, None),
        (plain(ErrorCode::TooNew), 4003, None),
        (drifted, 4004, Some(r#"{"fields":["roots"]}"#)),
        (plain(ErrorCode::Storage), 4005, None),
        (plain(ErrorCode::QueueFull), 4006, None),
        (plain(ErrorCode::LeaseLost), 4007, None),
        (plain(ErrorCode::AgentUnavailable), 4008, None),
        (plain(ErrorCode::Invalid), -32602, None),
        (plain(ErrorCode::AgentFailed), -32603, None),
        (plain(ErrorCode::Internal), -32603, None),
    ];
    for (refused, code, data) in cases {
        let told = from_waist(&refused, "abc");
        let name = refused.code;
        assert_eq!(told.code(), code, "{name:?}");
        assert_eq!(told.data().map(|data| data.get()), data, "{name:?}");
        if code != -32002 {
            assert_eq!(told.message(), "said so", "{name:?}");
        }
    }
}

#[test]
fn an_agents_own_error_is_relayed_but_for_codes_that_mean_something_of_ours() {
    let cases = [
        (-32050, -32050),
        (1001, 1001),
        (-32601, -32601),
        (-32002, -32603),
        (-32700, -32603),
        (4001, -32603),
    ];
    for (code, expected) in cases {
        let mut refused = WireError::new(ErrorCode::AgentFailed, "peer: over quota");
        refused.foreign = Some(Box::new(ForeignError {
            code,
            message: "over quota".into(),
            data: serde_json::json!({ "retry": 5 }),
        }));
        let told = from_waist(&refused, "abc");
        assert_eq!((told.code(), told.message()), (expected, "over quota"));
        assert_eq!(told.data().map(|data| data.get()), Some(r#"{"retry":5}"#));
    }
}

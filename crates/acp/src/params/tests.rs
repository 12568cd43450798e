use agent_client_protocol_schema::v1::NewSessionRequest;

use super::*;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

/// LOG-13, RESUME-3
#[test]
fn what_is_no_id_of_ours_is_unknown_and_what_is_no_id_at_all_is_malformed() {
    let long = "a".repeat(SESSION_ID_BYTES);
    let longer = "a".repeat(SESSION_ID_BYTES + 1);
    let cases = [
        ("00000000-0000-7000-8000-000000000001", None),
        ("00000000-0000-7000-8000-00000000000A", Some(-32002)),
        ("{00000000-0000-7000-8000-000000000001}", Some(-32002)),
        ("../../x", Some(-32002)),
        ("/etc/passwd", Some(-32002)),
        ("a\u{fffd}b", Some(-32002)),
        (&long, Some(-32002)),
        (&longer, Some(-32602)),
        ("", Some(-32602)),
    ];
    for (text, code) in cases {
        let refused = session_id(text).err();
        assert_eq!(refused.map(|error| error.code()), code, "{text:.40}");
    }
}

/// WIRE-3, SEC-1
#[test]
fn a_refusal_never_repeats_what_was_received() {
    for text in [
        r#"{"cwd":"/w","mcpServers":"hunter2"}"#,
        r#""hunter2""#,
        r#"{"hunter2":1}"#,
    ] {
        let error = read::<NewSessionRequest>(Some(&raw(text))).unwrap_err();
        assert!(!error.message().contains("hunter2"), "{}", error.message());
        assert!(error.data().is_none());
    }
}

#[test]
fn a_prompt_holds_blocks_that_were_advertised_and_at_least_one() {
    let cases = [
        (r#"[{"type":"text","text":"hi"}]"#, true),
        (
            r#"[{"type":"text","text":"hi","annotations":{"priority":1}}]"#,
            true,
        ),
        (
            r#"[{"type":"resource_link","uri":"file:///a","name":"a"}]"#,
            true,
        ),
        (
            r#"[{"type":"resource","resource":{"uri":"file:///a","text":"t"}}]"#,
            true,
        ),
        (
            r#"[{"type":"resource","resource":{"uri":"file:///a","blob":"AA=="}}]"#,
            true,
        ),
        (
            r#"[{"type":"resource","resource":{"uri":"file:///a"}}]"#,
            false,
        ),
        (
            r#"[{"type":"image","data":"AA==","mimeType":"image/png"}]"#,
            false,
        ),
        (
            r#"[{"type":"audio","data":"AA==","mimeType":"audio/wav"}]"#,
            false,
        ),
        (r#"[{"type":"hologram"}]"#, false),
        (r#"[{"type":"text"}]"#, false),
        ("[]", false),
        ("null", false),
        (r#""hi""#, false),
    ];
    for (blocks, accepted) in cases {
        let params = raw(&format!(r#"{{"sessionId":"s","prompt":{blocks}}}"#));
        assert_eq!(prompt(Some(&params)).is_ok(), accepted, "{blocks}");
    }
}

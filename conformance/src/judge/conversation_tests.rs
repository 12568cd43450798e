use super::super::tests::found_in;
use crate::driver::End;
use crate::judge::Finding;
use crate::tongue::Tongue;

/// The same conversation, as three protocols tell it.
const ACP: &str = r##"
    # begun
    < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"user_message_chunk","messageId":"1","content":{"type":"text","text":"do"}}}}
    < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","status":"pending"}}}
    < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"}}}
    < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":"2","content":{"type":"text","text":"do"}}}}
    < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":"2","content":{"type":"text","text":"ne"}}}}
"##;
const NATIVE: &str = r##"
    # begun
    < {"type":"event","session":"s","item":"1","event":{"type":"item.ended","item":{"type":"user_message","content":[{"type":"text","text":"do"}]}}}
    < {"type":"event","session":"s","item":"t","event":{"type":"item.ended","item":{"type":"tool_call","status":"completed"}}}
    < {"type":"event","session":"s","item":"2","event":{"type":"item.delta","kind":"agent_message","offset":0,"text":"do"}}
    < {"type":"event","session":"s","item":"2","event":{"type":"item.ended","item":{"type":"agent_message","text":"done"}}}
"##;
const APP: &str = r##"
    # begun
    < {"id":1,"result":{"thread":{"id":"s","turns":[{"items":[{"type":"userMessage","id":"1","content":[{"type":"text","text":"do"}]},{"type":"commandExecution","id":"t","status":"completed"},{"type":"agentMessage","id":"2","text":"done"}]}]}}}
"##;

fn told(fits: &str) -> String {
    format!("conversation = {{ window = [\"begun\", \"end\"], fits = {fits} }}")
}

#[test]
fn a_conversation_is_the_same_in_every_protocol() {
    let whole = told(
        r#"[{ by = "user", text = "do" }, { tool = "completed" }, { by = "agent", text = "done" }]"#,
    );
    let rows = [
        (Tongue::AcpV1, ACP),
        (Tongue::AcpV2, ACP),
        (Tongue::Sqeq, NATIVE),
        (Tongue::AppServer, APP),
    ];
    for (tongue, script) in rows {
        let found = found_in(tongue, &whole, script, End::Done);
        assert_eq!(found, Finding::Holds, "{tongue:?}");
        for less in [
            r#"[{ by = "user", text = "do" }, { tool = "completed" }]"#,
            r#"[{ by = "user", text = "do" }, { by = "agent", text = "done" }]"#,
            r#"[{ by = "user", text = "do" }, { tool = "pending" }, { by = "agent", text = "done" }]"#,
            r#"[{ by = "user", text = "do" }, { tool = "completed" }, { by = "agent", text = "don" }]"#,
        ] {
            let found = found_in(tongue, &told(less), script, End::Done);
            assert!(
                matches!(found, Finding::Broken(_)),
                "{tongue:?} {less}: {found:?}"
            );
        }
    }
}

#[test]
fn what_stopped_the_case_is_said_with_what_was_told() {
    let whole = told(r#"[{ by = "user", text = "other" }]"#);
    let end = End::Stopped("it was gone".to_owned());
    match found_in(Tongue::AcpV1, &whole, ACP, end) {
        Finding::Broken(why) => assert!(why.contains("it was gone"), "{why}"),
        found => panic!("{found:?}"),
    }
}

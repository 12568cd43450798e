//! What an agent is offered.

use serde_json::{Value, json};
use sessiond_protocol::RequestKind;

use super::params;

/// ADAPT-5, docs/acp.md "Decided": what the controlling client answers, what the waist holds, and
/// nothing else. Plans by id, compactions and subagents are not offered: they would be shown and lost.
#[test]
fn an_agent_is_offered_what_can_be_carried_for_it() {
    use RequestKind::{
        Elicitation, ElicitationUrl, Extension, FsRead, FsWrite, Hook, Mcp, Permission, Terminal,
    };
    let always = json!({"configOptions": {"boolean": {}}, "notices": {}});
    let none = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false,
        "session": always});
    let all = json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true,
        "session": always, "elicitation": {"form": {}, "url": {}}});
    let urls = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false,
        "session": always, "elicitation": {"url": {}}});
    let table: [(&[RequestKind], Value); 4] = [
        (&[], none.clone()),
        (&[Permission, Extension, Hook, Mcp], none),
        (&[ElicitationUrl], urls),
        (
            &[
                Permission,
                FsRead,
                FsWrite,
                Terminal,
                Elicitation,
                ElicitationUrl,
            ],
            all,
        ),
    ];
    for (answers, expected) in table {
        assert_eq!(
            params(answers)["clientCapabilities"],
            expected,
            "{answers:?}"
        );
    }
}

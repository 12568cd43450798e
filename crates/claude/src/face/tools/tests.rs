use serde_json::Value;
use sessiond_protocol::{ItemId, ToolCall, ToolContent, ToolKind, ToolStatus};
use uuid::Uuid;

use super::{call_id, outcome, shown};
use crate::message::Failed;

fn call(name: &str, kind: ToolKind, input: Value) -> ToolCall {
    ToolCall {
        name: name.to_owned(),
        kind,
        input,
        ..ToolCall::default()
    }
}

fn item() -> ItemId {
    ItemId::new(Uuid::from_u128(7))
}

#[test]
fn a_call_keeps_its_own_id_where_that_names_it_alone() {
    let mut call = call("run", ToolKind::Execute, Value::Null);
    assert_eq!(shown(item(), &call, true).id, call_id(item()));
    call.native = Some("toolu_1".to_owned());
    assert_eq!(shown(item(), &call, true).id, "toolu_1");
    assert_eq!(shown(item(), &call, false).id, call_id(item()));
}

/// RESUME-6: a call whose end is not known says so.
#[test]
fn results_are_what_the_call_came_to() {
    let ended = |status, content: &str| ToolCall {
        status,
        content: match content {
            "" => Vec::new(),
            text => vec![ToolContent::text(text)],
        },
        ..call("run", ToolKind::Execute, Value::Null)
    };
    let table = [
        (ToolStatus::Completed, "hi\n", Failed::No, "hi\n"),
        (ToolStatus::Failed, "no", Failed::Yes, "no"),
        (
            ToolStatus::Unknown,
            "",
            Failed::Yes,
            "how it ended is not known",
        ),
        (ToolStatus::Cancelled, "", Failed::Yes, "it was interrupted"),
    ];
    for (status, content, failed, text) in table {
        let outcome = outcome("Bash", &ended(status, content));
        assert_eq!((outcome.failed, &*outcome.text), (failed, text));
        assert_eq!(outcome.result["stdout"], text);
    }
}

//! MCP calls: of servers that live in the client, where it answers for them.

use serde_json::{Map, Value, json};
use sessiond_engine::TurnOver;
use sessiond_protocol::{Outcome, RequestBody, ToolCall, ToolContent, ToolStatus};

use crate::call::{Call, Ended};
use crate::error::ToolError;
use crate::stage::Stage;

/// Calls a tool of a server.
pub(crate) async fn call(
    stage: &mut Stage<'_>,
    (server, tool): (&str, &str),
    arguments: &Map<String, Value>,
) -> Result<(), TurnOver> {
    let call = ToolCall {
        name: "mcp".to_owned(),
        title: format!("Call {tool} of {server}"),
        status: ToolStatus::Running,
        input: json!({ "server": server, "tool": tool, "arguments": arguments }),
        ..ToolCall::default()
    };
    let Some(call) = Call::start(stage, call).await? else {
        return Ok(());
    };
    let called = async {
        let (server, tool) = (call.text("server")?, call.text("tool")?);
        let question = RequestBody::Mcp {
            server: server.clone(),
            method: "tools/call".to_owned(),
            params: json!({ "name": tool, "arguments": call.member("arguments") }),
        };
        match call.ask(question).await? {
            Outcome::Result { result } => Ok(ended(result)),
            // Nobody has such a server.
            Outcome::Declined | Outcome::Unanswered => Err(ToolError::NoServer { server }),
            other => Err(call.without(other)),
        }
    };
    let called = called.await;
    call.end(called).await
}

/// The result of `tools/call` as MCP has it: its texts are shown, all of it is the output.
fn ended(result: Value) -> Ended {
    let blocks = result.get("content").and_then(Value::as_array);
    let texts = blocks.into_iter().flatten();
    let texts = texts.filter_map(|block| block.get("text")?.as_str());
    let failed = result.get("isError").and_then(Value::as_bool) == Some(true);
    Ended {
        status: match failed {
            true => ToolStatus::Failed,
            false => ToolStatus::Completed,
        },
        content: texts.map(ToolContent::text).collect(),
        output: result,
    }
}

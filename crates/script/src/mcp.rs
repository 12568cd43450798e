//! MCP calls: of servers that the client gave, and of those that live in the client.

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
    let Some(mut call) = Call::start(stage, call).await? else {
        return Ok(());
    };
    let called = called(stage, &mut call).await;
    call.end(called).await
}

/// A server that the client gave runs here, and asks like any other tool; one that lives in the
/// client is asked through it.
async fn called(stage: &mut Stage<'_>, call: &mut Call<'_>) -> Result<Ended, ToolError> {
    let (server, tool) = (call.text("server")?, call.text("tool")?);
    if stage.servers.has(&server) {
        call.permit(&format!("{server} {tool}")).await?;
        let arguments = match call.member("arguments") {
            Value::Object(arguments) => Some(arguments),
            _ => None,
        };
        return tokio::select! {
            biased;
            () = call.stopped() => Err(ToolError::Lost {
                reason: "the turn was cancelled while the server was at it".to_owned(),
            }),
            result = stage.servers.call(&server, tool, arguments) => Ok(ended(result?)),
        };
    }
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

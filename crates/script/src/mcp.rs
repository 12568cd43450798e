//! MCP calls. A session has no MCP servers yet, so that each call says which server is missing.

use serde_json::{Map, Value, json};
use sessiond_engine::TurnOver;
use sessiond_protocol::{ToolCall, ToolStatus};

use crate::call::Call;
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
    let call = Call::start(stage, call).await?;
    call.end(Err(ToolError::NoServer {
        server: server.to_owned(),
    }))
    .await
}

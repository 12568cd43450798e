//! A streaming agent on the Rust SDK. The prompt `/stream N BYTES` is answered by N message chunks of
//! BYTES bytes.

use agent_client_protocol::v1::schema::{
    AgentCapabilities, ContentBlock, ContentChunk, InitializeRequest, InitializeResponse,
    NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, SessionNotification,
    SessionUpdate, StopReason, TextContent,
};
use agent_client_protocol::{Agent, Result, Stdio, on_receive_request};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    Agent
        .v1()
        .name("stream-rust-sdk")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _cx| {
                let answer = InitializeResponse::new(request.protocol_version);
                responder.respond(answer.agent_capabilities(AgentCapabilities::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: NewSessionRequest, responder, _cx| {
                responder.respond(NewSessionResponse::new("stream"))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, cx| {
                let (count, bytes) = wanted(&request.prompt);
                for _ in 0..count {
                    let text = ContentBlock::Text(TextContent::new("x".repeat(bytes)));
                    let update = SessionUpdate::AgentMessageChunk(ContentChunk::new(text));
                    let session = request.session_id.clone();
                    cx.send_notification(SessionNotification::new(session, update))?;
                }
                responder.respond(PromptResponse::new(StopReason::EndTurn))
            },
            on_receive_request!(),
        )
        .connect_to(Stdio::new())
        .await
}

/// How many chunks of how many bytes.
fn wanted(prompt: &[ContentBlock]) -> (usize, usize) {
    let text = prompt.iter().find_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let mut numbers = text.unwrap_or_default().split(' ').skip(1);
    let mut next = || numbers.next().and_then(|number| number.parse().ok()).unwrap_or(0);
    (next(), next())
}

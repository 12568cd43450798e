//! What the CLI says in a turn: pieces as they stream, then each block whole.

use serde_json::{Map, Value};
use sessiond_engine::{Emit, TurnContext, TurnOver};

/// What of a message was told.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Of the block that streams: what was told of it.
    text: String,
    thought: String,
    /// Tokens that the newest request read, and wrote.
    read: u64,
    written: u64,
}

impl Stream {
    /// Takes in a raw event of the model's stream.
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub(super) async fn event(
        &mut self,
        context: &TurnContext,
        frame: &Map<String, Value>,
    ) -> Result<(), TurnOver> {
        let Some(event) = frame.get("event") else {
            return Ok(());
        };
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
        match text("/type") {
            Some("content_block_delta") => match (text("/delta/text"), text("/delta/thinking")) {
                (Some(more), _) => {
                    self.text.push_str(more);
                    context.say(more).await
                }
                (None, Some(more)) => {
                    self.thought.push_str(more);
                    context.emit(Emit::Thought(more.to_owned())).await
                }
                (None, None) => Ok(()),
            },
            Some("message_start") => {
                self.read = tokens(event.pointer("/message/usage"));
                // What is left of a reply that broke off, and is asked for again, is a message.
                self.block_ends(context).await
            }
            Some("message_delta") => {
                let written = event.pointer("/usage/output_tokens");
                self.written = written.and_then(Value::as_u64).unwrap_or(0);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Takes in a block of text that is whole: tells what was not streamed of it.
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub(super) async fn text(
        &mut self,
        context: &TurnContext,
        whole: &str,
    ) -> Result<(), TurnOver> {
        if let Some(rest) = rest(whole, &self.text) {
            context.say(rest).await?;
        }
        self.block_ends(context).await
    }

    /// The same for a thought.
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub(super) async fn thought(
        &mut self,
        context: &TurnContext,
        whole: &str,
    ) -> Result<(), TurnOver> {
        if let Some(rest) = rest(whole, &self.thought) {
            context.emit(Emit::Thought(rest.to_owned())).await?;
        }
        self.block_ends(context).await
    }

    /// Tokens in the context: what the newest request read, and wrote.
    pub(super) fn used(&self) -> u64 {
        self.read + self.written
    }

    async fn block_ends(&mut self, context: &TurnContext) -> Result<(), TurnOver> {
        self.text.clear();
        self.thought.clear();
        context.emit(Emit::MessageEnd).await
    }
}

/// What of a whole was not told; none where that is nothing, or something else was.
fn rest<'a>(whole: &'a str, told: &str) -> Option<&'a str> {
    whole.strip_prefix(told).filter(|rest| !rest.is_empty())
}

/// All tokens that a request read.
fn tokens(usage: Option<&Value>) -> u64 {
    let tokens = |name: &str| usage.and_then(|usage| usage.get(name)?.as_u64());
    let parts = [
        "input_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    ];
    parts.iter().filter_map(|name| tokens(name)).sum()
}

//! The way of a client's extensions to the agent.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use sessiond_engine::{AgentError, Extensions};
use sessiond_protocol::ErrorCode;

use super::failure::failed;
use super::native::Native;

/// A session of a running agent, for what the waist does not know.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) native: Arc<Native>,
}

#[async_trait]
impl Extensions for Handle {
    async fn request(&self, method: String, mut params: Value) -> Result<Value, AgentError> {
        let native = &self.native;
        if !is_extension(&method) {
            return Err(AgentError {
                code: ErrorCode::Unsupported,
                ..AgentError::failed("an extension's name begins with an underscore")
            });
        }
        native.to_native(&mut params);
        native.peer.queue().ready().await;
        let answer = native.peer.request(&method, &params).await;
        let answer = answer.map_err(|error| failed(&native.agent, error))?;
        let mut result = serde_json::from_str(answer.get()).unwrap_or_default();
        native.to_ours(&mut result);
        Ok(result)
    }

    async fn notify(&self, method: String, mut params: Value) {
        if !is_extension(&method) {
            return;
        }
        self.native.to_native(&mut params);
        self.native.peer.queue().ready().await;
        if self.native.peer.notify(&method, &params).is_err() {
            tracing::warn!("an extension could not be written as JSON");
        }
    }
}

/// What the protocol itself names is said on the waist, where it is recorded; nothing goes past it.
fn is_extension(method: &str) -> bool {
    method.starts_with('_')
}

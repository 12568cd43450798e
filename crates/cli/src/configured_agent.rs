//! An agent under the name that the configuration gives it.

use async_trait::async_trait;
use sessiond_engine::{Agent, AgentError, AgentFactory, Opening};
use sessiond_protocol::AgentInfo;

/// Another agent, called by its configured name: sessions record that name, and find the agent by
/// it again when they are resumed.
pub(crate) struct ConfiguredAgent<F> {
    name: String,
    agent: F,
}

impl<F> ConfiguredAgent<F> {
    pub(crate) fn new(name: String, agent: F) -> Self {
        ConfiguredAgent { name, agent }
    }
}

#[async_trait]
impl<F: AgentFactory> AgentFactory for ConfiguredAgent<F> {
    fn info(&self) -> AgentInfo {
        let mut info = self.agent.info();
        info.id.name.clone_from(&self.name);
        info
    }

    async fn open(&self, opening: Opening) -> Result<Box<dyn Agent>, AgentError> {
        self.agent.open(opening).await
    }
}

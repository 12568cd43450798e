//! The script agent, watched from its engine's side: whether its turns return by themselves. An
//! engine ends a cancelled turn after a grace in any case, so that its client cannot tell.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use sessiond_engine::{Agent, AgentError, AgentFactory, Opening, TurnContext, TurnReport};
use sessiond_protocol::{AgentInfo, Content};
use sessiond_script::ScriptAgent;

/// Counts the turns that returned.
#[derive(Clone)]
pub(crate) struct Watched {
    agent: ScriptAgent,
    returned: Arc<AtomicUsize>,
}

impl Watched {
    pub(crate) fn new(agent: ScriptAgent) -> Self {
        Self {
            agent,
            returned: Arc::default(),
        }
    }

    /// How many turns returned until now.
    pub(crate) fn returned(&self) -> usize {
        self.returned.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl AgentFactory for Watched {
    fn info(&self) -> AgentInfo {
        self.agent.info()
    }

    async fn open(&self, opening: Opening) -> Result<Box<dyn Agent>, AgentError> {
        let agent = self.agent.open(opening).await?;
        let returned = self.returned.clone();
        Ok(Box::new(WatchedTurns { agent, returned }))
    }
}

struct WatchedTurns {
    agent: Box<dyn Agent>,
    returned: Arc<AtomicUsize>,
}

#[async_trait]
impl Agent for WatchedTurns {
    async fn turn(
        &mut self,
        prompt: Vec<Content>,
        context: &TurnContext,
    ) -> Result<TurnReport, AgentError> {
        let result = self.agent.turn(prompt, context).await;
        self.returned.fetch_add(1, Ordering::SeqCst);
        result
    }
}

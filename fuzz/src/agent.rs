//! An engine with an agent that touches nothing: it says what it is told, asks, or hangs.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use sessiond_engine::{
    Agent, AgentError, AgentFactory, Announced, Engine, EngineConfig, Environment, Opening,
    TurnContext, TurnReport,
};
use sessiond_log::Store;
use sessiond_protocol::{
    AgentId, AgentInfo, Content, Mode, ModePolicy, Permission, PermissionKind, PermissionOption,
    PersistenceState, RequestBody, Stop, ToolCall, Workspace,
};

struct Parrot;

#[async_trait]
impl AgentFactory for Parrot {
    fn info(&self) -> AgentInfo {
        let mode = |id: &str, policy| Mode {
            id: id.into(),
            name: id.into(),
            description: id.into(),
            policy,
        };
        let modes = vec![
            mode("ask", ModePolicy::Ask),
            mode("auto", ModePolicy::Allow),
        ];
        AgentInfo {
            id: AgentId {
                name: "parrot".into(),
                version: None,
            },
            modes,
            options: Vec::new(),
            commands: Vec::new(),
        }
    }

    async fn open(&self, _opening: Opening) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(Parrot))
    }
}

#[async_trait]
impl Agent for Parrot {
    async fn turn(
        &mut self,
        prompt: Vec<Content>,
        context: &TurnContext,
    ) -> Result<TurnReport, AgentError> {
        for text in prompt.iter().filter_map(Content::as_text) {
            match text {
                "ask" => ask(context).await?,
                "hang" => context.cancelled().await,
                text => context.say(text).await?,
            }
        }
        Ok(TurnReport {
            stop: Stop::EndTurn,
            usage: None,
        })
    }
}

async fn ask(context: &TurnContext) -> Result<(), AgentError> {
    let call = ToolCall {
        name: "tool".into(),
        ..ToolCall::default()
    };
    let (Announced::Run(id) | Announced::RunWith(id, _)) = context.start_call(call).await? else {
        return Ok(());
    };
    let options = PermissionKind::ALL.map(|kind| PermissionOption {
        id: kind.id().into(),
        name: kind.id().into(),
        kind,
    });
    let question = Permission {
        title: "May I?".into(),
        tool: "tool".into(),
        pattern: "all".into(),
        options: options.to_vec(),
    };
    context
        .ask(Some(id), RequestBody::Permission(question))
        .await?;
    Ok(())
}

struct Nowhere;

impl Environment for Nowhere {
    fn workspace(&self, _cwd: &Path) -> Workspace {
        Workspace::default()
    }

    fn principal(&self) -> Option<String> {
        None
    }
}

/// An engine with nothing in it.
pub fn engine() -> Engine {
    let agent: Arc<dyn AgentFactory> = Arc::new(Parrot);
    Engine::new(EngineConfig {
        store: Store::in_memory(),
        persistence: PersistenceState::On,
        agents: HashMap::from([("parrot".to_owned(), agent)]),
        default_agent: "parrot".into(),
        source: "fuzz".into(),
        environment: Arc::new(Nowhere),
    })
}

//! The agent: what the engine opens, and how a turn goes through its steps.

use std::{collections::VecDeque, path::PathBuf};

use async_trait::async_trait;
use sessiond_engine::{
    Agent, AgentError, AgentFactory, CompactionReport, Emit, HistorySource, Opening, TurnContext,
    TurnReport,
};
use sessiond_mcp::Servers;
use sessiond_protocol::{
    AgentId, AgentInfo, Content, Cost, Currency, Mode, ModePolicy, PlanEntry, PlanPriority,
    PlanStatus, Stop, Usage,
};
use sessiond_wire::process::SupervisorExe;

use crate::command::{COMMANDS, Command};
use crate::stage::Stage;
use crate::step::Step;
use crate::{files, mcp, parse, question, run, settings, speech, summary};

/// What `/usage` tells, always: nothing here counts tokens, and a fixed value is what a client's
/// test wants to see.
const USAGE: Usage = Usage {
    used: 1_200,
    size: 200_000,
    input: 1_000,
    output: 200,
    thought: Some(50),
    cached_read: Some(400),
    cached_write: Some(100),
    cost: Some(Cost {
        nanos: 12_500_000,
        currency: Currency::USD,
    }),
};

/// The script agent, as configured. Opening it never fails.
#[derive(Debug, Clone)]
pub struct ScriptAgent {
    supervisor: SupervisorExe,
}

impl ScriptAgent {
    /// An agent whose commands run under the guard that `supervisor` names.
    pub fn new(supervisor: SupervisorExe) -> Self {
        Self { supervisor }
    }
}

#[async_trait]
impl AgentFactory for ScriptAgent {
    fn info(&self) -> AgentInfo {
        let version = Some(env!("CARGO_PKG_VERSION").to_owned());
        AgentInfo {
            id: AgentId {
                name: "script".to_owned(),
                version,
            },
            modes: modes(),
            options: settings::options(),
            commands: commands(),
        }
    }

    fn can_compact(&self) -> bool {
        true
    }

    async fn open(&self, opening: Opening) -> Result<Box<dyn Agent>, AgentError> {
        let servers = opening.setup.mcp_servers;
        Ok(Box::new(Script {
            servers: Servers::new(servers, &opening.cwd, &self.supervisor),
            cwd: opening.cwd,
            supervisor: self.supervisor.clone(),
        }))
    }
}

fn commands() -> Vec<sessiond_protocol::Command> {
    let own = COMMANDS.iter().map(Command::advertised);
    own.chain([sessiond_protocol::Command::compaction()])
        .collect()
}

fn modes() -> Vec<Mode> {
    let mode = |id: &str, name: &str, description: &str, policy| Mode {
        id: id.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        policy,
    };
    vec![
        mode(
            "ask",
            "Ask",
            "Asks before it changes files or runs commands",
            ModePolicy::Ask,
        ),
        mode(
            "auto",
            "Auto",
            "Changes files and runs commands without asking",
            ModePolicy::Allow,
        ),
        mode(
            "read-only",
            "Read only",
            "Changes no files and runs no commands",
            ModePolicy::Deny,
        ),
    ]
}

/// The agent open for one session. Between turns it keeps nothing but the servers that it started.
struct Script {
    cwd: PathBuf,
    supervisor: SupervisorExe,
    servers: Servers,
}

/// Whether a script goes on after a step.
enum Flow {
    Next,
    End(Stop),
}

#[async_trait]
impl Agent for Script {
    async fn turn(
        &mut self,
        prompt: Vec<Content>,
        context: &TurnContext,
    ) -> Result<TurnReport, AgentError> {
        let mut stage = Stage::new(context, &self.cwd, &self.supervisor, &mut self.servers);
        let mut steps = VecDeque::from(parse::prompt(&prompt));
        if steps.is_empty() {
            stage.say("The prompt has no text.").await?;
        }
        while let Some(step) = steps.pop_front() {
            if let Flow::End(stop) = perform(&mut stage, &step).await? {
                return finish(stage, stop).await;
            }
            steps.extend(stage.steered().await?);
        }
        finish(stage, Stop::EndTurn).await
    }

    async fn compact(
        &mut self,
        conversation: HistorySource,
        _context: &TurnContext,
    ) -> Result<CompactionReport, AgentError> {
        let summary = summary::of(&conversation.load().await?);
        let usage = None;
        Ok(CompactionReport { summary, usage })
    }
}

/// Ends a turn, with its usage where the user wants that of each.
async fn finish(mut stage: Stage<'_>, stop: Stop) -> Result<TurnReport, AgentError> {
    if settings::tells_usage(stage.context) && !stage.is_cancelled() {
        stage.emit(Emit::Usage(USAGE)).await?;
    }
    Ok(stage.report(stop))
}

async fn perform(stage: &mut Stage<'_>, step: &Step) -> Result<Flow, AgentError> {
    if stage.is_cancelled() {
        // The engine calls the turn cancelled, whatever stop it is told.
        return Ok(Flow::End(Stop::EndTurn));
    }
    match step {
        Step::Echo(text) => speech::echo(stage, text).await?,
        Step::Say(text) => stage.say(text).await?,
        Step::Stream(pieces) => speech::stream(stage, *pieces).await?,
        Step::Think(text) => stage.emit(Emit::Thought(text.clone())).await?,
        Step::Sleep(wait) => stage.sleep(*wait).await,
        Step::Read { path } => files::read(stage, path).await?,
        Step::Write { path, text } => files::write(stage, path, text).await?,
        Step::Edit { path, old, new } => files::edit(stage, path, (old, new)).await?,
        Step::Run { command } => run::run(stage, command).await?,
        Step::Ask { question } => question::ask(stage, question).await?,
        Step::Plan(entries) => stage.emit(Emit::Plan(plan(entries))).await?,
        Step::Mcp {
            server,
            tool,
            arguments,
        } => {
            mcp::call(stage, (server, tool), arguments).await?;
        }
        Step::Usage => stage.emit(Emit::Usage(USAGE)).await?,
        Step::Fail(message) => return Err(AgentError::failed(message)),
        Step::Refuse => return Ok(Flow::End(Stop::Refusal)),
        Step::Title(title) => stage.emit(Emit::Title(title.clone())).await?,
        Step::Repeat { times, step } => {
            for _ in 0..*times {
                if let Flow::End(stop) = Box::pin(perform(stage, step)).await? {
                    return Ok(Flow::End(stop));
                }
            }
        }
    }
    Ok(Flow::Next)
}

fn plan(entries: &[String]) -> Vec<PlanEntry> {
    let entry = |content: &String| PlanEntry {
        content: content.clone(),
        priority: PlanPriority::Medium,
        status: PlanStatus::Pending,
    };
    entries.iter().map(entry).collect()
}

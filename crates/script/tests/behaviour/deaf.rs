//! An agent that hears no cancellation, with a tool that hides: the turn ends when the tool is gone.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use sessiond_engine::{
    Agent, AgentError, AgentFactory, Announced, Emit, Opening, TurnContext, TurnReport,
};
use sessiond_protocol::{AgentInfo, Content, ToolCall, ToolStatus, TurnOutcome};
use sessiond_script::ScriptAgent;
use sessiond_wire::process::{ErrorOutput, GuardedCommand, Output, Supervised};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::session::{Act, Seen, Session, supervisor};

/// Scripts that print the processes that must die on one line, and stay.
const TREES: [(&str, &str); 4] = [
    (
        "deaf to SIGTERM",
        "trap '' TERM HUP INT; echo $$; while :; do sleep 1; done",
    ),
    (
        "a session of its own",
        "setsid sleep 1000 & echo $$ $!; wait",
    ),
    (
        "a daemon, forked twice, deaf",
        "(setsid sh -c \"trap '' TERM; echo \\$\\$; while :; do sleep 1; done\" &); sleep 1000",
    ),
    ("stopped", "echo $$; kill -STOP $$"),
];

/// Runs its prompt as a command, and never looks at anything again.
struct Deaf;

#[async_trait]
impl AgentFactory for Deaf {
    fn info(&self) -> AgentInfo {
        ScriptAgent::new(supervisor()).info()
    }

    async fn open(&self, _opening: Opening) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(Deaf))
    }
}

#[async_trait]
impl Agent for Deaf {
    async fn turn(
        &mut self,
        prompt: Vec<Content>,
        context: &TurnContext,
    ) -> Result<TurnReport, AgentError> {
        let script = prompt.first().and_then(Content::as_text).expect("a script");
        let call = ToolCall {
            name: "run".to_owned(),
            status: ToolStatus::Running,
            ..ToolCall::default()
        };
        let Announced::Run(item) = context.start_call(call).await? else {
            panic!("nobody has a say here");
        };
        let mut child = Supervised::spawn(GuardedCommand {
            args: vec!["-c".into(), script.into()],
            stdout: Output::Piped,
            stderr: ErrorOutput::Inherited,
            exe: supervisor(),
            ..GuardedCommand::new("sh")
        })
        .expect("a guard");
        child.keep(context.hold());
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        stdout.read_line(&mut line).await.expect("a line");
        context.emit(Emit::CallOutput(item, line)).await?;
        std::future::pending().await
    }
}

/// TASK-4, TASK-5, SQEQ-3
#[tokio::test]
async fn nothing_of_a_tool_is_left_when_its_turn_ends_though_the_agent_had_to_be_dropped() {
    for (name, script) in TREES {
        let mut session = Session::of(Arc::new(Deaf), &[]).await;
        let mut pids = String::new();
        let turn = session.turn(script, |seen| match seen {
            Seen::Output(line) => {
                pids.push_str(line);
                Act::Interrupt
            }
            _ => Act::Watch,
        });
        let turn = turn.await;
        assert_eq!(turn.outcome, TurnOutcome::Cancelled, "{name}");
        assert_eq!(turn.call().status, ToolStatus::Cancelled, "{name}");
        assert!(!pids.is_empty());
        for pid in pids.split_whitespace() {
            assert!(
                !Path::new("/proc").join(pid).exists(),
                "{name}: {pid} lives"
            );
        }
    }
}

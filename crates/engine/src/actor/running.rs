//! The agent of a session and the turn it runs.

use std::future::pending;

use sessiond_protocol::Content;
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

use super::Actor;
use crate::{
    agent::{
        AGENT_AHEAD, Agent, AgentError, FromAgent, HistorySource, Opening, TurnContext, TurnReport,
    },
    catalog::history,
};

/// The agent, whether it runs a turn or waits for one.
#[derive(Default)]
pub(super) struct Running {
    /// Open, between turns.
    idle: Option<Box<dyn Agent>>,
    turn: Option<Turn>,
}

struct Turn {
    messages: mpsc::Receiver<FromAgent>,
    cancel: watch::Sender<bool>,
    task: JoinHandle<End>,
}

/// How a turn's task ends: with the agent, where it is still good, and the turn's result.
type End = (Option<Box<dyn Agent>>, Result<TurnReport, AgentError>);

/// What comes from a running turn.
#[derive(Debug)]
pub(super) enum Message {
    Said(FromAgent),
    Done(Result<TurnReport, AgentError>),
}

impl Running {
    /// The next thing the agent says; its end comes after all that it said. Loses nothing when
    /// dropped while it waits.
    pub(super) async fn recv(&mut self) -> Message {
        let Some(turn) = &mut self.turn else {
            return pending().await;
        };
        if let Some(said) = turn.messages.recv().await {
            return Message::Said(said);
        }
        // The context is gone, so the task is at its end.
        let result = (&mut turn.task).await;
        self.turn = None;
        match result {
            Ok((agent, result)) => {
                self.idle = agent;
                Message::Done(result)
            }
            Err(_) => Message::Done(Err(AgentError::failed("the agent broke down"))),
        }
    }

    /// What is there already.
    pub(super) fn try_recv(&mut self) -> Option<FromAgent> {
        self.turn.as_mut()?.messages.try_recv().ok()
    }

    pub(super) fn cancel(&self) {
        if let Some(turn) = &self.turn {
            turn.cancel.send_replace(true);
        }
    }

    /// Drops the agent where it stands; the next turn opens it anew.
    pub(super) fn drop_agent(&mut self) {
        self.idle = None;
        if let Some(turn) = self.turn.take() {
            turn.task.abort();
        }
    }
}

impl Actor {
    pub(super) fn start_agent(&mut self, prompt: Vec<Content>) {
        let (to_session, messages) = mpsc::channel(AGENT_AHEAD);
        let (cancel, cancelled) = watch::channel(false);
        let context = TurnContext {
            to_session,
            cancelled,
        };
        let idle = self.running.idle.take();
        let factory = self.parts.factory.clone();
        let opening = self.opening();
        let task = tokio::spawn(async move {
            let opened = match idle {
                Some(agent) => Ok(agent),
                None => factory.open(opening).await,
            };
            let result = match opened {
                Ok(mut agent) => {
                    let result = agent.turn(prompt, &context).await;
                    (Some(agent), result)
                }
                Err(error) => (None, Err(error)),
            };
            // All that was said has been sent; the end of the channel says that the end is near.
            drop(context);
            result
        });
        self.running.turn = Some(Turn {
            messages,
            cancel,
            task,
        });
    }

    fn opening(&self) -> Opening {
        let (session, lease) = (self.parts.session, self.parts.lease.clone());
        let current = self.core.active_turn();
        let read = move || history(session, &lease, current);
        Opening {
            session,
            cwd: self.parts.cwd.clone().into(),
            history: HistorySource::new(read),
        }
    }
}

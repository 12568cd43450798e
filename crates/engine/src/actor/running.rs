//! The agent of a session and the turn it runs.

use std::{
    collections::HashSet, convert::Infallible, future::pending, sync::atomic::AtomicU64,
    time::Duration,
};

use sessiond_protocol::{Content, ItemId, Settings, TurnId};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

use super::Actor;
use crate::{
    agent::{AGENT_AHEAD, Agent, AgentError, FromAgent, HistorySource, Hold, Opening, TurnContext},
    catalog::history,
    report::Report,
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
    steered: watch::Sender<u64>,
    settings: watch::Sender<Settings>,
    stopped: watch::Sender<HashSet<ItemId>>,
    task: JoinHandle<End>,
    /// What the task came to, while something of the turn still runs.
    result: Option<Result<Report, AgentError>>,
    /// Ends with the last [`Hold`].
    held: mpsc::Receiver<Infallible>,
}

/// How a turn's task ends: with the agent, where it is still good, and the turn's result.
type End = (Option<Box<dyn Agent>>, Result<Report, AgentError>);

/// What an agent does in a turn.
#[derive(Debug)]
pub(super) enum Work {
    Answer(Vec<Content>),
    Compact,
}

/// What comes from a running turn.
#[derive(Debug)]
pub(super) enum Message {
    Said(FromAgent),
    Done(Result<Report, AgentError>),
}

impl Running {
    /// The next thing the agent says; its end comes after all that it said, and when nothing that
    /// it started runs any more (TASK-4). Loses nothing when dropped while it waits.
    pub(super) async fn recv(&mut self) -> Message {
        let Some(turn) = &mut self.turn else {
            return pending().await;
        };
        if let Some(said) = turn.messages.recv().await {
            return Message::Said(said);
        }
        if turn.result.is_none() {
            // The context is gone, so the task is at its end.
            let result = match (&mut turn.task).await {
                Ok((agent, result)) => {
                    self.idle = agent;
                    result
                }
                Err(error) if error.is_cancelled() => {
                    Err(AgentError::failed("the agent was stopped"))
                }
                Err(_) => Err(AgentError::failed("the agent broke down")),
            };
            turn.result = Some(result);
        }
        while turn.held.recv().await.is_some() {}
        let result = turn.result.take();
        self.turn = None;
        Message::Done(result.unwrap_or_else(|| Err(AgentError::failed("the agent broke down"))))
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

    /// Lets the agent know that there is something for it to take.
    pub(super) fn steered(&self) {
        if let Some(turn) = &self.turn {
            turn.steered.send_modify(|count| *count += 1);
        }
    }

    /// Lets the agent know what is in force now; between turns the next one begins with it.
    pub(super) fn settings(&self, settings: Settings) {
        if let Some(turn) = &self.turn {
            turn.settings.send_replace(settings);
        }
    }

    /// Lets the agent know that one call shall stop.
    pub(super) fn stop_call(&self, item: ItemId) {
        if let Some(turn) = &self.turn {
            turn.stopped.send_modify(|calls| {
                calls.insert(item);
            });
        }
    }

    /// Drops the agent where it stands; the next turn opens it anew. Whether there was a turn, whose
    /// end [`Running::recv`] still tells.
    pub(super) fn drop_agent(&mut self) -> Dropped {
        self.idle = None;
        match &self.turn {
            Some(turn) => {
                turn.task.abort();
                Dropped::Ending
            }
            None => Dropped::Idle,
        }
    }

    /// Waits until nothing runs of the turn whose agent was dropped, at most so long, and forgets it.
    pub(super) async fn gone(&mut self, limit: Duration) {
        let ending = async {
            while self.turn.is_some() {
                self.recv().await;
            }
        };
        if tokio::time::timeout(limit, ending).await.is_err() {
            tracing::warn!("something of a turn still runs after its agent was dropped");
        }
        self.forget();
    }

    /// Waits no longer for the end of what was dropped.
    pub(super) fn forget(&mut self) {
        self.idle = None;
        self.turn = None;
    }
}

/// What there was to be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dropped {
    /// No turn.
    Idle,
    /// A turn that comes to its end now.
    Ending,
}

impl Actor {
    /// Starts the agent on a turn, unless the turn has ended while its record was being stored.
    pub(super) fn start_agent(&mut self, turn: TurnId, work: Work) {
        if self.core.active_turn() != Some(turn) {
            return;
        }
        let (to_session, messages) = mpsc::channel(AGENT_AHEAD);
        // A cancel may come before the first event (SQEQ-4).
        let (cancel, cancelled) = watch::channel(self.core.is_stopping());
        let (steered_to, steered) = watch::channel(0);
        let (settings_to, settings) = watch::channel(self.core.settings());
        let (stop_call, stopped) = watch::channel(HashSet::new());
        let (hold, held) = mpsc::channel(1);
        let context = TurnContext {
            to_session,
            cancelled,
            steered,
            taken: AtomicU64::new(0),
            settings,
            stopped,
            hold: Hold { _held: hold },
        };
        let idle = self.running.idle.take();
        let idle = idle.filter(|agent| !agent.is_gone());
        let factory = self.parts.factory.clone();
        let (opening, conversation) = (self.opening(), self.history());
        let task = tokio::spawn(async move {
            let opened = match idle {
                Some(agent) => Ok(agent),
                None => factory.open(opening).await,
            };
            let result = match opened {
                Ok(mut agent) => {
                    let result = match work {
                        Work::Answer(prompt) => {
                            let result = agent.turn(prompt, &context).await;
                            result.map(Report::Turn)
                        }
                        Work::Compact => {
                            let result = agent.compact(conversation, &context).await;
                            result.map(Report::Compaction)
                        }
                    };
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
            steered: steered_to,
            settings: settings_to,
            stopped: stop_call,
            task,
            result: None,
            held,
        });
    }

    /// The conversation before the active turn.
    fn history(&self) -> HistorySource {
        let (session, lease) = (self.parts.session, self.parts.lease.clone());
        let current = self.core.active_turn();
        let in_force = self.core.in_force();
        HistorySource::new(move || history(session, &lease, (&in_force, current)))
    }

    fn opening(&self) -> Opening {
        let mut setup = self.parts.setup.clone();
        let standing = self.core.standing();
        setup.instructions.clone_from(&standing.instructions);
        Opening {
            session: self.parts.session,
            cwd: self.parts.surroundings.cwd.clone().into(),
            setup,
            settings: self.core.settings(),
            native: standing.native.clone(),
            answers: self.core.answered(),
            updates: self.parts.updates.updates(),
            endpoint: self.parts.endpoint.clone(),
            history: self.history(),
        }
    }
}

//! An agent that is open for a session: what it still has to be told, and its turns.

use std::sync::Arc;

use agent_client_protocol_schema::v1::PromptCapabilities;
use async_trait::async_trait;
use serde_json::Value;
use sessiond_engine::alignment::{Alignment, align};
use sessiond_engine::between::{Left, Voice};
use sessiond_engine::handover::Handover;
use sessiond_engine::{Agent, AgentError, Conversation, Emit, Opening, TurnContext, TurnReport};
use sessiond_protocol::{Content, HistoryItem, Lack, Severity};
use sessiond_wire::process::AgentCommand;
use sessiond_wire::program::RpcProgram;
use sessiond_wire::rpc::Inbound;

use super::between::Between;
use super::handover;
use super::native::{Native, SESSION};
use super::prompt;
use super::start::{Memory, Started};
use super::turn::{Binding, Turn};

/// What is done once the session is gone.
pub(super) type Gone = Arc<dyn Fn() + Send + Sync>;

/// A running agent, bound to a session.
pub(super) struct Downstream {
    native: Arc<Native>,
    program: RpcProgram,
    takes: PromptCapabilities,
    binding: Binding,
    /// What it lacks of the conversation.
    handover: Option<Handover>,
    /// What else goes before the first prompt.
    before: Vec<Value>,
    /// Whoever listens between turns; none while a turn runs, or where one was left.
    between: Option<Between>,
    gone: Gone,
}

impl Downstream {
    /// Compares what the agent knows with the log, and makes ready what it lacks.
    ///
    /// # Errors
    /// [`AgentError`] where the log cannot be read, or the agent makes no new session.
    pub(super) async fn bind(
        command: &AgentCommand,
        mut started: Started,
        opening: Opening,
        gone: Gone,
    ) -> Result<Self, AgentError> {
        let session = opening.session;
        let known = opening.native.get(SESSION).cloned();
        let setup = opening.setup.clone();
        let Opening {
            cwd,
            settings,
            native,
            answers,
            updates,
            endpoint,
            history,
            ..
        } = opening;
        let known_here = history.conversation().await?;
        let (missing, notice) = compare(&command.name, &mut started, &known_here, session);
        let history = &*known_here.items;
        let missing = match missing {
            Missing::Nothing => None,
            Missing::From(first, why) => history.get(first..).map(|missing| (missing, why)),
            Missing::All => {
                let opening = Opening {
                    session,
                    cwd,
                    setup: setup.clone(),
                    settings,
                    native,
                    answers,
                    updates,
                    endpoint,
                    history: sessiond_engine::HistorySource::none(),
                };
                started = started.anew(command, &opening).await?;
                Some((history, Lack::Differs))
            }
        };
        let handover = missing.and_then(|(missing, why)| Handover::of(session, missing, why));
        let mut held = std::mem::take(&mut started.notices);
        held.extend(notice.filter(|_| handover.is_some()));
        let untold = setup.instructions.iter();
        let untold = untold.filter(|given| !started.introduction.takes_instructions(given.mode));
        let before = untold.map(handover::instructions).collect();
        let binding = if known.as_ref() == Some(&started.native.id) {
            Binding::Recorded
        } else {
            Binding::Fresh
        };
        let takes = started
            .introduction
            .capabilities
            .prompt_capabilities
            .clone();
        let mut downstream = Self {
            native: started.native,
            program: started.program,
            takes,
            binding,
            handover,
            before,
            between: None,
            gone,
        };
        let incoming = started.incoming;
        downstream.listen(Left { incoming, held }, Voice::Held);
        Ok(downstream)
    }

    fn listen(&mut self, left: Left<Inbound>, voice: Voice) {
        let gone = self.gone.clone();
        let between = Between::begin(self.native.clone(), left, voice, move || gone());
        self.between = Some(between);
    }

    /// The blocks of a prompt with all that goes before it, and what the agent could not be given.
    fn blocks(
        &mut self,
        content: &[Content],
        handover: Option<&Handover>,
    ) -> (Vec<Value>, Option<&'static str>) {
        let (mut blocks, left_out) = prompt::blocks(content, &self.takes);
        if let Some(handover) = handover {
            prompt::with_handover(&mut blocks, handover, &self.takes);
        }
        for block in self.before.drain(..) {
            prompt::insert(&mut blocks, block);
        }
        (blocks, left_out)
    }
}

#[async_trait]
impl Agent for Downstream {
    async fn turn(
        &mut self,
        content: Vec<Content>,
        context: &TurnContext,
    ) -> Result<TurnReport, AgentError> {
        let agent = self.native.agent.clone();
        let left = Between::take_over(&mut self.between, &agent).await?;
        let Left { mut incoming, held } = left;
        // Left in the middle, the turn does not end before the agent has.
        let keeper = self.program.keeper(context.hold());
        for emit in held {
            context.emit(emit).await?;
        }
        let handover = self.handover.take();
        if let Some(handover) = &handover {
            context.record(handover.marker.clone()).await?;
        }
        let (blocks, left_out) = self.blocks(&content, handover.as_ref());
        if let Some(left_out) = left_out {
            let title = format!("{agent} takes no {left_out}; they were left out of the prompt");
            context.emit(Emit::Notice(Severity::Warning, title)).await?;
        }
        let native = self.native.clone();
        let turn = Turn::new(&native, context, &mut incoming);
        let result = turn.run(blocks, self.binding).await;
        self.binding = Binding::Recorded;
        keeper.release();
        let held = Vec::new();
        self.listen(Left { incoming, held }, Voice::Free);
        result
    }

    fn is_gone(&self) -> bool {
        self.between.is_none() || self.program.is_over()
    }
}

/// What an agent lacks of the conversation.
enum Missing {
    Nothing,
    /// All that begins with this item, and why.
    From(usize, Lack),
    /// Its session is of no use: it gets a new one.
    All,
}

fn compare(
    agent: &str,
    started: &mut Started,
    known_here: &Conversation,
    session: sessiond_protocol::SessionId,
) -> (Missing, Option<Emit>) {
    let history = &*known_here.items;
    let notice = |severity, what: String| Some(Emit::Notice(severity, format!("{agent} {what}")));
    match std::mem::replace(&mut started.memory, Memory::Kept) {
        Memory::None => (
            Missing::From(0, Lack::BeganAnew),
            notice(
                Severity::Info,
                "begins anew and was given the conversation so far".to_owned(),
            ),
        ),
        // It shows nothing, so nothing can be compared: it is taken at its word, but for turns of
        // which nobody can know how much it has.
        Memory::Kept => {
            let broken_off = |item: &HistoryItem| item.turn == known_here.broken_off;
            let from = known_here
                .broken_off
                .and_then(|_| history.iter().position(broken_off));
            match from {
                None => (Missing::Nothing, None),
                Some(from) => (
                    Missing::From(from, Lack::BrokenOff),
                    notice(
                        Severity::Info,
                        "does not show its own record, and was given what was said since the \
                         conversation broke off"
                            .to_owned(),
                    ),
                ),
            }
        }
        Memory::Replayed(replay) => {
            let aligned = match replay.finish() {
                Some(theirs) => align(session, history, &theirs),
                None => Alignment::DiffersAt(0),
            };
            match aligned {
                Alignment::Same => (Missing::Nothing, None),
                Alignment::LacksFrom(first) => (
                    Missing::From(first, Lack::Behind),
                    notice(
                        Severity::Info,
                        "lacked the newest messages in its own record and was given them"
                            .to_owned(),
                    ),
                ),
                Alignment::DiffersAt(number) => (
                    Missing::All,
                    notice(
                        Severity::Warning,
                        format!(
                            "has another conversation in its own record, from message {number} on; \
                             it begins anew with what the log holds"
                        ),
                    ),
                ),
            }
        }
    }
}

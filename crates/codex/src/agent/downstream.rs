//! Codex, open for a session: what it still has to be told, and its turns.

use std::sync::Arc;

use async_trait::async_trait;
use sessiond_engine::alignment::Alignment;
use sessiond_engine::between::{Left, Voice};
use sessiond_engine::handover::Handover;
use sessiond_engine::{Agent, AgentError, Emit, HistorySource, Opening, TurnContext, TurnReport};
use sessiond_protocol::{Content, HistoryItem, Lack, Marker, SessionId, Severity};
use sessiond_wire::process::AgentCommand;
use sessiond_wire::program::RpcProgram;
use sessiond_wire::rpc::Inbound;

use super::between::Between;
use super::handed::Handed;
use super::input::Input;
use super::record::Record;
use super::start::Started;
use super::thread::{HANDED, THREAD, Thread};
use super::turn::Turn;

/// A running Codex, bound to a session.
pub(super) struct Downstream {
    thread: Arc<Thread>,
    program: RpcProgram,
    /// What is to be recorded before Codex gets its prompt.
    records: Vec<Marker>,
    /// What goes before the next prompt.
    handover: Option<Handover>,
    /// Whoever listens between turns; none while a turn runs, or where one was left.
    between: Option<Between>,
}

/// What a thread lacks of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    Nothing,
    /// All that begins with this item.
    From(usize),
    /// It is of no use: there is a new one for the whole conversation.
    All(Lack),
}

impl Downstream {
    /// Compares what Codex knows with the log, and gives it what it lacks.
    ///
    /// # Errors
    /// [`AgentError`] where the log cannot be read, or Codex makes no new thread.
    pub(super) async fn bind(
        command: &AgentCommand,
        mut started: Started,
        mut opening: Opening,
    ) -> Result<Self, AgentError> {
        let session = opening.session;
        let source = std::mem::replace(&mut opening.history, HistorySource::none());
        let history = source.conversation().await?.items;
        let record = started.record.take();
        let is_known = record.is_some();
        let handed = opening.native.get(HANDED).map(String::as_str);
        let (missing, notice) = compare((&command.name, session), (&history, handed), record);
        started.notices.extend(notice);
        let (mut records, mut handover) = (Vec::new(), None);
        match missing {
            Missing::Nothing => {}
            Missing::From(first) => {
                let lacks = history.get(first..).unwrap_or_default();
                handover = Handover::of(session, lacks, Lack::Behind);
            }
            Missing::All(because) => {
                if is_known {
                    started = started.anew(command, &opening).await?;
                }
                // Nothing, until something was put into the new thread.
                let mut put = String::new();
                if let Some(handed) = Handed::of(session, &history, because) {
                    match started.inject(command, &handed.items).await? {
                        Ok(()) => {
                            put = handed.text.uri();
                            records.push(handed.marker);
                        }
                        Err(error) => {
                            tracing::info!(%error, "items could not be put into a thread");
                            handover = Some(handed.text);
                        }
                    }
                }
                if opening.native.get(HANDED).map_or("", String::as_str) != put {
                    records.insert(0, native(HANDED, put));
                }
            }
        }
        if opening.native.get(THREAD) != Some(&started.thread.id) {
            records.insert(0, native(THREAD, started.thread.id.clone()));
        }
        records.extend(handover.as_ref().map(|handover| handover.marker.clone()));
        let mut downstream = Self {
            thread: started.thread,
            program: started.program,
            records,
            handover,
            between: None,
        };
        let left = Left {
            incoming: started.incoming,
            held: started.notices,
        };
        downstream.listen(left, Voice::Held);
        Ok(downstream)
    }

    fn listen(&mut self, left: Left<Inbound>, voice: Voice) {
        // A session that is gone drops this, and with it the process.
        self.between = Some(Between::begin(self.thread.clone(), left, voice, || {}));
    }
}

fn native(name: &str, value: String) -> Marker {
    let name = name.to_owned();
    Marker::Native { name, value }
}

#[async_trait]
impl Agent for Downstream {
    async fn turn(
        &mut self,
        content: Vec<Content>,
        context: &TurnContext,
    ) -> Result<TurnReport, AgentError> {
        let agent = self.thread.agent.clone();
        let left = Between::take_over(&mut self.between, &agent).await?;
        let Left { mut incoming, held } = left;
        // Left in the middle, the turn does not end before Codex has.
        let keeper = self.program.keeper(context.hold());
        for emit in held {
            context.emit(emit).await?;
        }
        for marker in self.records.drain(..) {
            context.record(marker).await?;
        }
        // Nobody here has seen what its model was shown (CTX-9).
        let unverifiable = Marker::ContextUnverifiable {
            native: self.thread.id.clone(),
        };
        context.record(unverifiable).await?;
        let mut input = Input::of(&content);
        let handover = self.handover.take();
        if let Some(handover) = &handover {
            input.begin_with(handover.text());
        }
        if let Some(left_out) = input.left_out {
            let title = format!("{agent} takes no {left_out}; they were left out of the prompt");
            context.emit(Emit::Notice(Severity::Warning, title)).await?;
        }
        let thread = self.thread.clone();
        let turn = Turn::new(&thread, context, &mut incoming);
        let result = turn.run(input).await;
        keeper.release();
        // Whether it got what it lacked is open where the turn failed: it is compared again.
        if result.is_ok() || handover.is_none() {
            let held = Vec::new();
            self.listen(Left { incoming, held }, Voice::Free);
        }
        result
    }

    fn is_gone(&self) -> bool {
        self.between.is_none() || self.program.is_over()
    }
}

/// What a thread lacks of a history, and what its user is told of that. `handed` is what was put
/// into the thread before its first turn.
fn compare(
    (agent, session): (&str, SessionId),
    (history, handed): (&[HistoryItem], Option<&str>),
    record: Option<Record>,
) -> (Missing, Option<Emit>) {
    let notice = |severity, what: String| Some(Emit::Notice(severity, format!("{agent} {what}")));
    // Of a thread without a turn nobody knows whether it was given the conversation.
    let Some(record) = record.filter(|record| !record.is_empty()) else {
        let began_anew = "begins anew and was given the conversation so far".to_owned();
        let told = (!history.is_empty()).then(|| notice(Severity::Info, began_anew));
        return (Missing::All(Lack::BeganAnew), told.flatten());
    };
    match record.align(session, history, handed) {
        Alignment::Same => (Missing::Nothing, None),
        Alignment::LacksFrom(first) => (
            Missing::From(first),
            notice(
                Severity::Info,
                "lacked the newest messages in its own thread and was given them".to_owned(),
            ),
        ),
        Alignment::DiffersAt(number) => (
            Missing::All(Lack::Differs),
            notice(
                Severity::Warning,
                format!(
                    "has another conversation in its own thread, from message {number} on; it \
                     begins anew with what the log holds"
                ),
            ),
        ),
    }
}

#[cfg(test)]
mod tests;

//! A CLI that is open for a session: what it still has to be told, and its turns.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use sessiond_engine::between::{Left, Voice};
use sessiond_engine::handover::Handover;
use sessiond_engine::{Agent, AgentError, Conversation, Emit, Opening, TurnContext, TurnReport};
use sessiond_protocol::{Content, Lack, Marker, SessionId, Severity};
use sessiond_wire::process::AgentCommand;
use sessiond_wire::program::Program;
use uuid::Uuid;

use super::between::Between;
use super::native::{Native, SESSION};
use super::prompt;
use super::record::{self, Place};
use super::servers;
use super::start::{Conversation as Begins, Ground, Started, begin};
use super::turn::{Binding, Prompt, Turn};
use crate::control::Message;
use crate::line::OutFrame;

/// What is done once the session is gone.
pub(super) type Gone = Arc<dyn Fn() + Send + Sync>;

/// A running CLI, bound to a session.
pub(super) struct Downstream {
    native: Arc<Native>,
    program: Program<OutFrame>,
    binding: Binding,
    /// What the log is to say of what the CLI was given of the conversation.
    marker: Option<Marker>,
    /// What goes before the first prompt, where the CLI could be given it in no other way.
    before: Option<String>,
    /// The servers that it was not given yet.
    servers: Option<Value>,
    /// Whoever listens between turns; none while a turn runs, or where one was left.
    between: Option<Between>,
    gone: Gone,
}

impl Downstream {
    /// Compares what the CLI has with the log, and gives it the conversation where that is needed.
    ///
    /// # Errors
    /// [`AgentError`] where the log cannot be read, or the CLI does not start anew.
    pub(super) async fn bind(
        command: &AgentCommand,
        mut started: Started,
        (opening, gone): (Opening, Gone),
    ) -> Result<Self, AgentError> {
        let ground = Ground::of(&opening);
        let recorded = opening.native.get(SESSION).cloned();
        let known = opening.history.conversation().await?;
        let place = Place::of(command, &ground.cwd);
        let lack = lack(&started, &known, (place.as_ref(), ground.session)).await;
        let (mut marker, mut before) = (None, None);
        if let Some(because) = lack {
            let notices = std::mem::take(&mut started.notices);
            // It must be gone before another one goes on with the session.
            drop(started);
            let given = give(command, &ground, (&known, because, place)).await?;
            (started, marker, before) = (given.started, given.marker, given.before);
            started.notices.splice(0..0, notices);
            let notice = marker.as_ref().map(|_| notice(&command.name, because));
            started.notices.extend(notice);
        }
        let binding = match recorded.as_ref() == Some(&started.native.id) {
            true => Binding::Recorded,
            false => Binding::Fresh,
        };
        let mut downstream = Self {
            native: started.native,
            program: started.program,
            binding,
            marker,
            before,
            servers: servers::given(&ground.setup.mcp_servers),
            between: None,
            gone,
        };
        let left = Left {
            incoming: started.incoming,
            held: started.notices,
        };
        downstream.listen(left, Voice::Held);
        Ok(downstream)
    }

    fn listen(&mut self, left: Left<Message>, voice: Voice) {
        let gone = self.gone.clone();
        let between = Between::begin(self.native.clone(), left, voice, move || gone());
        self.between = Some(between);
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
        // Left in the middle, the turn does not end before the CLI has.
        let keeper = self.program.keeper(context.hold());
        for emit in held {
            context.emit(emit).await?;
        }
        if let Some(marker) = self.marker.take() {
            context.record(marker).await?;
        }
        let uuid = Uuid::new_v4();
        let before = self.before.take();
        let (line, left_out) = prompt::line(&content, (before.as_deref(), uuid));
        if let Some(left_out) = left_out {
            let title = format!("{agent} takes no {left_out}; they were left out of the prompt");
            context.emit(Emit::Notice(Severity::Warning, title)).await?;
        }
        let native = self.native.clone();
        let prompt = Prompt {
            line,
            uuid,
            servers: self.servers.take(),
            binding: self.binding,
        };
        let result = Turn::new(&native, context, &mut incoming).run(prompt).await;
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

/// What a CLI lacks of the conversation; none where it has all of it.
async fn lack(
    started: &Started,
    known: &Conversation,
    (place, session): (Option<&Place>, SessionId),
) -> Option<Lack> {
    let Begins::Own(id) = &started.conversation else {
        return (!known.items.is_empty()).then_some(Lack::BeganAnew);
    };
    let (place, id) = (place.cloned(), id.clone());
    let read = tokio::task::spawn_blocking(move || place?.read(&id)?.ok());
    match read.await.ok().flatten() {
        Some(record) => record.lacks(session, known),
        // It has a record that we do not see: it is taken at its word, but for turns of which nobody
        // can know how much it has.
        None => known.broken_off.map(|_| Lack::BrokenOff),
    }
}

/// A CLI that was given a conversation.
struct Given {
    started: Started,
    marker: Option<Marker>,
    before: Option<String>,
}

/// Starts the CLI anew with what the log holds: as a transcript of its own that it takes up, else told
/// with the next prompt.
async fn give(
    command: &AgentCommand,
    ground: &Ground,
    (known, because, place): (&Conversation, Lack, Option<Place>),
) -> Result<Given, AgentError> {
    let items = known.items.clone();
    let marker = record::marker(&items, because);
    if let (Some(place), Some(marker)) = (place, marker) {
        let id = SessionId::new(Uuid::new_v4());
        let written = tokio::task::spawn_blocking(move || place.write(id, &items));
        if matches!(written.await, Ok(Ok(()))) {
            let own = Begins::Own(id.to_string());
            if let Ok(started) = begin(command, ground, own).await {
                return Ok(Given {
                    started,
                    marker: Some(marker),
                    before: None,
                });
            }
        }
    }
    let handover = Handover::of(ground.session, &known.items, because);
    let started = begin(command, ground, Begins::new()).await;
    Ok(Given {
        started: started.map_err(|failed| failed.error)?,
        before: handover.as_ref().map(|it| it.text().to_owned()),
        marker: handover.map(|handover| handover.marker),
    })
}

fn notice(agent: &str, because: Lack) -> Emit {
    let (severity, what) = match because {
        Lack::BeganAnew => (
            Severity::Info,
            "begins anew and was given the conversation so far",
        ),
        Lack::Behind | Lack::BrokenOff => (
            Severity::Info,
            "lacked the newest messages in its own record and was given the conversation anew",
        ),
        Lack::Differs => (
            Severity::Warning,
            "has another conversation in its own record; it begins anew with what the log holds",
        ),
    };
    Emit::Notice(severity, format!("{agent} {what}"))
}

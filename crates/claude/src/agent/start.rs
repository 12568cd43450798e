//! Starting the CLI for a session: the process and its introduction.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sessiond_engine::between::bad_line;
use sessiond_engine::{AgentError, Emit, Opening, Updates};
use sessiond_protocol::{InstructionsMode, SessionId, Setup, Severity};
use sessiond_wire::process::AgentCommand;
use sessiond_wire::program::Program;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::asks;
use super::incoming::{Incoming, judge};
use super::link::Link;
use super::native::{Native, SESSION};
use super::offers::Offers;
use crate::control::{Message, text};
use crate::line::OutFrame;

/// How long the CLI has for its introduction; a wrapper may install it first.
const INTRODUCTION_LIMIT: Duration = Duration::from_secs(60);

/// What makes the CLI a partner on stdio that tells all it does.
const FLAGS: [&str; 9] = [
    "--print",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool",
    "stdio",
];

/// Variables that the CLI gets unless the configuration says otherwise: it does nothing between the
/// turns of a session, and does not take itself for its own child.
const VARIABLES: [(&str, &str); 2] = [
    ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    ("CLAUDECODE", ""),
];

/// What a CLI is started for.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    pub(super) session: SessionId,
    pub(super) cwd: PathBuf,
    pub(super) setup: Setup,
    pub(super) updates: Updates,
}

impl Ground {
    pub(super) fn of(opening: &Opening) -> Self {
        Self {
            session: opening.session,
            cwd: opening.cwd.clone(),
            setup: opening.setup.clone(),
            updates: opening.updates.clone(),
        }
    }
}

/// The conversation that the CLI begins with.
#[derive(Debug, Clone)]
pub(super) enum Conversation {
    /// None, under this id.
    New(Uuid),
    /// Its own of this id.
    Own(String),
}

impl Conversation {
    /// A new one.
    pub(super) fn new() -> Self {
        Self::New(Uuid::new_v4())
    }

    fn id(&self) -> String {
        match self {
            Self::New(id) => id.to_string(),
            Self::Own(id) => id.clone(),
        }
    }
}

/// A CLI that runs, with a session of its own for ours.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) program: Program<OutFrame>,
    pub(super) incoming: mpsc::Receiver<Incoming>,
    pub(super) native: Arc<Native>,
    pub(super) conversation: Conversation,
    /// What the user should know.
    pub(super) notices: Vec<Emit>,
}

/// Why a CLI did not start.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) error: AgentError,
    /// Whether it ended by itself: it may be that it has the conversation no more.
    pub(super) is_ended: bool,
}

/// Starts the CLI with the conversation that it had, where one is known and there; else with none.
///
/// # Errors
/// [`AgentError`]: unavailable, with what happened and what to do.
pub(super) async fn start(
    command: &AgentCommand,
    opening: &Opening,
) -> Result<Started, AgentError> {
    let ground = Ground::of(opening);
    let mut notices = Vec::new();
    if let Some(id) = opening.native.get(SESSION) {
        match begin(command, &ground, Conversation::Own(id.clone())).await {
            Ok(started) => return Ok(started),
            Err(Failed { error, is_ended }) if !is_ended => return Err(error),
            Err(_) => {
                let agent = &command.name;
                let title = format!(
                    "{agent} could not take up its own record of this session; it begins anew with \
                     what the log holds"
                );
                notices.push(Emit::Notice(Severity::Warning, title));
            }
        }
    }
    let started = begin(command, &ground, Conversation::new()).await;
    let mut started = started.map_err(|failed| failed.error)?;
    started.notices.splice(0..0, notices);
    Ok(started)
}

/// Starts the CLI with a conversation.
///
/// # Errors
/// [`Failed`].
pub(super) async fn begin(
    command: &AgentCommand,
    ground: &Ground,
    conversation: Conversation,
) -> Result<Started, Failed> {
    let whole = with_flags(command, ground, &conversation);
    let opened = Program::open(&whole, &ground.cwd, judge);
    let (program, mut incoming) = opened.map_err(|why| Failed {
        error: AgentError::not_started(command, &why, ("", 0)),
        is_ended: false,
    })?;
    let link = Link::new(program.queue().clone(), program.over());
    let mut notices = Vec::new();
    let introduced = introduce(&link, ground, &mut incoming, (command, &mut notices)).await;
    let (answer, mut program) = match introduced {
        Ok(answer) => (answer, program),
        Err((why, is_ended)) => {
            let mut program = program;
            let complaints = program.complaints().await;
            let error = AgentError::not_started(command, &why, ("", complaints));
            return Err(Failed { error, is_ended });
        }
    };
    if program.is_over() {
        let complaints = program.complaints().await;
        let error = AgentError::not_started(command, "it ended", ("", complaints));
        return Err(Failed {
            error,
            is_ended: true,
        });
    }
    let native = Native {
        agent: command.name.clone(),
        id: conversation.id(),
        link,
        updates: ground.updates.clone(),
        offers: Mutex::new(Offers::read(&answer, &command.args)),
        context: Mutex::default(),
    };
    Ok(Started {
        program,
        incoming,
        native: Arc::new(native),
        conversation,
        notices,
    })
}

/// The command with what makes it our partner.
fn with_flags(
    command: &AgentCommand,
    ground: &Ground,
    conversation: &Conversation,
) -> AgentCommand {
    let mut whole = command.clone();
    let mut add = |words: &[&str]| {
        whole
            .args
            .extend(words.iter().map(|word| (*word).to_owned()))
    };
    add(&FLAGS);
    match conversation {
        Conversation::New(id) => add(&["--session-id", &id.to_string()]),
        Conversation::Own(id) => add(&["--resume", id]),
    }
    for root in &ground.setup.roots {
        add(&["--add-dir", root]);
    }
    for (name, value) in VARIABLES {
        let is_set = whole.env.iter().any(|(own, _)| own == name);
        if !is_set {
            whole.env.push((name.to_owned(), value.to_owned()));
        }
    }
    whole
}

/// What `initialize` asks: our hook, and the instructions of the session.
fn introduction(setup: &Setup) -> Value {
    let mut request = json!({ "subtype": "initialize", "hooks": asks::hooks() });
    if let (Some(given), Some(request)) = (&setup.instructions, request.as_object_mut()) {
        let (member, value) = match given.mode {
            InstructionsMode::Append => ("appendSystemPrompt", Value::from(given.text.as_str())),
            InstructionsMode::Override => ("systemPrompt", json!([given.text])),
        };
        request.insert(member.to_owned(), value);
    }
    request
}

/// The CLI's answer to `initialize`; else why there is none, and whether it ended.
async fn introduce(
    link: &Link,
    ground: &Ground,
    incoming: &mut mpsc::Receiver<Incoming>,
    (command, notices): (&AgentCommand, &mut Vec<Emit>),
) -> Result<Value, (String, bool)> {
    let mut answer = std::pin::pin!(link.ask(introduction(&ground.setup)));
    let mut late = std::pin::pin!(tokio::time::sleep(INTRODUCTION_LIMIT));
    // What it says before it ends tells more than that it ended.
    let mut said = None;
    loop {
        let message = tokio::select! {
            biased;
            answer = &mut answer => {
                return answer.map_err(|why| (format!("it refused initialize: {why}"), false));
            }
            message = incoming.recv() => message,
            () = &mut late => {
                let seconds = INTRODUCTION_LIMIT.as_secs();
                return Err((format!("it did not answer initialize within {seconds} s"), false));
            }
        };
        match message {
            Some(Incoming::Message(Message::Request { id, request }, _)) => {
                asks::outside(link, &id, &request);
            }
            Some(Incoming::Message(Message::Response { id, answer }, _)) => {
                link.answered(&id, answer);
            }
            Some(Incoming::Message(Message::Frame { kind, frame }, _)) if kind == "result" => {
                let errors = frame.get("errors").and_then(Value::as_array);
                let first = errors.and_then(|errors| errors.first()?.as_str());
                said = first.map(str::to_owned).or_else(|| text(&frame, "result"));
            }
            Some(Incoming::Message(..)) => {}
            Some(Incoming::Bad) => notices.push(bad_line(&command.name)),
            Some(Incoming::End(how)) => {
                let said = said.map(|said| format!(": {said}")).unwrap_or_default();
                return Err((format!("it {how}{said}"), true));
            }
            None => return Err(("it ended".to_owned(), true)),
        }
    }
}

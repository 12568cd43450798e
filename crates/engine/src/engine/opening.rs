//! Opening sessions: the lease, the log as it stands, then the actor.

use std::{collections::BTreeMap, sync::Arc};

use sessiond_log::{Lease, LogError, Owner, Store};
use sessiond_protocol::{
    AgentInfo, AttachMode, ErrorCode, SessionId, SessionOpened, Settings, Setup, Start,
    SubmissionId, Surroundings, Verdict, WireError,
};
use tokio::sync::mpsc::{self, error::TrySendError};

use super::{INBOX, Inner};
use crate::{
    actor::{Actor, Attach, Command, Parts, not_open, refusal},
    agent::{AgentFactory, Endpoint, HistorySource, Mailbox, Opening},
    audit::{Action, Decision},
    catalog::{history, subject},
    core::Refusal,
    drift::{Arrival, Wish},
    outlet::Outlet,
    recovered::Recovered,
};

/// Version of the record format that headers name.
const FORMAT: u32 = 1;

/// A session to be made.
pub(super) struct Creation {
    pub(super) session: SessionId,
    pub(super) cwd: String,
    pub(super) factory: Arc<dyn AgentFactory>,
    pub(super) attach: Attach,
}

/// Makes a session and attaches its client; the receipt says how it went.
pub(super) fn create(inner: &Arc<Inner>, creation: Creation) {
    let session = creation.session;
    let Some(inbox) = register(inner, session) else {
        let message = "a session of this id exists";
        let error = WireError::new(ErrorCode::Invalid, message).about(session);
        return refuse(&creation.attach.outlet, creation.attach.id, error);
    };
    let inner = inner.clone();
    tokio::spawn(async move {
        let mut creation = creation;
        creation.attach.setup = canonical(&inner, creation.attach.setup).await;
        let (store, owner) = (inner.config.store.clone(), inner.owner());
        inner.lend(session, creation.attach.setup.as_ref());
        let ready = prepare_new(&creation, inner.lent_by.get()).await;
        let made = blocking(move || {
            let made = ready.and_then(|ready| Ok((make(&store, session, &owner)?, ready)));
            Decision::on(session, Action::New, &made).write(&store);
            made
        });
        let made = made.await;
        let found = surroundings(&inner, creation.cwd.clone()).await;
        match made.and_then(|made| Ok((made, found?))) {
            Ok(((lease, ready), found)) => {
                let made = (session, creation.cwd.as_str());
                let mut header = header(&inner, made, &found, &ready.info);
                header.roots = roots(&creation.attach);
                let place = (found, creation.factory, ready);
                let parts = parts(&inner, session, place, (Arc::new(lease), inbox));
                let mut actor = Actor::new(parts, Recovered::default());
                actor.create(creation.attach, header);
                finish(&inner, session, actor.run().await);
            }
            Err(error) => {
                let error = error.about(session);
                refuse(&creation.attach.outlet, creation.attach.id, error.clone());
                fail(&inner, session, inbox, &error);
            }
        }
    });
}

/// Attaches a client to a stored session, opening it first where it is not open here.
pub(super) fn attach(inner: &Arc<Inner>, session: SessionId, cwd: Option<String>, attach: Attach) {
    let sender = inner.sessions().get(&session).cloned();
    let command = Command::Attach(attach);
    let (command, inbox) = match sender {
        Some(sender) => match sender.try_send(command) {
            Ok(()) => return,
            // Many went at once, or it replays to somebody slow: it gets to this one.
            Err(TrySendError::Full(command)) => {
                return wait_for_room(inner, session, cwd, (sender, command));
            }
            Err(TrySendError::Closed(command)) => (command, None),
        },
        None => (command, register(inner, session)),
    };
    let Command::Attach(attach) = command else {
        return;
    };
    let Some(inbox) = inbox else {
        let error = WireError::new(ErrorCode::Busy, "the session is busy; try again");
        return refuse(&attach.outlet, attach.id, error.about(session));
    };
    let inner = inner.clone();
    tokio::spawn(async move {
        let mut attach = attach;
        attach.setup = canonical(&inner, attach.setup).await;
        inner.lend(session, attach.setup.as_ref());
        let opened = open(&inner, session, cwd, &attach).await;
        let arrived = opened.as_ref().map(|opened| &opened.arrival);
        let decisions = Decision::on_opening(session, arrived);
        Decision::all_written(decisions, &inner.config.store).await;
        match opened {
            Ok(opened) => {
                let Opened {
                    lease,
                    recovered,
                    arrival,
                    factory,
                    ready,
                } = opened;
                let place = (arrival.surroundings.clone(), factory, ready);
                let parts = parts(&inner, session, place, (lease, inbox));
                let generation = recovered.generation;
                let mut actor = Actor::new(parts, recovered);
                actor.attach_first(attach, (arrival, generation)).await;
                finish(&inner, session, actor.run().await);
            }
            Err(error) => {
                refuse(&attach.outlet, attach.id, error.clone());
                fail(&inner, session, inbox, &error);
            }
        }
    });
}

/// Hands a command to an actor whose inbox is full. How many wait so is bounded by the submissions
/// that a connection may have unanswered.
fn wait_for_room(
    inner: &Arc<Inner>,
    session: SessionId,
    cwd: Option<String>,
    (sender, command): (mpsc::Sender<Command>, Command),
) {
    let inner = inner.clone();
    tokio::spawn(async move {
        if let Err(mpsc::error::SendError(Command::Attach(late))) = sender.send(command).await {
            // Its actor has ended meanwhile; the next one is opened for this client.
            attach(&inner, session, cwd, late);
        }
    });
}

/// What an actor of this engine is made of.
fn parts(
    inner: &Inner,
    session: SessionId,
    (surroundings, factory, ready): (Surroundings, Arc<dyn AgentFactory>, Ready),
    (lease, inbox): (Arc<Lease>, mpsc::Receiver<Command>),
) -> Parts {
    Parts {
        session,
        surroundings,
        persistence: inner.config.persistence,
        store: inner.config.store.clone(),
        lease,
        index: inner.index.clone(),
        factory,
        info: ready.info,
        setup: ready.setup,
        updates: ready.updates,
        endpoint: inner.lent_by.get().cloned(),
        inbox,
    }
}

/// An agent that is ready for a session, and what the session tells it from.
struct Ready {
    info: AgentInfo,
    setup: Setup,
    updates: Mailbox,
}

/// # Errors
/// Why the agent cannot be started; nothing of the session exists yet.
async fn prepare_new(creation: &Creation, endpoint: Option<&Endpoint>) -> Result<Ready, WireError> {
    let setup = creation.attach.setup.clone().unwrap_or_default();
    let updates = Mailbox::new();
    let opening = Opening {
        session: creation.session,
        cwd: creation.cwd.clone().into(),
        setup: setup.clone(),
        settings: Settings::default(),
        native: BTreeMap::new(),
        answers: creation.attach.answers.clone(),
        updates: updates.updates(),
        endpoint: endpoint.cloned(),
        history: HistorySource::none(),
    };
    let info = creation.factory.prepare(&opening).await;
    let info = info.map_err(WireError::from)?;
    Ok(Ready {
        info,
        setup,
        updates,
    })
}

/// Who only looks on starts no agent. A session whose agent does not start is opened all the same:
/// its history is there, and the next turn says what is wrong.
async fn prepare_stored(
    (factory, endpoint): (&Arc<dyn AgentFactory>, Option<&Endpoint>),
    (session, cwd): (SessionId, &str),
    (lease, recovered): (&Arc<Lease>, &Recovered),
    attach: &Attach,
) -> Ready {
    let (standing, updates) = (&recovered.standing, Mailbox::new());
    let mut setup = attach.setup.clone().unwrap_or_else(|| Setup {
        roots: standing.roots.clone(),
        ..Setup::default()
    });
    if setup.instructions.is_none() {
        setup.instructions.clone_from(&standing.instructions);
    }
    let mut info = factory.info();
    if attach.mode == AttachMode::Control {
        let (lease, in_force) = (lease.clone(), standing.in_force());
        let opening = Opening {
            session,
            cwd: cwd.into(),
            setup: setup.clone(),
            settings: Settings {
                mode: standing.mode.clone(),
                options: standing.options.clone(),
            },
            native: standing.native.clone(),
            answers: attach.answers.clone(),
            updates: updates.updates(),
            endpoint: endpoint.cloned(),
            history: HistorySource::new(move || history(session, &lease, (&in_force, None))),
        };
        match factory.prepare(&opening).await {
            Ok(prepared) => info = prepared,
            Err(error) => tracing::warn!(code = ?error.code, "the agent could not be made ready"),
        }
    }
    Ready {
        info,
        setup,
        updates,
    }
}

/// A stored session that its client may have, with an agent that is ready.
struct Opened {
    lease: Arc<Lease>,
    recovered: Recovered,
    arrival: Arrival,
    factory: Arc<dyn AgentFactory>,
    ready: Ready,
}

async fn open(
    inner: &Arc<Inner>,
    session: SessionId,
    cwd: Option<String>,
    attach: &Attach,
) -> Result<Opened, WireError> {
    let store = inner.config.store.clone();
    let owner = inner.owner();
    let (lease, recovered) = blocking(move || claim(&store, session, &owner)).await?;
    let Some(header) = recovered.standing.header.clone() else {
        let message = "the log has no readable header; `sessiond sessions show` says what is left";
        return Err(WireError::new(ErrorCode::Damaged, message).about(session));
    };
    if let Some(found) = recovered.newer {
        let message =
            format!("a newer program wrote this session (format {found}); update sessiond");
        return Err(WireError::new(ErrorCode::TooNew, message).about(session));
    }
    let Some(factory) = inner.agent(&header.agent.name) else {
        let message =
            "the session's agent is not configured; `sessiond agents` lists those that are";
        return Err(WireError::new(ErrorCode::AgentUnavailable, message).about(session));
    };
    let found = surroundings(inner, cwd.unwrap_or(header.cwd)).await?;
    let stands = (&recovered.standing, &factory.info());
    let given = attach.setup.as_ref().map(|setup| setup.roots.clone());
    let roots = match given {
        Some(roots) => roots,
        // A link among them may lead elsewhere now.
        None => canonical_roots(inner, recovered.standing.roots.clone()).await,
    };
    let wish = Wish {
        found_by: attach.found_by,
        accept: &attach.accept,
        roots: (attach.mode == AttachMode::Control).then_some(&*roots),
    };
    let arrival = Arrival::opening(stands, found, wish).map_err(|e| e.about(session))?;
    let lease = Arc::new(lease);
    let place = (session, &*arrival.surroundings.cwd);
    let agent = (&factory, inner.lent_by.get());
    let ready = prepare_stored(agent, place, (&lease, &recovered), attach).await;
    let arrival = if ready.info == factory.info() {
        arrival
    } else {
        let told = arrival.told((&recovered.standing, &ready.info), &attach.accept);
        told.map_err(|error| error.about(session))?
    };
    Ok(Opened {
        lease,
        recovered,
        arrival,
        factory,
        ready,
    })
}

/// What a client gave, with the roots as they are on disk: a root is what it leads to (CKPT-4).
async fn canonical(inner: &Inner, setup: Option<Setup>) -> Option<Setup> {
    let mut setup = setup?;
    setup.roots = canonical_roots(inner, setup.roots).await;
    Some(setup)
}

/// Roots that do not exist stay as they are named.
async fn canonical_roots(inner: &Inner, roots: Vec<String>) -> Vec<String> {
    if roots.is_empty() {
        return roots;
    }
    let environment = inner.config.environment.clone();
    let named = roots.clone();
    let look = move || {
        let canonical = |root: String| environment.workspace(root.as_ref()).root.unwrap_or(root);
        Ok(roots.into_iter().map(canonical).collect())
    };
    blocking(look).await.unwrap_or(named)
}

/// The world around a working directory, as it is now.
pub(super) async fn surroundings(inner: &Inner, cwd: String) -> Result<Surroundings, WireError> {
    let environment = inner.config.environment.clone();
    let look = move || {
        Ok(Surroundings {
            workspace: environment.workspace(cwd.as_ref()),
            principal: environment.principal(),
            host: Some(Owner::current().host).filter(|host| !host.is_empty()),
            cwd,
        })
    };
    blocking(look).await
}

pub(super) fn make(store: &Store, session: SessionId, owner: &Owner) -> Result<Lease, WireError> {
    let made = store.create(&subject(session)?, owner);
    made.map_err(|error| refusal(session, &error))
}

pub(super) fn claim(
    store: &Store,
    session: SessionId,
    owner: &Owner,
) -> Result<(Lease, Recovered), WireError> {
    let failed = |error: LogError| refusal(session, &error);
    let lease = store.claim(&subject(session)?, owner).map_err(failed)?;
    let recovered = Recovered::read(session, &lease).map_err(failed)?;
    Ok((lease, recovered))
}

/// The lookup of a session that is being opened must not be beaten by a second one: whoever
/// registers first opens it, all others' commands wait in its inbox.
fn register(inner: &Inner, session: SessionId) -> Option<mpsc::Receiver<Command>> {
    let mut sessions = inner.sessions();
    if sessions.contains_key(&session) {
        return None;
    }
    let (sender, inbox) = mpsc::channel(INBOX);
    sessions.insert(session, sender);
    inner.open.send_modify(|open| *open += 1);
    Some(inbox)
}

/// Forgets a session whose actor is gone, lease and all. Who came too late to it starts anew.
fn finish(inner: &Arc<Inner>, session: SessionId, mut inbox: mpsc::Receiver<Command>) {
    for command in unregister(inner, session, &mut inbox) {
        match command {
            Command::Attach(late) => attach(inner, session, None, late),
            other => unheard(session, other),
        }
    }
}

fn fail(
    inner: &Arc<Inner>,
    session: SessionId,
    mut inbox: mpsc::Receiver<Command>,
    error: &WireError,
) {
    for command in unregister(inner, session, &mut inbox) {
        match command {
            Command::Attach(late) => refuse(&late.outlet, late.id, error.clone()),
            other => unheard(session, other),
        }
    }
}

fn unregister(
    inner: &Inner,
    session: SessionId,
    inbox: &mut mpsc::Receiver<Command>,
) -> Vec<Command> {
    inner.sessions().remove(&session);
    inner.lent().remove(&session);
    inbox.close();
    let late = std::iter::from_fn(|| inbox.try_recv().ok()).collect();
    inner.open.send_modify(|open| *open -= 1);
    late
}

fn unheard(session: SessionId, command: Command) {
    match command {
        Command::Submit { outlet, id, .. } | Command::Call { outlet, id, .. } => {
            refuse(&outlet, id, not_open(session))
        }
        Command::Answer { outlet, .. } => {
            outlet.refused(Some(session), Refusal::Late);
        }
        // Dropping the sender tells a borrower; what is not open has nothing that waits.
        Command::Attach(_) | Command::Withdraw(_) | Command::Lend(_) | Command::Disconnect(_) => {}
    }
}

fn refuse(outlet: &Outlet, id: SubmissionId, error: WireError) {
    outlet.verdict(id, Verdict::Error(error));
}

pub(super) fn header(
    inner: &Inner,
    (session, cwd): (SessionId, &str),
    found: &Surroundings,
    info: &AgentInfo,
) -> SessionOpened {
    SessionOpened {
        start: Start::New,
        id: session,
        format: FORMAT,
        program: concat!("sessiond ", env!("CARGO_PKG_VERSION")).to_owned(),
        source: inner.config.source.clone(),
        cwd: cwd.to_owned(),
        roots: Vec::new(),
        mode: info.modes.first().map(|mode| mode.id.clone()),
        agent: info.id.clone(),
        model: None,
        instructions: None,
        principal: found.principal.clone(),
        host: found.host.clone(),
        workspace: found.workspace.clone(),
        parent: None,
    }
}

fn roots(attach: &Attach) -> Vec<String> {
    let setup = attach.setup.as_ref();
    setup.map(|setup| setup.roots.clone()).unwrap_or_default()
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WireError> + Send + 'static,
) -> Result<T, WireError> {
    let broken = |_| {
        Err(WireError::new(
            ErrorCode::Internal,
            "opening the session broke down",
        ))
    };
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(broken)
}

//! Forks: a new session that begins with the history of another one (RESUME-9).

use std::sync::Arc;

use sessiond_log::{Durability, Lease, Owner};
use sessiond_protocol::{
    Accepted, Cursor, ErrorCode, PersistenceState, SessionId, SessionView, Standing, SubmissionId,
    Verdict, WireError,
};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::{Inner, opening};
use crate::{
    actor::{Command, Ids, being_closed, refusal, timestamp},
    agent::AgentFactory,
    audit::{Action, Decision},
    catalog::subject,
    core::{Core, Input, Moment},
    outlet::Outlet,
    record::to_record,
    recovered::Recovered,
};

/// What is asked for.
pub(super) struct Wish {
    pub(super) id: SubmissionId,
    pub(super) session: SessionId,
    pub(super) at: Option<Cursor>,
    /// The id that the copy shall have; a fresh one where there is none.
    pub(super) child: Option<SessionId>,
}

/// Forks a session, whether or not it is open here; the receipt says how it went.
pub(super) fn fork(inner: &Arc<Inner>, outlet: Outlet, wish: Wish) {
    let inner = inner.clone();
    tokio::spawn(async move {
        let forked = run(&inner, wish.session, (wish.at, wish.child)).await;
        let decision = Decision::on(wish.session, Action::Fork, &forked);
        decision.written(&inner.config.store).await;
        let verdict = match forked {
            Ok(view) => Verdict::Accepted(Accepted::Session(Box::new(view))),
            Err(error) => Verdict::Error(error),
        };
        outlet.verdict(wish.id, verdict);
    });
}

async fn run(
    inner: &Arc<Inner>,
    parent: SessionId,
    (at, child): (Option<Cursor>, Option<SessionId>),
) -> Result<SessionView, WireError> {
    if let Some(child) = child {
        unused(inner, child).await?;
    }
    let lease = borrow(inner, parent).await?;
    let reader = lease.clone();
    let recovered = opening::blocking(move || {
        let read = Recovered::read(parent, &reader);
        read.map_err(|error| refusal(parent, &error))
    });
    let stands = recovered.await?.standing;
    let Some(header) = stands.header else {
        let message = "the log has no readable header; there is nothing to fork from";
        return Err(WireError::new(ErrorCode::Damaged, message).about(parent));
    };
    // Before anything is made: a fork that nobody can open is of no use.
    let Some(factory) = inner.agent(&header.agent.name) else {
        let message = "the session's agent is not configured; `sessiond agents` lists those";
        return Err(WireError::new(ErrorCode::AgentUnavailable, message).about(parent));
    };
    let at = at.unwrap_or(stands.bookmark);
    let child = child.unwrap_or_else(|| SessionId::new(Uuid::now_v7()));
    let split = opening::blocking(move || split(&lease, (parent, at), child));
    let (lease, recovered) = split.await?;
    let epoch = recovered.generation.epoch + 1;
    let stands = (inner.config.persistence, epoch, recovered.standing);
    begin((child, header.cwd), factory, lease, stands).await
}

/// Refuses an id that a session has, also one that is put away.
async fn unused(inner: &Arc<Inner>, child: SessionId) -> Result<(), WireError> {
    let store = inner.config.store.clone();
    let exists = opening::blocking(move || {
        let exists = store.exists(&subject(child)?);
        exists.map_err(|error| refusal(child, &error))
    });
    match exists.await? {
        true => {
            let message = "a session of this id exists";
            Err(WireError::new(ErrorCode::Invalid, message).about(child))
        }
        false => Ok(()),
    }
}

/// The lease of the session: that of its actor, where it is open here.
async fn borrow(inner: &Arc<Inner>, session: SessionId) -> Result<Arc<Lease>, WireError> {
    let actor = inner.sessions().get(&session).cloned();
    let Some(actor) = actor else {
        let store = inner.config.store.clone();
        let owner = inner.owner();
        let claimed = opening::blocking(move || opening::claim(&store, session, &owner));
        return Ok(Arc::new(claimed.await?.0));
    };
    let (sender, lent) = oneshot::channel();
    let asked = actor.send(Command::Lend(sender)).await;
    match (asked, lent.await) {
        (Ok(()), Ok(lease)) => Ok(lease),
        _ => Err(being_closed(session)),
    }
}

/// Makes the log of the child.
fn split(
    lease: &Lease,
    (parent, at): (SessionId, Cursor),
    child: SessionId,
) -> Result<(Lease, Recovered), WireError> {
    let made = lease.fork(at.0, &subject(child)?, &Owner::current());
    let made = made.map_err(|error| refusal(parent, &error))?;
    let recovered = Recovered::read(child, &made).map_err(|error| refusal(child, &error))?;
    Ok((made, recovered))
}

/// The child's first own records: that it is a fork, and how what was open in its parent at the
/// fork point is to be taken (RESUME-18).
async fn begin(
    (session, cwd): (SessionId, String),
    factory: Arc<dyn AgentFactory>,
    lease: Lease,
    stands: (PersistenceState, u64, Standing),
) -> Result<SessionView, WireError> {
    let mut core = Core::new(session, cwd, factory.info(), stands);
    let now = Moment {
        elapsed: std::time::Duration::ZERO,
        at: timestamp(),
    };
    let step = core.step(Input::Settle, &now, &mut Ids);
    let records: Result<Vec<_>, _> = step.append.iter().map(to_record).collect();
    let writer = lease.writer().map_err(|error| refusal(session, &error))?;
    let appended = writer.append(records?, Durability::Synced).await;
    appended.map_err(|error| refusal(session, &error))?;
    let closed = writer.shutdown().await;
    closed.map_err(|error| refusal(session, &error))?;
    Ok(core.view())
}

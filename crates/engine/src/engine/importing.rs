//! Imports: a new session out of an export, or of items that a client has.

use std::{path::Path, sync::Arc};

use sessiond_log::Durability;
use sessiond_protocol::{
    Accepted, AgentInfo, ErrorCode, ImportSource, Item, Op, SessionId, SessionView, Standing,
    Start, SubmissionId, Verdict, WireError,
};
use uuid::Uuid;

use super::{Inner, opening};
use crate::{
    actor::{Ids, refusal, timestamp},
    audit::{Action, Decision},
    catalog::subject,
    core::{Cause, Core, Effect, Input, Moment, Step},
    outlet::Outlet,
    record::{log_error, to_record},
};

/// Imports a session; the receipt says how it went.
pub(super) fn import(
    inner: &Arc<Inner>,
    outlet: Outlet,
    (id, source): (SubmissionId, ImportSource),
) {
    let inner = inner.clone();
    tokio::spawn(async move {
        let (session, imported) = match source {
            ImportSource::File { path, id } => file(&inner, path, id).await,
            ImportSource::Items { cwd, agent, items } => {
                let session = SessionId::new(Uuid::now_v7());
                let cause = Cause {
                    conn: outlet.conn,
                    id: id.clone(),
                };
                let made = from_items(&inner, session, cause, (cwd, agent, items)).await;
                (Some(session), made)
            }
        };
        let decision = Decision::about(session, Action::Import, &imported);
        decision.written(&inner.config.store).await;
        let verdict = match imported {
            Ok(view) => Verdict::Accepted(Accepted::Session(Box::new(view))),
            Err(error) => Verdict::Error(error),
        };
        outlet.verdict(id, verdict);
    });
}

/// Takes in an export. Whose session a file holds that was refused is not known.
async fn file(
    inner: &Arc<Inner>,
    path: String,
    new_id: Option<SessionId>,
) -> (Option<SessionId>, Result<SessionView, WireError>) {
    if !Path::new(&path).is_absolute() {
        return (
            new_id,
            Err(invalid("`path` must be absolute", "/op/source/path")),
        );
    }
    let (store, environment) = (inner.config.store.clone(), inner.config.environment.clone());
    let taken = opening::blocking(move || {
        let mut input = environment.export_file(path.as_ref()).map_err(|error| {
            let message = format!("the file cannot be read: {}", error.kind());
            invalid(message, "/op/source/path")
        })?;
        let new_id = new_id.map(subject).transpose()?;
        let report = store.import(&mut *input, new_id.as_ref());
        let report = report.map_err(|error| log_error(&error))?;
        let session = report.subject.as_ref().parse();
        session.map_err(|_| WireError::new(ErrorCode::Invalid, "the file holds no session"))
    });
    match taken.await {
        Ok(session) => (Some(session), stored(inner, session).await),
        Err(error) => (new_id, Err(error)),
    }
}

/// A session as it stands in the store. One whose agent is not configured is there all the same.
async fn stored(inner: &Arc<Inner>, session: SessionId) -> Result<SessionView, WireError> {
    let (store, owner) = (inner.config.store.clone(), inner.owner());
    let claimed = opening::blocking(move || opening::claim(&store, session, &owner));
    let (_lease, recovered) = claimed.await?;
    let Some(header) = recovered.standing.header.clone() else {
        let message = "the log has no readable header; `sessiond sessions show` says what is left";
        return Err(WireError::new(ErrorCode::Damaged, message).about(session));
    };
    let info = match inner.agent(&header.agent.name) {
        Some(factory) => factory.info(),
        None => AgentInfo::unknown(header.agent),
    };
    let epoch = recovered.generation.epoch + 1;
    let stands = (inner.config.persistence, epoch, recovered.standing);
    Ok(Core::new(session, header.cwd, info, stands).view())
}

/// Makes a session that begins with these items. They are looked at before anything is made.
async fn from_items(
    inner: &Arc<Inner>,
    session: SessionId,
    cause: Cause,
    (cwd, agent, items): (String, Option<String>, Vec<Item>),
) -> Result<SessionView, WireError> {
    let name = agent.as_ref().unwrap_or(&inner.config.default_agent);
    let Some(factory) = inner.agent(name) else {
        let message = "no agent of that name is configured; `sessiond agents` lists them";
        return Err(WireError::new(ErrorCode::AgentUnavailable, message));
    };
    if !Path::new(&cwd).is_absolute() {
        return Err(invalid("`cwd` must be an absolute path", "/op/source/cwd"));
    }
    let found = opening::surroundings(inner, cwd.clone()).await?;
    let mut header = opening::header(inner, (session, &cwd), &found, &factory.info());
    header.start = Start::Imported;
    let stands = (inner.config.persistence, 1, Standing::default());
    let mut core = Core::new(session, cwd, factory.info(), stands);
    let now = Moment {
        elapsed: std::time::Duration::ZERO,
        at: timestamp(),
    };
    let opened = Input::Created {
        cause: cause.clone(),
        header: Box::new(header),
    };
    let op = Op::SessionAppend { items };
    let steps =
        [opened, Input::Submitted { cause, op }].map(|input| core.step(input, &now, &mut Ids));
    if let Some(error) = steps.iter().find_map(refused) {
        return Err(error);
    }
    let records = steps.iter().flat_map(|step| &step.append);
    let records = records.map(to_record).collect::<Result<Vec<_>, _>>()?;
    let (store, owner) = (inner.config.store.clone(), inner.owner());
    let lease = opening::blocking(move || opening::make(&store, session, &owner)).await?;
    let writer = lease.writer().map_err(|error| refusal(session, &error))?;
    let appended = writer.append(records, Durability::Synced).await;
    appended.map_err(|error| refusal(session, &error))?;
    let closed = writer.shutdown().await;
    closed.map_err(|error| refusal(session, &error))?;
    Ok(core.view())
}

/// Why the core refused what it was given; the client knows the items by another place.
fn refused(step: &Step) -> Option<WireError> {
    step.then.iter().find_map(|effect| match effect {
        Effect::Receipt(_, receipt) => match &receipt.result {
            Verdict::Error(error) => {
                let mut error = error.clone();
                let pointer = error.pointer.as_deref();
                error.pointer = pointer.map(|at| at.replacen("/op/", "/op/source/", 1));
                error.session = None;
                Some(error)
            }
            Verdict::Accepted(_) => None,
        },
        _ => None,
    })
}

fn invalid(message: impl Into<String>, pointer: &str) -> WireError {
    let mut error = WireError::new(ErrorCode::Invalid, message);
    error.pointer = Some(pointer.to_owned());
    error
}

//! Commands about one session, through the waist.

use sessiond_protocol::{
    Accepted, AttachMode, FoundBy, OnDisconnect, Op, Replay, SessionId, SessionResume, SessionView,
    WireError,
};

use crate::failure::Failure;
use crate::setup::{Setup, block_on, drain};
use crate::waist::{Waist, unexpected};

/// Resumes the session without its past, submits the op, lets go of the session again and gives
/// the op's receipt. Nobody else may hold it meanwhile (exit 75).
pub(super) fn submit(
    setup: &Setup,
    (session, found_by): (SessionId, FoundBy),
    op: Op,
) -> Result<Accepted, Failure> {
    submit_by(setup, (session, found_by), |_| Some(op))
}

/// [`submit`] of an op that depends on the session, or of none.
pub(super) fn submit_by(
    setup: &Setup,
    (session, found_by): (SessionId, FoundBy),
    op: impl FnOnce(&SessionView) -> Option<Op>,
) -> Result<Accepted, Failure> {
    with_waist(setup, async |waist| {
        let resume = Op::SessionResume(SessionResume {
            setup: Default::default(),
            session,
            cwd: None,
            found_by,
            accept: setup.accept(),
            replay: Replay::None,
            mode: AttachMode::Control,
            answers: Vec::new(),
            on_disconnect: OnDisconnect::Cancel,
        });
        let Accepted::Session(view) = waist.call(None, resume, drop).await? else {
            return Err(unexpected());
        };
        let accepted = match op(&view) {
            Some(op) => waist.call(Some(session), op, drop).await,
            None => Ok(Accepted::Done {}),
        };
        // What was refused leaves a session to close as well; its refusal is what counts.
        let closed = waist.call(Some(session), Op::SessionClose {}, drop).await;
        let accepted = accepted?;
        closed?;
        Ok(accepted)
    })
}

/// Submits an op about a session that need not be open, and gives its receipt.
pub(super) fn ask(setup: &Setup, session: SessionId, op: Op) -> Result<Accepted, Failure> {
    with_waist(setup, async |waist| {
        waist.call(Some(session), op, drop).await
    })
}

fn with_waist(
    setup: &Setup,
    work: impl AsyncFnOnce(&mut Waist) -> Result<Accepted, WireError>,
) -> Result<Accepted, Failure> {
    block_on(async {
        let engine = setup.engine("sessions")?;
        let mut waist = Waist::open(engine.connect(), "sessions").await?;
        let accepted = work(&mut waist).await;
        waist.close().await;
        drain(&engine).await;
        Ok(accepted?)
    })
}

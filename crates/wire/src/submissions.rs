//! What a face submits: numbered, sent in order, and known by its purpose until its receipt comes.
//! Each face has one, with purposes of its own.

use std::collections::HashMap;

use sessiond_protocol::{ClientFrame, Op, SessionId, Submission, SubmissionId};

use crate::rpc::{ErrorObject, INTERNAL_ERROR, error};

/// The way to the engine. `A` says what a submission was made for.
#[derive(Debug)]
pub struct Submissions<A> {
    /// What submissions without a receipt were made for.
    awaited: HashMap<SubmissionId, A>,
    /// Frames for the engine, in order.
    outbox: Vec<ClientFrame>,
    count: u64,
}

impl<A> Default for Submissions<A> {
    fn default() -> Self {
        Self {
            awaited: HashMap::new(),
            outbox: Vec::new(),
            count: 0,
        }
    }
}

impl<A> Submissions<A> {
    /// Submits an operation under an id that begins with `kind`; its receipt will find `awaited`.
    ///
    /// # Errors
    /// An internal error; nothing was submitted.
    pub fn submit(
        &mut self,
        (kind, awaited): (&str, A),
        session: Option<SessionId>,
        op: Op,
    ) -> Result<(), ErrorObject> {
        self.count += 1;
        let id = SubmissionId::try_from(format!("{kind}-{}", self.count))
            .map_err(|_| error(INTERNAL_ERROR, "Internal error"))?;
        self.awaited.insert(id.clone(), awaited);
        self.send(ClientFrame::Submission(Submission { id, session, op }));
        Ok(())
    }

    /// Sends a frame that is no submission.
    pub fn send(&mut self, frame: ClientFrame) {
        self.outbox.push(frame);
    }

    /// What is to be sent to the engine.
    pub fn take_outbox(&mut self) -> Vec<ClientFrame> {
        std::mem::take(&mut self.outbox)
    }

    /// A receipt came: what it is for.
    pub fn received(&mut self, id: &SubmissionId) -> Option<A> {
        self.awaited.remove(id)
    }

    /// What is awaited.
    pub fn awaited(&self) -> impl Iterator<Item = &A> {
        self.awaited.values()
    }

    /// What is awaited, to be changed.
    pub fn awaited_mut(&mut self) -> impl Iterator<Item = &mut A> {
        self.awaited.values_mut()
    }

    /// Takes back those submissions for which `wanted` says so: their receipts still come.
    pub fn withdraw(&mut self, mut wanted: impl FnMut(&mut A) -> bool) {
        let wanted = self.awaited.iter_mut().filter_map(|(id, awaited)| {
            wanted(awaited).then(|| ClientFrame::Withdraw { id: id.clone() })
        });
        self.outbox.extend(wanted);
    }
}

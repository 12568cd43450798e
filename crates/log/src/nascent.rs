//! A log that is being made: written where no reader looks, it appears whole or not at all.

use crate::attachment::Attachment;
use crate::error::{Doing, LogError, found};
use crate::fs::remove_tree;
use crate::lease::Lease;
use crate::nursery::{Nursery, appear};
use crate::owner::Owner;
use crate::store::Store;
use crate::subject::Subject;
use crate::writer::Writer;

/// A log that nobody sees until [`Nascent::settle`]. One that is dropped before, or whose process
/// dies, leaves nothing that counts.
#[derive(Debug)]
pub struct Nascent {
    lease: Lease,
    settled: bool,
}

impl Store {
    /// Begins a log that appears later.
    ///
    /// # Errors
    /// [`LogError::Exists`]; [`LogError::TooNew`] for a store of a newer format; [`LogError::Io`].
    pub fn conceive(&self, subject: &Subject, owner: &Owner) -> Result<Nascent, LogError> {
        self.vacant(subject)?;
        let (home, lock) = Nursery::new(self, subject)?.into_parts()?;
        let place = (subject.clone(), home);
        let lease = Lease::with_lock(self.clone(), place, owner.clone(), lock)?;
        Ok(Nascent {
            lease,
            settled: false,
        })
    }
}

impl Nascent {
    /// Its writer.
    ///
    /// # Errors
    /// As [`Lease::writer`].
    pub fn writer(&self) -> Result<Writer, LogError> {
        self.lease.writer()
    }

    /// Puts bytes on stable storage for a record to name; their names are by [`Nascent::settle`].
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn attach(&self, bytes: &[u8]) -> Result<Attachment, LogError> {
        let held = self.lease.held();
        held.store
            .blobs(&held.home)
            .keep_content(bytes)
            .map(Attachment)
    }

    /// Makes it appear; its writer is shut down by then. Remains without a record that lie in its
    /// place are set aside: [`Store::aside`].
    ///
    /// # Errors
    /// [`LogError::WriterExists`]; [`LogError::Exists`] where one of this id was made meanwhile;
    /// [`LogError::Io`].
    pub fn settle(mut self) -> Result<(), LogError> {
        self.lease.idle()?;
        let held = self.lease.held().clone();
        let (store, home) = (&held.store, &held.home);
        found(store.fs().remove(home.owner())).doing("remove", home.owner())?;
        store.make_room(&held.subject)?;
        appear(store, home, &held.subject)?;
        self.settled = true;
        Ok(())
    }
}

impl Drop for Nascent {
    fn drop(&mut self) {
        let held = self.lease.held();
        if !self.settled
            && let Err(error) = remove_tree(held.store.fs(), held.home.root())
        {
            tracing::debug!(%error, "a half-made session was not removed");
        }
    }
}

//! Fills the disk of a case, and frees it again.

use super::{Did, Driver, Halt};
use crate::disk::Disk;
use crate::error::Error;
use crate::process::BOUNDED;
use crate::recording::What;

/// What a file may have where a bound stands for a full disk.
pub(super) const NO_ROOM: u64 = 0;

impl Driver<'_> {
    /// Leaves no room.
    pub(super) fn fill(&mut self) -> Did {
        let note = match self.disk()? {
            Disk::Own(keeper) => {
                let taken = keeper.fill().map_err(|error| Error::io("filler", error))?;
                format!("the disk is full: {taken} bytes were left")
            }
            Disk::Shared(_) => {
                self.bound(Some(NO_ROOM))?;
                "no file may grow".to_owned()
            }
        };
        self.recorder.add(0, What::Note(note));
        Ok(())
    }

    /// Gives the room back.
    pub(super) fn free(&mut self) -> Did {
        match self.disk()? {
            Disk::Own(keeper) => keeper.free().map_err(|error| Error::io("filler", error))?,
            Disk::Shared(_) => self.bound(None)?,
        }
        let note = "there is room again";
        self.recorder.add(0, What::Note(note.to_owned()));
        Ok(())
    }

    fn disk(&self) -> Result<&'_ Disk, Halt> {
        self.place.disk.as_ref().ok_or_else(|| {
            let why = format!("{}: the case has no disk_kib", self.case.id);
            Halt::Fault(Error::Harness(why))
        })
    }

    /// Bounds the files of all processes, of those that come too.
    fn bound(&mut self, file_bytes: Option<u64>) -> Did {
        self.file_bytes = file_bytes;
        for process in self.processes.values() {
            // What is written next is written under it.
            let stands = |what: &What| matches!(what, What::Note(note) if note == BOUNDED);
            self.ask_guard(process, |process| process.bound(file_bytes), stands)?;
        }
        Ok(())
    }
}

//! Repair: new segments that say which places before them are broken, and nothing else.

use std::io;
use std::sync::Arc;

use uuid::Uuid;

use super::Appender;
use crate::error::{Doing, LogError};
use crate::fs::write_whole;
use crate::header::Header;
use crate::scan::Damage;

/// Places that one header names, so that it stays within `HEADER_BYTES`.
const PLACES: usize = 12;

impl Appender {
    /// Takes note of `places` under the time `at`. The torn end of the log, if there is one, must
    /// be among them: its bytes stay, and the new header says that the log ends before them.
    ///
    /// On an error this appender is done for, see [`Appender::fail`].
    pub(crate) fn repair(&mut self, places: &[Damage], at: &str) -> Result<(), LogError> {
        self.held.check()?;
        self.torn = None;
        for places in places.chunks(PLACES) {
            self.fence()?;
            self.seal()?;
            let mut header = self.next_header()?;
            header.repaired = places.to_vec();
            self.publish(header, at)?;
            self.sync()?;
            self.open = None;
        }
        Ok(())
    }

    /// Writes a segment under a name that no reader looks at, then gives it its own: a crash
    /// between would else leave a torn segment behind the torn one, which then reads as damage.
    fn publish(&mut self, header: Header, at: &str) -> Result<(), LogError> {
        let held = Arc::clone(&self.held);
        let fs = held.store.fs();
        let (name, number) = (header.name().to_string(), header.number);
        let path = held.home.segment(&name);
        let temporary = held
            .home
            .segment(&format!(".{name}.{}", Uuid::new_v4().simple()));
        let file = fs.create(&temporary).doing("create", &temporary)?;
        self.enter(file, header, at)?;
        if let Some(open) = &mut self.open {
            write_whole(open.file.as_mut(), &self.buffer).doing("write", &temporary)?;
            open.file.sync().doing("sync", &temporary)?;
            open.length += self.buffer.len() as u64;
        }
        self.buffer.clear();
        match fs.link(&temporary, &path) {
            // Somebody else claimed it.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                return Err(LogError::Fenced(held.subject.clone()));
            }
            other => other.doing("name", &path)?,
        }
        self.last_number = number;
        self.carries = true;
        fs.remove(&temporary).doing("remove", &temporary)?;
        self.fence()
    }
}

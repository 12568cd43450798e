//! Forks: the interleaving goes on in a child of the session.

use sessiond_protocol::{Cursor, Event, EventFrame, ForkPoint, Marker, SessionId};
use uuid::Uuid;

use super::{Broken, act::Said, ensure, rig::Rig};
use crate::core::Input;

impl Rig {
    /// Another process makes a fork at a bookmark, and maybe dies before it can say so in the log.
    pub(super) fn fork(&mut self, which: u8, said: Said) -> Result<(), Broken> {
        let written = self.log.iter().take(self.written);
        let points: Vec<u64> = written
            .filter(|frame| is_bookmark(frame))
            .filter_map(|frame| Some(frame.cursor?.0))
            .collect();
        let Some(at) = usize::from(which).checked_rem(points.len()) else {
            return Ok(());
        };
        let at = points.get(at).copied().unwrap_or_default();
        self.log.truncate(at as usize);
        self.deaths.retain(|records| *records <= self.log.len());
        self.forks += 1;
        let session = SessionId::new(Uuid::from_u128(self.forks.into()));
        self.parent = Some(ForkPoint {
            session,
            at: Cursor(at),
        });
        // What was promised and submitted there is the parent's (RESUME-18).
        self.model.promised.clear();
        self.model.keys.clear();
        self.reopen()?;
        if said == Said::Yes {
            self.take(Input::Settle)?;
            self.acknowledge_all()?;
        }
        let says = |frame: &EventFrame| matches!(frame.event, Event::Marker(Marker::Fork { .. }));
        let newest = self.log.get(at as usize);
        ensure!(
            said == Said::No || newest.is_some_and(says),
            "a fork says first that it is one (RESUME-9)"
        );
        Ok(())
    }
}

/// Where a session can be forked, and a conversation goes back to.
pub(super) fn is_bookmark(frame: &EventFrame) -> bool {
    match frame.event {
        Event::SessionOpened(_)
        | Event::TurnEnded(_)
        | Event::Marker(Marker::Clear {} | Marker::Rewind { .. }) => true,
        // What a client appended.
        Event::ItemEnded { .. } => frame.turn.is_none(),
        _ => false,
    }
}

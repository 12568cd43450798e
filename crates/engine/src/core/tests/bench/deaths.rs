//! The next process: what it reads, and whose it is.

use sessiond_protocol::{
    AgentInfo, AgentOption, Event, EventFrame, ForkPoint, Marker, OnDisconnect, PersistenceState,
    RequestKind, SessionId, Standing,
};
use uuid::Uuid;

use super::{Bench, CLIENT, EPOCH, info, session};
use crate::core::{Core, Digests, Input};

impl Bench {
    /// The process dies; another one reads the log and a client attaches.
    pub(in crate::core::tests) fn killed(self) -> Self {
        let mut bench = Self::over(self.log, self.ids);
        bench.core.incarnation = EPOCH + 1;
        let answers = vec![RequestKind::Permission];
        let on_disconnect = OnDisconnect::Cancel;
        bench.take(Input::Attached {
            conn: CLIENT,
            answers,
            on_disconnect,
        });
        bench
    }

    /// The newest record never came to the disk.
    pub(in crate::core::tests) fn without_the_newest(mut self) -> Self {
        self.log.pop();
        self
    }

    /// The process dies, and the agent of the next one has these options.
    pub(in crate::core::tests) fn offering(self, options: Vec<AgentOption>) -> Self {
        let mut bench = self.killed();
        let offers = AgentInfo { options, ..info() };
        let standing = bench.core.standing.clone();
        let fold = (PersistenceState::On, EPOCH + 1, standing);
        let controller = bench.core.controller.take();
        bench.core = Core::new(session(), "/w".into(), offers, fold);
        bench.core.controller = controller;
        bench
    }

    /// The same, where the log was written by another program.
    pub(in crate::core::tests) fn killed_and_rewritten(
        mut self,
        change: impl FnMut(&mut EventFrame),
    ) -> Self {
        self.log.iter_mut().for_each(change);
        self.killed()
    }

    /// Makes and compares digests with other keys from now on.
    pub(in crate::core::tests) fn learn(&mut self, digests: Digests) {
        self.core.learn(digests);
    }

    /// The same, of which only the newest checkpoint and what follows is read.
    pub(in crate::core::tests) fn killed_since_checkpoint(self) -> Self {
        let is_checkpoint =
            |frame: &EventFrame| matches!(&frame.event, Event::Marker(Marker::Checkpoint { .. }));
        let from = self.log.iter().rposition(is_checkpoint).unwrap();
        let mut standing = Standing::default();
        let read = self.log.iter().skip(from);
        read.for_each(|frame| standing.apply(frame));
        Self::standing(standing, self.log, self.ids)
    }

    /// The id of [`Bench::forked`].
    pub(in crate::core::tests) const FORK: SessionId = SessionId::new(Uuid::from_u128(0xf04c));

    /// A fork that has recorded nothing of its own.
    pub(in crate::core::tests) fn forked(self) -> Self {
        let (mut log, mut standing) = (self.log, Standing::default());
        log.iter_mut().for_each(|frame| frame.session = Self::FORK);
        log.iter().for_each(|frame| standing.apply(frame));
        standing.comes_from(ForkPoint {
            session: session(),
            at: standing.cursor,
        });
        Self::standing(standing, log, self.ids)
    }
}

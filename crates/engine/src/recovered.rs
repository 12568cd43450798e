//! What a log says of its session when it is opened.

use sessiond_log::{Generation, Lease, LogError, Scan, Seen, Since};
use sessiond_protocol::{
    Cursor, Event, EventFrame, ForkPoint, Loaded, Marker, SessionId, Standing,
};

use crate::record::to_frame;

/// A session as its log left it.
#[derive(Debug, Default)]
pub(crate) struct Recovered {
    /// How it stands.
    pub(crate) standing: Standing,
    /// Seq of the next record.
    pub(crate) next_seq: u64,
    /// Bytes of the records behind the newest checkpoint.
    pub(crate) since_checkpoint: u64,
    /// What was read.
    pub(crate) generation: Generation,
    /// The same for people, and where the reading began.
    pub(crate) loaded: Loaded,
    /// The format of a newer program, where one has written to it.
    pub(crate) newer: Option<u64>,
}

impl Recovered {
    /// Reads the log from its newest checkpoint on, or all of it where none can be used (LOG-10).
    pub(crate) fn read(session: SessionId, lease: &Lease) -> Result<Self, LogError> {
        let recovered = Self::since(session, lease, Since::Checkpoint)?;
        if recovered.standing.header.is_some() {
            return Ok(recovered);
        }
        Self::since(session, lease, Since::Start)
    }

    fn since(session: SessionId, lease: &Lease, since: Since) -> Result<Self, LogError> {
        let mut standing = Standing::default();
        let mut since_checkpoint = 0;
        let mut checkpoint = None;
        let scan = lease.visit(since, &mut |seen| {
            if let Seen::Record(record) = seen {
                since_checkpoint += record.data.len() as u64;
                let frame = to_frame(session, record);
                if record.seq > 1 && standing.cursor == Cursor::START && is_checkpoint(&frame) {
                    checkpoint = frame.cursor;
                }
                standing.apply(&frame);
            }
        })?;
        Ok(Self {
            standing: settled(standing, &scan),
            next_seq: scan.next_seq,
            since_checkpoint,
            loaded: loaded(&scan, checkpoint),
            generation: scan.generation(),
            newer: scan.newer,
        })
    }
}

fn is_checkpoint(frame: &EventFrame) -> bool {
    matches!(&frame.event, Event::Marker(Marker::Checkpoint { .. }))
}

fn loaded(scan: &Scan, checkpoint: Option<Cursor>) -> Loaded {
    let generation = scan.generation();
    Loaded {
        epoch: generation.epoch,
        cursor: Cursor(generation.last_seq),
        checkpoint,
        damage: scan.damage.len() as u64,
        torn: scan.torn.as_ref().map_or(0, |torn| torn.length),
    }
}

/// What the log itself knows beside its records.
fn settled(mut standing: Standing, scan: &Scan) -> Standing {
    if let Some(parent) = &scan.parent
        && let Ok(session) = parent.session.as_ref().parse()
    {
        let at = Cursor(parent.seq);
        standing.comes_from(ForkPoint { session, at });
    }
    // Numbers of damaged records are not used again.
    standing.cursor = Cursor(scan.next_seq.saturating_sub(1));
    standing
}

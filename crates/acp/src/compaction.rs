//! Compactions: how a client asks for one, and how it is told of one.
//!
//! The protocol has updates about them and no request. A user asks by a slash command, where the
//! session's agent offers the one that the engine answers; another command of that name is the
//! agent's own business, and goes to it like any prompt.

use serde::Serialize;
use sessiond_protocol::{Command, Compaction, Content, ItemId, SessionId};

use crate::client::{Client, Message, Voice};
use crate::gate::{Gate, Gates};
use crate::update::{Block, Meta, Remark, Update};

/// What a client that does not know compactions shows in place of one.
const COMPACTED: &str = "[Compacted: the agent goes on from a summary of what was said before.]";

/// Whether a prompt asks for a compaction: it is the command and nothing else.
pub(crate) fn is_asked(prompt: &[Content], commands: &[Command]) -> bool {
    let compaction = Command::compaction();
    let [Content::Text { text, .. }] = prompt else {
        return false;
    };
    text.trim().strip_prefix('/') == Some(&*compaction.name) && commands.contains(&compaction)
}

/// A compaction that is over; the same in both versions.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompactionPatch<'a> {
    compaction_id: ItemId,
    status: &'static str,
    summary: [Block<'a>; 1],
}

impl<'a> CompactionPatch<'a> {
    pub(crate) fn whole(id: ItemId, compaction: &'a Compaction) -> Self {
        Self {
            compaction_id: id,
            status: "completed",
            summary: [Block::text(&compaction.summary)],
        }
    }
}

/// Tells a client of version 1, live and in a replay: most of them fail on an update that they do
/// not know, and get a chunk that is nobody's message.
pub(crate) fn tell(
    client: &Client,
    gates: Gates,
    (session, id): (SessionId, ItemId),
    compaction: &Compaction,
) {
    if gates.has(Gate::Compaction) {
        let patch = CompactionPatch::whole(id, compaction);
        return client.update(session, &Update::CompactionUpdate(patch));
    }
    let meta = Some(Meta::from(Remark::Marker("compacted")));
    let message = Message {
        session,
        id: None,
        meta,
    };
    client.say(Voice::Agent, COMPACTED, &message);
}

#[cfg(test)]
mod tests;

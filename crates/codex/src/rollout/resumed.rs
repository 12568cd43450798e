//! A rollout that goes on: what was written elsewhere stays as it is, byte for byte, and what was
//! said here follows it.

use std::collections::HashSet;
use std::io::{self, Write};

use sessiond_protocol::{Item, Losses, SessionId, Telling, Told, ToldAbout};
use sessiond_wire::foreign::{Original, ReadAt, copy};

use super::chain::Rollout;
use super::fold::Fold;
use super::write::{Continuation, NOTICES, Writer};

/// Writes a conversation down that began in a rollout: the bytes of its own file, then what of `told`
/// is not in it. Nothing is added to one that says it all. What was rewound is left away from its
/// place on; where that is in a file that this one goes on from, all is written anew.
///
/// # Errors
/// Of the original, and of what is written to.
pub fn go_on<S: ReadAt>(
    original: &Rollout<S>,
    (session, about): (SessionId, &ToldAbout),
    told: Vec<Told>,
    mut out: impl Write,
) -> io::Result<Losses> {
    let mut fold = Fold::new(original);
    let (mut known, mut calls) = (Original::default(), HashSet::new());
    while let Some(piece) = fold.next() {
        let piece = piece?;
        known.tell(&piece, fold.ended_at());
        if let Telling::Item(Item::ToolCall(call)) = piece.what {
            calls.extend(call.native);
        }
    }
    let (own, count) = (original.own(), original.files().count());
    let junction = known.join(&told);
    let is_more = junction.is_more;
    let end = match junction.last {
        _ if junction.is_whole || junction.is_cleared => None,
        Some(end) if end.file + 1 == count => Some(end),
        // Of the thread's own file nothing is left.
        _ => {
            let mut writer = Writer::begin(out, (session, about), original.provider())?;
            told.into_iter().try_for_each(|told| writer.tell(told))?;
            return writer.finish();
        }
    };
    let bytes = end.map_or(u64::MAX, |end| end.offset);
    let is_ended = copy(&own.file.source, bytes, &mut out)?;
    let mut losses = Losses::default();
    if junction.is_cleared {
        losses.note(
            "clears",
            "not written down: a reader takes up what was cleared",
        );
    }
    if !is_more {
        out.flush()?;
        let notices = told.iter().skip(junction.rest);
        notices.for_each(|_| losses.note(NOTICES.0, NOTICES.1));
        return Ok(losses);
    }
    if !is_ended {
        // Its program died in the middle of a line; the next one is not to be spliced to it.
        out.write_all(b"\n")?;
    }
    let from = Continuation {
        mode: own.mode,
        ordinal: end.map_or_else(|| fold.next_ordinal(), |end| end.ordinal),
        calls,
    };
    let mut writer = Writer::go_on(out, (session, about), from);
    let mut rest = told.into_iter().skip(junction.rest);
    rest.try_for_each(|told| writer.tell(told))?;
    writer.finish()
}

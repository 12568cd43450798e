//! A transcript that goes on: what was written elsewhere stays as it is, byte for byte, and what was
//! said here follows it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, Write};

use sessiond_protocol::{Item, ItemId, Losses, SessionId, Telling, Told, ToldAbout};
use uuid::Uuid;

use super::fold::Fold;
use super::index::Index;
use super::source::ReadAt;
use super::write::{Continuation, NOTICES, Transcript};

/// Writes a conversation down that began in the transcript `original`: the bytes of that, then what
/// of `told` is not in it. Nothing is added to one that says it all.
///
/// # Errors
/// Of the original, and of what is written to.
pub fn go_on<S: ReadAt + ?Sized>(
    original: &S,
    (session, about): (SessionId, &ToldAbout),
    told: Vec<Told>,
    mut out: impl Write,
) -> io::Result<Losses> {
    let index = Index::read(original)?;
    let mut fold = Fold::new(&index, original);
    let (mut ends, mut calls, mut count) =
        (HashMap::<ItemId, (usize, Uuid)>::new(), HashSet::new(), 0);
    let mut notices = 0;
    while let Some(piece) = fold.next() {
        let piece = piece?;
        // Notices have no id in a session, and lean persistence keeps no thoughts.
        match piece.what {
            Telling::Notice { .. } => notices += 1,
            Telling::Item(Item::Thought { .. }) => {}
            _ => (count, notices) = (count + 1, 0),
        }
        if let (Some(id), Some(last)) = (piece.id, fold.ended_with()) {
            ends.insert(id, (count, last));
        }
        if let Telling::Item(Item::ToolCall(call)) = piece.what {
            calls.extend(call.native);
        }
    }
    let is_ended = copy(original, &mut out)?;
    let told_nothing = told.is_empty();
    let known = |told: &Told| told.id.and_then(|id| ends.get(&id).copied());
    let junction = told.iter().rposition(|told| known(told).is_some());
    let (at, entry) = junction.and_then(|at| known(&told[at])).unzip();
    let is_whole = at == Some(count) || count == 0;
    let parent = match is_whole {
        true => fold.tail().or(entry),
        false => entry,
    };
    let mut rest: VecDeque<Told> = told.into_iter().collect();
    rest.drain(..junction.map_or(0, |at| at + 1));
    // Those at the end of the original are not new.
    while is_whole && notices > 0 && rest.front().is_some_and(is_notice) {
        notices -= 1;
        rest.pop_front();
    }
    let titled = about.title.as_ref();
    let title = titled.filter(|title| Some(*title) != index.about().title.as_ref());
    let is_more = rest.iter().any(|told| !is_notice(told));
    if !is_more && is_whole && !title.is_some_and(is_chosen) {
        out.flush()?;
        let mut losses = Losses::default();
        rest.iter().for_each(|_| losses.note(NOTICES.0, NOTICES.1));
        return Ok(losses);
    }
    if !is_ended {
        // Its program died in the middle of a line; the next one is not to be spliced to it.
        out.write_all(b"\n")?;
    }
    let mut transcript = Transcript::new(out, (session, about), Continuation { parent, calls });
    if !is_whole {
        transcript.ends_here();
    }
    let is_cleared = told_nothing && count > 0;
    for told in rest {
        transcript.tell(told)?;
    }
    let mut losses = transcript.finish(title)?;
    if is_cleared {
        losses.note(
            "clears",
            "not written down: a reader takes up what was cleared",
        );
    }
    Ok(losses)
}

fn is_notice(told: &Told) -> bool {
    matches!(told.what, Telling::Notice { .. })
}

/// A title that is no more than the beginning of the first prompt is not written down.
fn is_chosen((_, by): &(String, sessiond_protocol::Titler)) -> bool {
    *by != sessiond_protocol::Titler::Prompt
}

/// Copies all bytes; answers whether they end with a line break.
fn copy<S: ReadAt + ?Sized>(original: &S, out: &mut impl Write) -> io::Result<bool> {
    let (mut offset, mut buffer, mut last) = (0, vec![0; 1 << 16], b'\n');
    loop {
        let count = match original.read_at(offset, &mut buffer) {
            Ok(0) => return Ok(last == b'\n'),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        out.write_all(&buffer[..count])?;
        last = buffer[count - 1];
        offset += count as u64;
    }
}

#[cfg(test)]
mod tests;

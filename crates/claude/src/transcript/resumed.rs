//! A transcript that goes on: what was written elsewhere stays as it is, byte for byte, and what was
//! said here follows it.

use std::collections::HashSet;
use std::io::{self, Write};

use sessiond_protocol::{Item, Losses, SessionId, Telling, Told, ToldAbout};
use sessiond_wire::foreign::{Original, ReadAt, copy};

use super::fold::Fold;
use super::index::Index;
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
    let (mut known, mut calls) = (Original::default(), HashSet::new());
    while let Some(piece) = fold.next() {
        let piece = piece?;
        known.tell(&piece, fold.ended_with());
        if let Telling::Item(Item::ToolCall(call)) = piece.what {
            calls.extend(call.native);
        }
    }
    let is_ended = copy(original, u64::MAX, &mut out)?;
    let junction = known.join(&told);
    let (is_whole, is_more) = (junction.is_whole, junction.is_more);
    let parent = match is_whole {
        true => fold.tail().or(junction.last),
        false => junction.last,
    };
    let titled = about.title.as_ref();
    let title = titled.filter(|title| Some(*title) != index.about().title.as_ref());
    if !is_more && is_whole && !title.is_some_and(is_chosen) {
        out.flush()?;
        let mut losses = Losses::default();
        told.iter()
            .skip(junction.rest)
            .for_each(|_| losses.note(NOTICES.0, NOTICES.1));
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
    for told in told.into_iter().skip(junction.rest) {
        transcript.tell(told)?;
    }
    let mut losses = transcript.finish(title)?;
    if junction.is_cleared {
        losses.note(
            "clears",
            "not written down: a reader takes up what was cleared",
        );
    }
    Ok(losses)
}

/// A title that is no more than the beginning of the first prompt is not written down.
fn is_chosen((_, by): &(String, sessiond_protocol::Titler)) -> bool {
    *by != sessiond_protocol::Titler::Prompt
}

#[cfg(test)]
mod tests;

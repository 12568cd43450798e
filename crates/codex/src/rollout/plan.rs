//! What of a thread was rolled back. Threads of today go on in another file instead; where nothing
//! was rolled back, this costs one look for the word.

use std::io;

use memchr::memmem;
use sessiond_wire::foreign::{Lines, ReadAt, Upto};

use super::blocks::is_users;
use super::chain::Rollout;
use super::reader::{Reader, Taken};

/// The event that rolls back.
pub(super) const ROLLED_BACK: &str = "thread_rolled_back";

/// Bytes that are looked through at once.
const WINDOW: usize = 1 << 18;

/// A place in a chain: which file, and where in it.
type At = (usize, u64);

/// Stretches that do not count, in order: from the first place to before the second.
#[derive(Debug, Default)]
pub(super) struct Dropped(Vec<(At, At)>);

impl Dropped {
    /// Whether what stands at a place does not count.
    pub(super) fn holds(&self, at: At) -> bool {
        let mut stretches = self.0.iter();
        stretches.any(|(from, to)| *from <= at && at < *to)
    }
}

/// Finds what was rolled back.
pub(super) fn plan<S: ReadAt>(rollout: &Rollout<S>) -> io::Result<Dropped> {
    let mut dropped = Dropped::default();
    let mut is_there = false;
    for segment in &rollout.segments {
        is_there = is_there || holds(&segment.file.source)?;
    }
    if !is_there {
        return Ok(dropped);
    }
    let (mut reader, mut turns) = (Reader::default(), Vec::<At>::new());
    for (nth, segment) in rollout.segments.iter().enumerate() {
        reader.turn_to(segment.mode, None, segment.until);
        let mut lines = Lines::from(&segment.file.source, 0, 0);
        while let Some(line) = lines.next()? {
            let taken = reader.line(line, |line, place| {
                let at = (nth, place.offset);
                let kind = line.kind;
                let Some(payload) = line.payload.0 else {
                    return;
                };
                match (kind.as_str(), payload.kind.as_str()) {
                    (Some("response_item"), Some("message")) => {
                        turns.extend(is_users(payload).then_some(at));
                    }
                    (Some("event_msg"), Some(ROLLED_BACK)) => {
                        let back = payload.num_turns.whole().unwrap_or_default();
                        let back = usize::try_from(back).unwrap_or(usize::MAX);
                        let from = turns.len().saturating_sub(back);
                        let first = turns.get(from).copied();
                        dropped.0.extend(first.map(|first| (first, at)));
                        turns.truncate(from);
                    }
                    _ => {}
                }
            });
            if taken == Taken::Beyond {
                break;
            }
        }
    }
    Ok(dropped)
}

/// Whether the word is anywhere in a file.
fn holds<S: ReadAt>(source: &Upto<S>) -> io::Result<bool> {
    let needle = memmem::Finder::new(ROLLED_BACK);
    let (mut buffer, mut kept, mut offset) = (vec![0; WINDOW], 0, 0);
    loop {
        let count = match source.read_at(offset, &mut buffer[kept..]) {
            Ok(0) => return Ok(false),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let filled = kept + count;
        if needle.find(&buffer[..filled]).is_some() {
            return Ok(true);
        }
        offset += count as u64;
        // It may be cut by the edge.
        kept = filled.min(ROLLED_BACK.len() - 1);
        buffer.copy_within(filled - kept..filled, 0);
    }
}

#[cfg(test)]
mod tests;

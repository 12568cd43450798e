//! Entries in a line that is not one: two writers spliced theirs, or one died in the middle.

use std::ops::Range;

use memchr::memmem;

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// An entry.
    Entry(Range<usize>),
    /// Bytes that are none.
    Bad(Range<usize>),
}

/// How many bytes at the beginning say nothing: blanks and NULs.
#[must_use]
pub fn blank(bytes: &[u8]) -> usize {
    let text = bytes
        .iter()
        .position(|b| *b != 0 && !b.is_ascii_whitespace());
    text.unwrap_or(bytes.len())
}

/// Cuts a line into entries and what lies between them. `reads` says how long the entry is that some
/// bytes begin with; `beginnings` are how one begins in the middle of a line.
pub fn salvage(
    line: &[u8],
    beginnings: &[&[u8]],
    reads: impl Fn(&[u8]) -> Option<usize>,
) -> Vec<Piece> {
    let (mut pieces, mut bad_from) = (Vec::new(), None);
    let mut at = blank(line);
    while at < line.len() {
        if let Some(length) = reads(&line[at..]) {
            pieces.extend(bad_from.take().map(|bad| Piece::Bad(bad..at)));
            let end = at + length;
            pieces.push(Piece::Entry(at..end));
            // Blanks and NULs between two entries are no third one.
            at = end + blank(&line[end..]);
            continue;
        }
        bad_from.get_or_insert(at);
        let rest = line.get(at + 1..).unwrap_or_default();
        let found = beginnings.iter().filter_map(|b| memmem::find(rest, b));
        at = found.min().map_or(line.len(), |found| at + 1 + found);
    }
    pieces.extend(bad_from.map(|bad| Piece::Bad(bad..line.len())));
    pieces
}

#[cfg(test)]
mod tests;

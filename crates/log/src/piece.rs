//! Cuts the bytes of a segment into lines, and broken bytes into what can be saved of them.

use crate::line::{CRC_MEMBER, Fault, Line, START, decode};

/// Consecutive bytes of a segment: one line that holds, or bytes that are none.
#[derive(Debug)]
pub(crate) struct Piece<'a> {
    pub(crate) offset: usize,
    /// With the LF.
    pub(crate) length: usize,
    /// Whether the bytes reach the end of what was given without an LF.
    pub(crate) unterminated: bool,
    pub(crate) line: Result<Line<'a>, Fault>,
    /// How many records may have been here, when it is none.
    pub(crate) lost: u64,
}

/// All pieces of `bytes`, in order and without gaps.
pub(crate) fn pieces(bytes: &[u8]) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut offset = 0;
    while let Some(length) = next_line(bytes, offset, &mut pieces) {
        offset += length;
    }
    pieces
}

/// The first piece of `bytes`.
pub(crate) fn first_piece(bytes: &[u8]) -> Option<Piece<'_>> {
    let mut pieces = Vec::new();
    next_line(bytes, 0, &mut pieces)?;
    pieces.into_iter().next()
}

/// Adds the pieces of the line at `offset`; its length with the LF, or `None` at the end.
fn next_line<'a>(bytes: &'a [u8], offset: usize, pieces: &mut Vec<Piece<'a>>) -> Option<usize> {
    let rest = bytes.get(offset..).filter(|r| !r.is_empty())?;
    let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
    let chunk = rest.get(..length)?;
    let content = chunk.strip_suffix(b"\n").unwrap_or(chunk);
    let unterminated = content.len() == length;
    match decode(content) {
        Err(fault @ (Fault::Checksum | Fault::Envelope)) => {
            salvage(chunk, offset, fault, pieces);
        }
        line => {
            let lost = u64::from(line.is_err());
            pieces.push(Piece {
                offset,
                length,
                unterminated,
                line,
                lost,
            });
        }
    }
    Some(length)
}

/// Looks for whole lines within broken bytes: behind a stub that a dead writer left without LF,
/// behind a run of NULs, before or after an LF that was garbled (LOG-4: the records after the
/// damage count).
fn salvage<'a>(chunk: &'a [u8], base: usize, fault: Fault, pieces: &mut Vec<Piece<'a>>) {
    let first = pieces.len();
    let mut at = 0;
    while at < chunk.len() {
        let Some(rest) = chunk.get(at..) else { break };
        let next = rest.windows(START.len()).skip(1).position(|w| w == START);
        let length = next.map_or(rest.len(), |n| n + 1);
        let Some(part) = rest.get(..length) else {
            break;
        };
        add_part(part, base + at, fault, pieces);
        at += length;
    }
    if pieces.iter().skip(first).all(|p| p.line.is_err()) {
        pieces.truncate(first);
        pieces.push(broken(chunk, base, fault));
    }
}

fn add_part<'a>(part: &'a [u8], offset: usize, fault: Fault, pieces: &mut Vec<Piece<'a>>) {
    let content = part.strip_suffix(b"\n").unwrap_or(part);
    let unterminated = content.len() == part.len();
    if let Ok(line) = decode(content) {
        let length = part.len();
        pieces.push(Piece {
            offset,
            length,
            unterminated,
            line: Ok(line),
            lost: 0,
        });
        return;
    }
    // One stray byte, where the LF should be.
    if let Some((_, whole)) = content.split_last()
        && let Ok(line) = decode(whole)
    {
        let length = whole.len();
        pieces.push(Piece {
            offset,
            length,
            unterminated: false,
            line: Ok(line),
            lost: 0,
        });
        let stray = part.get(length..).unwrap_or_default();
        pieces.push(Piece {
            lost: 0,
            ..broken(stray, offset + length, fault)
        });
        return;
    }
    pieces.push(broken(part, offset, fault));
}

/// Each checksum member may have ended a record that was acknowledged; its seq is not used again.
fn broken<'a>(bytes: &[u8], offset: usize, fault: Fault) -> Piece<'a> {
    let members = bytes
        .windows(CRC_MEMBER.len())
        .filter(|w| *w == CRC_MEMBER)
        .count();
    Piece {
        offset,
        length: bytes.len(),
        unterminated: bytes.last() != Some(&b'\n'),
        line: Err(fault),
        lost: (members as u64).max(1),
    }
}

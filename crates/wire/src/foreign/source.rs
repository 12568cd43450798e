//! Where the bytes of a transcript come from, and its lines.

use std::io;
use std::ops::Range;

/// Bytes that can be read at any place: a file, or what is in memory.
pub trait ReadAt {
    /// Reads from `offset` on; 0 at the end.
    ///
    /// # Errors
    /// What the source says.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;
}

impl<S: ReadAt + ?Sized> ReadAt for &S {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, into)
    }
}

impl ReadAt for std::fs::File {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, into, offset)
    }
}

impl ReadAt for [u8] {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = self.get(from..).unwrap_or_default();
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.as_slice().read_at(offset, into)
    }
}

/// The beginning of a source that something else may be writing to: what comes later is not seen.
#[derive(Debug)]
pub struct Upto<S> {
    source: S,
    bytes: u64,
}

impl<S: ReadAt> Upto<S> {
    /// The first `bytes` of it.
    pub fn new(source: S, bytes: u64) -> Self {
        Self { source, bytes }
    }

    /// How many bytes of it are seen, where it is no shorter.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<S: ReadAt> ReadAt for Upto<S> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
        let most = into.len().min(left);
        self.source.read_at(offset, &mut into[..most])
    }
}

/// Bytes read at once: many lines of the usual length, and little memory.
const WINDOW: usize = 256 * 1024;

/// A part of a source in memory. It grows to the longest line that is asked for.
#[derive(Debug)]
pub struct Window<'a, S: ?Sized> {
    source: &'a S,
    /// Where `bytes` begin in the source.
    at: u64,
    bytes: Vec<u8>,
}

impl<'a, S: ReadAt + ?Sized> Window<'a, S> {
    /// Nothing of it is in memory yet.
    pub fn new(source: &'a S) -> Self {
        Self {
            source,
            at: 0,
            bytes: Vec::new(),
        }
    }

    /// The bytes of a range; fewer where the source ends before it.
    ///
    /// # Errors
    /// What the source says.
    pub fn get(&mut self, range: Range<u64>) -> io::Result<&[u8]> {
        let end = self.at + self.bytes.len() as u64;
        if range.start < self.at || range.end > end {
            let wanted = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
            self.fill(range.start, wanted.max(WINDOW))?;
        }
        let from = (range.start - self.at) as usize;
        let to = ((range.end - self.at) as usize).min(self.bytes.len());
        Ok(self.bytes.get(from..to).unwrap_or_default())
    }

    fn fill(&mut self, at: u64, wanted: usize) -> io::Result<()> {
        self.at = at;
        self.bytes.resize(wanted, 0);
        let mut filled = 0;
        while filled < wanted {
            let next = at + filled as u64;
            match self.source.read_at(next, &mut self.bytes[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.bytes.clear();
                    return Err(error);
                }
            }
        }
        self.bytes.truncate(filled);
        Ok(())
    }
}

/// A line and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Without its line break.
    pub bytes: &'a [u8],
    /// Whether a line break follows it.
    pub is_ended: bool,
}

/// The lines of a source, in order, from a line's beginning on.
#[derive(Debug)]
pub struct Lines<'a, S: ?Sized> {
    source: &'a S,
    bytes: Vec<u8>,
    /// Where in `bytes` the next line begins, and how far a line break was looked for.
    from: usize,
    looked: usize,
    /// Where `bytes` begin in the source.
    at: u64,
    number: u64,
    is_over: bool,
}

impl<'a, S: ReadAt + ?Sized> Lines<'a, S> {
    /// From the line that begins at `offset`, before which there are `before` lines.
    pub fn from(source: &'a S, offset: u64, before: u64) -> Self {
        Self {
            source,
            bytes: Vec::new(),
            from: 0,
            looked: 0,
            at: offset,
            number: before,
            is_over: false,
        }
    }

    /// The next line; none at the end. The last one may have no line break.
    ///
    /// # Errors
    /// What the source says.
    #[expect(
        clippy::should_implement_trait,
        reason = "a line lends from the buffer that the next one is read into"
    )]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let (length, is_ended) = loop {
            let rest = self.bytes.get(self.looked..).unwrap_or_default();
            match memchr::memchr(b'\n', rest) {
                Some(found) => break (self.looked + found - self.from, true),
                None => self.looked = self.bytes.len(),
            }
            if !self.is_over {
                self.more()?;
            } else if self.from < self.bytes.len() {
                break (self.bytes.len() - self.from, false);
            } else {
                return Ok(None);
            }
        };
        let start = self.from;
        self.from = start + length + usize::from(is_ended);
        self.looked = self.from;
        self.number += 1;
        Ok(Some(Line {
            number: self.number,
            offset: self.at + start as u64,
            bytes: &self.bytes[start..start + length],
            is_ended,
        }))
    }

    /// Reads on, behind what of the buffer is still needed.
    fn more(&mut self) -> io::Result<()> {
        self.bytes.drain(..self.from);
        self.at += self.from as u64;
        self.looked -= self.from;
        self.from = 0;
        let kept = self.bytes.len();
        // A line of any length is read in a number of steps that grows with its logarithm.
        let more = WINDOW.max(kept);
        self.bytes.resize(kept + more, 0);
        let next = self.at + kept as u64;
        let count = loop {
            match self.source.read_at(next, &mut self.bytes[kept..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.bytes
            .truncate(kept + count.as_ref().copied().unwrap_or(0));
        self.is_over = count? == 0;
        Ok(())
    }
}

/// Copies the first `most` bytes of a source; answers whether they end with a line break.
///
/// # Errors
/// Of the source, and of what is written to.
pub fn copy<S: ReadAt + ?Sized>(
    source: &S,
    most: u64,
    out: &mut impl io::Write,
) -> io::Result<bool> {
    let source = Upto::new(source, most);
    let (mut offset, mut buffer, mut last) = (0, vec![0; 1 << 16], b'\n');
    loop {
        let count = match source.read_at(offset, &mut buffer) {
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

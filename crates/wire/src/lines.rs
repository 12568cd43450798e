//! Lines of a byte stream: where frames begin and end (WIRE-1, WIRE-4).
//!
//! The stream is split on LF bytes and a whole line is decoded at once, so a multi-byte character
//! that arrives in two reads is never torn.

use std::io::{self, BufRead, BufReader, Read};

use tokio::io::{AsyncBufReadExt, AsyncRead};

/// Longest line accepted unless configured otherwise, in bytes without its LF (WIRE-4).
pub const DEFAULT_LINE_LIMIT: usize = 64 * 1024 * 1024;

/// Read buffer, in bytes: the capacity of a Linux pipe, so that one read empties a full pipe.
const READ_BUFFER: usize = 64 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One line of the stream, without its terminator and never blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Well-formed UTF-8.
    Text(String),
    /// A line that can not be a frame; the stream goes on after it (WIRE-5).
    Bad(BadLine),
}

/// Why a line was refused. Its content is gone: a diagnostic may name counts only (SEC-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// Longer than the limit; it was drained without being stored.
    #[error("line of {bytes} bytes is longer than the limit")]
    TooLong {
        /// Length of the line in bytes, without its LF.
        bytes: u64,
    },
    /// Not UTF-8.
    #[error("line is not valid UTF-8")]
    NotUtf8,
}

impl BadLine {
    /// Stable name of the cause.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLong { .. } => "line_too_long",
            Self::NotUtf8 => "line_not_utf8",
        }
    }
}

/// What becomes of bytes that are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Foreign {
    /// Their line is refused.
    Refused,
    /// They are replaced by U+FFFD.
    Mended,
}

/// Splits a byte stream into lines, holding at most one line of at most the limit in memory.
///
/// Tolerated on input (WIRE-1): CRLF, blank lines (skipped), one BOM at the start of the stream
/// or before the `{` of a line, and a last line without LF.
#[derive(Debug)]
pub struct LineReader<R> {
    input: BufReader<R>,
    limit: usize,
    first: bool,
    foreign: Foreign,
}

impl<R: Read> LineReader<R> {
    /// Reads lines of at most `limit` bytes from `input`.
    pub fn new(input: R, limit: usize) -> Self {
        Self {
            input: BufReader::with_capacity(READ_BUFFER, input),
            limit,
            first: true,
            foreign: Foreign::Refused,
        }
    }

    /// The same, with U+FFFD in place of bytes that are not UTF-8: for protocols whose original reads them so.
    #[must_use]
    pub fn mending(self) -> Self {
        Self {
            foreign: Foreign::Mended,
            ..self
        }
    }

    /// The next line that is not blank; `None` at the end of the stream.
    ///
    /// # Errors
    /// What the underlying reader returns, except interruption, which is retried.
    pub fn next_line(&mut self) -> io::Result<Option<Line>> {
        loop {
            let mut bytes = Vec::new();
            let room = (self.limit as u64).saturating_add(1);
            let read = self
                .input
                .by_ref()
                .take(room)
                .read_until(b'\n', &mut bytes)? as u64;
            if read == 0 {
                return Ok(None);
            }
            let first = std::mem::replace(&mut self.first, false);
            if bytes.last() == Some(&b'\n') {
                bytes.pop();
            } else if read == room {
                drop(bytes);
                return self.drain(read).map(Some);
            }
            if let Some(line) = decode(bytes, first, self.foreign) {
                return Ok(Some(line));
            }
        }
    }

    /// Reads on to the end of an overlong line without keeping it.
    fn drain(&mut self, mut bytes: u64) -> io::Result<Line> {
        loop {
            let buffer = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(buffer.len());
            let ended = end.is_some() || buffer.is_empty();
            self.input.consume(length + usize::from(end.is_some()));
            bytes += length as u64;
            if ended {
                return Ok(Line::Bad(BadLine::TooLong { bytes }));
            }
        }
    }
}

/// [`LineReader`] over an asynchronous stream.
#[derive(Debug)]
pub struct AsyncLines<R> {
    input: tokio::io::BufReader<R>,
    limit: usize,
    first: bool,
}

impl<R: AsyncRead + Unpin> AsyncLines<R> {
    /// Reads lines of at most `limit` bytes from `input`.
    pub fn new(input: R, limit: usize) -> Self {
        Self {
            input: tokio::io::BufReader::with_capacity(READ_BUFFER, input),
            limit,
            first: true,
        }
    }

    /// The next line that is not blank; `None` at the end of the stream. A wait that is dropped
    /// loses what was read of a line.
    ///
    /// # Errors
    /// What the underlying reader returns.
    pub async fn next_line(&mut self) -> io::Result<Option<Line>> {
        loop {
            let (mut bytes, mut length) = (Vec::new(), 0_u64);
            let ended = loop {
                let buffer = self.input.fill_buf().await?;
                let end = memchr::memchr(b'\n', buffer);
                let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or(buffer);
                length += part.len() as u64;
                if length <= self.limit as u64 {
                    bytes.extend_from_slice(part);
                } else {
                    // Drained without being stored.
                    bytes = Vec::new();
                }
                let (taken, is_empty) =
                    (part.len() + usize::from(end.is_some()), buffer.is_empty());
                self.input.consume(taken);
                if end.is_some() || is_empty {
                    break is_empty;
                }
            };
            if ended && length == 0 {
                return Ok(None);
            }
            let first = std::mem::replace(&mut self.first, false);
            if length > self.limit as u64 {
                return Ok(Some(Line::Bad(BadLine::TooLong { bytes: length })));
            }
            if let Some(line) = decode(bytes, first, Foreign::Refused) {
                return Ok(Some(line));
            }
        }
    }
}

/// The line in `bytes` (without LF), or `None` if it is blank.
fn decode(mut bytes: Vec<u8>, first: bool, foreign: Foreign) -> Option<Line> {
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    if let Some(rest) = bytes.strip_prefix(BOM)
        && (first || rest.trim_ascii_start().first() == Some(&b'{'))
    {
        bytes.drain(..BOM.len());
    }
    if bytes.trim_ascii().is_empty() {
        return None;
    }
    Some(match (String::from_utf8(bytes), foreign) {
        (Ok(text), _) => Line::Text(text),
        (Err(_), Foreign::Refused) => Line::Bad(BadLine::NotUtf8),
        (Err(error), Foreign::Mended) => {
            Line::Text(String::from_utf8_lossy(error.as_bytes()).into_owned())
        }
    })
}

#[cfg(test)]
mod tests;

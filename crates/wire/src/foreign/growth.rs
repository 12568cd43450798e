//! A file that its program is still writing.

use std::io;

use sessiond_protocol::Told;

use super::source::{ReadAt, Window};

/// What shows that a file is another one, or was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The device and the number of the file on it.
    pub file: (u64, u64),
    /// Its length.
    pub bytes: u64,
}

/// What a look at it found.
#[derive(Debug, Clone, PartialEq)]
pub enum Grown {
    /// The next thing of the conversation.
    Told(Told),
    /// What was told is the conversation no longer: the file was replaced or cut, or it goes on from
    /// an earlier place. All of it is told again.
    Anew,
}

/// Bytes that show whether a file is still the one that was read: the end of an entry, which no
/// other has.
const MARK_BYTES: u64 = 256;

/// The bytes before a place, which show later whether the file is still the one that was read.
///
/// # Errors
/// What the source says.
pub fn mark<S: ReadAt + ?Sized>(source: &S, end: u64) -> io::Result<Vec<u8>> {
    let from = end.saturating_sub(MARK_BYTES);
    let bytes = Window::new(source).get(from..end)?.to_vec();
    Ok(bytes)
}

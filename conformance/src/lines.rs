//! Cutting a stream of bytes into lines. The runner's own, so that a mistake of a target's library
//! is not repeated here.

/// Bytes of a line that has not ended at which the rest of it is a flood.
const LONGEST: usize = 64 * 1024 * 1024;

/// Whether bytes hold a part; none hold nothing.
pub(crate) fn contains(bytes: &[u8], part: &[u8]) -> bool {
    let mut windows = bytes.windows(part.len().max(1));
    windows.any(|window| window == part)
}

/// The unfinished end of a stream.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    rest: Vec<u8>,
}

/// A line grows without end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Lines {
    /// Takes bytes, gives the lines that are now complete, without their LF.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, TooLong> {
        let mut lines = Vec::new();
        let mut parts = bytes.split(|byte| *byte == b'\n');
        // The last part is what follows the last LF, perhaps nothing.
        let last = parts.next_back().unwrap_or_default();
        for part in parts {
            let mut line = std::mem::take(&mut self.rest);
            line.extend_from_slice(part);
            lines.push(line);
        }
        self.rest.extend_from_slice(last);
        if self.rest.len() > LONGEST {
            return Err(TooLong);
        }
        Ok(lines)
    }

    /// What stands after the last LF at the end of the stream.
    pub(crate) fn end(self) -> Option<Vec<u8>> {
        (!self.rest.is_empty()).then_some(self.rest)
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;

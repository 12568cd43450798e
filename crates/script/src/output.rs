//! Output of a command: bytes in, text out, a bounded part of it kept.

#[cfg(test)]
mod tests;

/// Turns bytes as they arrive into text. A character that a read cut in two comes out whole; what
/// is no UTF-8, and NUL, which strict parsers refuse in a record (WIRE-5), becomes U+FFFD.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// Bytes of a character that is not complete yet: three at most.
    rest: Vec<u8>,
}

impl Decoder {
    /// The text that is complete with these bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let begun = begun_character(&self.rest);
        let begun = self.rest.split_off(self.rest.len() - begun);
        printable(&std::mem::replace(&mut self.rest, begun))
    }

    /// What is left when no more bytes come.
    pub(crate) fn finish(self) -> String {
        printable(&self.rest)
    }
}

/// How many bytes at the end begin a character that the next bytes may complete.
fn begun_character(bytes: &[u8]) -> usize {
    let last = bytes
        .utf8_chunks()
        .last()
        .map_or(&[][..], |chunk| chunk.invalid());
    // Bytes that nothing can complete have an error of known length; a mere prefix has not.
    let is_prefix = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    if is_prefix { last.len() } else { 0 }
}

fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}")
}

/// The newest part of an output.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    text: String,
    dropped: usize,
}

impl Tail {
    /// Output kept of one command, in bytes: with the escapes that terminals love (six bytes for
    /// one) a frame that carries it still has less than 1 MiB (WIRE-4).
    pub(crate) const KEPT: usize = 160 << 10;

    /// Takes in more output.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        // Twice the bound before it is cut, so that each byte is moved once on average.
        if self.text.len() > 2 * Self::KEPT {
            self.cut();
        }
    }

    /// The kept text, and whether it is less than all.
    pub(crate) fn finish(mut self) -> (String, bool) {
        self.cut();
        if self.dropped == 0 {
            return (self.text, false);
        }
        (
            format!(
                "[{} bytes of earlier output dropped]\n{}",
                self.dropped, self.text
            ),
            true,
        )
    }

    fn cut(&mut self) {
        let excess = self.text.len().saturating_sub(Self::KEPT);
        let excess = self.text.ceil_char_boundary(excess);
        self.text.drain(..excess);
        self.dropped += excess;
    }
}

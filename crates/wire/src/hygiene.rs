//! One pass over raw JSON text at intake (WIRE-5): bounds its depth and replaces the escapes that
//! a strict parser, or a store, would refuse later.
//!
//! The text need not be valid JSON: whatever is wrong with it beyond this is left to the parser.

use std::borrow::Cow;

/// Deepest nesting of arrays and objects accepted; serde_json recurses no deeper either.
pub const MAX_DEPTH: usize = 128;

const REPLACEMENT: &str = "\\ufffd";

/// The text nests deeper than [`MAX_DEPTH`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nested deeper than {MAX_DEPTH} levels")]
pub struct Depth;

impl Depth {
    /// Stable name of the cause.
    pub fn code(&self) -> &'static str {
        "too_deep"
    }
}

/// The text with each lone surrogate escape and each `\u0000` replaced by `\ufffd`; borrowed when
/// there was none.
///
/// # Errors
/// [`Depth`] when arrays and objects nest deeper than [`MAX_DEPTH`].
pub fn clean(text: &str) -> Result<Cow<'_, str>, Depth> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    let mut fixed = Fixed {
        text,
        copied: 0,
        out: String::new(),
    };
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = fixed.string(at),
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(Depth);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(fixed.finish())
}

/// The text under repair: `out` holds what precedes `copied`, mended.
struct Fixed<'a> {
    text: &'a str,
    copied: usize,
    out: String,
}

impl<'a> Fixed<'a> {
    /// Walks the string whose first byte is at `at`; returns the place after its closing quote.
    fn string(&mut self, mut at: usize) -> usize {
        let bytes = self.text.as_bytes();
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(skip) = memchr::memchr2(b'"', b'\\', rest) else {
                return bytes.len();
            };
            at += skip;
            if rest.get(skip) == Some(&b'"') {
                return at + 1;
            }
            at = self.escape(at);
        }
    }

    /// Handles the escape whose backslash is at `at`; returns the place after it.
    fn escape(&mut self, at: usize) -> usize {
        match self.unit(at) {
            Some(0xd800..=0xdbff) if matches!(self.unit(at + 6), Some(0xdc00..=0xdfff)) => at + 12,
            Some(0 | 0xd800..=0xdfff) => {
                self.out
                    .push_str(self.text.get(self.copied..at).unwrap_or_default());
                self.out.push_str(REPLACEMENT);
                self.copied = at + REPLACEMENT.len();
                self.copied
            }
            Some(_) => at + 6,
            None => at + 2,
        }
    }

    /// The code unit of the `\uXXXX` at `at`, if one stands there.
    fn unit(&self, at: usize) -> Option<u16> {
        let escape = self.text.as_bytes().get(at..at + 6)?;
        let digits = escape.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0, |unit, digit| {
            let value = char::from(*digit).to_digit(16)?;
            Some(unit << 4 | u16::try_from(value).ok()?)
        })
    }

    fn finish(mut self) -> Cow<'a, str> {
        if self.copied == 0 {
            return Cow::Borrowed(self.text);
        }
        self.out
            .push_str(self.text.get(self.copied..).unwrap_or_default());
        Cow::Owned(self.out)
    }
}

#[cfg(test)]
mod tests;

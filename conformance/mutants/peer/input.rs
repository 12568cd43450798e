//! Lines of the client.

use std::io::{BufRead as _, BufReader, Read};

use serde_json::Value;

use crate::fault::{die_on, on};

/// Longest line that is read whole; the rest of a longer one is skipped.
const LONGEST: usize = 64 * 1024 * 1024;

/// More reads than a line takes that was written at once.
const MANY_PIECES: usize = 8;
/// Shorter lines are written to a pipe at once, unless somebody means to do otherwise.
const AT_ONCE: usize = 4096;

/// A source, and how often it was read.
struct Pieces {
    source: Box<dyn Read>,
    reads: usize,
}

impl Read for Pieces {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.reads += 1;
        self.source.read(bytes)
    }
}

/// A line.
pub(crate) enum Line {
    Blank,
    Broken(Broken),
    Json(Value),
}

/// Why a line is no JSON.
pub(crate) enum Broken {
    Words,
    TooLong,
}

/// Stdin, line by line.
pub(crate) struct Input {
    stdin: BufReader<Pieces>,
    manner: Manner,
}

/// How lines are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// What stands after the last LF is no line; what is no UTF-8 is mended.
    Acp,
    /// A last line without LF is one, and so is one after a byte order mark.
    Native,
    /// The same, and what is no UTF-8 is mended.
    Mended,
}

impl Input {
    /// For ACP, from a source of its own.
    pub(crate) fn new(source: Box<dyn Read>) -> Self {
        Self::of(Manner::Acp, source)
    }

    /// For the native protocol.
    pub(crate) fn native() -> Self {
        Self::of(Manner::Native, Box::new(std::io::stdin()))
    }

    /// For Claude's face.
    pub(crate) fn mended() -> Self {
        Self::of(Manner::Mended, Box::new(std::io::stdin()))
    }

    fn of(manner: Manner, source: Box<dyn Read>) -> Self {
        Self {
            stdin: BufReader::with_capacity(64 * 1024, Pieces { source, reads: 0 }),
            manner,
        }
    }

    /// The next line; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Line> {
        let mut bytes = Vec::new();
        let native = self.manner != Manner::Acp;
        let most = u64::try_from(LONGEST).unwrap_or(u64::MAX);
        let scattered = on("pieces-dropped") || (native && framed("pieces-dropped"));
        let before = self.stdin.get_ref().reads;
        let read = self.stdin.by_ref().take(most).read_until(b'\n', &mut bytes);
        let cut = bytes.len() < LONGEST && bytes.last() != Some(&b'\n');
        if read.ok()? == 0 || (cut && (!native || framed("last-line-dropped"))) {
            return None;
        }
        if !cut && bytes.last() != Some(&b'\n') {
            die_on("long-lines-kill");
            self.skip();
            return Some(Line::Broken(Broken::TooLong));
        }
        let reads = self.stdin.get_ref().reads - before;
        if scattered && reads > MANY_PIECES && bytes.len() < AT_ONCE {
            return Some(Line::Blank);
        }
        let mends = self.manner == Manner::Mended && !on("bytes-refused");
        if mends && std::str::from_utf8(&bytes).is_err() {
            bytes = String::from_utf8_lossy(&bytes).into_owned().into_bytes();
        }
        Some(if native {
            parse_native(&bytes)
        } else {
            parse(&bytes)
        })
    }

    fn skip(&mut self) {
        loop {
            let Ok(piece) = self.stdin.fill_buf() else {
                return;
            };
            let end = piece.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(piece.len(), |at| at + 1);
            let done = end.is_some() || piece.is_empty();
            self.stdin.consume(length);
            if done {
                return;
            }
        }
    }
}

/// Whether a fault in how lines are read is the one, in any face but ACP's.
fn framed(name: &str) -> bool {
    on(name) || on(&format!("sqeq-{name}"))
}

fn parse_native(bytes: &[u8]) -> Line {
    let Ok(text) = std::str::from_utf8(bytes) else {
        die_on("bytes-kill");
        return Line::Broken(Broken::Words);
    };
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) if !framed("mark-fatal") => rest,
        _ => text,
    };
    let dropped = (framed("crlf-dropped") && text.ends_with("\r\n"))
        || (framed("blanks-dropped") && text.starts_with(' '))
        || (framed("escapes-dropped") && text.contains("\\u0070"))
        || (framed("order-matters") && text.starts_with("{\"op\""))
        || (on("order-matters") && text.starts_with("{\"message\""))
        || (on("order-matters") && text.starts_with("{\"params\""))
        || (on("escapes-dropped") && text.contains("\\u00"))
        || (framed("long-dropped") && text.len() > 500_000);
    if text.trim().is_empty() || dropped {
        return Line::Blank;
    }
    if deep(text, 5_000) {
        die_on("depth-kills");
    }
    if deep(text, 60) && on("depth-silent") {
        return Line::Blank;
    }
    match serde_json::from_str(&mend(text)) {
        Ok(_) if deep(text, 60) && on("depth-fatal") => Line::Broken(Broken::Words),
        Ok(value) => Line::Json(value),
        Err(_) => Line::Broken(Broken::Words),
    }
}

fn parse(bytes: &[u8]) -> Line {
    if std::str::from_utf8(bytes).is_err() {
        die_on("bytes-kill");
    }
    let text = String::from_utf8_lossy(bytes);
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) if !on("mark-refused") => rest.to_owned(),
        _ => text.into_owned(),
    };
    if text.trim().is_empty() {
        return Line::Blank;
    }
    let strict = (on("crlf-refused") && text.ends_with("\r\n"))
        || (on("blanks-refused") && text.starts_with(' '))
        || (on("escapes-refused") && text.contains("\\u006f"))
        || (on("order-matters") && text.starts_with("{\"params\""));
    if strict || (on("quarter-mib-refused") && text.len() > 200_000) {
        return Line::Blank;
    }
    if text.len() > 200_000 {
        die_on("quarter-mib-kills");
    }
    if deep(&text, 5_000) {
        die_on("depth-kills");
    }
    if deep(&text, 60) && on("depth-silent") {
        return Line::Blank;
    }
    let mended = if on("surrogates-lost") {
        text
    } else {
        mend(&text)
    };
    match serde_json::from_str(&mended) {
        Ok(value) => Line::Json(value),
        Err(_) if mended.contains("\\ud83d") => Line::Blank,
        Err(_) => Line::Broken(Broken::Words),
    }
}

fn deep(text: &str, most: usize) -> bool {
    text.contains(&"[".repeat(most))
}

/// Escapes of half a surrogate pair become U+FFFD, which every reader takes.
fn mend(text: &str) -> String {
    let half = |at: usize| {
        let digits = text.get(at + 2..at + 6)?;
        let unit = u32::from_str_radix(digits, 16).ok()?;
        (text[at..].starts_with("\\u") && (0xd800..0xe000).contains(&unit)).then_some(unit)
    };
    let mut mended = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        let start = at + found;
        mended.push_str(&text[at..start]);
        match (half(start), half(start + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => {
                mended.push_str(&text[start..start + 12]);
                at = start + 12;
            }
            (Some(_), _) => {
                mended.push_str("\\ufffd");
                at = start + 6;
            }
            (None, _) => {
                let end = text.len().min(start + 2);
                let end = (end..=text.len()).find(|end| text.is_char_boundary(*end));
                let end = end.unwrap_or(text.len());
                mended.push_str(&text[start..end]);
                at = end;
            }
        }
    }
    mended.push_str(&text[at..]);
    mended
}

//! One line of a segment: the envelope, its checksum, and back.
//!
//! `{"v":1,"seq":42,"epoch":3,"prev":"9f3c01aa","at":"…","kind":"…","data":{…},"crc":"5be0c2d1"}`
//!
//! The checksum is CRC-32C of all bytes before `,"crc"`. A line whose checksum holds is what a
//! writer wrote, so its data is not parsed again here.

use std::borrow::Cow;
use std::fmt;
use std::io::Write as _;

use serde::{Deserialize, Deserializer, de};
use serde_json::value::RawValue;

/// Version of the record envelope that this program writes.
pub(crate) const VERSION: u64 = 1;

/// Bytes of `,"crc":"xxxxxxxx"}`.
const TAIL: usize = 18;

/// How every line begins; where a reader looks for the next one inside broken bytes.
pub(crate) const START: &[u8] = b"{\"v\":";

/// The checksum member, of which a line has one: how lines in broken bytes are counted.
pub(crate) const CRC_MEMBER: &[u8] = b",\"crc\":\"";

/// CRC-32C of a line, written as eight lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Crc(u32);

impl Crc {
    fn of(bytes: &[u8]) -> Self {
        Self(crc32c::crc32c(bytes))
    }

    fn parse(digits: &[u8]) -> Option<Self> {
        let canonical = |b: &u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        if digits.len() != 8 || !digits.iter().all(canonical) {
            return None;
        }
        let text = std::str::from_utf8(digits).ok()?;
        u32::from_str_radix(text, 16).ok().map(Self)
    }
}

impl fmt::Display for Crc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl<'de> Deserialize<'de> for Crc {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(text.as_bytes()).ok_or_else(|| de::Error::custom("not a checksum"))
    }
}

/// What a line says before it has a checksum. Texts are plain names, data is JSON on one line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Envelope<'a> {
    /// `None` for a segment header.
    pub(crate) seq: Option<u64>,
    pub(crate) epoch: u64,
    pub(crate) prev: Crc,
    pub(crate) at: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) data: &'a str,
}

impl Envelope<'_> {
    /// Appends the line with its LF; its checksum is the next line's `prev`.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> Crc {
        let start = out.len();
        let Self {
            epoch,
            prev,
            at,
            kind,
            data,
            ..
        } = self;
        out.reserve(data.len() + at.len() + kind.len() + 128);
        // Writing to a Vec cannot fail.
        let _ = write!(out, "{{\"v\":{VERSION},");
        if let Some(seq) = self.seq {
            let _ = write!(out, "\"seq\":{seq},");
        }
        let _ = write!(
            out,
            "\"epoch\":{epoch},\"prev\":\"{prev}\",\"at\":\"{at}\","
        );
        let _ = write!(out, "\"kind\":\"{kind}\",\"data\":");
        out.extend_from_slice(data.as_bytes());
        let crc = Crc::of(out.get(start..).unwrap_or_default());
        let _ = writeln!(out, ",\"crc\":\"{crc}\"}}");
        crc
    }
}

/// A line whose checksum holds.
#[derive(Debug, Clone)]
pub(crate) struct Line<'a> {
    pub(crate) version: u64,
    pub(crate) seq: Option<u64>,
    pub(crate) epoch: u64,
    pub(crate) prev: Crc,
    pub(crate) at: Cow<'a, str>,
    pub(crate) kind: Cow<'a, str>,
    pub(crate) data: &'a str,
    pub(crate) crc: Crc,
}

/// Why bytes are no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No checksum, or one that does not hold.
    Checksum,
    /// The checksum holds, but the envelope is none.
    Envelope,
    /// The checksum holds; a newer version wrote it and its envelope is unknown.
    Newer(u64),
}

/// Reads one line, given without its LF.
pub(crate) fn decode(bytes: &[u8]) -> Result<Line<'_>, Fault> {
    let (body, tail) = bytes
        .split_at_checked(bytes.len().wrapping_sub(TAIL))
        .ok_or(Fault::Checksum)?;
    let digits = tail
        .strip_prefix(CRC_MEMBER)
        .and_then(|t| t.strip_suffix(b"\"}"));
    let crc = digits.and_then(Crc::parse).ok_or(Fault::Checksum)?;
    if Crc::of(body) != crc {
        return Err(Fault::Checksum);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Fault::Envelope)?;
    let body = text.get(..body.len()).ok_or(Fault::Envelope)?;
    canonical(body, crc).map_or_else(|| any_order(text, crc), Ok)
}

/// The members as this program writes them: no parser needed.
fn canonical(body: &str, crc: Crc) -> Option<Line<'_>> {
    let rest = body.strip_prefix("{\"v\":1,")?;
    let (seq, rest) = match rest.strip_prefix("\"seq\":") {
        Some(rest) => {
            let (seq, rest) = number(rest)?;
            (Some(seq), rest.strip_prefix(',')?)
        }
        None => (None, rest),
    };
    let (epoch, rest) = number(rest.strip_prefix("\"epoch\":")?)?;
    let (prev, rest) = text(rest.strip_prefix(",\"prev\":\"")?)?;
    let (at, rest) = text(rest.strip_prefix(",\"at\":\"")?)?;
    let (kind, rest) = text(rest.strip_prefix(",\"kind\":\"")?)?;
    let data = rest.strip_prefix(",\"data\":").filter(|d| !d.is_empty())?;
    let prev = Crc::parse(prev.as_bytes())?;
    let (at, kind) = (Cow::Borrowed(at), Cow::Borrowed(kind));
    Some(Line {
        version: VERSION,
        seq,
        epoch,
        prev,
        at,
        kind,
        data,
        crc,
    })
}

fn number(text: &str) -> Option<(u64, &str)> {
    let (digits, rest) = text.split_at(text.bytes().position(|b| !b.is_ascii_digit())?);
    Some((digits.parse().ok()?, rest))
}

/// A string without escapes, and what follows its closing quote.
fn text(rest: &str) -> Option<(&str, &str)> {
    let (text, rest) = rest.split_once('"')?;
    (!text.contains('\\')).then_some((text, rest))
}

/// The members in any order and with others between them, as a later version may write them.
fn any_order(line: &str, crc: Crc) -> Result<Line<'_>, Fault> {
    #[derive(Deserialize)]
    struct Versioned {
        v: u64,
    }
    #[derive(Deserialize)]
    struct Members<'a> {
        seq: Option<u64>,
        epoch: u64,
        prev: Crc,
        #[serde(borrow)]
        at: Cow<'a, str>,
        #[serde(borrow)]
        kind: Cow<'a, str>,
        #[serde(borrow)]
        data: &'a RawValue,
    }
    let version = serde_json::from_str(line).map(|Versioned { v }| v);
    let version = version.map_err(|_| Fault::Envelope)?;
    let fault = if version > VERSION {
        Fault::Newer(version)
    } else {
        Fault::Envelope
    };
    let Members {
        seq,
        epoch,
        prev,
        at,
        kind,
        data,
    } = serde_json::from_str(line).map_err(|_| fault)?;
    Ok(Line {
        version,
        seq,
        epoch,
        prev,
        at,
        kind,
        data: data.get(),
        crc,
    })
}

#[cfg(test)]
mod tests;

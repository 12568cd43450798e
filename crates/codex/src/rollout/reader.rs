//! Lines of a rollout, one after the other: what is damaged is read around, what was written twice is
//! told once.

use sessiond_wire::foreign::{self, Piece, Place, blank, salvage};

use super::chain::Mode;
use super::findings::{Findings, Kind};
use super::line::{Line, length_of, with_line};

/// How a line begins in the middle of another one.
const BEGINNINGS: [&[u8]; 2] = [b"{\"timestamp\":", b"{\"ordinal\":"];

/// What takes the lines of a file in.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) findings: Findings,
    mode: Mode,
    /// The name of the file, where it is not the thread's own.
    name: Option<String>,
    /// The first ordinal that does not count any more.
    until: Option<u64>,
    last: Option<u64>,
    /// The line of that ordinal.
    bytes: Vec<u8>,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It was read, or passed over.
    Whole,
    /// It is not written to its end.
    Torn,
    /// It and what follows it are no part of the thread.
    Beyond,
}

/// Where a line's text begins, behind blanks and NULs, and whether a byte order mark is before it.
pub(super) fn start(line: &foreign::Line<'_>) -> (usize, bool) {
    let mark = b"\xef\xbb\xbf";
    let is_marked = line.offset == 0 && line.bytes.starts_with(mark);
    let from = if is_marked { mark.len() } else { 0 };
    (from + blank(&line.bytes[from..]), is_marked)
}

impl Reader {
    /// Goes on with another file.
    pub(super) fn turn_to(&mut self, mode: Mode, name: Option<String>, until: Option<u64>) {
        (self.mode, self.name, self.until) = (mode, name, until);
        self.bytes.clear();
    }

    /// The ordinal of the line that would come next.
    pub(super) fn next_ordinal(&self) -> u64 {
        self.last.map_or(0, |last| last + 1)
    }

    /// Reads a line; `take` gets what it says, with its place.
    pub(super) fn line(
        &mut self,
        line: foreign::Line<'_>,
        mut take: impl FnMut(Line<'_>, Place),
    ) -> Taken {
        let (start, is_marked) = self::start(&line);
        let bytes = &line.bytes[start..];
        let has_nul = line.bytes[..start].contains(&0);
        if bytes.is_empty() {
            if has_nul {
                let place = self.place(&line, 0, start, Some("only NUL bytes"));
                self.findings.at(Kind::BadLine, place);
            }
            return Taken::Whole;
        }
        let place = self.place(&line, start, line.bytes.len(), None);
        if let Some(taken) = with_line(bytes, |said| self.said(said, bytes, place, &mut take)) {
            if has_nul && !is_marked {
                let place = self.place(&line, 0, start, None);
                self.findings.at(Kind::NulBytes, place);
            }
            return taken;
        }
        let pieces = salvage(bytes, &BEGINNINGS, length_of);
        let entries = pieces.iter().filter(|p| matches!(p, Piece::Entry(_)));
        let is_spliced = pieces.len() > 1 && entries.count() > 0;
        let mut taken = Taken::Whole;
        for piece in pieces {
            match piece {
                Piece::Entry(range) => {
                    let place = self.place(&line, start + range.start, start + range.end, None);
                    let bytes = &bytes[range];
                    let said = with_line(bytes, |said| self.said(said, bytes, place, &mut take));
                    if said == Some(Taken::Beyond) {
                        return Taken::Beyond;
                    }
                }
                Piece::Bad(range) => {
                    let is_last = range.end == bytes.len() && !line.is_ended;
                    let kind = match is_last {
                        true => Kind::TornTail,
                        false => Kind::BadLine,
                    };
                    let place = self.place(&line, start + range.start, start + range.end, None);
                    self.findings.at(kind, place);
                    if is_last {
                        taken = Taken::Torn;
                    }
                }
            }
        }
        if is_spliced {
            let place = self.place(&line, 0, line.bytes.len(), None);
            self.findings.at(Kind::Spliced, place);
        }
        taken
    }

    fn said(
        &mut self,
        said: Line<'_>,
        bytes: &[u8],
        place: Place,
        take: &mut impl FnMut(Line<'_>, Place),
    ) -> Taken {
        let ordinal = said.ordinal.whole();
        if let (Some(ordinal), Some(until)) = (ordinal, self.until)
            && ordinal >= until
        {
            return Taken::Beyond;
        }
        match (ordinal, self.last) {
            (Some(ordinal), Some(last)) if ordinal == last && bytes == self.bytes => {
                self.findings.at(Kind::DuplicateLine, place);
                return Taken::Whole;
            }
            (Some(ordinal), Some(last)) if ordinal <= last => {
                self.findings.at(Kind::OrdinalBack, place.clone());
            }
            (Some(ordinal), Some(last)) if ordinal > last + 1 => {
                self.findings.at(Kind::OrdinalGap, place.clone());
            }
            (None, _) if self.mode == Mode::Paginated => {
                self.findings.at(Kind::MissingOrdinal, place.clone());
            }
            _ => {}
        }
        if ordinal.is_some() {
            self.last = self.last.max(ordinal);
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
        }
        take(said, place);
        Taken::Whole
    }

    fn place(
        &self,
        line: &foreign::Line<'_>,
        from: usize,
        to: usize,
        about: Option<&str>,
    ) -> Place {
        let about = about.map(str::to_owned);
        let name = self.name.as_ref().map(|name| format!("of {name}"));
        Place {
            line: line.number,
            offset: line.offset + from as u64,
            bytes: (to - from) as u64,
            about: about.or(name),
        }
    }
}

/// Whether the beginning of a file is that of a rollout.
#[must_use]
pub fn is_rollout(beginning: &[u8]) -> bool {
    const KINDS: [&str; 5] = [
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "compacted",
    ];
    let mut lines = beginning.split(|b| *b == b'\n');
    lines.any(|line| {
        let start = line.iter().position(|b| *b == b'{').unwrap_or(line.len());
        with_line(&line[start..], |line| {
            line.kind.as_str().is_some_and(|kind| KINDS.contains(&kind))
        })
        .unwrap_or(false)
    })
}

//! The index of a transcript: where its entries stand and how they hang together. Some hundred
//! bytes an entry, whatever it says.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use sessiond_protocol::{SessionId, Titler, ToldAbout};
use sessiond_wire::foreign::{Line, Lines, Piece, Place, ReadAt, Text, blank, cleaned, salvage};
use uuid::Uuid;

use super::findings::{Findings, Kind};
use super::head::Head;

/// Versions of the program that the reader and the writer were proved on.
pub const PROVED_ON: [&str; 3] = ["2.1.197", "2.1.318", "2.1.332"];

/// How an entry begins in the middle of a line that two writers made.
const BEGINNINGS: [&[u8]; 2] = [b"{\"parentUuid\":", b"{\"type\":"];

/// Kinds of entries that the program keeps for itself.
const BOOKKEEPING: [&str; 19] = [
    "queue-operation",
    "last-prompt",
    "summary",
    "custom-title",
    "ai-title",
    "tag",
    "mode",
    "permission-mode",
    "agent-name",
    "tools-used",
    "cost-state",
    "atis-latch",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "file-history-snapshot",
    "file-history-delta",
    "content-replacement",
    "agent_metadata",
];

/// An entry's id, or what stands for one that is no UUID.
pub(crate) type Key = u128;

/// What an entry is in its chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The user's, or a result.
    User,
    /// What the user did not say: the program did, for the model.
    Meta,
    /// A summary of what was compacted.
    Summary,
    /// The model's.
    Assistant,
    /// Where a compaction cut.
    Boundary,
    /// A link of the chain that says nothing.
    Link,
}

/// An entry of the chain.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) uuid: Key,
    pub(crate) parent: Option<Key>,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) line: u64,
    pub(crate) role: Role,
    /// Whether it is a sub-agent's.
    pub(crate) is_side: bool,
    /// Whether it holds anything but results.
    pub(crate) says: bool,
    /// The message that it is a block of.
    pub(crate) message: Option<u64>,
}

impl Node {
    /// Whether a conversation may end with it.
    pub(crate) fn speaks(&self) -> bool {
        let speaks = matches!(self.role, Role::User | Role::Assistant | Role::Summary);
        speaks && !self.is_side
    }

    pub(crate) fn place(&self) -> Place {
        Place {
            line: self.line,
            offset: self.offset,
            bytes: self.bytes,
            about: None,
        }
    }
}

/// The entry that a `last-prompt` names, and how many entries stood before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named {
    pub(crate) leaf: Key,
    pub(crate) after: usize,
}

/// What was read of a transcript.
#[derive(Debug, Default)]
pub struct Index {
    pub(crate) nodes: Vec<Node>,
    pub(crate) by_uuid: HashMap<Key, usize>,
    /// Tool calls, and the entries with their results.
    pub(crate) calls: HashMap<u64, usize>,
    pub(crate) results: HashMap<u64, usize>,
    pub(crate) named: Option<Named>,
    about: ToldAbout,
    versions: Vec<String>,
    findings: Findings,
    /// How far was read: the end of the last line that counts.
    end: u64,
    lines: u64,
}

/// What stands for a text in the index.
pub(crate) fn mark(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// A UUID as it is; what a foreign writer took for one, by its marks.
fn key(text: &Text<'_>) -> Option<Key> {
    let text = text.as_str()?;
    Some(match Uuid::try_parse(text) {
        Ok(uuid) => uuid.as_u128(),
        Err(_) => u128::from(mark(text)) << 64 | u128::from(mark(&text.repeat(2))),
    })
}

impl Index {
    /// Reads a transcript to its end.
    ///
    /// # Errors
    /// What the source says. Whatever stands in it is a finding, never an error.
    pub fn read<S: ReadAt + ?Sized>(source: &S) -> io::Result<Self> {
        let mut index = Self::default();
        index.go_on(source)?;
        Ok(index)
    }

    /// Reads what a file has that was written to since. A last line that is not whole yet is read
    /// again the next time, where it has no line break.
    ///
    /// # Errors
    /// What the source says.
    pub fn go_on<S: ReadAt + ?Sized>(&mut self, source: &S) -> io::Result<()> {
        // What was torn the last time is looked at again.
        self.findings.forget(Kind::TornTail);
        let mut lines = Lines::from(source, self.end, self.lines);
        while let Some(line) = lines.next()? {
            let is_whole = self.line(line);
            if line.is_ended {
                self.end = line.offset + line.bytes.len() as u64 + 1;
                self.lines = line.number;
            } else if is_whole {
                // The rest of this line, its break, is still to come.
                self.end = line.offset + line.bytes.len() as u64;
                self.lines = line.number - 1;
            }
        }
        Ok(())
    }

    /// What the transcript says of its conversation as a whole.
    #[must_use]
    pub fn about(&self) -> &ToldAbout {
        &self.about
    }

    /// What was found so far.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// How many bytes were read that count.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// How many entries are links of a chain.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.nodes.len()
    }

    /// Whether an entry, by its id as it is written, is one of a chain.
    #[must_use]
    pub fn has(&self, uuid: &str) -> bool {
        key(&Text(Some(uuid.into()))).is_some_and(|key| self.by_uuid.contains_key(&key))
    }

    /// Takes in a line; answers whether it was all entries.
    fn line(&mut self, line: Line<'_>) -> bool {
        let mut skipped = 0;
        let mut bytes = line.bytes;
        if line.offset == 0 {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        let start = blank(bytes);
        if start == bytes.len() {
            if bytes.contains(&0) {
                self.found(
                    Kind::BadLine,
                    (line, 0..line.bytes.len()),
                    Some("only NUL bytes"),
                );
            }
            return true;
        }
        if bytes[..start].contains(&0) {
            skipped = start;
        }
        let bytes = &bytes[start..];
        let at = line.bytes.len() - bytes.len();
        let is_read = bytes.starts_with(b"{")
            && with_head(bytes, |head| {
                if skipped > 0 {
                    self.found(Kind::NulBytes, (line, 0..at), None);
                }
                self.entry(head, (line, at..line.bytes.len()));
            });
        is_read || self.salvage(line, at)
    }

    /// Finds the entries in a line that is not one.
    fn salvage(&mut self, line: Line<'_>, from: usize) -> bool {
        let bytes = &line.bytes[from..];
        let pieces = salvage(bytes, &BEGINNINGS, |bytes| first(bytes).map(|(_, end)| end));
        let entries = pieces.iter().filter(|p| matches!(p, Piece::Entry(_)));
        let is_spliced = pieces.len() > 1 && entries.count() > 0;
        let mut is_whole = true;
        for piece in pieces {
            match piece {
                Piece::Entry(range) => {
                    if let Some((head, _)) = first(&bytes[range.clone()]) {
                        self.entry(&head, (line, from + range.start..from + range.end));
                    }
                }
                Piece::Bad(range) => {
                    is_whole = line.is_ended || range.end < bytes.len();
                    let kind = match is_whole {
                        true => Kind::BadLine,
                        false => Kind::TornTail,
                    };
                    self.found(kind, (line, from + range.start..from + range.end), None);
                }
            }
        }
        if is_spliced {
            self.found(Kind::Spliced, (line, 0..line.bytes.len()), None);
        }
        is_whole
    }

    fn found(
        &mut self,
        kind: Kind,
        (line, range): (Line<'_>, std::ops::Range<usize>),
        about: Option<&str>,
    ) {
        let place = Place {
            line: line.number,
            offset: line.offset + range.start as u64,
            bytes: range.len() as u64,
            about: about.map(str::to_owned),
        };
        self.findings.at(kind, place);
    }

    fn entry(&mut self, head: &Head<'_>, (line, range): (Line<'_>, std::ops::Range<usize>)) {
        self.title(head);
        if let Some(leaf) = key(&head.leaf_uuid).filter(|_| head.kind.is("last-prompt")) {
            let after = self.nodes.len();
            self.named = Some(Named { leaf, after });
        }
        let role = match head.kind.as_str() {
            Some("user") if head.is_compact_summary.0 => Role::Summary,
            Some("user") if head.is_meta.0 => Role::Meta,
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") if head.subtype.is("compact_boundary") => Role::Boundary,
            Some("system" | "attachment" | "progress") => Role::Link,
            Some(kind) if BOOKKEEPING.contains(&kind) => {
                return self.findings.count(Kind::Bookkeeping);
            }
            kind => {
                let about = kind.map(str::to_owned);
                return self.found(Kind::UnknownEntry, (line, range), about.as_deref());
            }
        };
        let Some(uuid) = key(&head.uuid) else {
            let about = Some("it has no uuid");
            return self.found(Kind::BadLine, (line, range), about);
        };
        let at = self.nodes.len();
        match self.by_uuid.entry(uuid) {
            Slot::Occupied(_) => return self.found(Kind::DuplicateEntry, (line, range), None),
            Slot::Vacant(slot) => slot.insert(at),
        };
        let parent = match role {
            Role::Boundary => key(&head.logical_parent_uuid).or_else(|| key(&head.parent_uuid)),
            _ => key(&head.parent_uuid),
        };
        let message = head.message.0.as_ref();
        let mut node = Node {
            uuid,
            parent,
            offset: line.offset + range.start as u64,
            bytes: range.len() as u64,
            line: line.number,
            role,
            is_side: head.is_sidechain.0,
            says: message.is_some_and(|message| message.content.says),
            message: None,
        };
        if !node.is_side {
            self.describe(head);
            for id in message.into_iter().flat_map(|m| &m.content.made) {
                let mark = id.as_str().map(mark);
                self.calls.extend(mark.map(|mark| (mark, at)));
            }
            for id in message.into_iter().flat_map(|m| &m.content.answered) {
                self.answered(id, (at, &node));
            }
            let id = message.and_then(|message| message.id.as_str());
            node.message = id.filter(|_| role == Role::Assistant).map(mark);
        }
        self.nodes.push(node);
    }

    fn answered(&mut self, id: &Text<'_>, (at, node): (usize, &Node)) {
        let Some(mark) = id.as_str().map(mark) else {
            return;
        };
        match self.results.entry(mark) {
            Slot::Occupied(_) => self.findings.at(Kind::DuplicateResult, node.place()),
            Slot::Vacant(slot) => {
                slot.insert(at);
            }
        }
    }

    fn title(&mut self, head: &Head<'_>) {
        let is_users = matches!(&self.about.title, Some((_, Titler::User)));
        if let Some(title) = head.custom_title.as_str() {
            self.about.title = Some((title.to_owned(), Titler::User));
        } else if let Some(title) = head.ai_title.as_str().filter(|_| !is_users) {
            self.about.title = Some((title.to_owned(), Titler::Agent));
        }
    }

    /// The head of the conversation says where and when it was; each version is told once.
    fn describe(&mut self, head: &Head<'_>) {
        let about = &mut self.about;
        if about.session.is_none() {
            let id = head.session_id.as_str().map(str::parse::<SessionId>);
            about.session = id.and_then(Result::ok);
        }
        if about.cwd.is_none() {
            about.cwd = head.cwd.as_str().map(str::to_owned);
        }
        if about.branch.is_none() {
            let branch = head.git_branch.as_str().filter(|branch| !branch.is_empty());
            about.branch = branch.map(str::to_owned);
        }
        if about.began.is_none() {
            about.began = head.timestamp.as_str().map(str::to_owned);
        }
        let Some(version) = head.version.as_str() else {
            return;
        };
        if self.versions.iter().any(|known| known == version) {
            return;
        }
        about.program = Some(format!("Claude {version}"));
        if !PROVED_ON.contains(&version) {
            self.findings.at(
                Kind::UnprovedVersion,
                Place {
                    line: 0,
                    offset: 0,
                    bytes: 0,
                    about: Some(version.to_owned()),
                },
            );
        }
        self.versions.push(version.to_owned());
    }
}

/// Reads the head of an entry, if it is one; where need be without what no strict parser takes.
fn with_head(bytes: &[u8], read: impl FnOnce(&Head<'_>)) -> bool {
    if let Ok(head) = serde_json::from_slice::<Head<'_>>(bytes) {
        read(&head);
        return true;
    }
    let Ok(clean) = cleaned(bytes) else {
        return false;
    };
    let head = serde_json::from_str::<Head<'_>>(&clean);
    head.map(|head| read(&head)).is_ok()
}

/// The entry that some bytes begin with, and its length.
fn first(bytes: &[u8]) -> Option<(Head<'_>, usize)> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Head<'_>>();
    let head = values.next()?.ok().filter(Head::is_entry)?;
    Some((head, values.byte_offset()))
}

#[cfg(test)]
mod tests;

//! What a reader found that is not as it should be, and what of a transcript is no conversation.

use serde::Serialize;
use sessiond_wire::foreign::{self, Weight};

/// Everything that was found in a transcript, by kind.
pub type Findings = foreign::Findings<Kind>;

/// A kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Bytes that are no entry.
    BadLine,
    /// Entries on one line, cut apart.
    Spliced,
    /// NUL bytes before an entry.
    NulBytes,
    /// The last line was not written to its end.
    TornTail,
    /// An entry follows one that is not there; the one before it in the file was taken.
    MissingParent,
    /// Entries follow each other in a circle; it was cut.
    Cycle,
    /// An entry of an id that was there before; the first one counts.
    DuplicateEntry,
    /// A result of a call that is not there.
    OrphanResult,
    /// A call has more than one result; the first one counts.
    DuplicateResult,
    /// A call without a result; nothing tells how it ended (RESUME-6).
    UnansweredCall,
    /// A kind of entry that this version does not know.
    UnknownEntry,
    /// A block of a message that this version does not know.
    UnknownBlock,
    /// An entry of the conversation that cannot be read as one.
    UnreadableEntry,
    /// A summary longer than a session takes; it was cut.
    LongSummary,
    /// A version of the program that this reader was not proved on (ADAPT-11).
    UnprovedVersion,
    /// Entries of another branch: what was edited or rewound away.
    OtherBranch,
    /// Entries of a sub-agent's own conversation.
    Sidechain,
    /// What the program gave the model beside the conversation: attachments, reminders.
    Furniture,
    /// What the program keeps for itself: costs, queues, file history, requests.
    Bookkeeping,
    /// Commands of the program's own, and what they printed.
    LocalCommand,
    /// A thought's signature, or a thought that is only readable to the model's provider.
    SealedThought,
}

impl foreign::Kind for Kind {
    fn weight(self) -> Weight {
        match self {
            Kind::BadLine
            | Kind::Spliced
            | Kind::NulBytes
            | Kind::TornTail
            | Kind::MissingParent
            | Kind::Cycle
            | Kind::DuplicateEntry
            | Kind::OrphanResult
            | Kind::DuplicateResult
            | Kind::UnreadableEntry => Weight::Damage,
            Kind::UnansweredCall
            | Kind::UnknownEntry
            | Kind::UnknownBlock
            | Kind::LongSummary
            | Kind::UnprovedVersion => Weight::Notable,
            Kind::OtherBranch
            | Kind::Sidechain
            | Kind::Furniture
            | Kind::Bookkeeping
            | Kind::LocalCommand
            | Kind::SealedThought => Weight::LeftOut,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Kind::BadLine => "lines that are no entry",
            Kind::Spliced => "lines with entries spliced together, cut apart",
            Kind::NulBytes => "lines with NUL bytes before the entry",
            Kind::TornTail => "last line not written to its end",
            Kind::MissingParent => "gaps, bridged with the entry before",
            Kind::Cycle => "circles of entries, cut",
            Kind::DuplicateEntry => "entries that repeat an id, first one taken",
            Kind::OrphanResult => "results without their call",
            Kind::DuplicateResult => "second results of a call, first one taken",
            Kind::UnansweredCall => "calls without a result, closed as interrupted",
            Kind::UnknownEntry => "entries of an unknown kind",
            Kind::UnknownBlock => "blocks of an unknown kind",
            Kind::UnreadableEntry => "entries of the conversation that cannot be read",
            Kind::LongSummary => "summaries that were cut",
            Kind::UnprovedVersion => "versions of Claude that this reader was not proved on",
            Kind::OtherBranch => "entries of other branches",
            Kind::Sidechain => "entries of sub-agents",
            Kind::Furniture => "attachments and reminders of the program",
            Kind::Bookkeeping => "entries the program keeps for itself",
            Kind::LocalCommand => "commands of the program's own",
            Kind::SealedThought => "sealed thoughts or signatures of thoughts",
        }
    }
}

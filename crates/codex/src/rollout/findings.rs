//! What a reader of rollouts finds that is not as it should be, and what of a rollout is no
//! conversation.

use serde::Serialize;
use sessiond_wire::foreign::{self, Weight};

/// Everything that was found in a rollout, by kind.
pub type Findings = foreign::Findings<Kind>;

/// A kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Bytes that are no line of a rollout.
    BadLine,
    /// Lines without a break between them, cut apart.
    Spliced,
    /// NUL bytes before a line.
    NulBytes,
    /// The last line was not written to its end.
    TornTail,
    /// The file has no head that says whose it is, or not at its beginning: Codex does not read it.
    LateHead,
    /// The file begins with a byte order mark: Codex does not read it.
    ByteOrderMark,
    /// The file's name and its head name different threads: Codex does not resume it.
    OtherName,
    /// A line was written twice; it is told once.
    DuplicateLine,
    /// Ordinals go back: two programs wrote to the file.
    OrdinalBack,
    /// Ordinals are missing between two lines.
    OrdinalGap,
    /// A line without an ordinal where all should have one; as the last one Codex does not resume it.
    MissingOrdinal,
    /// The file that the thread goes on from is not there.
    MissingBase,
    /// Files go on from each other in a circle; it was cut.
    Cycle,
    /// A result of a call that is not there.
    OrphanResult,
    /// A second result of a call, or one that came long after it; the first one counts.
    LateResult,
    /// A call without a result; nothing tells how it ended (RESUME-6).
    UnansweredCall,
    /// A turn without an end: its program died.
    UnfinishedTurn,
    /// A kind of line, event or item that this version does not know.
    UnknownEntry,
    /// A block of a message that this version does not know.
    UnknownBlock,
    /// A summary longer than a session takes; it was cut.
    LongSummary,
    /// A summary that only the model's provider can read.
    SealedSummary,
    /// A version of the program that this reader was not proved on (ADAPT-11).
    UnprovedVersion,
    /// Lines of turns that were rolled back.
    RolledBack,
    /// What the program gave the model beside the conversation: instructions, the environment.
    Furniture,
    /// What the program keeps for itself: settings, usage, what it shows of what is told already.
    Bookkeeping,
    /// A thought that only the model's provider can read.
    SealedThought,
}

impl foreign::Kind for Kind {
    fn weight(self) -> Weight {
        match self {
            Kind::BadLine
            | Kind::Spliced
            | Kind::NulBytes
            | Kind::TornTail
            | Kind::LateHead
            | Kind::ByteOrderMark
            | Kind::OtherName
            | Kind::DuplicateLine
            | Kind::OrdinalBack
            | Kind::OrdinalGap
            | Kind::MissingOrdinal
            | Kind::MissingBase
            | Kind::Cycle
            | Kind::OrphanResult
            | Kind::LateResult => Weight::Damage,
            Kind::UnansweredCall
            | Kind::UnfinishedTurn
            | Kind::UnknownEntry
            | Kind::UnknownBlock
            | Kind::LongSummary
            | Kind::SealedSummary
            | Kind::UnprovedVersion => Weight::Notable,
            Kind::RolledBack | Kind::Furniture | Kind::Bookkeeping | Kind::SealedThought => {
                Weight::LeftOut
            }
        }
    }

    fn words(self) -> &'static str {
        match self {
            Kind::BadLine => "lines that cannot be read",
            Kind::Spliced => "lines without a break between them, cut apart",
            Kind::NulBytes => "lines with NUL bytes before them",
            Kind::TornTail => "last line not written to its end",
            Kind::LateHead => "files that do not begin with their head; Codex does not read them",
            Kind::ByteOrderMark => "byte order mark; Codex does not read the file",
            Kind::OtherName => "file named after another thread; Codex does not resume it",
            Kind::DuplicateLine => "lines written twice, first one taken",
            Kind::OrdinalBack => "ordinals that go back: two programs wrote to the file",
            Kind::OrdinalGap => "gaps of ordinals",
            Kind::MissingOrdinal => "lines without an ordinal",
            Kind::MissingBase => "files that the thread goes on from and that are not there",
            Kind::Cycle => "files that go on from each other in a circle, cut",
            Kind::OrphanResult => "results without their call",
            Kind::LateResult => "second or late results of a call, first one taken",
            Kind::UnansweredCall => "calls without a result, closed as interrupted",
            Kind::UnfinishedTurn => "turns without an end",
            Kind::UnknownEntry => "lines of an unknown kind",
            Kind::UnknownBlock => "blocks of an unknown kind",
            Kind::LongSummary => "summaries that were cut",
            Kind::SealedSummary => "summaries that only the provider can read",
            Kind::UnprovedVersion => "versions of Codex that this reader was not proved on",
            Kind::RolledBack => "lines of turns that were rolled back",
            Kind::Furniture => "instructions and surroundings that the program told the model",
            Kind::Bookkeeping => "lines the program keeps for itself",
            Kind::SealedThought => "thoughts that only the provider can read",
        }
    }
}

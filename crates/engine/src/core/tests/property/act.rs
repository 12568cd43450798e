//! What can happen in an interleaving. Numbers are resolved against what there is.

use proptest::prelude::*;
use sessiond_protocol::{IfBusy, OnDisconnect, Queued};

/// Which turn a submission names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Unnamed,
    Active,
    /// One that waits.
    Waiting(u8),
    Unknown,
}

/// How a client answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// With an offered option, by its number.
    Right(u8),
    Dismissed,
    /// As it would answer another kind of question.
    Misfit,
    /// With the digest of something else.
    Altered,
    /// From another connection.
    Foreign,
}

/// What somebody submits who only looks on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meddling {
    Start,
    Interrupt,
    Configure,
    Clear,
    Close,
    Append,
    Rewind,
    Compact,
}

/// Whose submission a client takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Own,
    /// That of another connection.
    Other,
}

/// Where the conversation is to go back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    Bookmark(u8),
    /// Any event, and what is none.
    Anything(u8),
}

/// What an agent says of no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Note {
    Options(u8),
    Mode(u8),
    Commands,
    Title,
    Notice,
    /// What is of a turn.
    Text,
}

/// Whether a fork has said that it is one when the next process reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Yes,
    No,
}

/// What an agent asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    /// For one of a few things.
    Permission(u8),
    Elicitation,
    Read,
    Write,
    /// What tidies up.
    Release,
}

/// Where a client finds the session when it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Where it was.
    Same,
    /// At another root, which needs no acceptance.
    Moved,
    /// At another root, which the client has accepted.
    Accepted,
}

/// How a process ends, and how many of the records that nobody waits for survive it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Death {
    /// What was written stays.
    Kill(u8),
    /// What was synced stays.
    Power(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Start {
        if_busy: IfBusy,
        text: u8,
        key: Option<u8>,
    },
    Steer {
        turn: Which,
        text: u8,
    },
    Interrupt {
        turn: Which,
        queued: Queued,
    },
    Configure(u8),
    Rename(u8),
    Relocate(u8),
    Clear,
    Close,
    Rewind(Aim),
    /// What was said is to be summed up.
    Compact,
    /// Something is said, and all is summed up.
    Condense,
    /// Items become part of the conversation.
    Append(u8),
    /// Options are set, and maybe a mode with them.
    Choose(u8),
    /// One call is to stop.
    StopCall(u8),
    /// A client takes back one of the newest submissions that had to wait.
    Withdraw(u8, Whose),
    Answer {
        which: u8,
        how: How,
    },
    Text(u8),
    Thought(u8),
    StartCall,
    ChangeCall(u8),
    Output(u8),
    EndCall(u8),
    Ask {
        call: Option<u8>,
        question: Question,
    },
    Plan,
    Title,
    Notice,
    Note(Note),
    Record,
    TakeSteers,
    /// The agent waits for who has a say about the calls that it has ended.
    CallsEnded,
    Done,
    Failed,
    /// The agent ends a compaction with one of a few summaries.
    SumUp(u8),
    /// The agent asks for one of a few things, and the client allows it for good.
    Allow(u8),
    /// A call from its beginning to its end, with what the client has to say to that.
    Review(u8),
    /// The agent stops again and again, and each time the client makes it go on.
    Insist,
    Attach {
        conn: u8,
        on_disconnect: OnDisconnect,
        answers: u8,
        place: Place,
    },
    /// Another client takes the place of the one that controls the session.
    Swap {
        on_disconnect: OnDisconnect,
        answers: u8,
    },
    /// One client leaves the turn to itself, the next one lets it finish and goes, and then the agent
    /// asks.
    Forsake,
    /// A client looks on.
    View {
        conn: u8,
        place: Place,
    },
    /// Who looks on submits something.
    Meddle(u8, Meddling),
    Disconnect(u8),
    /// So many milliseconds pass.
    Pass(u16),
    /// As long passes as a question waits for somebody.
    Day,
    /// The log acknowledges so many appends.
    Acknowledge(u8),
    Checkpoint,
    Die(Death),
    /// The session goes on as a fork of itself, from one of its bookmarks.
    Fork(u8, Said),
}

pub(super) fn acts() -> impl Strategy<Value = Act> {
    prop_oneof![
        30 => submissions(),
        40 => of_the_agent(),
        12 => (any::<u8>(), how()).prop_map(|(which, how)| Act::Answer { which, how }),
        18 => of_the_world(),
    ]
}

fn submissions() -> impl Strategy<Value = Act> {
    let if_busy = prop_oneof![
        Just(IfBusy::Reject),
        Just(IfBusy::Queue),
        Just(IfBusy::Steer),
        Just(IfBusy::Replace),
    ];
    let key = prop_oneof![2 => Just(None), 1 => (0..3u8).prop_map(Some)];
    let queued = prop_oneof![Just(Queued::Keep), Just(Queued::Cancel)];
    prop_oneof![
        16 => (if_busy, 0..4u8, key)
            .prop_map(|(if_busy, text, key)| Act::Start { if_busy, text, key }),
        5 => (which(), 0..4u8).prop_map(|(turn, text)| Act::Steer { turn, text }),
        5 => (which(), queued).prop_map(|(turn, queued)| Act::Interrupt { turn, queued }),
        3 => (0..5u8).prop_map(Act::Configure),
        1 => (0..3u8).prop_map(Act::Rename),
        1 => (0..3u8).prop_map(Act::Relocate),
        1 => Just(Act::Clear),
        1 => Just(Act::Close),
        2 => aim().prop_map(Act::Rewind),
        2 => Just(Act::Compact),
        2 => Just(Act::Condense),
        2 => (0..6u8).prop_map(Act::Append),
        2 => (0..8u8).prop_map(Act::Choose),
        2 => any::<u8>().prop_map(Act::StopCall),
        2 => (any::<u8>(), whose()).prop_map(|(which, whose)| Act::Withdraw(which, whose)),
    ]
}

fn aim() -> impl Strategy<Value = Aim> {
    prop_oneof![
        3 => any::<u8>().prop_map(Aim::Bookmark),
        1 => any::<u8>().prop_map(Aim::Anything),
    ]
}

fn whose() -> impl Strategy<Value = Whose> {
    prop_oneof![3 => Just(Whose::Own), 1 => Just(Whose::Other)]
}

fn note() -> impl Strategy<Value = Note> {
    prop_oneof![
        3 => (0..3u8).prop_map(Note::Options),
        3 => (0..5u8).prop_map(Note::Mode),
        1 => Just(Note::Commands),
        1 => Just(Note::Title),
        1 => Just(Note::Notice),
        1 => Just(Note::Text),
    ]
}

fn which() -> impl Strategy<Value = Which> {
    prop_oneof![
        3 => Just(Which::Unnamed),
        3 => Just(Which::Active),
        2 => any::<u8>().prop_map(Which::Waiting),
        1 => Just(Which::Unknown),
    ]
}

fn how() -> impl Strategy<Value = How> {
    prop_oneof![
        6 => (0..4u8).prop_map(How::Right),
        1 => Just(How::Dismissed),
        1 => Just(How::Misfit),
        1 => Just(How::Altered),
        1 => Just(How::Foreign),
    ]
}

fn of_the_agent() -> impl Strategy<Value = Act> {
    let question = prop_oneof![
        6 => (0..3u8).prop_map(Question::Permission),
        1 => Just(Question::Elicitation),
        1 => Just(Question::Read),
        2 => Just(Question::Write),
        1 => Just(Question::Release),
    ];
    prop_oneof![
        8 => any::<u8>().prop_map(Act::Text),
        4 => any::<u8>().prop_map(Act::Thought),
        6 => Just(Act::StartCall),
        2 => any::<u8>().prop_map(Act::ChangeCall),
        4 => any::<u8>().prop_map(Act::Output),
        4 => any::<u8>().prop_map(Act::EndCall),
        8 => (any::<Option<u8>>(), question).prop_map(|(call, question)| Act::Ask { call, question }),
        1 => Just(Act::Plan),
        1 => Just(Act::Title),
        1 => Just(Act::Notice),
        4 => note().prop_map(Act::Note),
        1 => Just(Act::Record),
        3 => Just(Act::TakeSteers),
        3 => Just(Act::CallsEnded),
        5 => Just(Act::Done),
        2 => Just(Act::Failed),
        3 => (0..6u8).prop_map(Act::SumUp),
        1 => Just(Act::Insist),
        2 => (0..3u8).prop_map(Act::Allow),
        2 => (0..6u8).prop_map(Act::Review),
    ]
}

fn of_the_world() -> impl Strategy<Value = Act> {
    let death = prop_oneof![
        any::<u8>().prop_map(Death::Kill),
        any::<u8>().prop_map(Death::Power),
    ];
    let meddling = prop_oneof![
        Just(Meddling::Start),
        Just(Meddling::Interrupt),
        Just(Meddling::Configure),
        Just(Meddling::Clear),
        Just(Meddling::Close),
        Just(Meddling::Append),
        Just(Meddling::Rewind),
        Just(Meddling::Compact),
    ];
    let time = prop_oneof![
        0..50u16,
        100..200u16,
        1000..1100u16,
        6000..6100u16,
        60_000..60_100u16,
    ];
    let said = prop_oneof![Just(Said::Yes), Just(Said::No)];
    prop_oneof![
        2 => (on_disconnect(), 0..5u8)
            .prop_map(|(on_disconnect, answers)| Act::Swap { on_disconnect, answers }),
        1 => Just(Act::Forsake),
        6 => (0..3u8, on_disconnect(), 0..5u8, place()).prop_map(
            |(conn, on_disconnect, answers, place)| Act::Attach {
                conn,
                on_disconnect,
                answers,
                place,
            }
        ),
        2 => (0..4u8, place()).prop_map(|(conn, place)| Act::View { conn, place }),
        1 => (0..4u8, meddling).prop_map(|(conn, what)| Act::Meddle(conn, what)),
        4 => (0..4u8).prop_map(Act::Disconnect),
        8 => time.prop_map(Act::Pass),
        1 => Just(Act::Day),
        16 => (1..5u8).prop_map(Act::Acknowledge),
        1 => Just(Act::Checkpoint),
        2 => death.prop_map(Act::Die),
        1 => (any::<u8>(), said).prop_map(|(which, said)| Act::Fork(which, said)),
    ]
}

fn on_disconnect() -> impl Strategy<Value = OnDisconnect> {
    prop_oneof![
        Just(OnDisconnect::Cancel),
        Just(OnDisconnect::Finish),
        Just(OnDisconnect::Detach),
    ]
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        2 => Just(Place::Same),
        1 => Just(Place::Moved),
        1 => Just(Place::Accepted),
    ]
}

//! The checks of a case: questions to its recording, asked when it is over.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// One verdict.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct Check {
    /// Name within the case: `case#name` is the id of the check, for ever.
    pub(crate) id: String,
    /// The requirement in `requirements/` that it decides.
    pub(crate) req: String,
    /// What is asked.
    #[serde(flatten)]
    pub(crate) ask: Ask,
}

/// What is asked of the recording.
///
/// Points are `begin`, `end`, `sent:LABEL`, `answer:LABEL`, `started:PROCESS`, `ended:PROCESS`, or
/// the name of a mark. A window is two points, both excluded. Without one it is everything.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ask {
    /// The request has exactly one answer, and it fits.
    Answer {
        to: String,
        #[serde(default)]
        fits: Option<Value>,
        /// Milliseconds since it was sent, at most.
        #[serde(default)]
        within: Option<u64>,
        /// The point since which these count instead.
        #[serde(default)]
        since: Option<String>,
    },
    /// So many frames fit; at least one when nothing else is said.
    Some {
        frame: Value,
        #[serde(default)]
        window: Option<[String; 2]>,
        #[serde(default)]
        process: Option<String>,
        #[serde(default)]
        least: Option<usize>,
        #[serde(default)]
        most: Option<usize>,
    },
    /// No frame fits, and the case came to its end.
    None {
        frame: Value,
        #[serde(default)]
        window: Option<[String; 2]>,
        #[serde(default)]
        process: Option<String>,
    },
    /// Every frame that fits `frame` fits `fits` as well.
    Every {
        frame: Value,
        fits: Value,
        #[serde(default)]
        window: Option<[String; 2]>,
        /// Of at least so many.
        #[serde(default)]
        least: usize,
    },
    /// Of the frames that fit, the value at this pointer is never the same twice.
    Distinct {
        frame: Value,
        at: String,
        #[serde(default)]
        least: usize,
    },
    /// The first frame that fits `first` comes before the first that fits `then`.
    Order {
        first: Value,
        then: Value,
        #[serde(default)]
        window: Option<[String; 2]>,
    },
    /// The agent's text in the window, all chunks together.
    Text {
        window: [String; 2],
        #[serde(default)]
        session: Option<Value>,
        #[serde(default)]
        kind: Speaker,
        fits: Value,
    },
    /// Two windows hold the same conversation, in a normal form.
    Same {
        windows: [[String; 2]; 2],
        #[serde(default)]
        session: Option<Value>,
        #[serde(default)]
        by: Likeness,
    },
    /// What is told in the window, each thing as `{by = "user", text = …}` or `{tool = STATUS}`, however it
    /// is cut and in which protocol.
    Conversation { window: [String; 2], fits: Value },
    /// What the client saw of the agent's text in the first window is in the second.
    Covered {
        windows: [[String; 2]; 2],
        /// Only what it saw this many milliseconds before the end of the first window.
        #[serde(default)]
        older: u64,
        #[serde(default)]
        session: Option<Value>,
    },
    /// The durable events of the window are those after a cursor, each once and in order.
    Cursors {
        window: [String; 2],
        /// The cursor before the first.
        after: Value,
        /// The cursor of the last; any when absent.
        #[serde(default)]
        to: Option<Value>,
    },
    /// How the process ended.
    Exit {
        #[serde(default = "first")]
        process: String,
        /// Codes that are good; any when empty. A signal is minus its number.
        #[serde(default)]
        codes: Vec<i32>,
        /// Milliseconds after this point, at most.
        #[serde(default)]
        after: Option<(String, u64)>,
    },
    /// What was read of a file; a file that is not there is `null`.
    File { file: String, fits: Value },
    /// Of these turns, by the name of their answer, each whose answer fits `well` is there afterwards: its
    /// text stands in what the agent says in a window, or in a recorded file.
    Stored {
        turns: BTreeMap<String, String>,
        well: Value,
        there: Place,
    },
    /// What stands on stderr of a process.
    Stderr {
        #[serde(default = "first")]
        process: String,
        fits: Value,
    },
    /// What the client saw of the agent's text in the window stands in a recorded file.
    Printed {
        file: String,
        window: [String; 2],
        /// Only what it saw this many milliseconds before the end of the window.
        #[serde(default)]
        older: u64,
    },
    /// A recorded file has so many lines.
    FileLines {
        file: String,
        #[serde(default)]
        least: usize,
        most: usize,
    },
    /// Nothing lives below the target, or nothing of this name.
    NoDescendants {
        #[serde(default)]
        named: Option<String>,
    },
    /// Every tool call of the window ends as completed or failed.
    ToolsClosed { window: [String; 2] },
    /// What the calls of the window printed, in their content or in the terminals that this names; or
    /// what the one terminal holds. ACP version 2.
    Output {
        window: [String; 2],
        #[serde(default)]
        terminal: Option<Value>,
        fits: Value,
    },
    /// The last request of the window to the model holds the text so often; skipped where the target
    /// asks no model.
    Shown {
        window: [String; 2],
        text: String,
        #[serde(default = "once")]
        least: usize,
        #[serde(default)]
        most: Option<usize>,
    },
    /// Each text stands as often in what a load showed as in what the model was shown in the second
    /// window: what people see is what the model believes.
    Agrees {
        load: [String; 2],
        model: [String; 2],
        #[serde(default)]
        texts: Vec<String>,
        /// What stands in a call: in both or in neither, however often.
        #[serde(default)]
        calls: Vec<String>,
    },
    /// Where a damaged log is loaded, something tells the client.
    Tells {
        window: [String; 2],
        /// Words, one of which a frame must hold, in any case.
        words: Vec<String>,
    },
    /// The case came to its end: nothing that it waited for failed to come.
    Done {},
    /// A property of all lines of the target.
    Lines { are: LineRule },
    /// A property of a recorded transcript, of each where several have that name.
    Transcript { file: String, are: TranscriptRule },
    /// These texts stand in the conversation of a recorded transcript, in this order, each in one message
    /// or result alone; of each where several have that name, so many of them at least.
    Told {
        file: String,
        texts: Vec<String>,
        /// Whose they are: in what somebody said, or came back from a call; anybody's when absent.
        #[serde(default)]
        only: Option<Speaker>,
        #[serde(default = "once")]
        least: usize,
    },
    /// Two recorded transcripts, of whichever shapes, hold one conversation. A tool may have another name
    /// where `said`, what a conversion said of it, tells of names.
    SameTold {
        files: [String; 2],
        #[serde(default)]
        said: Option<String>,
    },
    /// A recorded file begins with all whole lines of another, byte for byte.
    Untouched { file: String, of: String },
    /// One of the files that hold the text, as the step `holders` found them, was synced between the two
    /// points. A database and its log are one file; a call that syncs everything syncs them too. It counts
    /// from when it was called.
    Synced {
        mark: String,
        after: String,
        before: String,
    },
}

/// Where a text may stand.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Place {
    /// In what the agent says between two points.
    Window([String; 2]),
    /// In a recorded file.
    File(String),
}

/// Whose text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Speaker {
    User,
    #[default]
    Agent,
    Thought,
}

/// How alike two conversations must be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Likeness {
    /// Who said what, and the final state of tools.
    #[default]
    Content,
    /// Also the ids of messages and tools.
    Ids,
    /// Every update, byte for byte in its JSON.
    Frames,
}

/// A property of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LineRule {
    Utf8,
    Json,
    /// A request, a notification or a response of JSON-RPC 2.0.
    Messages,
    /// They end with an LF.
    Ended,
    /// No line is empty.
    NotEmpty,
    /// A response has exactly one of result and error, and its error a code and a message.
    Responses,
    /// No request is answered twice, none is answered that was not asked.
    AnsweredOnce,
    /// No id of a request of the target stands for two that are open.
    OwnIds,
    /// The target calls only what the protocol has, or begins with an underscore.
    KnownMethods,
    /// The client offered what the target calls.
    Offered,
    /// Every frame fits the schema of the protocol.
    Schema,
    /// No object of the protocol has members of the target's own at its root.
    KnownMembers,
    /// The update names a session that this connection knows.
    KnownSessions,
    /// Nothing about a session is said before it was answered.
    NotBeforeNew,
    /// Native protocol: an object with `v` 1 and a type.
    Frames,
    /// Native protocol: a submission has one receipt, and nothing has one that was not submitted.
    Receipts,
    /// Native protocol: the cursors of an attach grow.
    CursorsGrow,
    /// Native protocol: a turn ends once, after all else of it; one is active at a time.
    Turns,
    /// Native protocol: the deltas of an item leave nothing out and repeat nothing.
    Deltas,
    /// Native protocol: a question is a recorded one, with its digest, and is recorded first.
    Questions,
    /// Native protocol: nothing follows `bye` or a fatal error.
    Last,
    /// Claude: no line is longer than its SDKs read.
    Short,
    /// Claude: U+2028 and U+2029 are escaped.
    NoSeparators,
    /// Claude: a control request has one answer, and nothing else has one.
    Controls,
    /// Claude: what is of a turn stands between its `init` and its `result`.
    InTurn,
    /// Codex exec: the thread first, the turn's end last, each item begun before it ends.
    ExecOrder,
    /// Codex app-server: a turn begins, its items, it ends, once; one at a time in a thread.
    AppOrder,
    /// Codex: no item is open when its turn ends.
    ItemsClosed,
}

/// A property of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TranscriptRule {
    /// Each line is one JSON object of its shape.
    Lines,
    /// The last line ends with an LF.
    Ended,
    /// Every entry is of one session, which the file is named after.
    Session,
    /// Times are UTC with milliseconds, and what was said later is not older.
    Times,
    /// Entries have the members that their readers need.
    Members,
    /// Each call has its result.
    Calls,
    /// Each result has its call, before it, and is the only one of it.
    Results,
    /// Claude: each entry of the chain has an id of its own.
    Uuids,
    /// Claude: each parent is an entry of the file, before its child.
    Parents,
    /// Claude: the way from the last message leads to the first, past all that was compacted.
    Root,
    /// Claude: the leaf that `last-prompt` names is an entry.
    Leaf,
    /// Claude: the blocks of one message follow each other.
    Regrouped,
    /// Claude: nothing of the conversation hangs on a sidechain.
    Sidechains,
    /// Claude: what a compaction continues is there, and so is its summary.
    Boundaries,
    /// Claude: nothing that was said stands beside that way.
    Unbranched,
    /// Codex: the first line is the head.
    Head,
    /// Codex: turns end before others begin, each with its own id.
    Turns,
    /// Codex: what the model is told is also an event, without which clients see nothing.
    Mirrored,
    /// Codex: none, or one on each line, without a gap.
    Ordinals,
    /// Codex: what it goes on from is another thread, up to its own first ordinal.
    Base,
    /// Codex: a compaction says what is left of what was before.
    Compacted,
}

fn once() -> usize {
    1
}

fn first() -> String {
    "a".to_owned()
}

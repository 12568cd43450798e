//! The steps of a case. Every wait has a deadline: `within`, else the target's own, in ms.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::case::{Begin, Elicitation, Permission};

mod damage;
mod disk;
mod syncs;
mod transcript;

pub(crate) use damage::{Damage, Harm, Stored};
pub(crate) use disk::{Fill, Free};
pub(crate) use syncs::{Holders, Watching};
pub(crate) use transcript::{Convert, ShapeName, Take, Written};

/// One thing that is done, or waited for. Processes are named; without a name it is `a`.
///
/// In all values `"$name"` stands for a variable and `${name}` in a string for its text. There
/// are `cwd`, `home`, `state`, `session`, `long` (9000 bytes of filler), what was captured, and what a variant sets.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Step {
    /// Starts a process, again if it ran before, on the same state.
    Start(Start),
    /// Sends a request and waits for its answer.
    Call(Request),
    /// Sends a request.
    Send(Request),
    /// Sends a request many times, each with an id of its own: `many-0`, `many-1`, ….
    Many(Many),
    /// Sends a notification.
    Notify(Notify),
    /// Sends a submission and waits for its receipt.
    Submit(Submit),
    /// Sends a submission.
    Post(Submit),
    /// Sends a frame as it is.
    Write(Write),
    /// Sends bytes.
    Raw(Raw),
    /// Sends a prompt of the target's profile. In ACP version 2, in sqeq and to an app-server its
    /// answer only takes it; its end is called by its name and `.end`. `exec` has one prompt: stdin.
    Prompt(Prompt),
    /// Waits for the answer to a request.
    Answer(Answer),
    /// Speaks this protocol from here on, by its name or that of a variable. What runs goes on in its own.
    Speak(String),
    /// Sends a prompt and waits for the end of its turn, in any protocol.
    Turn(Prompt),
    /// Starts a process that opens `$session` again with its whole past, as the protocol does it.
    /// Claude's and `exec` say by flags which it is, and show nothing of it.
    Open(Open),
    /// Waits for a frame after the last one that was waited for.
    Until(Until),
    /// Answers a request of the target.
    Reply(Reply),
    /// Lets time pass, while whatever comes is recorded. Ends early with the process.
    Watch(Watch),
    /// From now on, permission questions are answered so.
    Permission(Permission),
    /// The same, by the name in a variable.
    PermissionFrom(String),
    /// From now on, elicitations are answered so.
    Elicitation(Elicitation),
    /// Sends a signal.
    Signal(Signal),
    /// Sends the signal whose name is in a variable to the process `a`.
    SignalFrom(String),
    /// Closes stdin.
    Close(Which),
    /// Waits until the process has ended.
    Exit(Exit),
    /// Stops reading stdout, or goes on.
    Reading(ReadingStep),
    /// Records what lives below the target.
    Descendants(Descendants),
    /// Names this point.
    Mark(String),
    /// Writes a file below the case's folder.
    WriteFile(WriteFile),
    /// Records a file.
    ReadFile(ReadFile),
    /// Waits until a file is there.
    AwaitFile(ReadFile),
    /// Damages the log of a session.
    Damage(Damage),
    /// Waits while the target has not yet written what it was told, so that what follows is about that; goes on
    /// without it, too.
    Stored(Stored),
    /// Records which files of the session's log hold a text; which of the target's, where its profile does
    /// not say where that lies.
    Holders(Holders),
    /// Records what the target's own command prints of a session.
    Export(Export),
    /// Kills the target at a frame.
    Sweep(Sweep),
    /// Records the transcript that the target has of a session, and lays it at `${root}/LABEL.jsonl`.
    Written(Written),
    /// Has the target take a transcript in, as if it had written it itself.
    Take(Take),
    /// Has the target make another transcript of one, and lays that at `${root}/LABEL.jsonl`.
    Convert(Convert),
    /// The same, of the transcript cut at each byte of its last line.
    ConvertCuts(Convert),
    /// Fills the disk of the case.
    Fill(Fill),
    /// Frees it again.
    Free(Free),
}

/// A process by its name.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    #[serde(default = "first")]
    pub(crate) process: String,
}

/// Asks what lives below a process.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Descendants {
    #[serde(default = "first")]
    pub(crate) process: String,
    /// Milliseconds that what is there has to end; it is asked once when absent.
    #[serde(default)]
    pub(crate) within: u64,
}

/// Starts a process.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    #[serde(default = "first")]
    pub(crate) process: String,
    /// What follows at once.
    #[serde(default = "initialized")]
    pub(crate) begin: Begin,
    /// Further words of its command line.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// Which calls of it are recorded; the case is skipped where the machine lets nobody see them.
    #[serde(default)]
    pub(crate) watch: Option<Watching>,
}

/// A request.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// What the request is called in later steps and checks; its method when absent.
    #[serde(default, rename = "as")]
    pub(crate) label: Option<String>,
    #[serde(default = "first")]
    pub(crate) process: String,
    pub(crate) method: String,
    #[serde(default)]
    pub(crate) params: Option<Value>,
    /// Its id; a number that grows when absent.
    #[serde(default)]
    pub(crate) id: Option<Value>,
    /// Variables from the answer, by pointer.
    #[serde(default)]
    pub(crate) capture: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) within: Option<u64>,
}

/// A request that is sent many times.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Many {
    #[serde(default = "first")]
    pub(crate) process: String,
    pub(crate) count: usize,
    pub(crate) method: String,
    #[serde(default)]
    pub(crate) params: Option<Value>,
}

/// A notification.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Notify {
    #[serde(default = "first")]
    pub(crate) process: String,
    pub(crate) method: String,
    #[serde(default)]
    pub(crate) params: Option<Value>,
}

/// A submission.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Submit {
    /// What it is called in later steps and checks; the type of its operation when absent. The end
    /// of the turn that it begins is this and `.end`.
    #[serde(default, rename = "as")]
    pub(crate) label: Option<String>,
    #[serde(default = "first")]
    pub(crate) process: String,
    pub(crate) op: Value,
    /// The session; `$session` when absent, or none where the operation names it itself.
    #[serde(default)]
    pub(crate) session: Option<Value>,
    /// Its id; a new one when absent.
    #[serde(default)]
    pub(crate) id: Option<Value>,
    /// Variables from the receipt, by pointer.
    #[serde(default)]
    pub(crate) capture: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) within: Option<u64>,
}

/// A frame.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    #[serde(default = "first")]
    pub(crate) process: String,
    pub(crate) frame: Value,
}

/// Bytes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Raw {
    #[serde(default = "first")]
    pub(crate) process: String,
    /// The line. `${name}` as everywhere, and `%XX` for a byte in hexadecimal.
    pub(crate) text: String,
    /// A request in it, so that its answer can be waited for: its name, and its id; that of a hello,
    /// and of a prompt of Claude's, is `false`.
    #[serde(default, rename = "as")]
    pub(crate) label: Option<String>,
    #[serde(default)]
    pub(crate) id: Option<Value>,
    /// How many bytes of filler stand in place of `%FILL%`.
    #[serde(default)]
    pub(crate) fill: usize,
    /// What the filler is made of.
    #[serde(default = "filler")]
    pub(crate) fill_with: char,
    /// The same, from a variable.
    #[serde(default)]
    pub(crate) fill_from: Option<String>,
    /// Bytes at a time, a millisecond between them; all at once when absent.
    #[serde(default)]
    pub(crate) pace: usize,
    /// What follows the line.
    #[serde(default = "lf")]
    pub(crate) end: String,
}

/// A prompt.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prompt {
    #[serde(rename = "as")]
    pub(crate) label: String,
    #[serde(default = "first")]
    pub(crate) process: String,
    /// Name in the profile: `text`, `stream`, `tool`, `write`, `read`, `ask`, …
    pub(crate) kind: String,
    /// What stands in it for `{name}`.
    #[serde(default)]
    pub(crate) with: BTreeMap<String, Value>,
    #[serde(default = "this_session")]
    pub(crate) session: Value,
    /// Its id; a number that grows when absent.
    #[serde(default)]
    pub(crate) id: Option<Value>,
    /// Further blocks after the text.
    #[serde(default)]
    pub(crate) blocks: Vec<Value>,
    /// Further members of the request, or of the operation.
    #[serde(default)]
    pub(crate) members: BTreeMap<String, Value>,
    /// `_meta` of the request.
    #[serde(default)]
    pub(crate) meta: Option<Value>,
}

/// Opening a session again.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Open {
    #[serde(default = "first")]
    pub(crate) process: String,
    /// What the request is called in later steps and checks.
    #[serde(rename = "as")]
    pub(crate) label: String,
    /// Whether the case goes on before it is answered.
    #[serde(default)]
    pub(crate) unanswered: bool,
}

/// Waits for an answer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    pub(crate) to: String,
    #[serde(default)]
    pub(crate) capture: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) within: Option<u64>,
}

/// Waits for a frame.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Until {
    #[serde(default = "first")]
    pub(crate) process: String,
    pub(crate) frame: Value,
    /// Why the case is skipped where the frame does not come: the target does not offer it.
    #[serde(default)]
    pub(crate) or_skip: Option<String>,
    #[serde(default)]
    pub(crate) capture: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) within: Option<u64>,
}

/// Answers a request of the target.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reply {
    #[serde(default = "first")]
    pub(crate) process: String,
    /// The id, usually a captured variable.
    pub(crate) to: Value,
    #[serde(default)]
    pub(crate) result: Option<Value>,
    #[serde(default)]
    pub(crate) error: Option<Value>,
}

/// Lets time pass.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Watch {
    #[serde(default = "first")]
    pub(crate) process: String,
    /// Milliseconds; the target's quiet time when absent.
    #[serde(default)]
    pub(crate) ms: Option<u64>,
}

/// Sends a signal.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Signal {
    #[serde(default = "first")]
    pub(crate) process: String,
    pub(crate) name: SignalName,
    #[serde(default)]
    pub(crate) to: Whom,
}

/// The signals of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SignalName {
    Term,
    Int,
    Kill,
    Stop,
    Cont,
}

/// Who gets a signal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Whom {
    /// The process that was started.
    #[default]
    Root,
    Group,
    /// Everything below the guard.
    Tree,
}

/// Waits for the end of a process.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exit {
    #[serde(default = "first")]
    pub(crate) process: String,
    #[serde(default)]
    pub(crate) within: Option<u64>,
}

/// Whether stdout is read.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadingStep {
    #[serde(default = "first")]
    pub(crate) process: String,
    pub(crate) state: ReadingState,
}

/// Whether stdout is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReadingState {
    On,
    Paused,
}

/// Writes a file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Reads a file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFile {
    pub(crate) path: String,
    /// What it is called in checks.
    #[serde(rename = "as")]
    pub(crate) label: String,
}

/// Runs the command of the target that prints a session.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Export {
    #[serde(default = "this_session")]
    pub(crate) session: Value,
    /// What its output is called in checks, which take it for a file.
    #[serde(rename = "as")]
    pub(crate) label: String,
}

/// Kills the whole tree at a frame of the target. The case is repeated: at the first frame after
/// the request was sent, at the second, until its answer comes before.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sweep {
    /// The request.
    pub(crate) of: String,
    #[serde(default = "first")]
    pub(crate) process: String,
    /// Most repetitions.
    pub(crate) most: usize,
}

fn first() -> String {
    "a".to_owned()
}

fn initialized() -> Begin {
    Begin::Initialized
}

fn filler() -> char {
    'x'
}

fn lf() -> String {
    "\n".to_owned()
}

fn this_session() -> Value {
    Value::String("$session".to_owned())
}

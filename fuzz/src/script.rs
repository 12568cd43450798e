//! What a client says, as an input of the fuzzer has it: one step a line.
//!
//! A step that begins with a control character is a frame of the protocol, the character says
//! which; what follows in the line are changes to it, three bytes each. Any other line is said as
//! it is.

const SESSION: &str = "0199ab01-1234-7abc-8def-0123456789ab";

/// The first byte that is no control character.
const PLAIN: u8 = 0x20;

/// Frames, with places for a fresh id, the session, and the newest question.
const FRAMES: [&str; 21] = [
    r#"{"v":1,"type":"hello","versions":[1],"client":{"name":"f","version":"1"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","op":{"type":"session.new","id":"SESSION","cwd":"/w"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","op":{"type":"session.resume","session":"SESSION","replay":"all"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","op":{"type":"session.resume","session":"SESSION","replay":{"after":1},"on_disconnect":"cancel"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","session":"SESSION","op":{"type":"turn.start","input":[{"type":"text","text":"hi"}]}}"#,
    r#"{"v":1,"type":"submission","id":"ID","session":"SESSION","op":{"type":"turn.start","input":[{"type":"text","text":"ask"}],"if_busy":"queue"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","session":"SESSION","op":{"type":"turn.start","input":[{"type":"text","text":"hang"}],"if_busy":"queue"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","session":"SESSION","op":{"type":"turn.interrupt","queued":"cancel"}}"#,
    r#"{"v":1,"type":"answer","request":"REQUEST","digest":"DIGEST","outcome":{"type":"selected","option":"allow_once"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","op":{"type":"session.list"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","session":"SESSION","op":{"type":"session.read"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","session":"SESSION","op":{"type":"session.configure","mode":"auto"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","session":"SESSION","op":{"type":"session.rename","title":"t"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","session":"SESSION","op":{"type":"session.clear"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","session":"SESSION","op":{"type":"session.fork"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","session":"SESSION","op":{"type":"session.close"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","session":"SESSION","op":{"type":"session.delete"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","session":"SESSION","op":{"type":"turn.steer","input":[{"type":"text","text":"and"}]}}"#,
    r#"{"v":1,"type":"submission","id":"ID","session":"SESSION","op":{"type":"turn.start","input":[{"type":"text","text":"hang"}],"if_busy":"replace"}}"#,
    r#"{"v":1,"type":"submission","id":"ID","session":"SESSION","op":{"type":"turn.start","input":[{"type":"text","text":"ask"}],"if_busy":"steer","idempotency_key":"k"}}"#,
    r#"{"v":1,"type":"bye"}"#,
];

/// The frame that greets, and the one that ends.
const HELLO: usize = 0;
const BYE: usize = FRAMES.len() - 1;

/// A question of the agent.
pub struct Question {
    pub id: String,
    pub digest: String,
}

/// What a client says.
pub struct Script {
    pub steps: Vec<Step>,
}

/// One line of it.
pub struct Step {
    said: Said,
    /// The id of the submission that it may be.
    id: String,
    /// Whether it is an answer, which waits for its question.
    pub answers: bool,
}

enum Said {
    Frame {
        number: usize,
        changes: Vec<[u8; 3]>,
    },
    Bytes(Vec<u8>),
}

impl Script {
    pub fn of(input: &[u8]) -> Self {
        let lines = input.split(|byte| *byte == b'\n').enumerate();
        let steps = lines.map(|(number, line)| Step::of(line, number)).collect();
        Self { steps }
    }

    /// The ids of submissions that cannot but be taken: those of a client that makes no mistake.
    pub fn submitted(&self) -> Vec<String> {
        let frame = |step: &Step| match &step.said {
            Said::Frame { number, changes } if changes.is_empty() => Some(*number),
            _ => None,
        };
        let frames: Option<Vec<_>> = self.steps.iter().map(frame).collect();
        let Some([HELLO, rest @ ..]) = frames.as_deref() else {
            return Vec::new();
        };
        let until = rest.iter().take_while(|number| **number != BYE).count();
        let spoken = self.steps.iter().skip(1).zip(rest).take(until);
        let submits = spoken.filter(|(_, number)| FRAMES[**number].contains(r#""id":"ID""#));
        submits.map(|(step, _)| step.id.clone()).collect()
    }
}

impl Step {
    fn of(line: &[u8], number: usize) -> Self {
        let said = match line {
            [frame, changes @ ..] if *frame < PLAIN => Said::Frame {
                number: usize::from(*frame) % FRAMES.len(),
                changes: changes
                    .chunks_exact(3)
                    .map(|c| [c[0], c[1], c[2]])
                    .collect(),
            },
            bytes => Said::Bytes(bytes.to_vec()),
        };
        let answers =
            matches!(&said, Said::Frame { number, .. } if FRAMES[*number].contains("REQUEST"));
        let id = format!("s{number}");
        Self { said, id, answers }
    }

    /// The bytes of the line, its LF included.
    pub fn line(&self, question: Option<&Question>) -> Vec<u8> {
        let mut line = match &self.said {
            Said::Bytes(bytes) => bytes.clone(),
            Said::Frame { number, changes } => {
                let mut line = self.frame(*number, question).into_bytes();
                for change in changes {
                    apply(*change, &mut line);
                }
                line
            }
        };
        line.push(b'\n');
        line
    }

    fn frame(&self, number: usize, question: Option<&Question>) -> String {
        let (request, digest) = question.map_or((SESSION, ""), |q| (&q.id, &q.digest));
        FRAMES[number]
            .replace("ID", &self.id)
            .replace("SESSION", SESSION)
            .replace("REQUEST", request)
            .replace("DIGEST", digest)
    }
}

/// Changes, cuts or doubles a byte.
fn apply([kind, at, value]: [u8; 3], line: &mut Vec<u8>) {
    if line.is_empty() {
        return;
    }
    let at = usize::from(at) % line.len();
    match kind % 4 {
        0 => line[at] = value,
        1 => line.truncate(at),
        2 => line.insert(at, value),
        _ => drop(line.drain(at..(at + usize::from(value)).min(line.len()))),
    }
}

//! What SDKs of Claude and Codex say: prompts, and the requests that stand before them.

use serde_json::{Value, json};

use super::{Awaited, Did, Driver};
use crate::tongue::Tongue;

impl Driver<'_> {
    /// Sends a prompt in the way of the protocol, if it is one of an SDK.
    pub(super) fn sdk_prompt(
        &mut self,
        process: &str,
        label: &str,
        blocks: &[Value],
        session: &Value,
        members: Vec<(&String, Value)>,
    ) -> Did {
        let text = blocks.iter().find_map(|block| block["text"].as_str());
        let text = text.unwrap_or_default();
        match self.tongue {
            Tongue::Claude => {
                let content = match blocks {
                    [_] => json!(text),
                    _ => json!(blocks),
                };
                let mut line = json!({"type": "user", "session_id": "", "parent_tool_use_id": null,
                    "message": {"role": "user", "content": content}});
                add(&mut line, members);
                self.sound("user", &line)?;
                let at = self.write_frame(process, &line)?;
                self.claude_prompt(process, label, at)
            }
            Tongue::Exec => {
                let running = self.process(process)?;
                let index = running.index;
                let at = self.recorder.sent(index, text.as_bytes());
                running.write(text.as_bytes().to_vec(), 0);
                running.close();
                self.asked(process, label, Value::Null, at, Awaited::LastLine)
            }
            _ => {
                let mut params = json!({"threadId": session, "input": blocks});
                add(&mut params, members);
                self.ask(process, label, "turn/start", Some(params), None)?;
                let at = self.labels.get(label).map_or(0, |asked| asked.at);
                let end = format!("{label}.end");
                self.asked(process, &end, session.clone(), at, Awaited::TurnCompleted)
            }
        }
    }

    /// Remembers a prompt of Claude's: its answer is the result that follows those of the prompts before.
    pub(super) fn claude_prompt(&mut self, process: &str, label: &str, at: usize) -> Did {
        let index = self.process(process)?.index;
        let before = self.prompts.entry(index).or_default();
        let number = *before;
        *before += 1;
        self.asked(process, label, json!(number), at, Awaited::Result)
    }

    /// Says hello in the way of an SDK.
    pub(super) fn sdk_hello(&mut self, process: &str, label: &str, hello: Value) -> Did {
        match self.tongue {
            Tongue::Exec => Ok(()),
            _ => self.ask(process, label, "initialize", Some(hello), None),
        }
    }

    /// What follows the answer to a hello.
    pub(super) fn sdk_greeted(&self, process: &str) -> Did {
        if self.tongue != Tongue::AppServer {
            return Ok(());
        }
        let greeted = json!({"method": "initialized"});
        self.write_frame(process, &greeted).map(|_| ())
    }

    /// The words of a command line behind the target's own.
    pub(super) fn words(&self, args: &[String], begin: crate::case::Begin) -> Vec<String> {
        let mut words: Vec<String> = self.target.argv_of(self.tongue);
        words.extend(self.tongue.words().iter().map(|word| (*word).to_owned()));
        if begin == crate::case::Begin::Session && self.tongue == Tongue::Claude {
            words.push(self.variables.text("--session-id=${session}"));
        }
        let more = args.iter().map(|word| {
            // What a variant has in the place of a word may hold what became known meanwhile.
            self.variables.text(&self.variables.text(word))
        });
        // A variant that has no such word leaves it empty.
        words.extend(more.filter(|word| !word.is_empty()));
        words
    }
}

fn add(frame: &mut Value, members: Vec<(&String, Value)>) {
    for (name, value) in members {
        frame[name.as_str()] = value;
    }
}

/// An id for a session that a case chooses. The hasher's keys differ from run to run.
pub(super) fn session_id() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let keys = RandomState::new();
    let (one, two) = (keys.hash_one(1_u8), keys.hash_one(2_u8));
    let (one, two) = (
        one & !0xf000 | 0x4000,
        two & (u64::MAX >> 2) | (1_u64 << 63),
    );
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        one >> 32,
        (one >> 16) & 0xffff,
        one & 0xffff,
        two >> 48,
        two & 0xffff_ffff_ffff
    )
}

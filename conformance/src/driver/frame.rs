//! Steps that speak: requests, answers, prompts.

use std::collections::BTreeMap;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Asked, Awaited, Did, Driver, Halt};
use crate::error::Error;
use crate::matcher::fits;
use crate::recording::{Entry, What};
use crate::step::{Prompt, Raw, Until};
use crate::tongue::Tongue;

impl Driver<'_> {
    /// Sends a request.
    pub(super) fn ask(
        &mut self,
        process: &str,
        label: &str,
        method: &str,
        params: Option<Value>,
        id: Option<Value>,
    ) -> Did {
        let id = id.unwrap_or_else(|| {
            self.next_id += 1;
            json!(self.next_id)
        });
        let awaited = match self.tongue {
            Tongue::Claude => Awaited::Control,
            _ => Awaited::Response,
        };
        let id = match (awaited, id.as_i64()) {
            (Awaited::Control, Some(number)) => json!(format!("req_{number}")),
            _ => id,
        };
        let frame = self.tongue.call(&id, method, params);
        let at = self.write_frame(process, &frame)?;
        self.asked(process, label, id, at, awaited)
    }

    /// Remembers a request that was sent.
    pub(super) fn asked(
        &mut self,
        process: &str,
        label: &str,
        id: Value,
        at: usize,
        awaited: Awaited,
    ) -> Did {
        let process = self.process(process)?.index;
        self.from = at;
        let asked = Asked {
            process,
            id,
            at,
            awaited,
        };
        if self.labels.insert(label.to_owned(), asked).is_some() {
            return Err(Halt::Fault(Error::Harness(format!(
                "{}: two requests are called `{label}`",
                self.case.id
            ))));
        }
        Ok(())
    }

    /// Writes a frame; the index of its entry.
    pub(super) fn write_frame(&self, process: &str, frame: &Value) -> Result<usize, Halt> {
        let process = self.process(process)?;
        let mut line = frame.to_string().into_bytes();
        let at = self.recorder.sent(process.index, &line);
        line.push(b'\n');
        process.write(line, 0);
        Ok(at)
    }

    /// Writes bytes as the case wants them.
    pub(super) fn raw(&mut self, raw: &Raw) -> Did {
        let from = raw.fill_from.as_ref().map(|name| format!("${name}"));
        let from = from.and_then(|name| self.variables.fill(&Value::from(name)).as_u64());
        let fill = from.and_then(|fill| usize::try_from(fill).ok());
        let mut bytes = unescape(
            &self.variables.text(&raw.text),
            raw.fill_with,
            fill.unwrap_or(raw.fill),
        );
        let process = self.process(&raw.process)?;
        let at = self.recorder.sent(process.index, &bytes);
        bytes.extend_from_slice(raw.end.as_bytes());
        process.write(bytes, raw.pace);
        match (&raw.label, &raw.id) {
            (Some(label), Some(id)) => {
                let id = self.variables.fill(id);
                let awaited = match self.tongue {
                    Tongue::Sqeq if id.is_boolean() => Awaited::Welcome,
                    Tongue::Sqeq => Awaited::Receipt,
                    Tongue::Claude if id.is_boolean() => {
                        return self.claude_prompt(&raw.process, label, at);
                    }
                    Tongue::Claude => Awaited::Control,
                    _ => Awaited::Response,
                };
                self.asked(&raw.process, label, id, at, awaited)
            }
            _ => Ok(()),
        }
    }

    /// Sends a prompt of the profile.
    pub(super) fn prompt(&mut self, prompt: &Prompt) -> Did {
        let with: BTreeMap<String, String> = prompt
            .with
            .iter()
            .map(|(name, value)| {
                let value = self.variables.fill(value);
                let text = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                (name.clone(), text)
            })
            .collect();
        let text = self.target.prompt(&prompt.kind, &with).ok_or_else(|| {
            Halt::Skip(format!(
                "the target's profile has no prompt `{}`",
                prompt.kind
            ))
        })?;
        let mut blocks = vec![json!({"type": "text", "text": text})];
        blocks.extend(prompt.blocks.iter().map(|block| self.variables.fill(block)));
        let session = self.variables.fill(&prompt.session);
        let label = &prompt.label;
        if matches!(
            self.tongue,
            Tongue::Claude | Tongue::Exec | Tongue::AppServer
        ) {
            let members = prompt.members.iter();
            let members = members.map(|(name, value)| (name, self.variables.fill(value)));
            let members = members.collect();
            return self.sdk_prompt(&prompt.process, label, &blocks, &session, members);
        }
        let (id, process) = (prompt.id.clone(), &prompt.process);
        let mut wanted = match self.tongue {
            Tongue::Sqeq => json!({"type": "turn.start", "input": blocks}),
            _ => json!({"sessionId": session, "prompt": blocks}),
        };
        for (name, value) in &prompt.members {
            wanted[name] = self.variables.fill(value);
        }
        if let Some(meta) = &prompt.meta {
            wanted["_meta"] = meta.clone();
        }
        if self.tongue == Tongue::Sqeq {
            return self.submission(process, label, wanted, Some(session), id);
        }
        // A case may add blocks that are wrong on purpose.
        if prompt.blocks.is_empty() {
            self.sound("session/prompt", &wanted)?;
        }
        self.ask(process, label, "session/prompt", Some(wanted), id)?;
        if self.tongue == Tongue::AcpV2 {
            let at = self.labels.get(label).map_or(0, |asked| asked.at);
            self.asked(process, &format!("{label}.end"), session, at, Awaited::Idle)?;
        }
        Ok(())
    }

    /// Waits for the answer to a request.
    pub(super) fn answer_to(&mut self, label: &str, within: Option<u64>) -> Result<Value, Halt> {
        let asked = self.labels.get(label).cloned().ok_or_else(|| {
            let why = format!("{}: no request is called `{label}`", self.case.id);
            Halt::Fault(Error::Harness(why))
        })?;
        // Before it has said anything, it may still be starting.
        let timeouts = self.target.timeouts;
        let heard = |(_, process, _)| process == asked.process;
        let usual = match self.recorder.look().lines().any(heard) {
            true => timeouts.reply(),
            false => timeouts.start().max(timeouts.reply()),
        };
        let within = self.within(within, usual);
        let found = self.recorder.wait(
            within,
            asked.at,
            |index, entry| answer_in(&asked, index, entry).map(Found::Frame),
            |recording| recording.gone(asked.process).map(Found::Gone),
        );
        match found {
            Some(Found::Frame(frame)) => Ok(frame),
            // What bounds its files sends a signal that no full disk sends, and some runtimes take it.
            Some(Found::Gone(code)) if code == -Signal::XFSZ.as_raw() => {
                let why = "the signal of the bound on its files ended it";
                Err(Halt::Skip(why.to_owned()))
            }
            Some(Found::Gone(code)) => {
                let why = format!("no answer to {label}: the process ended ({code})");
                Err(Halt::Stop(why))
            }
            None => {
                let why = format!("no answer to {label} within {} ms", within.as_millis());
                Err(Halt::Stop(why))
            }
        }
    }

    /// Waits for a frame.
    pub(super) fn until(&mut self, until: &Until) -> Did {
        let process = self.process(&until.process)?.index;
        let pattern = self.variables.fill(&until.frame);
        let within = self.within(until.within, self.target.timeouts.reply());
        let found = self.recorder.wait(
            within,
            self.from,
            |index, entry| {
                let frame = entry.frame().filter(|frame| fits(&pattern, Some(frame)))?;
                (entry.process == process).then(|| (index, Found::Frame(frame.clone())))
            },
            |recording| recording.gone(process).map(|code| (0, Found::Gone(code))),
        );
        match found {
            Some((index, Found::Frame(frame))) => {
                self.from = index + 1;
                self.capture(&frame, &until.capture)
            }
            Some((_, Found::Gone(code))) => Err(Halt::Stop(format!(
                "the process ended ({code}) before {pattern}"
            ))),
            None if until.or_skip.is_some() => {
                Err(Halt::Skip(until.or_skip.clone().unwrap_or_default()))
            }
            None => Err(Halt::Stop(format!(
                "nothing like {pattern} within {} ms",
                within.as_millis()
            ))),
        }
    }

    /// Takes variables from a frame.
    pub(super) fn capture(&mut self, frame: &Value, wanted: &BTreeMap<String, String>) -> Did {
        for (name, pointer) in wanted {
            let Some(value) = frame.pointer(pointer) else {
                return Err(Halt::Stop(format!("nothing at {pointer}")));
            };
            self.variables.set(name, value.clone());
        }
        Ok(())
    }
}

/// What a wait for a frame may find.
enum Found {
    Frame(Value),
    Gone(i32),
}

/// The frame in an entry if it answers a request.
pub(crate) fn answer_in(asked: &Asked, index: usize, entry: &Entry) -> Option<Value> {
    let frame = entry.frame()?;
    if index <= asked.at || entry.process != asked.process {
        return None;
    }
    let id = Some(&asked.id);
    let answers = match asked.awaited {
        Awaited::Response => frame.get("method").is_none() && frame.get("id") == id,
        Awaited::Welcome => frame["type"] == "welcome",
        Awaited::Receipt => frame["type"] == "receipt" && frame.get("id") == id,
        Awaited::TurnEnd => frame["event"]["type"] == "turn.ended" && frame.get("cause") == id,
        Awaited::Control => {
            frame["type"] == "control_response" && frame["response"].get("request_id") == id
        }
        Awaited::Result => {
            let results = match &entry.what {
                What::Line(line) => line.results,
                _ => return None,
            };
            frame["type"] == "result" && asked.id == json!(results)
        }
        Awaited::LastLine => frame["type"] == "turn.completed" || frame["type"] == "turn.failed",
        Awaited::TurnCompleted => {
            frame["method"] == "turn/completed" && frame["params"].get("threadId") == id
        }
        Awaited::Idle => {
            let params = &frame["params"];
            let update = &params["update"];
            params.get("sessionId") == id
                && update["sessionUpdate"] == "state_update"
                && update["state"] == "idle"
        }
    };
    answers.then(|| frame.clone())
}

/// `%XX` is a byte, `%FILL%` the filler.
fn unescape(text: &str, filler: char, fill: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() + fill);
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("%FILL%") {
            // As many bytes as wanted: a filler is ASCII in every case.
            bytes.extend(
                std::iter::repeat_n(filler, fill)
                    .collect::<String>()
                    .bytes(),
            );
            rest = after;
        } else if let Some(byte) = rest
            .get(1..3)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok())
        {
            bytes.push(byte);
            rest = &rest[3..];
        } else {
            bytes.push(b'%');
            rest = &rest[1..];
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

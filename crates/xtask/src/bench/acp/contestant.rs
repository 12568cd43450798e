//! An agent that is asked for a stream, and what was measured of it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::super::client::Client;
use super::super::sample::Sample;
use crate::environment::Environment;
use crate::error::Result;

/// Turns of one update in each run, for the fixed cost of a turn.
const SMALL_TURNS: usize = 5;

/// What a line of an update takes at most beside its text, for the buffer that keeps them.
const ENVELOPE: usize = 512;

/// The stream that is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    pub(super) updates: u32,
    /// Bytes of text in each.
    pub(super) bytes: u32,
}

/// What an agent is to the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// sessiond.
    Ours,
    /// An agent on an SDK of others.
    Sdk,
    /// The first of those, behind sessiond.
    Relayed,
    /// The bare writer.
    Ceiling,
}

/// One agent.
pub(super) struct Contestant {
    pub(super) name: &'static str,
    pub(super) role: Role,
    program: PathBuf,
    arguments: Vec<OsString>,
    pub(super) measured: Measured,
}

/// A sample of each figure, over the runs of one agent.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// Updates a second, as the client reads them.
    pub(super) rate: Sample,
    /// Microseconds of the agent's processor time an update.
    pub(super) processor_us: Sample,
    /// Updates that arrived as such; one that was merged into another is none.
    pub(super) arrived: Sample,
    /// Bytes of a line.
    pub(super) line_bytes: Sample,
    /// Peak memory of the process and all below it; what they share counts for each.
    pub(super) peak_mib: Sample,
    /// The same; what they share with each other, or with others, counts in parts.
    pub(super) share_mib: Sample,
    /// Milliseconds of a turn of one update.
    pub(super) turn_ms: Sample,
}

impl Contestant {
    pub(super) fn new(
        (name, role): (&'static str, Role),
        program: PathBuf,
        arguments: &[&OsStr],
    ) -> Self {
        Self {
            name,
            role,
            program,
            arguments: arguments.iter().map(|part| (*part).to_owned()).collect(),
            measured: Measured::default(),
        }
    }

    /// Starts the agent, streams once, and adds what it took to `into`.
    ///
    /// # Errors
    ///
    /// `Peer` where it does not answer, or text of the stream is lost.
    pub(super) fn run(
        &self,
        environment: &Environment,
        wish: Wish,
        into: &mut Measured,
    ) -> Result<()> {
        let mut command = environment.command(&self.program);
        let mut client = Client::start(command.args(&self.arguments), self.name)?;
        client.initialize()?;
        let new = json!({ "cwd": environment.work(), "mcpServers": [] });
        let session = client.call("session/new", &new)?.result["sessionId"].clone();
        let prompt = |updates: u32| {
            let text = format!("/stream {updates} {}", wish.bytes);
            json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] })
        };
        client.call("session/prompt", &prompt(1))?;

        client.keep(wish.updates as usize * (wish.bytes as usize + ENVELOPE));
        let before = client.processor_time();
        let answer = client.call("session/prompt", &prompt(wish.updates))?;
        let spent = client.processor_time().zip(before);
        let kept = client.take_kept();

        let arrived = arrived(&kept, wish).map_err(|what| client.failed(what))?;
        let updates = f64::from(wish.updates);
        into.rate.add(updates / answer.elapsed.as_secs_f64());
        if let Some((now, before)) = spent {
            let spent = now.saturating_sub(before);
            into.processor_us.add(spent.as_secs_f64() * 1e6 / updates);
        }
        into.arrived.add(f64::from(arrived));
        into.line_bytes
            .add(kept.len() as f64 / answer.notifications.max(1) as f64);
        for _ in 0..SMALL_TURNS {
            let turn = client.call("session/prompt", &prompt(1))?;
            into.turn_ms.add(turn.elapsed.as_secs_f64() * 1e3);
        }
        let memory = client.leave()?;
        into.peak_mib.add(memory.peak_mib());
        into.share_mib.add(memory.share_mib());
        Ok(())
    }

    pub(super) fn json(&self) -> Value {
        let measured = &self.measured;
        json!({
            "name": self.name,
            "updates_per_second": measured.rate.json(),
            "processor_us_per_update": measured.processor_us.json(),
            "arrived": measured.arrived.json(),
            "bytes_per_line": measured.line_bytes.median(),
            "peak_mib": measured.peak_mib.json(),
            "share_mib": measured.share_mib.json(),
            "turn_ms": measured.turn_ms.json(),
        })
    }
}

/// How many chunks of the message are among the lines, where all of its text is.
fn arrived(lines: &[u8], wish: Wish) -> std::result::Result<u32, String> {
    let (mut chunks, mut bytes) = (0, 0);
    for line in lines.split(|byte| *byte == b'\n') {
        if line.is_empty() {
            continue;
        }
        let message: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let update = &message["params"]["update"];
        if update["sessionUpdate"] == "agent_message_chunk" {
            chunks += 1;
            bytes += update["content"]["text"].as_str().map_or(0, str::len);
        }
    }
    let wanted = wish.updates as usize * wish.bytes as usize;
    if bytes == wanted {
        return Ok(chunks);
    }
    Err(format!("{bytes} of {wanted} bytes of the text arrived"))
}

#[cfg(test)]
#[path = "contestant_tests.rs"]
mod tests;

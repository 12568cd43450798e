//! Terminals that the agent owns: the output of a call while it runs, as bytes.
//!
//! What is recorded of a call that has ended is its result, which holds the output as the agent had
//! it; that then stands in the terminal's place, live as in a replay.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::Value;
use sessiond_protocol::{ItemId, SessionId, ToolCall};

use super::patch::{Capabilities, capabilities};
use super::update::Update;
use crate::client::{CHUNK_BYTES, Client};

/// What becomes of a terminal; absent members stay as they are.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TerminalPatch<'a> {
    terminal_id: ItemId,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_status: Option<ExitStatus<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capabilities: Option<Option<Capabilities>>,
}

/// How the command ended, as far as the call's result says.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ExitStatus<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<&'a str>,
}

/// The terminal of a call. It has the call's id, and is there from the first output on.
#[derive(Debug, Default)]
pub(super) struct Terminal {
    /// How many bytes of the output the client has (WIRE-9).
    seen: u64,
}

impl Terminal {
    /// Shows a call's first output: its terminal is told, and becomes part of what the call shows.
    pub(super) fn open(
        client: &Client,
        (session, id): (SessionId, ItemId),
        call: &ToolCall,
    ) -> Self {
        let input = |member: &str| call.input.get(member).and_then(Value::as_str);
        let patch = TerminalPatch {
            terminal_id: id,
            command: input("command").or(Some(&call.title)),
            cwd: input("cwd").filter(|cwd| std::path::Path::new(cwd).is_absolute()),
            exit_status: None,
            capabilities: capabilities(call).map(Some),
        };
        client.update(session, &Update::TerminalUpdate(patch));
        let content = super::patch::Shown::Terminal { terminal_id: id };
        client.update(
            session,
            &Update::ToolCallContentChunk {
                tool_call_id: id,
                content,
            },
        );
        Self::default()
    }

    /// Shows what is new of the output, in chunks of bounded size. Output before a gap is lost where
    /// it was never stored; what follows it is shown.
    pub(super) fn print(
        &mut self,
        client: &Client,
        (session, id): (SessionId, ItemId),
        (offset, text): (u64, &str),
    ) {
        let known = usize::try_from(self.seen.saturating_sub(offset)).ok();
        let fresh = known
            .and_then(|known| text.get(known..))
            .unwrap_or_default();
        for piece in fresh.as_bytes().chunks(CHUNK_BYTES) {
            let data = STANDARD.encode(piece);
            client.update(
                session,
                &Update::TerminalOutputChunk {
                    terminal_id: id,
                    data,
                },
            );
        }
        self.seen = self.seen.max(offset.saturating_add(text.len() as u64));
    }

    /// Says that the command has ended.
    pub(super) fn close(
        client: &Client,
        (session, id): (SessionId, ItemId),
        before: &ToolCall,
        now: &ToolCall,
    ) {
        let found = |names: [&str; 2]| names.into_iter().find_map(|name| now.output.get(name));
        let exit = ExitStatus {
            exit_code: found(["exit_code", "exitCode"]).and_then(Value::as_i64),
            signal: found(["signal", "exitSignal"]).and_then(Value::as_str),
        };
        let patch = TerminalPatch {
            terminal_id: id,
            command: None,
            cwd: None,
            exit_status: Some(exit),
            capabilities: capabilities(before).map(|_| None),
        };
        client.update(session, &Update::TerminalUpdate(patch));
    }
}

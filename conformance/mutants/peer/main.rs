//! The reference peer: a small agent that speaks ACP, or with `sqeq` as its argument sessiond's native
//! protocol, or stands with `claude`, `codex-exec`, `codex-app-server` in the place of these, and keeps its sessions, written for the
//! suite alone. `print ID` shows what a session holds, `transcript SHAPE ID` and
//! `convert FILE SHAPE` write it, `take FILE` makes a session of it. Without a fault it conforms; `PEER_FAULT` names one
//! thing that it then does wrong.
//!
//! Prompts are scripts, one command a prompt: `/say TEXT`, `/stream N BYTES DELAY_MS`, `/think TEXT`,
//! `/run COMMAND`, `/read PATH`, `/write PATH TEXT`, `/ask TEXT`, `/plan A; B`, `/fail TEXT`,
//! `/refuse`, `/sleep SECONDS`; anything else is said back.

mod answer;
mod borrowed;
mod claude;
mod codex;
mod common;
mod desk;
mod fault;
mod hello;
mod input;
mod log;
mod model;
mod native;
mod reopen;
mod script;
mod second;
mod session;
mod source;
mod tool;
mod transcript;
mod turn;
mod wire;

use std::ffi::OsStr;
use std::io::Read;
use std::process::ExitCode;

use serde_json::{Value, json};

use answer::Agent;
use common::Face;
use fault::on;
use input::{Input, Line};
use source::Source;
use wire::Wire;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some(OsStr::new(tool::GUARD)) {
        return sessiond_conformance::guard_main(arguments);
    }
    if first.as_deref() == Some(OsStr::new("print")) {
        let session = arguments.next().unwrap_or_default();
        common::speak(Face::Plain);
        return claude::print(&session.to_string_lossy());
    }
    let words = std::env::args_os().skip(2);
    let words = words.map(|word| word.to_string_lossy().into_owned());
    if first.as_deref() == Some(OsStr::new("transcript")) {
        return transcript::print(words);
    }
    if first.as_deref() == Some(OsStr::new("take")) {
        return transcript::take(words);
    }
    if first.as_deref() == Some(OsStr::new("convert")) {
        return transcript::convert(words);
    }
    let Ok(wire) = Wire::take_stdout() else {
        return ExitCode::FAILURE;
    };
    let face = match first.as_deref().and_then(OsStr::to_str) {
        Some("sqeq") => Face::Native,
        Some("codex-app-server") => Face::App,
        Some("claude" | "codex-exec") => Face::Plain,
        _ => Face::Acp,
    };
    common::speak(face);
    if first.as_deref() == Some(OsStr::new("sqeq")) {
        return native::serve(wire);
    }
    let words = arguments.map(|word| word.to_string_lossy().into_owned());
    if first.as_deref() == Some(OsStr::new("claude")) {
        return claude::serve(wire, words);
    }
    if first.as_deref() == Some(OsStr::new("codex-exec")) {
        return codex::exec::serve(wire, words);
    }
    if first.as_deref() == Some(OsStr::new("codex-app-server")) {
        return codex::app::serve(wire);
    }
    if on("banner") {
        wire.raw(b"reference peer, ready\n");
    }
    let source: Box<dyn Read> = if on("signals-ignored") {
        // A shell that ignores them hands that on.
        fault::ignore_signals();
        Box::new(std::io::stdin())
    } else {
        match Source::new(&wire) {
            Ok(source) => Box::new(source),
            Err(_) => return ExitCode::FAILURE,
        }
    };
    let mut agent = Agent::new(wire.clone());
    let mut input = Input::new(source);
    while let Some(line) = input.next() {
        match line {
            Line::Blank => {
                if on("blank-is-error") {
                    wire.error(&Value::Null, -32700, "blank");
                }
                fault::die_on("blank-kills");
            }
            Line::Broken(_) if on("garbage-silent") => {}
            Line::Broken(kind) => {
                if matches!(kind, input::Broken::Words) {
                    fault::die_on("garbage-kills");
                }
                wire.error(&Value::Null, -32700, "not JSON");
                if on("garbage-twice") {
                    wire.error(&Value::Null, -32700, "not JSON, really");
                }
            }
            Line::Json(value) => message(&mut agent, &wire, &value),
        }
    }
    if on("eof-ignored") && !source::told_to_leave() {
        loop {
            std::thread::park();
        }
    }
    agent.close_all();
    if on("no-last-newline") {
        wire.raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"_bye\"}");
    }
    ExitCode::from(if on("eof-is-failure") { 9 } else { 0 })
}

/// One JSON value of the client.
fn message(agent: &mut Agent, wire: &Wire, value: &Value) {
    let id = value.get("id");
    let answers = value.get("result").is_some() || value.get("error").is_some();
    if value.is_object() && answers && value.get("method").is_none() {
        if on("stray-answers-refused") && !wire.knows(value) {
            wire.error(&Value::Null, -32600, "nobody asked");
        }
        if !wire.knows(value) {
            fault::die_on("stray-answers-kill");
        }
        return wire.answered(value);
    }
    let sound = value["jsonrpc"] == "2.0"
        && value["method"].is_string()
        && id.is_none_or(|id| id.is_string() || id.is_number());
    if !sound {
        if on("batches-run") && value.is_array() {
            for part in value.as_array().into_iter().flatten() {
                message(agent, wire, part);
            }
            return;
        }
        fault::die_on("nonsense-kills");
        if !on("nonsense-silent") {
            wire.error(&Value::Null, -32600, "no message");
        }
        return;
    }
    if on("extra-members-refused") && value.get("colour").is_some() {
        return;
    }
    let method = value["method"].as_str().unwrap_or_default();
    match id {
        None => agent.notified(method, &value["params"]),
        Some(id) => {
            if fault::loses(id) {
                return;
            }
            agent.asked(id, method, value.get("params").unwrap_or(&json!({})));
        }
    }
}

//! What reading a rollout costs: `measure_rollout FOLDER MEGABYTES` writes one below the folder, reads
//! it, and prints one JSON object.
//!
//! Its lines are those of a thread that runs tools: prompts, answers, calls and results of some
//! kilobytes, the events that show them once more, usage, settings, and the state of the world.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use sessiond_codex::rollout::{self, Fold, Rollout, file_name};
use sessiond_wire::foreign::Upto;
use uuid::Uuid;

/// When all of it was said.
const AT: &str = "2026-11-30T12:00:00.000Z";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, megabytes] = arguments.as_slice() else {
        return Err("usage: measure_rollout FOLDER MEGABYTES".into());
    };
    let name = file_name(AT, id(0));
    let path = PathBuf::from(folder).join(&name);
    let bytes = write(&path, megabytes.parse::<u64>()? << 20)?;
    let before = peak_kilobytes();
    let source = Upto::new(File::open(&path)?, bytes);
    let begun = Instant::now();
    let rollout = Rollout::read(rollout::File { name, source }, |_| Ok(Vec::new()))?;
    let found = begun.elapsed();
    let (mut items, mut shown) = (0_u64, 0_usize);
    for told in Fold::new(&rollout) {
        items += 1;
        shown += std::mem::size_of_val(&told?);
    }
    let all = begun.elapsed();
    let rate = |seconds: f64| bytes as f64 / 1e6 / seconds;
    let figures = json!({
        "file": path,
        "bytes": bytes,
        "items": items,
        "told_bytes": shown,
        "index_mb_per_second": rate(found.as_secs_f64()),
        "mb_per_second": rate(all.as_secs_f64()),
        "kilobytes_before": before,
        "peak_kilobytes": peak_kilobytes(),
    });
    writeln!(std::io::stdout(), "{figures}")?;
    Ok(())
}

fn id(nth: u64) -> Uuid {
    Uuid::from_u128(u128::from(nth) << 64 | 7 << 76 | 8 << 60)
}

/// Some kilobytes of what a tool prints: no two the same, with what has to be escaped.
fn output(turn: u64) -> String {
    let lines = (0..40 + turn % 50).map(|line| {
        format!(
            "{line:>4}\tlet value_{turn} = \"{}\"; // é {}\n",
            line * turn,
            turn ^ line
        )
    });
    lines.collect()
}

/// A file on its way.
struct Lines {
    out: BufWriter<File>,
    ordinal: u64,
    written: u64,
}

impl Lines {
    fn line(&mut self, kind: &str, payload: &Value) -> std::io::Result<()> {
        let line = json!({
            "timestamp": AT, "ordinal": self.ordinal, "type": kind, "payload": payload,
        });
        let mut line = serde_json::to_vec(&line)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.ordinal += 1;
        self.written += line.len() as u64;
        Ok(())
    }

    fn shown(&mut self, turn: Uuid, item: &Value) -> std::io::Result<()> {
        let event = json!({
            "type": "item_completed", "thread_id": id(0), "turn_id": turn, "item": item,
            "started_at_ms": 1, "completed_at_ms": 1,
        });
        self.line("event_msg", &event)
    }

    fn turn(&mut self, nth: u64) -> std::io::Result<()> {
        let turn = id(nth << 8);
        let passed = json!({ "turn_id": turn, "content_item_kinds": ["user.text"] });
        let (prompt, result) = (format!("do {nth}"), output(nth));
        let call = format!("call_{nth}");
        let text = "It is done as you asked. ".repeat(4 + (nth % 7) as usize);
        self.line(
            "event_msg",
            &json!({"type": "task_started", "turn_id": turn}),
        )?;
        let instructions = "Be exact. ".repeat(40);
        self.line(
            "world_state",
            &json!({"full": true, "state": {"permissions": instructions}}),
        )?;
        self.line(
            "turn_context",
            &json!({"turn_id": turn, "cwd": "/w", "model": "m"}),
        )?;
        self.line(
            "response_item",
            &json!({
                "type": "message", "id": format!("msg_{turn}"), "role": "user",
                "content": [{"type": "input_text", "text": prompt}],
                "internal_chat_message_metadata_passthrough": passed,
            }),
        )?;
        let content = json!([{"type": "text", "text": prompt}]);
        self.shown(
            turn,
            &json!({"type": "UserMessage", "id": id(nth << 8 | 1), "content": content}),
        )?;
        let arguments = json!({"cmd": format!("cargo test -p crate_{nth}")}).to_string();
        self.line(
            "response_item",
            &json!({
                "type": "function_call", "id": format!("fc_{nth}"), "name": "exec_command",
                "arguments": arguments, "call_id": call,
            }),
        )?;
        self.shown(turn, &json!({
            "type": "CommandExecution", "id": call, "command": ["/bin/bash", "-lc", "cargo test"],
            "status": "completed", "aggregated_output": result, "exit_code": 0,
        }))?;
        let said = format!("Process exited with code 0\nOutput:\n{result}");
        self.line(
            "response_item",
            &json!({
                "type": "function_call_output", "call_id": call, "output": said,
            }),
        )?;
        self.line(
            "event_msg",
            &json!({"type": "token_count", "info": {"total": nth}}),
        )?;
        let content = json!([{"type": "Text", "text": text}]);
        self.shown(
            turn,
            &json!({"type": "AgentMessage", "id": format!("msg_{nth}"), "content": content}),
        )?;
        self.line(
            "response_item",
            &json!({
                "type": "message", "id": format!("msg_{nth}"), "role": "assistant",
                "content": [{"type": "output_text", "text": text}],
            }),
        )?;
        self.line(
            "event_msg",
            &json!({"type": "task_complete", "turn_id": turn}),
        )
    }
}

fn write(path: &Path, bytes: u64) -> Result<u64, Box<dyn std::error::Error>> {
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let mut lines = Lines {
        out: BufWriter::new(File::create(path)?),
        ordinal: 0,
        written: 0,
    };
    lines.line(
        "session_meta",
        &json!({
            "id": id(0), "timestamp": AT, "cwd": "/w", "cli_version": "0.171.0",
            "history_mode": "paginated",
        }),
    )?;
    for nth in 1.. {
        if lines.written >= bytes {
            break;
        }
        lines.turn(nth)?;
    }
    lines.out.flush()?;
    Ok(lines.written)
}

/// The most memory that this process has had; 0 where the system does not say.
fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

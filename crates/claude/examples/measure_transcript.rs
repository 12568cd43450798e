//! What reading a transcript costs: `measure_transcript FOLDER MEGABYTES` writes one below the
//! folder, reads it, and prints one JSON object.
//!
//! Its entries are those of a session that runs tools: prompts, answers, calls, results of some
//! kilobytes with their structured copies, attachments, and what the program keeps for itself.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use sessiond_claude::transcript::{Fold, Index};
use uuid::Uuid;

/// Turns after which the shape of entries repeats.
const SHAPES: u64 = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, megabytes] = arguments.as_slice() else {
        return Err("usage: measure_transcript FOLDER MEGABYTES".into());
    };
    let path = PathBuf::from(folder).join(format!("{}.jsonl", id(0)));
    let bytes = write(&path, megabytes.parse::<u64>()? << 20)?;
    let before = peak_kilobytes();
    let file = File::open(&path)?;
    let begun = Instant::now();
    let index = Index::read(&file)?;
    let read = begun.elapsed();
    let (mut items, mut shown) = (0_u64, 0_usize);
    for told in Fold::new(&index, &file) {
        items += 1;
        shown += std::mem::size_of_val(&told?);
    }
    let all = begun.elapsed();
    let rate = |seconds: f64| bytes as f64 / 1e6 / seconds;
    let figures = json!({
        "file": path,
        "bytes": bytes,
        "entries": index.entries(),
        "items": items,
        "told_bytes": shown,
        "index_mb_per_second": rate(read.as_secs_f64()),
        "mb_per_second": rate(all.as_secs_f64()),
        "kilobytes_before": before,
        "peak_kilobytes": peak_kilobytes(),
    });
    writeln!(std::io::stdout(), "{figures}")?;
    Ok(())
}

fn id(nth: u64) -> String {
    Uuid::from_u128(u128::from(nth) << 64 | 4 << 76 | 8 << 60).to_string()
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

fn write(path: &Path, bytes: u64) -> Result<u64, Box<dyn std::error::Error>> {
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let mut out = BufWriter::new(File::create(path)?);
    let (mut written, mut nth, mut parent) = (0, 1, Value::Null);
    let mut turn = 0;
    while written < bytes {
        turn += 1;
        let result = output(turn);
        let call = format!("toolu_{turn}");
        let text = "It is done as you asked. ".repeat(4 + (turn % 7) as usize);
        let message = |content: Value| {
            json!({
                "id": format!("msg_{turn}"), "type": "message", "role": "assistant",
                "model": "claude-opus-5-5", "content": [content], "stop_reason": "tool_use",
                "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 7},
            })
        };
        let answer = json!({"tool_use_id": call, "type": "tool_result", "content": result});
        let entries = [
            (
                "user",
                json!({"message": {"role": "user", "content": format!("do {turn}")}}),
            ),
            (
                "attachment",
                json!({"attachment": {"type": "date", "date": "2026-11-30"}, "rendered": [text]}),
            ),
            (
                "assistant",
                json!({"message": message(json!({"type": "text", "text": text}))}),
            ),
            (
                "assistant",
                json!({"message": message(json!({
                    "type": "tool_use", "id": call, "name": "Bash",
                    "input": {"command": format!("cargo test -p crate_{turn}"), "description": "test"},
                }))}),
            ),
            (
                "user",
                json!({
                    "message": {"role": "user", "content": [answer]},
                    "toolUseResult": {"stdout": result, "stderr": "", "interrupted": false},
                }),
            ),
        ];
        for (kind, more) in entries {
            let uuid = id(nth);
            let mut entry = json!({
                "parentUuid": parent, "isSidechain": false, "type": kind, "uuid": uuid,
                "timestamp": "2026-11-30T12:00:00.000Z", "sessionId": id(0), "cwd": "/w/project",
                "version": "2.1.332", "gitBranch": "main", "userType": "external",
            });
            if let (Some(entry), Value::Object(more)) = (entry.as_object_mut(), more) {
                entry.extend(more);
            }
            written += line(&mut out, &entry)?;
            parent = json!(uuid);
            nth += 1;
        }
        if turn % SHAPES == 0 {
            // What the program writes of a request is as long as all that was said before.
            let params =
                json!({"type": "api-request", "params": {"messages": [output(turn).repeat(40)]}});
            written += line(&mut out, &params)?;
        }
        let last = json!({"type": "last-prompt", "lastPrompt": "do", "leafUuid": parent});
        written += line(&mut out, &last)?;
    }
    out.flush()?;
    Ok(written)
}

fn line(out: &mut impl Write, entry: &Value) -> std::io::Result<u64> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    out.write_all(&line)?;
    Ok(line.len() as u64)
}

/// The most memory that this process has had; 0 where the system does not say.
fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

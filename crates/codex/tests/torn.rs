//! A program that dies while it appends, at every byte.

#![expect(
    clippy::unwrap_used,
    reason = "clippy sees tests only in functions marked so"
)]

#[path = "../../claude/tests/damaged/mod.rs"]
mod damaged;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sessiond_codex::rollout::{File, Findings, Fold, Kind, Rollout};
use sessiond_protocol::{Content, Item, Telling, Told, ToolCall, ToolStatus};
use sessiond_wire::foreign::Upto;

use damaged::{scrambled, torn_tails};

const NAMES: [&str; 3] = [
    "11_appr_0.jsonl",
    "07_import_n_compacted_after.jsonl",
    "07_import_q_pag_full_after.jsonl",
];

/// A rollout with what its conversation needs, so that there are fewer bytes to try.
fn rollout(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rollouts");
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let needed = lines.filter_map(|mut line| {
        let kind = line["type"].as_str().unwrap().to_owned();
        let payload = line["payload"].as_object_mut().unwrap();
        let is_needed = match kind.as_str() {
            "session_meta" => {
                payload.retain(|member, _| matches!(member.as_str(), "id" | "history_mode"));
                true
            }
            "response_item" => {
                payload.remove("internal_chat_message_metadata_passthrough");
                !matches!(payload.get("role"), Some(role) if role == "developer")
            }
            "compacted" => true,
            "event_msg" => {
                payload.remove("turn_attribution");
                let of_call = payload
                    .get("item")
                    .is_some_and(|item| !item["status"].is_null());
                let kind = payload["type"].as_str().unwrap();
                of_call || kind.starts_with("task_") || kind.starts_with("turn_")
            }
            _ => false,
        };
        line.as_object_mut().unwrap().remove("metadata");
        // The ordinals of what is left out would be gaps.
        line.as_object_mut().unwrap().remove("ordinal");
        is_needed.then_some(line)
    });
    let mut needed: Vec<Value> = needed.collect();
    needed.truncate(13);
    let is_paginated = needed[0]["payload"]["history_mode"] == "paginated";
    for (nth, line) in needed.iter_mut().enumerate().filter(|_| is_paginated) {
        line["ordinal"] = json!(nth);
    }
    let lines = needed.iter().map(|line| line.to_string() + "\n");
    lines.collect::<String>().into_bytes()
}

fn read(text: &[u8]) -> (Vec<Told>, Findings) {
    let (name, source) = (
        "rollout.jsonl".to_owned(),
        Upto::new(text, text.len() as u64),
    );
    let rollout = Rollout::read(File { name, source }, |_| Ok(Vec::new())).unwrap();
    let mut fold = Fold::new(&rollout);
    let told = fold.by_ref().map(Result::unwrap).collect();
    (told, fold.findings())
}

/// The same but for how calls ended, which a later line tells.
fn begun(told: &[Told]) -> Vec<(Telling, Option<sessiond_protocol::ItemId>)> {
    let begun = told.iter().map(|told| match &told.what {
        Telling::Item(Item::ToolCall(call)) => {
            let call = ToolCall {
                status: ToolStatus::Unknown,
                content: Vec::new(),
                output: Value::Null,
                ..(**call).clone()
            };
            (Telling::Item(Item::ToolCall(Box::new(call))), told.id)
        }
        other => (other.clone(), told.id),
    });
    begun.collect()
}

/// ADAPT-4: what was written whole is there, in order, and what was not is told as torn.
#[test]
fn a_rollout_that_ends_at_any_byte_tells_what_was_written_whole() {
    for name in NAMES {
        let text = rollout(name);
        let (all, findings) = read(&text);
        assert!(!all.is_empty() && findings.is_sound(), "{name}: {findings}");
        let all = begun(&all);
        for length in 0..=text.len() {
            let cut = &text[..length];
            let (told, findings) = read(cut);
            let told = begun(&told);
            assert!(all.starts_with(&told), "{name} at {length}");
            assert_eq!(
                findings.of(Kind::TornTail),
                torn_tails(cut),
                "{name} at {length}"
            );
            assert_eq!(findings.of(Kind::BadLine), 0, "{name} at {length}");
        }
    }
}

/// What another program appends behind a torn line, without a look at it, is found.
#[test]
fn a_line_behind_a_torn_one_is_found_wherever_that_was_torn() {
    let line = r#"{"timestamp":"2026-11-30T12:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"late"}]}}"#;
    let text = rollout(NAMES[1]);
    for length in 0..=text.len() {
        let spliced = [&text[..length], line.as_bytes(), b"\n"].concat();
        let (told, _) = read(&spliced);
        let content = vec![Content::text("late")];
        let late = Telling::Item(Item::UserMessage { content });
        assert!(told.iter().any(|told| told.what == late), "at {length}");
    }
}

/// WIRE-5: whatever has become of the bytes, they are read, and what is said of them is bounded.
#[test]
fn whatever_has_become_of_its_bytes_a_rollout_is_read() {
    let whole = rollout(NAMES[0]);
    scrambled(&whole, |text| {
        let (told, findings) = read(text);
        assert!(told.len() <= text.len());
        let mut found = findings.iter();
        assert!(found.all(|(_, found)| found.places.len() <= 20));
        let ids: std::collections::HashSet<_> = told.iter().map(|told| told.id).collect();
        assert_eq!(ids.len(), told.len(), "no two things have one id");
    });
}

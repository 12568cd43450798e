//! A program that dies while it appends, at every byte.

#![expect(
    clippy::unwrap_used,
    reason = "clippy sees tests only in functions marked so"
)]

mod damaged;

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};
use sessiond_claude::transcript::{Findings, Fold, Index, Kind, check, go_on};
use sessiond_protocol::{
    Content, Item, ItemId, SessionId, Telling, Told, ToldAbout, ToolCall, ToolStatus,
};
use uuid::Uuid;

use damaged::{scrambled, torn_tails};

const NAMES: [&str; 2] = [
    "30n_parallel_tools_split.before.jsonl",
    "30p_compact.before.jsonl",
];

/// A transcript with what its chain and its conversation need, so that there are fewer bytes to try.
fn transcript(name: &str) -> Vec<u8> {
    const NEEDED: [&str; 8] = [
        "parentUuid",
        "type",
        "uuid",
        "message",
        "subtype",
        "logicalParentUuid",
        "isCompactSummary",
        "sourceToolAssistantUUID",
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let lines = text.lines().map(|line| {
        let mut entry: Map<String, Value> = serde_json::from_str(line).unwrap();
        entry.retain(|member, _| NEEDED.contains(&member.as_str()));
        if let Some(Value::Object(message)) = entry.get_mut("message") {
            message.retain(|member, _| matches!(member.as_str(), "id" | "role" | "content"));
        }
        Value::Object(entry).to_string() + "\n"
    });
    lines.collect::<String>().into_bytes()
}

fn told(text: &[u8]) -> (Vec<Told>, Findings) {
    let index = Index::read(text).unwrap();
    let told = Fold::new(&index, text).map(Result::unwrap).collect();
    (told, index.findings().clone())
}

/// The same but for how calls ended, which a later entry tells.
fn begun(told: &[Told]) -> Vec<Telling> {
    let begun = told.iter().map(|told| match &told.what {
        Telling::Item(Item::ToolCall(call)) => Telling::Item(Item::ToolCall(Box::new(ToolCall {
            status: ToolStatus::Unknown,
            content: Vec::new(),
            ..(**call).clone()
        }))),
        other => other.clone(),
    });
    begun.collect()
}

/// ADAPT-4: what was written whole is there, in order, and what was not is told as torn.
#[test]
fn a_transcript_that_ends_at_any_byte_tells_what_was_written_whole() {
    for name in NAMES {
        let text = transcript(name);
        let (all, _) = told(&text);
        let all = begun(&all);
        for length in 0..=text.len() {
            let cut = &text[..length];
            let (told, findings) = told(cut);
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
fn an_entry_behind_a_torn_line_is_found_wherever_that_was_torn() {
    let entry = r#"{"parentUuid":null,"type":"user","uuid":"00000000-0000-4000-8000-0000000000ff","message":{"role":"user","content":"late"}}"#;
    let text = transcript(NAMES[0]);
    for length in 0..=text.len() {
        let spliced = [&text[..length], entry.as_bytes(), b"\n"].concat();
        let (told, _) = told(&spliced);
        let content = vec![Content::text("late")];
        let late = Telling::Item(Item::UserMessage { content });
        assert!(told.iter().any(|told| told.what == late), "at {length}");
    }
}

/// What we append to a torn transcript is on lines of its own and keeps the rules of the chain.
#[test]
fn what_goes_on_behind_a_torn_line_begins_a_line_of_its_own() {
    let text = transcript("41e_duplicate_result.before.jsonl");
    let more = Told {
        id: Some(ItemId::new(Uuid::from_u128(9 << 96 | 7 << 76 | 8 << 60))),
        at: Some("2026-11-30T12:00:00Z".to_owned()),
        what: Telling::Item(Item::UserMessage {
            content: vec![Content::text("more")],
        }),
    };
    let session = SessionId::new(Uuid::from_u128(1));
    for length in 1..=text.len() {
        let cut = &text[..length];
        let (mut here, _) = told(cut);
        here.push(more.clone());
        let mut out = Vec::new();
        let about = ToldAbout::default();
        go_on(cut, (session, &about), here, &mut out).unwrap();
        let rest = out.strip_prefix(cut).unwrap();
        assert_eq!(
            rest.starts_with(b"\n"),
            !cut.ends_with(b"\n"),
            "at {length}"
        );
        let (told, _) = told(&out);
        assert_eq!(
            told.last().map(|told| &told.what),
            Some(&more.what),
            "at {length}"
        );
        let flaws: Vec<_> = check(&out).into_iter().map(|flaw| flaw.what).collect();
        assert!(
            !flaws.contains(&"its parent was not written before it"),
            "at {length}"
        );
    }
}

/// WIRE-5: whatever has become of the bytes, they are read, and what is said of them is bounded.
#[test]
fn whatever_has_become_of_its_bytes_a_transcript_is_read() {
    let whole = transcript(NAMES[1]);
    scrambled(&whole, |text| {
        let index = Index::read(text).unwrap();
        let told = Fold::new(&index, text).map(Result::unwrap).count();
        assert!(told <= text.len());
        assert!(
            index
                .findings()
                .iter()
                .all(|(_, found)| found.places.len() <= 20)
        );
    });
}

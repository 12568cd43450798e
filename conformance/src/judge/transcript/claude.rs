//! The rules of Claude's transcripts: `docs/conformance.md`, "Transcripts of Claude".

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Line, Looked, Transcript, id_in, is_time};
use crate::check::TranscriptRule;

/// The kinds of entries that hang together.
const CHAIN: [&str; 5] = ["user", "assistant", "system", "attachment", "progress"];

/// Whether a transcript keeps a rule.
pub(super) fn keeps(file: &Transcript, rule: TranscriptRule, name: Option<&str>) -> Looked {
    let chain = Chain::of(file);
    match rule {
        TranscriptRule::Session => session(file, name),
        TranscriptRule::Times => chain.times(),
        TranscriptRule::Members => chain.members(),
        TranscriptRule::Calls => chain.calls(),
        TranscriptRule::Results => chain.results(),
        TranscriptRule::Uuids => chain.uuids(),
        TranscriptRule::Parents => chain.parents(),
        TranscriptRule::Root => chain.root(),
        TranscriptRule::Leaf => chain.leaf(file),
        TranscriptRule::Regrouped => chain.regrouped(),
        TranscriptRule::Sidechains => chain.sidechains(),
        TranscriptRule::Boundaries => chain.boundaries(),
        TranscriptRule::Unbranched => chain.unbranched(),
        _ => Ok(0),
    }
}

/// The entries that hang together.
pub(super) struct Chain<'a> {
    pub(super) lines: Vec<&'a Line>,
    /// The first of each uuid: its place in `lines`.
    places: BTreeMap<&'a str, usize>,
}

impl<'a> Chain<'a> {
    pub(super) fn of(file: &'a Transcript) -> Self {
        let is_link = |line: &&Line| line.text("type").is_some_and(|kind| CHAIN.contains(&kind));
        let lines: Vec<&Line> = file.lines.iter().filter(is_link).collect();
        let mut places = BTreeMap::new();
        for (at, line) in lines.iter().enumerate() {
            if let Some(uuid) = line.text("uuid") {
                places.entry(uuid).or_insert(at);
            }
        }
        Self { lines, places }
    }

    /// The entry with an id.
    fn entry(&self, uuid: &str) -> Option<&'a Line> {
        self.places.get(uuid).map(|at| self.lines[*at])
    }

    /// What an entry follows: over a compaction, what was before it.
    fn before(&self, line: &Line) -> Option<&'a str> {
        let at = *self.places.get(line.text("uuid")?)?;
        let line = self.lines[at];
        let parent = line.text("parentUuid");
        parent.or_else(|| line.text("logicalParentUuid"))
    }

    /// From the last message to the first, and whether it got there.
    pub(super) fn way(&self) -> (Vec<&'a Line>, Result<(), String>) {
        let speaks = |line: &&&Line| {
            line.entry["isSidechain"] != true
                && matches!(line.text("type"), Some("user" | "assistant"))
        };
        let (mut way, mut seen) = (Vec::new(), BTreeSet::new());
        let mut next = self.lines.iter().rev().find(speaks).copied();
        while let Some(line) = next {
            if !seen.insert(line.number) {
                return (
                    way,
                    line.flaw("the way to the first message comes back here"),
                );
            }
            way.push(line);
            let Some(before) = self.before(line) else {
                break;
            };
            next = self.entry(before);
            if next.is_none() {
                return (
                    way,
                    line.flaw(format!("it follows {before}, which is not there")),
                );
            }
        }
        (way, Ok(()))
    }

    fn uuids(&self) -> Looked {
        let mut seen = BTreeSet::new();
        for line in &self.lines {
            let Some(uuid) = line.text("uuid") else {
                return line.flaw("it has no uuid");
            };
            if !seen.insert(uuid) {
                return line.flaw(format!("uuid {uuid} stands twice"));
            }
        }
        Ok(self.lines.len())
    }

    fn parents(&self) -> Looked {
        for line in &self.lines {
            let Some(parent) = line.text("parentUuid") else {
                continue;
            };
            match self.entry(parent) {
                None => return line.flaw(format!("parentUuid {parent} is no entry")),
                Some(entry) if entry.number >= line.number => {
                    return line.flaw(format!(
                        "parentUuid {parent} comes only in line {}",
                        entry.number
                    ));
                }
                Some(_) => {}
            }
        }
        Ok(self.lines.len())
    }

    fn root(&self) -> Looked {
        let (way, end) = self.way();
        end.map(|()| way.len())
    }

    fn unbranched(&self) -> Looked {
        let (way, _) = self.way();
        let on_way: BTreeSet<usize> = way.iter().map(|line| line.number).collect();
        let said = |line: &&&Line| {
            line.entry["isSidechain"] != true
                && (line.text("type") == Some("assistant") || prompt(line))
        };
        for line in self.lines.iter().filter(said) {
            if !on_way.contains(&line.number) {
                return line.flaw("it is not on the way from the last message to the first");
            }
        }
        Ok(way.len())
    }

    fn leaf(&self, file: &Transcript) -> Looked {
        let mut looked = 0;
        for line in file
            .lines
            .iter()
            .filter(|line| line.text("type") == Some("last-prompt"))
        {
            let Some(leaf) = line.text("leafUuid") else {
                continue;
            };
            if self.entry(leaf).is_none() {
                return line.flaw(format!("leafUuid {leaf} is no entry"));
            }
            looked += 1;
        }
        Ok(looked)
    }

    fn times(&self) -> Looked {
        for line in &self.lines {
            if !line.text("timestamp").is_some_and(is_time) {
                return line.flaw(format!(
                    "timestamp {} is no time in UTC",
                    line.entry["timestamp"]
                ));
            }
        }
        let said = |line: &&&Line| line.text("type") == Some("assistant");
        let (way, _) = self.way();
        for pair in way.iter().filter(said).collect::<Vec<_>>().windows(2) {
            let [later, earlier] = pair else { continue };
            if later.text("timestamp") < earlier.text("timestamp") {
                return later.flaw(format!(
                    "timestamp is before that of line {}",
                    earlier.number
                ));
            }
        }
        Ok(self.lines.len())
    }

    fn members(&self) -> Looked {
        for line in &self.lines {
            for member in ["uuid", "timestamp", "sessionId", "cwd", "version"] {
                if !line.entry[member].is_string() {
                    return line.flaw(format!("{member} is {}", line.entry[member]));
                }
            }
            if !line.entry["isSidechain"].is_boolean() || line.entry.get("parentUuid").is_none() {
                return line.flaw("it has no isSidechain, or no parentUuid");
            }
            if let Some(kind @ ("user" | "assistant")) = line.text("type")
                && let Err(what) = message(kind, &line.entry["message"])
            {
                return line.flaw(what);
            }
        }
        Ok(self.lines.len())
    }

    /// Blocks of a kind with their entries.
    pub(super) fn blocks(&self, kind: &'a str) -> impl Iterator<Item = (&'a Line, &'a Value)> {
        let lines = self.lines.iter().copied();
        lines
            .flat_map(|line| blocks(line).map(move |block| (line, block)))
            .filter(move |(_, block)| block["type"] == kind)
    }

    fn calls(&self) -> Looked {
        let results = self.blocks("tool_result");
        let answered: BTreeSet<&str> = results
            .filter_map(|(_, block)| block["tool_use_id"].as_str())
            .collect();
        let mut looked = 0;
        for (line, block) in self.blocks("tool_use") {
            let id = block["id"].as_str().unwrap_or_default();
            if !answered.contains(id) {
                return line.flaw(format!("tool_use {id} has no tool_result"));
            }
            looked += 1;
        }
        Ok(looked)
    }

    fn results(&self) -> Looked {
        let calls: BTreeMap<&str, &Line> = self
            .blocks("tool_use")
            .filter_map(|(line, block)| Some((block["id"].as_str()?, line)))
            .collect();
        let mut seen = BTreeSet::new();
        for (line, block) in self.blocks("tool_result") {
            let id = block["tool_use_id"].as_str().unwrap_or_default();
            let Some(call) = calls.get(id) else {
                return line.flaw(format!("tool_result {id} has no tool_use"));
            };
            if call.number >= line.number {
                return line.flaw(format!("tool_result {id} comes before its tool_use"));
            }
            if !seen.insert(id) {
                return line.flaw(format!("tool_result {id} stands twice"));
            }
            let named = line.text("sourceToolAssistantUUID");
            if named.is_some() && named != call.text("uuid") {
                return line.flaw("sourceToolAssistantUUID is not the entry of its call");
            }
        }
        Ok(seen.len())
    }

    fn regrouped(&self) -> Looked {
        let message = |line: &Line| line.entry["message"]["id"].as_str().map(str::to_owned);
        let mut first: BTreeMap<String, &Line> = BTreeMap::new();
        for line in self
            .lines
            .iter()
            .filter(|line| line.text("type") == Some("assistant"))
        {
            let Some(id) = message(line) else { continue };
            let Some(begun) = first.get(&id) else {
                first.insert(id, line);
                continue;
            };
            if begun.entry["message"]["model"] != line.entry["message"]["model"] {
                return line.flaw(format!(
                    "message.model is another than in line {}",
                    begun.number
                ));
            }
            let (mut next, mut steps) = (self.before(line), 0);
            loop {
                let Some(before) = next.and_then(|uuid| self.entry(uuid)) else {
                    return line.flaw(format!(
                        "message.id {id} does not follow line {}",
                        begun.number
                    ));
                };
                if before.text("type") == Some("assistant")
                    && message(before).as_deref() == Some(&id)
                {
                    break;
                }
                steps += 1;
                if prompt(before) || steps > self.lines.len() {
                    return line.flaw(format!(
                        "message.id {id} goes on behind line {}",
                        before.number
                    ));
                }
                next = self.before(before);
            }
        }
        Ok(first.len())
    }

    fn sidechains(&self) -> Looked {
        let side = |line: &Line| line.entry["isSidechain"] == true;
        for line in self.lines.iter().filter(|line| !side(line)) {
            let parent = line.text("parentUuid").and_then(|uuid| self.entry(uuid));
            if parent.is_some_and(side) {
                return line.flaw("parentUuid is an entry of a sidechain");
            }
        }
        Ok(self.lines.iter().filter(|line| side(line)).count())
    }

    fn boundaries(&self) -> Looked {
        let mut looked = 0;
        for line in self
            .lines
            .iter()
            .filter(|line| line.text("subtype") == Some("compact_boundary"))
        {
            let before = line
                .text("logicalParentUuid")
                .and_then(|uuid| self.entry(uuid));
            if before.is_none_or(|before| before.number >= line.number) {
                let named = &line.entry["logicalParentUuid"];
                return line.flaw(format!("logicalParentUuid {named} is no entry before it"));
            }
            let summary = self.lines.iter().find(|other| {
                other.entry["isCompactSummary"] == true && other.number > line.number
            });
            if summary.is_none_or(|summary| summary.text("parentUuid") != line.text("uuid")) {
                return line.flaw("no summary follows the compact_boundary");
            }
            looked += 1;
        }
        Ok(looked)
    }
}

/// The blocks of an entry's message.
pub(super) fn blocks(line: &Line) -> impl Iterator<Item = &Value> {
    line.entry["message"]["content"]
        .as_array()
        .into_iter()
        .flatten()
}

/// Whether an entry is what somebody asked.
fn prompt(line: &Line) -> bool {
    line.text("type") == Some("user")
        && line.entry["isMeta"] != true
        && !blocks(line).any(|block| block["type"] == "tool_result")
}

fn session(file: &Transcript, name: Option<&str>) -> Looked {
    let mut expected = name.and_then(id_in).map(str::to_owned);
    let mut looked = 0;
    for line in &file.lines {
        let Some(session) = line.text("sessionId") else {
            continue;
        };
        let expected = expected.get_or_insert_with(|| session.to_owned());
        if session != expected {
            return line.flaw(format!("sessionId is {session}, not {expected}"));
        }
        looked += 1;
    }
    Ok(looked)
}

fn message(kind: &str, message: &Value) -> Result<(), String> {
    if message["role"] != kind {
        return Err(format!("message.role is {}", message["role"]));
    }
    if kind == "user" && message["content"].is_string() {
        return Ok(());
    }
    let Some(blocks) = message["content"].as_array() else {
        return Err("message.content is no list".to_owned());
    };
    if kind == "assistant" {
        for member in ["id", "model"] {
            if !message[member].is_string() {
                return Err(format!("message.{member} is {}", message[member]));
            }
        }
        if message["type"] != "message" || !message["usage"].is_object() {
            return Err("message.type or message.usage is missing".to_owned());
        }
    }
    for (at, block) in blocks.iter().enumerate() {
        let lacks = match block["type"].as_str() {
            None => Some("type"),
            Some("text") if !block["text"].is_string() => Some("text"),
            Some("tool_use") if !block["id"].is_string() => Some("id"),
            Some("tool_use") if !block["name"].is_string() => Some("name"),
            Some("tool_use") if !block["input"].is_object() => Some("input"),
            Some("tool_result") if !block["tool_use_id"].is_string() => Some("tool_use_id"),
            Some(_) => None,
        };
        if let Some(member) = lacks {
            return Err(format!("message.content/{at}/{member} is missing"));
        }
    }
    Ok(())
}

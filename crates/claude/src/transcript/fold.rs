//! The conversation of a transcript in the terms of the waist, piece by piece: an entry at a time is
//! in memory, with the result of the call that it makes.

use std::collections::VecDeque;
use std::io;

use serde_json::{Map, Value};
use sessiond_protocol::{
    Content, Finish, Item, ItemId, Severity, Telling, Told, ToolCall, ToolContent, ToolStatus,
    limits,
};
use sessiond_wire::foreign::{ReadAt, Text, Window};
use uuid::Uuid;

use super::chain::Chain;
use super::entry::{Block, Blocks, Entry, Source, with_entry};
use super::findings::{Findings, Kind};
use super::index::{Index, Key, Node, Role, mark};
use crate::tool;

/// How the program's own words begin in what it writes down as the user's.
const COMMANDS: [&str; 6] = [
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-input>",
];

/// How the program writes down that the user interrupted.
const INTERRUPTED: &str = "[Request interrupted by user";

/// What tells a conversation.
#[derive(Debug)]
pub struct Fold<'a, S: ?Sized> {
    index: &'a Index,
    chain: Chain,
    /// The next of the chain's entries.
    next: usize,
    entries: Window<'a, S>,
    results: Window<'a, S>,
    ready: VecDeque<(Told, Uuid)>,
    last: Option<Uuid>,
    findings: Findings,
}

/// The result of a call.
struct Answer {
    status: ToolStatus,
    content: Vec<ToolContent>,
}

impl<'a, S: ReadAt + ?Sized> Fold<'a, S> {
    /// Of a transcript and its index.
    #[must_use]
    pub fn new(index: &'a Index, source: &'a S) -> Self {
        Self::behind(index, source, index.chain(), 0)
    }

    /// Of what of a conversation comes behind so many entries.
    pub(crate) fn behind(index: &'a Index, source: &'a S, mut chain: Chain, next: usize) -> Self {
        let findings = std::mem::take(&mut chain.findings);
        Self {
            index,
            chain,
            next,
            entries: Window::new(source),
            results: Window::new(source),
            ready: VecDeque::new(),
            last: None,
            findings,
        }
    }

    /// The entry that the newest piece ends with: of a call, the one with its result.
    #[must_use]
    pub fn ended_with(&self) -> Option<Uuid> {
        self.last
    }

    /// What was found so far, beside what the index found.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The id of the entry that whatever comes next follows, where it is a UUID.
    #[must_use]
    pub fn tail(&self) -> Option<Uuid> {
        let tail = self.chain.tail.map(|at| &self.index.nodes[at]);
        tail.map(|node| Uuid::from_u128(node.uuid))
    }

    /// What the next entry tells; nothing at the end.
    pub(crate) fn step(&mut self) -> io::Result<Vec<Told>> {
        if let Some(at) = self.chain.told.get(self.next).copied() {
            self.next += 1;
            self.entry(at)?;
        }
        Ok(self.ready.drain(..).map(|(told, _)| told).collect())
    }

    /// The entries that are still to come.
    pub(crate) fn rest(&self) -> &[usize] {
        self.chain.told.get(self.next..).unwrap_or_default()
    }

    fn entry(&mut self, at: usize) -> io::Result<()> {
        let node = &self.index.nodes[at];
        let tells = match node.role {
            Role::Assistant | Role::Summary => true,
            Role::User => node.says || self.chain.orphans.contains(&at),
            Role::Meta | Role::Boundary | Role::Link => false,
        };
        if !tells {
            return Ok(());
        }
        let bytes = self.entries.get(node.offset..node.offset + node.bytes)?;
        let mut teller = Teller {
            index: self.index,
            node,
            results: &mut self.results,
            findings: &mut self.findings,
            ready: &mut self.ready,
            at: None,
            block: 0,
            last: node.uuid,
        };
        match with_entry(bytes, |entry| teller.tell(entry)) {
            Ok(told) => told,
            Err(_) => {
                self.findings.at(Kind::UnreadableEntry, node.place());
                Ok(())
            }
        }
    }
}

impl<S: ReadAt + ?Sized> Iterator for Fold<'_, S> {
    type Item = io::Result<Told>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((told, last)) = self.ready.pop_front() {
                self.last = Some(last);
                return Some(Ok(told));
            }
            let at = *self.chain.told.get(self.next)?;
            self.next += 1;
            if let Err(error) = self.entry(at) {
                return Some(Err(error));
            }
        }
    }
}

/// What makes an entry's pieces.
struct Teller<'a, 'w, S: ?Sized> {
    index: &'a Index,
    node: &'a Node,
    results: &'a mut Window<'w, S>,
    findings: &'a mut Findings,
    ready: &'a mut VecDeque<(Told, Uuid)>,
    at: Option<String>,
    /// The entry that the next piece ends with.
    last: Key,
    /// How many pieces of this entry were told.
    block: u32,
}

impl<S: ReadAt + ?Sized> Teller<'_, '_, S> {
    fn tell(&mut self, entry: Entry<'_>) -> io::Result<()> {
        self.at = entry.timestamp.into_string();
        let Some(message) = entry.message.0 else {
            return Ok(());
        };
        match self.node.role {
            Role::Summary => self.summary(message.content),
            Role::Assistant if entry.is_api_error_message.0 => self.failed(message.content),
            Role::Assistant => {
                let finish = match entry.is_aborted_mid_stream.0 {
                    true => Finish::Cut,
                    false => Finish::Whole,
                };
                return self.said(message.content, finish);
            }
            _ => self.asked(message.content),
        }
        Ok(())
    }

    fn push(&mut self, what: Telling) {
        let id = Some(self.node.id(self.block));
        self.block += 1;
        let at = self.at.clone();
        let last = std::mem::replace(&mut self.last, self.node.uuid);
        self.ready
            .push_back((Told { id, at, what }, Uuid::from_u128(last)));
    }

    fn item(&mut self, item: Item) {
        self.push(Telling::Item(item));
    }

    fn summary(&mut self, content: Blocks<'_>) {
        let mut text = content.into_text();
        if text.len() > limits::SUMMARY_BYTES {
            self.findings.at(Kind::LongSummary, self.node.place());
            text.truncate(text.floor_char_boundary(limits::SUMMARY_BYTES));
        }
        if !text.trim().is_empty() {
            self.push(Telling::Summary(text));
        }
    }

    /// What failed was shown to the user, and the model never said it.
    fn failed(&mut self, content: Blocks<'_>) {
        self.push(Telling::Notice {
            severity: Severity::Error,
            title: "a model request failed".to_owned(),
            description: Some(content.into_text()),
        });
    }

    fn said(&mut self, content: Blocks<'_>, finish: Finish) -> io::Result<()> {
        for block in content.into_list() {
            match block.kind.as_str().unwrap_or_default() {
                "text" => {
                    let text = block.text.into_string().unwrap_or_default();
                    self.item(Item::AgentMessage { text, finish });
                }
                "thinking" => {
                    if block.signature.as_str().is_some_and(|s| !s.is_empty()) {
                        self.findings.count(Kind::SealedThought);
                    }
                    let text = block.thinking.into_string().unwrap_or_default();
                    self.item(Item::Thought { text, finish });
                }
                "redacted_thinking" => self.findings.count(Kind::SealedThought),
                "tool_use" | "server_tool_use" => {
                    let call = self.call(block)?;
                    self.item(Item::ToolCall(Box::new(call)));
                }
                _ => self.unknown(&block),
            }
        }
        Ok(())
    }

    fn call(&mut self, block: Block<'_>) -> io::Result<ToolCall> {
        let name = block.name.into_string().unwrap_or_default();
        let native = block.id.into_string();
        let input = block.input;
        let answer = match &native {
            Some(id) => self.answer(id)?,
            None => None,
        };
        let answer = answer.unwrap_or_else(|| {
            self.findings.at(Kind::UnansweredCall, self.node.place());
            // It may have run; nothing tells (RESUME-6).
            let (status, content) = (ToolStatus::Unknown, Vec::new());
            Answer { status, content }
        });
        let mut content: Vec<_> = tool::diff(&name, &input).into_iter().collect();
        content.extend(answer.content);
        Ok(ToolCall {
            title: tool::title(&name, &input),
            kind: tool::kind(&name),
            locations: tool::locations(&input),
            status: answer.status,
            name,
            input,
            content,
            native,
            ..ToolCall::default()
        })
    }

    /// Looks the result of a call up, wherever it stands.
    fn answer(&mut self, id: &str) -> io::Result<Option<Answer>> {
        let at = self.index.results.get(&mark(id));
        let Some(node) = at.map(|at| &self.index.nodes[*at]) else {
            return Ok(None);
        };
        self.last = node.uuid;
        let bytes = self.results.get(node.offset..node.offset + node.bytes)?;
        let found = with_entry(bytes, |entry| {
            let is_denied = entry.tool_denial_kind.as_str().is_some();
            let content = entry.message.0.map(|message| message.content);
            let blocks = content.unwrap_or_default().into_list().into_iter();
            let mut blocks = blocks.filter(|block| block.kind.is("tool_result"));
            let block = blocks.find(|block| block.tool_use_id.is(id))?;
            Some(answer(block, is_denied))
        });
        match found {
            Ok(found) => Ok(found),
            Err(_) => {
                self.findings.at(Kind::UnreadableEntry, node.place());
                Ok(None)
            }
        }
    }

    fn asked(&mut self, content: Blocks<'_>) {
        let mut says = Vec::new();
        for mut block in content.into_list() {
            match block.kind.as_str() {
                Some("tool_result") => self.orphan(block),
                Some("text") if block.text.as_str().is_some_and(is_command) => {
                    self.findings.count(Kind::LocalCommand);
                }
                Some("text") if block.text.as_str().is_some_and(is_interrupt) => {
                    self.push(Telling::Notice {
                        severity: Severity::Info,
                        title: "interrupted by the user".to_owned(),
                        description: None,
                    });
                }
                _ => match user_content(&mut block) {
                    Some(content) => says.push(content),
                    None => self.unknown(&block),
                },
            }
        }
        if !says.is_empty() {
            self.item(Item::UserMessage { content: says });
        }
    }

    /// A result whose call was told comes with that. Any other is shown for what it is.
    fn orphan(&mut self, block: Block<'_>) {
        let Some(id) = block.tool_use_id.as_str().map(str::to_owned) else {
            return;
        };
        if self.index.calls.contains_key(&mark(&id)) {
            return;
        }
        self.findings.at(Kind::OrphanResult, self.node.place());
        let Answer { status, content } = answer(block, false);
        self.item(Item::ToolCall(Box::new(ToolCall {
            name: "unknown".to_owned(),
            title: "a result whose call is not there".to_owned(),
            status,
            content,
            native: Some(id),
            ..ToolCall::default()
        })));
    }

    fn unknown(&mut self, block: &Block<'_>) {
        let mut place = self.node.place();
        place.about = block.kind.as_str().map(str::to_owned);
        self.findings.at(Kind::UnknownBlock, place);
    }
}

fn is_command(text: &str) -> bool {
    COMMANDS
        .iter()
        .any(|command| text.trim_start().starts_with(command))
}

fn is_interrupt(text: &str) -> bool {
    text.starts_with(INTERRUPTED)
}

fn answer(block: Block<'_>, is_denied: bool) -> Answer {
    let status = match (is_denied, block.is_error.0) {
        (true, _) => ToolStatus::Cancelled,
        (false, true) => ToolStatus::Failed,
        (false, false) => ToolStatus::Completed,
    };
    let blocks = block.content.into_list().into_iter();
    let content = blocks.filter_map(|mut block| user_content(&mut block));
    Answer {
        status,
        content: content
            .map(|content| ToolContent::Content { content })
            .collect(),
    }
}

/// A block as a user's message or a result shows it; none where it is of no such kind.
fn user_content(block: &mut Block<'_>) -> Option<Content> {
    let extra = Map::new();
    match (block.kind.as_str(), block.source.0.take()) {
        (Some("text"), _) => {
            let text = std::mem::take(&mut block.text);
            Some(Content::text(text.into_string().unwrap_or_default()))
        }
        (Some("image"), Some(source)) => match (source.data.into_string(), source.url) {
            (Some(data), _) => Some(Content::Image {
                data,
                mime_type: source.media_type.into_string().unwrap_or_default(),
                extra,
            }),
            (None, url) => url.into_string().map(|uri| Content::ResourceLink {
                uri,
                name: String::new(),
                extra,
            }),
        },
        (Some("document"), Some(source)) => document(block, source),
        _ => None,
    }
}

fn document(block: &Block<'_>, source: Source<'_>) -> Option<Content> {
    let name = block.title.as_str().unwrap_or("document").to_owned();
    if let Some(uri) = source.url.into_string() {
        let extra = Map::new();
        return Some(Content::ResourceLink { uri, name, extra });
    }
    let holds = match source.kind.is("text") {
        true => "text",
        false => "blob",
    };
    let mut resource = Map::new();
    let uri = format!("document:{name}");
    resource.insert("uri".to_owned(), Value::String(uri));
    let mime = source.media_type.into_string().map(Value::String);
    resource.extend(mime.map(|mime| ("mimeType".to_owned(), mime)));
    let data = source.data.into_string()?;
    resource.insert(holds.to_owned(), Value::String(data));
    Some(Content::Resource {
        resource: Value::Object(resource),
        extra: Map::new(),
    })
}

impl<'a> Blocks<'a> {
    /// As blocks; a bare text is one.
    fn into_list(self) -> Vec<Block<'a>> {
        match self {
            Blocks::Nothing => Vec::new(),
            Blocks::List(list) => list,
            Blocks::Text(text) => vec![Block {
                kind: Text(Some("text".into())),
                text: Text(Some(text)),
                ..Block::default()
            }],
        }
    }

    /// The texts of all blocks.
    fn into_text(self) -> String {
        let blocks = self.into_list().into_iter();
        let texts = blocks.filter_map(|block| block.text.into_string());
        texts.collect::<Vec<_>>().join("\n")
    }
}

impl Node {
    /// The id of its nth piece: its own for the first, one made of it for the others. One that is no
    /// UUID has one that is made of it, too.
    fn id(&self, block: u32) -> ItemId {
        let uuid = Uuid::from_u128(self.uuid ^ u128::from(block) << 96);
        let is_one = uuid.get_variant() == uuid::Variant::RFC4122;
        ItemId::new(match is_one {
            true => uuid,
            false => uuid::Builder::from_custom_bytes(uuid.into_bytes()).into_uuid(),
        })
    }
}

#[cfg(test)]
mod tests;

//! Roughly how many bytes a frame holds: what counts against the bound of the queue it waits in.
//!
//! Only what may be large is looked at: texts, blocks of content, pages. The rest is the nominal
//! weight of a frame.

use serde_json::{Map, Value};
use sessiond_protocol::{
    Accepted, Content, Event, Hook, Item, Outcome, RequestBody, ServerFrame, ToolCall, ToolContent,
    Verdict,
};

use crate::queue::NOMINAL_WEIGHT;

/// What a number, a bracket, a comma and the like are taken for.
const SCALAR: usize = 8;

pub(super) fn of(frame: &ServerFrame) -> usize {
    NOMINAL_WEIGHT
        + match frame {
            ServerFrame::Event(frame) => event(&frame.event),
            ServerFrame::Receipt(receipt) => match &receipt.result {
                Verdict::Accepted(accepted) => page(accepted),
                Verdict::Error(_) => 0,
            },
            ServerFrame::Request(request) => body(&request.body),
            _ => 0,
        }
}

fn event(event: &Event) -> usize {
    match event {
        Event::ItemDelta { text, .. } | Event::ItemPartial { text, .. } => text.len(),
        Event::ItemStarted { item: of } | Event::ItemEnded { item: of } => item(of),
        Event::ItemChanged { call: of } => call(of),
        Event::ItemContent { content: of, .. } => content(of),
        Event::TurnQueued { input, .. } => input.iter().map(content).sum(),
        Event::RequestOpened { body: of, .. } => body(of),
        Event::RequestClosed { outcome: of, .. } => outcome(of),
        Event::Unknown(of) => value(of),
        _ => 0,
    }
}

fn page(accepted: &Accepted) -> usize {
    match accepted {
        Accepted::Sessions { sessions, .. } => sessions.len() * NOMINAL_WEIGHT,
        Accepted::Events { events, .. } => events.iter().map(value).sum(),
        Accepted::Extension { extension } => value(extension),
        _ => 0,
    }
}

fn item(item: &Item) -> usize {
    match item {
        Item::UserMessage { content: blocks } => blocks.iter().map(content).sum(),
        Item::AgentMessage { text, .. } | Item::Thought { text, .. } => text.len(),
        Item::ToolCall(of) => call(of),
        Item::Plan { entries } => entries.iter().map(|entry| entry.content.len()).sum(),
        Item::Compaction(compaction) => compaction.summary.len(),
    }
}

fn call(call: &ToolCall) -> usize {
    let shown = call.content.iter().map(|shown| match shown {
        ToolContent::Content { content: block } => content(block),
        ToolContent::Diff {
            old_text, new_text, ..
        } => old_text.as_ref().map_or(0, String::len) + new_text.len(),
        ToolContent::Terminal { .. } => 0,
    });
    value(&call.input) + value(&call.output) + shown.sum::<usize>()
}

fn content(content: &Content) -> usize {
    match content {
        Content::Text { text, extra } => text.len() + members(extra),
        Content::ResourceLink { uri, extra, .. } => uri.len() + members(extra),
        Content::Resource { resource, extra } => value(resource) + members(extra),
        Content::Image { data, extra, .. } | Content::Audio { data, extra, .. } => {
            data.len() + members(extra)
        }
    }
}

fn body(body: &RequestBody) -> usize {
    match body {
        RequestBody::Permission(asked) => asked.pattern.len(),
        RequestBody::Elicitation { message, schema } => message.len() + value(schema),
        RequestBody::ElicitationUrl {
            message,
            url,
            elicitation,
        } => message.len() + url.len() + elicitation.len(),
        RequestBody::FsWrite { content, .. } => content.len(),
        RequestBody::Mcp { params, .. } | RequestBody::Extension { params, .. } => value(params),
        RequestBody::Hook(Hook::Prompt { input }) => input.iter().map(content).sum(),
        RequestBody::Hook(Hook::BeforeTool { call: of } | Hook::AfterTool { call: of }) => call(of),
        RequestBody::Hook(Hook::Stop { .. }) => 0,
        RequestBody::FsRead { .. } | RequestBody::Terminal(_) => 0,
    }
}

fn outcome(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Accepted { content: of }
        | Outcome::Result { result: of }
        | Outcome::Changed { input: of } => value(of),
        _ => 0,
    }
}

fn value(of: &Value) -> usize {
    match of {
        Value::String(text) => SCALAR + text.len(),
        Value::Array(values) => SCALAR + values.iter().map(value).sum::<usize>(),
        Value::Object(map) => SCALAR + members(map),
        _ => SCALAR,
    }
}

fn members(map: &Map<String, Value>) -> usize {
    map.iter().map(|(name, of)| name.len() + value(of)).sum()
}

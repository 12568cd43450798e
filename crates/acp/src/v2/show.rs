//! Items as the client gets them, live and replayed alike: each event changes what it has by an id.

use std::collections::HashMap;
use std::sync::Arc;

use sessiond_protocol::{
    Event, EventFrame, Finish, Item, ItemId, ItemKind, SessionId, Stream, ToolCall, ToolStatus,
};
use sessiond_wire::rpc::Wrapping;

use super::patch::{CallPatch, Shown, shown, stops};
use super::terminal::Terminal;
use super::update::Update;
use crate::client::{Client, Message, Voice, streaming};
use crate::compaction::CompactionPatch;
use crate::update::{Meta, Remark};

/// The open items of a session, as the client has them. Bounded by what the agent has open.
#[derive(Debug, Default)]
pub(super) struct Show {
    texts: HashMap<ItemId, Text>,
    calls: HashMap<ItemId, OpenCall>,
}

/// A message that streams.
#[derive(Debug)]
struct Text {
    voice: Voice,
    /// How many bytes of it the client has, from its beginning and without a gap (WIRE-9).
    seen: u64,
    /// What stands around its text, made with the first that is sent.
    streaming: Option<Arc<Wrapping>>,
}

/// A tool call that is not over.
#[derive(Debug)]
struct OpenCall {
    call: ToolCall,
    terminal: Option<Terminal>,
}

impl Show {
    /// Shows what an event says about an item. An item that is known is not begun again.
    pub(super) fn apply(&mut self, client: &Client, frame: EventFrame) {
        let Some(id) = frame.item else { return };
        let at = (frame.session, id);
        match frame.event {
            Event::ItemStarted { item } => self.started(client, at, item),
            Event::ItemDelta {
                stream: Stream::Text,
                offset,
                text,
            } => self.text(client, at, (offset, text)),
            Event::ItemDelta {
                stream: Stream::Output,
                offset,
                text,
            } => self.output(client, at, (offset, &text)),
            Event::ItemChanged { call } => self.changed(client, at, *call),
            Event::ItemContent { kind, content } => {
                client.show(voice(kind), &content, &message(frame.session, id, None));
            }
            Event::ItemEnded { item } => self.ended(client, at, item),
            _ => {}
        }
    }

    /// The call with this id, while it is open.
    pub(super) fn call(&self, id: ItemId) -> Option<&ToolCall> {
        self.calls.get(&id).map(|open| &open.call)
    }

    /// Whether this call can be stopped now.
    pub(super) fn stops(&self, id: ItemId) -> bool {
        self.call(id).is_some_and(stops)
    }

    /// Whether this terminal belongs to a call that can be stopped now.
    pub(super) fn stops_terminal(&self, id: ItemId) -> bool {
        let open = self.calls.get(&id);
        open.is_some_and(|open| open.terminal.is_some() && stops(&open.call))
    }

    /// Whether a call runs other than these.
    pub(super) fn runs_beside(&self, asked: &[Option<ItemId>]) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|(id, open)| {
            open.call.status == ToolStatus::Running && !asked.contains(&Some(*id))
        })
    }

    /// The turn is over. An engine ends all items before; where its log failed it cannot, and no call
    /// must look as if it ran on.
    pub(super) fn end(&mut self, client: &Client, session: SessionId) {
        for (id, open) in std::mem::take(self).calls {
            if open.terminal.is_some() {
                Terminal::close(client, (session, id), &open.call, &open.call);
            }
            let patch = CallPatch::lost(id, &open.call);
            client.update(session, &Update::ToolCallUpdate(patch));
        }
    }

    fn started(&mut self, client: &Client, at: (SessionId, ItemId), item: Item) {
        let (session, id) = at;
        let voice = voice(item.kind());
        match item {
            Item::AgentMessage { text, .. } | Item::Thought { text, .. } => {
                let begun = || Text {
                    voice,
                    seen: 0,
                    streaming: None,
                };
                self.texts.entry(id).or_insert_with(begun);
                self.text(client, at, (0, text));
            }
            Item::ToolCall(call) => {
                if self.calls.contains_key(&id) {
                    return self.changed(client, at, *call);
                }
                client.update(
                    session,
                    &Update::ToolCallUpdate(CallPatch::whole(id, &call)),
                );
                let (call, terminal) = (*call, None);
                self.calls.insert(id, OpenCall { call, terminal });
            }
            Item::UserMessage { .. } | Item::Plan { .. } | Item::Compaction(_) => {}
        }
    }

    /// Shows what is new of a text. Behind a gap nothing is shown: the item's end brings it all.
    fn text(
        &mut self,
        client: &Client,
        (session, id): (SessionId, ItemId),
        (offset, mut text): (u64, String),
    ) {
        let Some(live) = self.texts.get_mut(&id) else {
            return;
        };
        let known = live.seen.checked_sub(offset).map(usize::try_from);
        let Some(Ok(known)) = known.filter(|known| {
            known.is_ok_and(|known| known < text.len() && text.is_char_boundary(known))
        }) else {
            return;
        };
        text.drain(..known);
        live.seen += text.len() as u64;
        let voice = live.voice;
        let begin = || streaming(voice, &message(session, id, None));
        client.say_more(live.streaming.get_or_insert_with(begin), text);
    }

    /// Shows output of a call that runs.
    pub(super) fn output(&mut self, client: &Client, at: (SessionId, ItemId), text: (u64, &str)) {
        let Some(open) = self.calls.get_mut(&at.1) else {
            return;
        };
        let call = &open.call;
        let terminal = open
            .terminal
            .get_or_insert_with(|| Terminal::open(client, at, call));
        terminal.print(client, at, text);
    }

    fn changed(&mut self, client: &Client, (session, id): (SessionId, ItemId), call: ToolCall) {
        let Some(open) = self.calls.get_mut(&id) else {
            return;
        };
        let mut patch = CallPatch::between(id, &open.call, &call);
        if open.call.content != call.content {
            let terminal = open
                .terminal
                .as_ref()
                .map(|_| Shown::Terminal { terminal_id: id });
            patch.content = Some(shown(&call.content).into_iter().chain(terminal).collect());
        }
        if !patch.is_empty() {
            client.update(session, &Update::ToolCallUpdate(patch));
        }
        open.call = call;
    }

    fn ended(&mut self, client: &Client, at: (SessionId, ItemId), item: Item) {
        let (session, id) = at;
        match item {
            Item::AgentMessage { ref text, finish } | Item::Thought { ref text, finish } => {
                // Text that was shown is never sent again: chunks only append.
                let seen = self.texts.remove(&id).map_or(0, |live| live.seen);
                let rest = usize::try_from(seen).ok().and_then(|seen| text.get(seen..));
                let message = message(session, id, cut(finish));
                client.say(voice(item.kind()), rest.unwrap_or_default(), &message);
            }
            Item::ToolCall(call) => self.call_ended(client, at, &call),
            Item::Plan { entries } => client.update(session, &Update::plan(&entries)),
            Item::Compaction(compaction) => {
                let patch = CompactionPatch::whole(id, &compaction);
                client.update(session, &Update::CompactionUpdate(patch));
            }
            // Whoever knows whether it is part of the conversation shows it.
            Item::UserMessage { .. } => {}
        }
    }

    fn call_ended(&mut self, client: &Client, at: (SessionId, ItemId), call: &ToolCall) {
        let (session, id) = at;
        let Some(open) = self.calls.remove(&id) else {
            return client.update(session, &Update::ToolCallUpdate(CallPatch::whole(id, call)));
        };
        if open.terminal.is_some() {
            Terminal::close(client, at, &open.call, call);
        }
        let mut patch = CallPatch::between(id, &open.call, call);
        // The result stands where the terminal was.
        if open.terminal.is_some() || open.call.content != call.content {
            patch.content = Some(shown(&call.content));
        }
        if !patch.is_empty() {
            client.update(session, &Update::ToolCallUpdate(patch));
        }
    }
}

/// A message of the session.
pub(super) fn message(session: SessionId, id: ItemId, meta: Option<Meta>) -> Message {
    let id = Some(id);
    Message { session, id, meta }
}

/// Text that ends where the process died says so (LOG-17).
fn cut(finish: Finish) -> Option<Meta> {
    (finish == Finish::Interrupted).then(|| Remark::Finish("interrupted").into())
}

fn voice(kind: ItemKind) -> Voice {
    match kind {
        ItemKind::UserMessage => Voice::User,
        ItemKind::Thought => Voice::Thought,
        ItemKind::AgentMessage | ItemKind::ToolCall | ItemKind::Plan | ItemKind::Compaction => {
            Voice::Agent
        }
    }
}

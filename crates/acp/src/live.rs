//! A turn as it happens: which items are open, what of them the client has seen.

use std::collections::HashMap;
use std::sync::Arc;

use sessiond_protocol::{
    Event, EventFrame, Item, ItemId, ItemKind, SessionId, Stream, ToolCall, ToolStatus, TurnId,
};
use sessiond_wire::rpc::Wrapping;
use tokio::time::Instant;

use crate::client::{Client, Message, Voice, streaming};
use crate::replay::StillOpen;
use crate::tail::Tail;
use crate::update::{Call, CallChange, Shown, Update, status};

/// The open items of a session. Bounded by what the agent has open.
#[derive(Debug, Default)]
pub(crate) struct Live {
    texts: HashMap<ItemId, Text>,
    calls: HashMap<ItemId, LiveCall>,
    /// The turn they belong to: one is active at a time (SQEQ-2).
    turn: Option<TurnId>,
}

/// A message that streams.
#[derive(Debug)]
struct Text {
    voice: Voice,
    /// How many bytes of it the client has seen, from its beginning and without a gap (WIRE-9).
    seen: u64,
    /// Made with the first text that is sent.
    streaming: Option<Arc<Wrapping>>,
}

impl Text {
    fn new(voice: Voice, seen: usize) -> Self {
        Self {
            voice,
            seen: seen as u64,
            streaming: None,
        }
    }
}

/// A tool call that is not over.
#[derive(Debug)]
struct LiveCall {
    /// As the client has it.
    call: ToolCall,
    output: Tail,
}

impl Live {
    /// Shows what an event of a running turn says about an item.
    pub(crate) fn apply(&mut self, client: &Client, frame: EventFrame, now: Instant) {
        let Some(id) = frame.item else { return };
        let session = frame.session;
        match frame.event {
            Event::ItemStarted { item } => {
                self.turn = frame.turn;
                self.started(client, session, (id, item));
            }
            Event::ItemDelta {
                stream: Stream::Text,
                offset,
                text,
            } => {
                self.text(client, session, id, (offset, text));
            }
            Event::ItemDelta {
                stream: Stream::Output,
                offset,
                text,
            } => {
                if let Some(live) = self.calls.get_mut(&id) {
                    live.output.push(offset, &text);
                    show_output(client, session, (id, live), now);
                }
            }
            Event::ItemChanged { call } => self.changed(client, session, (id, *call)),
            Event::ItemContent { kind, content } => {
                let message = Message {
                    session,
                    id: Some(id),
                    meta: None,
                };
                client.show(voice(kind), &content, &message);
            }
            Event::ItemEnded { item } => self.ended(client, session, (id, item)),
            _ => {}
        }
    }

    /// The call with this id, while it is open.
    pub(crate) fn call(&self, id: ItemId) -> Option<&ToolCall> {
        self.calls.get(&id).map(|live| &live.call)
    }

    /// When output waits to be shown next.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        self.calls
            .values()
            .filter_map(|live| live.output.due(now))
            .min()
    }

    /// Shows the output whose time has come.
    pub(crate) fn tick(&mut self, client: &Client, session: SessionId, now: Instant) {
        for (id, live) in &mut self.calls {
            show_output(client, session, (*id, live), now);
        }
    }

    /// Takes up the items that a replay left open: the client has seen this much of them.
    pub(crate) fn resumed(open: StillOpen) -> Self {
        let mut live = Self {
            turn: open.turn,
            ..Self::default()
        };
        for (id, item) in open.items {
            live.adopt(id, item);
        }
        for (id, output) in open.outputs {
            if let Some(call) = live.calls.get_mut(&id) {
                call.output = output;
            }
        }
        live
    }

    /// A turn is over. An engine ends all items before; where its log failed it cannot, and no call
    /// must look as if it ran on.
    pub(crate) fn turn_ended(&mut self, client: &Client, session: SessionId, turn: TurnId) {
        if self.turn != Some(turn) {
            return;
        }
        for id in std::mem::take(self).calls.into_keys() {
            let mut change = CallChange::of(id);
            change.status = Some(status(ToolStatus::Unknown));
            client.update(session, &Update::ToolCallUpdate(change));
        }
    }

    fn adopt(&mut self, id: ItemId, item: Item) {
        match item {
            Item::AgentMessage { text, .. } => {
                self.texts.insert(id, Text::new(Voice::Agent, text.len()));
            }
            Item::Thought { text, .. } => {
                self.texts.insert(id, Text::new(Voice::Thought, text.len()));
            }
            Item::ToolCall(call) => {
                self.calls.insert(
                    id,
                    LiveCall {
                        call: *call,
                        output: Tail::default(),
                    },
                );
            }
            Item::UserMessage { .. } | Item::Plan { .. } | Item::Compaction(_) => {}
        }
    }

    fn started(&mut self, client: &Client, session: SessionId, (id, item): (ItemId, Item)) {
        match &item {
            Item::AgentMessage { text, .. } | Item::Thought { text, .. } => {
                let message = Message {
                    session,
                    id: Some(id),
                    meta: None,
                };
                client.say(voice(item.kind()), text, &message);
            }
            Item::ToolCall(call) => {
                client.update(session, &Update::ToolCall(Call::whole(id, call)));
            }
            Item::UserMessage { .. } | Item::Plan { .. } | Item::Compaction(_) => {}
        }
        self.adopt(id, item);
    }

    /// Shows what is new of a text. Behind a gap nothing is shown: the item's end brings it all.
    fn text(
        &mut self,
        client: &Client,
        session: SessionId,
        id: ItemId,
        (offset, mut text): (u64, String),
    ) {
        let Some(live) = self.texts.get_mut(&id) else {
            return;
        };
        let known = live.seen.checked_sub(offset);
        let known = known.and_then(|known| usize::try_from(known).ok());
        let Some(known) = known.filter(|known| text.is_char_boundary(*known)) else {
            return;
        };
        text.drain(..known);
        live.seen += text.len() as u64;
        let streaming = live.streaming.get_or_insert_with(|| {
            let message = Message {
                session,
                id: Some(id),
                meta: None,
            };
            streaming(live.voice, &message)
        });
        client.say_more(streaming, text);
    }

    fn changed(&mut self, client: &Client, session: SessionId, (id, call): (ItemId, ToolCall)) {
        let Some(live) = self.calls.get_mut(&id) else {
            return;
        };
        let change = CallChange::between(id, &live.call, &call);
        if !change.is_empty() {
            client.update(session, &Update::ToolCallUpdate(change));
        }
        live.call = call;
    }

    fn ended(&mut self, client: &Client, session: SessionId, (id, item): (ItemId, Item)) {
        match item {
            Item::AgentMessage { text, .. } => {
                self.text_ended(client, session, id, (Voice::Agent, text));
            }
            Item::Thought { text, .. } => {
                self.text_ended(client, session, id, (Voice::Thought, text));
            }
            Item::ToolCall(call) => self.call_ended(client, session, (id, &call)),
            Item::Plan { entries } => client.update(session, &Update::Plan { entries: &entries }),
            // The client wrote it: live it is never echoed. Who shows compactions is told of them
            // without this.
            Item::UserMessage { .. } | Item::Compaction(_) => {}
        }
    }

    fn text_ended(
        &mut self,
        client: &Client,
        session: SessionId,
        id: ItemId,
        (voice, text): (Voice, String),
    ) {
        // Text that was shown is never sent again: chunks only append (acp.md 5.19).
        self.texts.entry(id).or_insert_with(|| Text::new(voice, 0));
        self.text(client, session, id, (0, text));
        self.texts.remove(&id);
    }

    fn call_ended(&mut self, client: &Client, session: SessionId, (id, call): (ItemId, &ToolCall)) {
        let Some(live) = self.calls.remove(&id) else {
            return client.update(session, &Update::ToolCall(Call::whole(id, call)));
        };
        let mut change = CallChange::between(id, &live.call, call);
        change.status = Some(status(call.status));
        if live.output.was_shown() {
            // The client shows a tail of the output where the result belongs.
            change.content = Some(call.content.iter().map(Shown::from).collect());
        }
        client.update(session, &Update::ToolCallUpdate(change));
    }
}

pub(crate) fn voice(kind: ItemKind) -> Voice {
    match kind {
        ItemKind::UserMessage => Voice::User,
        ItemKind::Thought => Voice::Thought,
        ItemKind::AgentMessage | ItemKind::ToolCall | ItemKind::Plan | ItemKind::Compaction => {
            Voice::Agent
        }
    }
}

/// Shows the end of a call's output after what the call itself shows, if it is time to.
fn show_output(
    client: &Client,
    session: SessionId,
    (id, live): (ItemId, &mut LiveCall),
    now: Instant,
) {
    let Some(text) = live.output.show(now) else {
        return;
    };
    let mut change = CallChange::of(id);
    let shown = live
        .call
        .content
        .iter()
        .map(Shown::from)
        .chain([Shown::text(text)]);
    change.content = Some(shown.collect());
    client.update(session, &Update::ToolCallUpdate(change));
}

//! What hooks put into a conversation: the agent had it, so it belongs to what an agent that is opened
//! anew is given (LOG-8: what the model saw).

use crate::{
    Content, Event, EventFrame, HistoryItem, Hook, Item, ItemId, Origin, Outcome, RequestBody,
    RequestId, prompt_item,
};

/// A fold of the hooks that are open.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Hooked {
    open: Vec<(RequestId, Point)>,
}

/// A point of a turn at which the agent may be told something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    Prompt,
    AfterTool,
    Stop,
}

/// What a hook said to the agent.
#[derive(Debug, PartialEq)]
pub(crate) enum Word {
    /// Input of its own.
    Said(HistoryItem),
    /// This prompt, instead of the one that the item holds.
    Instead(ItemId, Vec<Content>),
}

impl Hooked {
    /// Takes in the next durable event.
    pub(crate) fn apply(&mut self, frame: &EventFrame) -> Option<Word> {
        match &frame.event {
            Event::RequestOpened {
                request,
                body: RequestBody::Hook(hook),
                ..
            } => {
                let point = match hook {
                    Hook::Prompt { .. } => Point::Prompt,
                    Hook::AfterTool { .. } => Point::AfterTool,
                    Hook::Stop { .. } => Point::Stop,
                    // What it changes is in the call's own item.
                    Hook::BeforeTool { .. } => return None,
                };
                self.open.push((*request, point));
                None
            }
            Event::RequestClosed {
                request, outcome, ..
            } => {
                let at = self.open.iter().position(|(open, _)| open == request)?;
                let (_, point) = self.open.swap_remove(at);
                word(frame, *request, (point, outcome))
            }
            _ => None,
        }
    }
}

fn word(frame: &EventFrame, request: RequestId, said: (Point, &Outcome)) -> Option<Word> {
    match said {
        (Point::Prompt, Outcome::Changed { input }) => {
            let content = serde::Deserialize::deserialize(input).ok()?;
            Some(Word::Instead(prompt_item(frame.turn?), content))
        }
        (Point::AfterTool | Point::Stop, Outcome::Denied { reason }) => {
            let content = vec![Content::text(reason.clone())];
            Some(Word::Said(HistoryItem {
                // There is no item of it; the request is what recorded it.
                id: ItemId::new(request.uuid()),
                turn: frame.turn,
                item: Item::UserMessage { content },
                origin: Origin::Hook,
            }))
        }
        _ => None,
    }
}

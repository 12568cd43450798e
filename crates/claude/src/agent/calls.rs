//! The tool calls of a turn: the CLI's ids, our items, and what is known of each.

use std::collections::HashMap;

use serde_json::Value;
use sessiond_engine::{Announced, Emit, TurnContext, TurnOver};
use sessiond_protocol::{Content, ItemId, ToolCall, ToolContent, ToolStatus};

use crate::tool;

/// The calls of a turn that were announced, by the CLI's id.
#[derive(Debug, Default)]
pub(super) struct Calls {
    known: HashMap<String, Known>,
}

/// A call of the CLI.
#[derive(Debug)]
enum Known {
    /// It is open.
    Open(Box<Open>),
    /// A hook denied it, for this reason; what the CLI says about it does not count.
    Denied(String),
    /// It has ended.
    Ended,
}

/// A call that is open.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) item: ItemId,
    pub(super) call: ToolCall,
    /// The input that a hook put in the place of the CLI's.
    pub(super) changed: Option<Value>,
    refused: bool,
}

/// A call as the CLI asks for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) input: &'a Value,
}

/// What stands behind an id of the CLI.
#[derive(Debug)]
pub(super) enum Standing<'a> {
    Open(&'a mut Open),
    /// It may not run, for this reason.
    Denied(&'a str),
    /// It is over.
    Ended,
}

impl Calls {
    /// Announces a call where it is new, and returns only when that is durable (LOG-5).
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub(super) async fn asked(
        &mut self,
        context: &TurnContext,
        asked: Asked<'_>,
    ) -> Result<Standing<'_>, TurnOver> {
        if !self.known.contains_key(asked.id) {
            let known = announce(context, asked).await?;
            self.known.insert(asked.id.to_owned(), known);
        }
        Ok(self.get(asked.id).unwrap_or(Standing::Ended))
    }

    /// What stands behind an id; none where nothing does.
    pub(super) fn get(&mut self, id: &str) -> Option<Standing<'_>> {
        self.known.get_mut(id).map(|known| match known {
            Known::Open(open) => Standing::Open(open),
            Known::Denied(reason) => Standing::Denied(reason),
            Known::Ended => Standing::Ended,
        })
    }

    /// The item of a call that is open.
    pub(super) fn item(&self, id: &str) -> Option<ItemId> {
        match self.known.get(id)? {
            Known::Open(open) => Some(open.item),
            Known::Denied(_) | Known::Ended => None,
        }
    }

    /// Notes that a call was allowed: it runs, with this input.
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub(super) async fn allowed(
        &mut self,
        context: &TurnContext,
        (id, input): (&str, &Value),
    ) -> Result<(), TurnOver> {
        let Some(Known::Open(open)) = self.known.get_mut(id) else {
            return Ok(());
        };
        open.call.input.clone_from(input);
        open.call.status = ToolStatus::Running;
        let call = Box::new(open.call.clone());
        context.emit(Emit::CallChanged(open.item, call)).await
    }

    /// Notes that somebody said no to a call.
    pub(super) fn refused(&mut self, id: &str) {
        if let Some(Known::Open(open)) = self.known.get_mut(id) {
            open.refused = true;
        }
    }

    /// Takes in the result of a call, a block of a `user` frame.
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub(super) async fn result(
        &mut self,
        context: &TurnContext,
        block: &Value,
    ) -> Result<(), TurnOver> {
        let id = block.get("tool_use_id").and_then(Value::as_str);
        let Some((id, Known::Open(open))) = id.and_then(|id| self.known.remove_entry(id)) else {
            if let Some(id) = id {
                self.known.insert(id.to_owned(), Known::Ended);
            }
            return Ok(());
        };
        self.known.insert(id, Known::Ended);
        let Open {
            item,
            mut call,
            refused,
            ..
        } = *open;
        let is_error = block.get("is_error").and_then(Value::as_bool) == Some(true);
        call.status = match (is_error, refused || context.is_cancelled()) {
            (false, _) => ToolStatus::Completed,
            (true, true) => ToolStatus::Cancelled,
            (true, false) => ToolStatus::Failed,
        };
        call.content.extend(shown(block.get("content")));
        context.emit(Emit::CallEnded(item, Box::new(call))).await
    }

    /// Ends what the CLI left open: nobody says how it went (RESUME-6).
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub(super) async fn close(
        &mut self,
        context: &TurnContext,
        (status, why): (ToolStatus, &str),
    ) -> Result<(), TurnOver> {
        let open = self.known.drain().filter_map(|(_, known)| match known {
            Known::Open(open) => Some(open),
            Known::Denied(_) | Known::Ended => None,
        });
        let mut open: Vec<_> = open.collect();
        // Item ids sort by time.
        open.sort_unstable_by_key(|open| open.item);
        for open in open {
            let Open { item, mut call, .. } = *open;
            call.status = status;
            call.content.push(ToolContent::text(why));
            context.emit(Emit::CallEnded(item, Box::new(call))).await?;
        }
        Ok(())
    }
}

async fn announce(context: &TurnContext, asked: Asked<'_>) -> Result<Known, TurnOver> {
    let Asked { id, name, input } = asked;
    let mut call = ToolCall {
        name: name.to_owned(),
        title: tool::title(name, input),
        kind: tool::kind(name),
        status: ToolStatus::Pending,
        input: input.clone(),
        content: tool::diff(name, input).into_iter().collect(),
        locations: tool::locations(input),
        native: Some(id.to_owned()),
        ..ToolCall::default()
    };
    let (item, changed) = match context.start_call(call.clone()).await? {
        Announced::Run(item) => (item, None),
        Announced::RunWith(item, input) => {
            call.input.clone_from(&input);
            (item, Some(input))
        }
        Announced::Denied(reason) => return Ok(Known::Denied(reason)),
    };
    Ok(Known::Open(Box::new(Open {
        item,
        call,
        changed,
        refused: false,
    })))
}

/// What a result shows: a text, or blocks of which texts and pictures are known.
fn shown(content: Option<&Value>) -> Vec<ToolContent> {
    let blocks = match content {
        Some(Value::String(text)) => return vec![ToolContent::text(text.as_str())],
        Some(Value::Array(blocks)) => blocks,
        _ => return Vec::new(),
    };
    let block = |block: &Value| {
        let text = |pointer: &str| block.pointer(pointer).and_then(Value::as_str);
        match text("/type")? {
            "text" => text("/text").map(ToolContent::text),
            "image" => Some(ToolContent::Content {
                content: Content::Image {
                    data: text("/source/data")?.to_owned(),
                    mime_type: text("/source/media_type")?.to_owned(),
                    extra: serde_json::Map::new(),
                },
            }),
            _ => None,
        }
    };
    blocks.iter().filter_map(block).collect()
}

//! The tool calls of a turn: Codex's ids, our items, and what is known of each.

use std::collections::HashMap;

use sessiond_engine::{Announced, Emit, TurnContext, TurnOver};
use sessiond_protocol::{ItemId, Severity, ToolCall, ToolContent, ToolStatus};

/// Bytes of a call's output that are kept in case it never ends; its end tells all of it.
const OUTPUT_BYTES: usize = 1 << 20;

/// The calls of a turn that were announced, by Codex's id.
#[derive(Debug, Default)]
pub(super) struct Calls {
    known: HashMap<String, Known>,
}

/// A call.
#[derive(Debug)]
enum Known {
    /// It is open, and has printed this so far.
    Open(ItemId, Box<ToolCall>, String),
    /// A hook denied it, or it has ended: what is said about it does not count.
    Closed,
}

impl Calls {
    /// Takes in a call as Codex tells it, whole: announces it first where it is new, and returns only
    /// when that is durable (LOG-5).
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub(super) async fn told(
        &mut self,
        context: &TurnContext,
        (agent, id): (&str, &str),
        call: Box<ToolCall>,
    ) -> Result<(), TurnOver> {
        if !self.known.contains_key(id) {
            let known = announce(context, agent, &call).await?;
            self.known.insert(id.to_owned(), known);
        }
        let Some(Known::Open(item, before, _)) = self.known.get_mut(id) else {
            return Ok(());
        };
        let item = *item;
        if call.status.is_final() {
            self.known.insert(id.to_owned(), Known::Closed);
            return context.emit(Emit::CallEnded(item, call)).await;
        }
        if call != *before {
            before.clone_from(&call);
            context.emit(Emit::CallChanged(item, call)).await?;
        }
        Ok(())
    }

    /// An open call prints: its item.
    pub(super) fn printed(&mut self, id: &str, text: &str) -> Option<ItemId> {
        let Some(Known::Open(item, _, output)) = self.known.get_mut(id) else {
            return None;
        };
        let room = OUTPUT_BYTES.saturating_sub(output.len());
        output.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or(text));
        Some(*item)
    }

    /// The open call with this id.
    pub(super) fn open(&self, id: &str) -> Option<(ItemId, &ToolCall)> {
        match self.known.get(id)? {
            Known::Open(item, call, _) => Some((*item, call)),
            Known::Closed => None,
        }
    }

    /// The one open call of a tool of this server that a question names.
    pub(super) fn of_server(&self, server: &str, question: &str) -> Option<(ItemId, &ToolCall)> {
        let prefix = format!("mcp__{server}__");
        let mut open = self.known.values().filter_map(|known| match known {
            Known::Open(item, call, _) => {
                let tool = call.name.strip_prefix(&prefix)?;
                let is_named = question.contains(&format!("\"{tool}\""));
                is_named.then_some((*item, &**call))
            }
            Known::Closed => None,
        });
        let one = open.next()?;
        open.next().is_none().then_some(one)
    }

    /// Whether a call with this id may not run, or is over.
    pub(super) fn is_closed(&self, id: &str) -> bool {
        matches!(self.known.get(id), Some(Known::Closed))
    }

    /// Ends what was left open: nobody says how it went (RESUME-6).
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub(super) async fn close(
        &mut self,
        context: &TurnContext,
        (status, why): (ToolStatus, &str),
    ) -> Result<(), TurnOver> {
        let mut open: Vec<_> = self
            .known
            .drain()
            .filter_map(|(_, known)| match known {
                Known::Open(item, call, output) => Some((item, call, output)),
                Known::Closed => None,
            })
            .collect();
        // Item ids sort by time.
        open.sort_unstable_by_key(|(item, ..)| *item);
        for (item, mut call, output) in open {
            call.status = status;
            if !output.is_empty() {
                call.content.push(ToolContent::text(output));
            }
            call.content.push(ToolContent::text(why));
            context.emit(Emit::CallEnded(item, call)).await?;
        }
        Ok(())
    }
}

async fn announce(context: &TurnContext, agent: &str, call: &ToolCall) -> Result<Known, TurnOver> {
    let mut announced = call.clone();
    if announced.status.is_final() {
        // It begins before it ends.
        announced.status = ToolStatus::Running;
    }
    Ok(match context.start_call(announced.clone()).await? {
        Announced::Run(item) => Known::Open(item, Box::new(announced), String::new()),
        Announced::RunWith(item, _) => {
            // Codex runs its own calls: it cannot be given another input.
            let title =
                format!("{agent} cannot be given another input for a call; it runs as it was");
            context.emit(Emit::Notice(Severity::Warning, title)).await?;
            Known::Open(item, Box::new(announced), String::new())
        }
        Announced::Denied(_) => Known::Closed,
    })
}

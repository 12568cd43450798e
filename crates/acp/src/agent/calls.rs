//! The tool calls of a turn: the agent's ids, our items, and what is known of each.

use std::collections::HashMap;

use sessiond_engine::{Announced, Emit, TurnContext, TurnOver};
use sessiond_protocol::{ItemId, Severity, ToolCall, ToolContent, ToolStatus};

use super::terminals::Terminals;
use super::update::CallUpdate;

/// The calls of a turn that were announced, by the agent's id.
#[derive(Debug, Default)]
pub(super) struct Calls {
    known: HashMap<String, Known>,
}

/// A call of the agent.
#[derive(Debug)]
enum Known {
    /// It is open.
    Open(ItemId, Box<ToolCall>),
    /// A hook denied it; what the agent says about it does not count.
    Denied,
    /// It has ended.
    Ended,
}

/// What stands behind an id of the agent.
#[derive(Debug)]
pub(super) enum Standing<'a> {
    Open(ItemId, &'a ToolCall),
    /// It may not run, or is over.
    Closed,
}

impl Calls {
    /// Takes in what the agent says about a call: announces it first where it is new, and returns
    /// only when that is durable (LOG-5).
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub(super) async fn told(
        &mut self,
        context: &TurnContext,
        (agent, terminals): (&str, &mut Terminals),
        update: CallUpdate,
    ) -> Result<(), TurnOver> {
        let id = update.id.clone();
        if !self.known.contains_key(&id) {
            let known = announce(context, agent, &update).await?;
            self.known.insert(id.clone(), known);
        }
        let Some(Known::Open(item, call)) = self.known.get_mut(&id) else {
            return Ok(());
        };
        let item = *item;
        let before = call.clone();
        merge(call, update);
        if call.status.is_final() {
            let mut call = std::mem::take(call);
            self.known.insert(id, Known::Ended);
            terminals.settle(context, item, &mut call).await?;
            return context.emit(Emit::CallEnded(item, call)).await;
        }
        if **call != *before {
            let changed = Emit::CallChanged(item, call.clone());
            context.emit(changed).await?;
        }
        Ok(())
    }

    /// What stands behind an id; none where nothing does.
    pub(super) fn get(&self, id: &str) -> Option<Standing<'_>> {
        self.known.get(id).map(|known| match known {
            Known::Open(item, call) => Standing::Open(*item, call),
            Known::Denied | Known::Ended => Standing::Closed,
        })
    }

    /// Ends what the agent left open: nobody says how it went (RESUME-6).
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub(super) async fn close(
        &mut self,
        context: &TurnContext,
        terminals: &mut Terminals,
        (status, why): (ToolStatus, &str),
    ) -> Result<(), TurnOver> {
        let mut open: Vec<_> = self
            .known
            .drain()
            .filter_map(|(_, known)| match known {
                Known::Open(item, call) => Some((item, call)),
                Known::Denied | Known::Ended => None,
            })
            .collect();
        // Item ids sort by time.
        open.sort_unstable_by_key(|(item, _)| *item);
        for (item, mut call) in open {
            terminals.settle(context, item, &mut call).await?;
            call.status = status;
            call.content.push(ToolContent::text(why));
            context.emit(Emit::CallEnded(item, call)).await?;
        }
        Ok(())
    }
}

async fn announce(
    context: &TurnContext,
    agent: &str,
    update: &CallUpdate,
) -> Result<Known, TurnOver> {
    let mut call = ToolCall {
        native: Some(update.id.clone()),
        ..ToolCall::default()
    };
    merge(&mut call, update.clone());
    if call.title.is_empty() {
        call.title.clone_from(&update.id);
    }
    let mut announced = call.clone();
    if announced.status.is_final() {
        // It begins before it ends.
        announced.status = ToolStatus::Running;
    }
    Ok(match context.start_call(announced.clone()).await? {
        Announced::Run(item) => Known::Open(item, Box::new(announced)),
        Announced::RunWith(item, _) => {
            // The agent runs its own calls: it cannot be given another input.
            let title =
                format!("{agent} cannot be given another input for a call; it runs as it was");
            context.emit(Emit::Notice(Severity::Warning, title)).await?;
            Known::Open(item, Box::new(announced))
        }
        Announced::Denied(_) => Known::Denied,
    })
}

/// Puts what was said in the place of what was known.
fn merge(call: &mut ToolCall, update: CallUpdate) {
    fn put<T>(known: &mut T, said: Option<T>) {
        if let Some(said) = said {
            *known = said;
        }
    }
    put(&mut call.title, update.title);
    put(&mut call.name, update.name);
    put(&mut call.kind, update.kind);
    put(&mut call.status, update.status);
    put(&mut call.content, update.content);
    put(&mut call.locations, update.locations);
    put(&mut call.input, update.input);
    put(&mut call.output, update.output);
    if call.name.is_empty() {
        call.name = kind_name(call);
    }
}

/// What policy calls a tool whose agent gives no name: its kind.
fn kind_name(call: &ToolCall) -> String {
    let kind = serde_json::to_value(call.kind).unwrap_or_default();
    kind.as_str().unwrap_or("other").to_owned()
}

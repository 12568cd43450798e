//! Terminals of the client that the agent uses: theirs is the terminal, ours is the text.

use std::collections::HashMap;

use sessiond_engine::{TurnContext, TurnOver};
use sessiond_protocol::{ItemId, Outcome, RequestBody, TerminalOp, ToolCall, ToolContent};

/// What was printed in the terminals of a turn, as it was last seen.
#[derive(Debug, Default)]
pub(super) struct Terminals {
    printed: HashMap<String, Printed>,
}

#[derive(Debug)]
struct Printed {
    text: String,
    /// Whether the client has taken the terminal back.
    released: bool,
}

impl Terminals {
    /// Notes that the agent has a terminal.
    pub(super) fn created(&mut self, terminal: String) {
        let printed = Printed {
            text: String::new(),
            released: false,
        };
        self.printed.insert(terminal, printed);
    }

    /// Notes what was printed so far.
    pub(super) fn printed(&mut self, terminal: &str, text: &str) {
        if let Some(printed) = self.printed.get_mut(terminal) {
            text.clone_into(&mut printed.text);
        }
    }

    /// Notes that the agent gave it back.
    pub(super) fn released(&mut self, terminal: &str) {
        if let Some(printed) = self.printed.get_mut(terminal) {
            printed.released = true;
        }
    }

    /// Puts text in the place of the terminals that an ended call shows: a stored call never shows
    /// a terminal that is gone.
    ///
    /// # Errors
    /// [`TurnOver`]: return at once.
    pub(super) async fn settle(
        &mut self,
        context: &TurnContext,
        item: ItemId,
        call: &mut ToolCall,
    ) -> Result<(), TurnOver> {
        for content in &mut call.content {
            if let ToolContent::Terminal { terminal } = content {
                let text = self.text(context, item, terminal).await?;
                *content = ToolContent::text(text);
            }
        }
        Ok(())
    }

    async fn text(
        &mut self,
        context: &TurnContext,
        item: ItemId,
        terminal: &str,
    ) -> Result<String, TurnOver> {
        let known = self.printed.get(terminal);
        if known.is_none_or(|printed| !printed.released) {
            let ask = RequestBody::Terminal(TerminalOp::Output {
                terminal: terminal.to_owned(),
            });
            if let Outcome::Output { output, .. } = context.ask(Some(item), ask).await? {
                return Ok(output);
            }
        }
        Ok(self
            .printed
            .get(terminal)
            .map_or_else(String::new, |printed| printed.text.clone()))
    }
}

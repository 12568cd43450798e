//! What an event of the turn is shown as. This face has no deltas: text comes when it is whole.

use std::collections::HashMap;

use sessiond_protocol::{
    Event, EventFrame, Item as Said, ItemId, PlanEntry, PlanStatus, Severity, ToolCall,
    ToolContent, ToolStatus,
};

use super::line::{Answer, Changed, Detail, Item, Line, Message, Status, Todo};
use crate::call::{Shape, exit_code, shown};

/// Turns events into lines. Items are numbered as they first appear.
#[derive(Debug, Default)]
pub(super) struct Show {
    count: u64,
    ids: HashMap<ItemId, String>,
    /// The plan as it stands, with its id: one item for the whole turn.
    plan: Option<(String, Vec<PlanEntry>)>,
}

impl Show {
    /// The line that an event of the turn makes; mostly none.
    pub(super) fn event(&mut self, frame: &EventFrame) -> Option<Line> {
        match &frame.event {
            Event::ItemStarted {
                item: Said::ToolCall(call),
            } => {
                let item = self.item(frame.item, called(call));
                Some(Line::ItemStarted { item })
            }
            Event::ItemEnded { item } => self.ended(frame.item, item),
            Event::Notice {
                severity,
                title,
                description,
            } => match severity {
                Severity::Info => None,
                Severity::Warning | Severity::Error => {
                    let mut message = title.clone();
                    if let Some(more) = description {
                        message.push_str(&format!("\n{more}"));
                    }
                    Some(self.warning(message))
                }
            },
            Event::Damage {
                segment,
                offset,
                length,
            } => {
                let place = format!("{length} bytes at {offset} of {segment}");
                Some(self.warning(format!(
                    "the thread's log is damaged: {place} cannot be read"
                )))
            }
            _ => None,
        }
    }

    /// Something that is worth knowing and ends nothing.
    pub(super) fn warning(&mut self, message: String) -> Line {
        let item = self.item(None, Detail::Error { message });
        Line::ItemCompleted { item }
    }

    /// The plan's end: it ends with the turn.
    pub(super) fn finish(&mut self) -> Option<Line> {
        let (id, entries) = self.plan.take()?;
        let detail = plan(&entries);
        let item = Item { id, detail };
        Some(Line::ItemCompleted { item })
    }

    fn ended(&mut self, id: Option<ItemId>, item: &Said) -> Option<Line> {
        let detail = match item {
            Said::AgentMessage { text, .. } => Detail::AgentMessage { text: text.clone() },
            Said::Thought { text, .. } => Detail::Reasoning { text: text.clone() },
            Said::ToolCall(call) => called(call),
            Said::Plan { entries } => return Some(self.planned(entries)),
            Said::UserMessage { .. } | Said::Compaction(_) => return None,
        };
        let item = self.item(id, detail);
        Some(Line::ItemCompleted { item })
    }

    fn planned(&mut self, entries: &[PlanEntry]) -> Line {
        let is_new = self.plan.is_none();
        let id = match self.plan.take() {
            Some((id, _)) => id,
            None => self.next_id(),
        };
        self.plan = Some((id.clone(), entries.to_vec()));
        let detail = plan(entries);
        let item = Item { id, detail };
        match is_new {
            true => Line::ItemStarted { item },
            false => Line::ItemUpdated { item },
        }
    }

    fn item(&mut self, id: Option<ItemId>, detail: Detail) -> Item {
        let known = id.and_then(|id| self.ids.get(&id).cloned());
        let name = known.unwrap_or_else(|| {
            let name = self.next_id();
            self.ids.extend(id.map(|id| (id, name.clone())));
            name
        });
        Item { id: name, detail }
    }

    fn next_id(&mut self) -> String {
        let id = format!("item_{}", self.count);
        self.count += 1;
        id
    }
}

fn called(call: &ToolCall) -> Detail {
    let status = match call.status {
        ToolStatus::Pending | ToolStatus::Running => Status::InProgress,
        ToolStatus::Completed => Status::Completed,
        ToolStatus::Failed | ToolStatus::Cancelled | ToolStatus::Unknown => Status::Failed,
    };
    match Shape::of(call) {
        Shape::Command { command, .. } => Detail::CommandExecution {
            command,
            aggregated_output: shown(call),
            exit_code: exit_code(call),
            status,
        },
        Shape::Change(changes) => {
            let changed = changes.into_iter().map(|change| Changed {
                path: change.path,
                kind: change.kind,
            });
            let changes = changed.collect();
            Detail::FileChange { changes, status }
        }
        Shape::Tool {
            server,
            tool,
            arguments,
        } => {
            let answer = || Answer {
                content: blocks(call),
                structured_content: call.output.clone(),
            };
            let failure = || Message {
                message: shown(call),
            };
            Detail::McpToolCall {
                server,
                tool,
                arguments,
                result: (status == Status::Completed).then(answer),
                error: (status == Status::Failed).then(failure),
                status,
            }
        }
    }
}

fn blocks(call: &ToolCall) -> Vec<sessiond_protocol::Content> {
    let contents = call.content.iter().filter_map(|content| match content {
        ToolContent::Content { content } => Some(content.clone()),
        ToolContent::Diff { .. } | ToolContent::Terminal { .. } => None,
    });
    contents.collect()
}

fn plan(entries: &[PlanEntry]) -> Detail {
    let todo = |entry: &PlanEntry| Todo {
        text: entry.content.clone(),
        completed: entry.status == PlanStatus::Completed,
    };
    Detail::TodoList {
        items: entries.iter().map(todo).collect(),
    }
}

#[cfg(test)]
mod tests;

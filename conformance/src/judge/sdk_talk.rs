//! The conversation as Claude's and Codex's faces tell it, in the normal form.

use serde_json::{Value, json};

use super::talk::{Item, Talk};
use crate::check::Speaker;

/// The id of a text of Claude's while it streams: its own comes with the whole of it.
const STREAMING: &str = "streaming";

impl Talk {
    /// A frame of Claude's.
    pub(super) fn stream_json(&mut self, frame: &Value) {
        if frame["isReplay"] == true {
            return;
        }
        match frame["type"].as_str() {
            Some("stream_event") => {
                let event = &frame["event"];
                if let Some(more) = event["delta"]["text"].as_str() {
                    self.said(Speaker::Agent, &json!(STREAMING), |text| {
                        text.push_str(more)
                    });
                }
            }
            Some("assistant") => {
                self.updates.push(frame.clone());
                for block in blocks(&frame["message"]["content"]) {
                    self.block(&frame["uuid"], block);
                }
            }
            Some("user") => {
                self.updates.push(frame.clone());
                for block in blocks(&frame["message"]["content"]) {
                    if block["type"] == "tool_result" {
                        let status = match block["is_error"] == true {
                            true => "failed",
                            false => "completed",
                        };
                        self.tool(
                            &json!({"toolCallId": block["tool_use_id"], "status": status,
                            "content": block["content"]}),
                        );
                    }
                }
            }
            _ => {}
        }
    }

    fn block(&mut self, id: &Value, block: &Value) {
        let (by, text) = match block["type"].as_str() {
            Some("text") => (Speaker::Agent, &block["text"]),
            Some("thinking") => (Speaker::Thought, &block["thinking"]),
            Some("tool_use") => {
                return self.tool(&json!({"toolCallId": block["id"], "title": block["name"],
                    "status": "pending", "rawInput": block["input"]}));
            }
            _ => return,
        };
        if by == Speaker::Agent {
            let streamed = |item: &Item| matches!(item, Item::Said { id, .. } if *id == STREAMING);
            self.items.retain(|item| !streamed(item));
        }
        let text = text.as_str().unwrap_or_default().to_owned();
        self.items.push(Item::Said {
            by,
            id: id.clone(),
            text,
        });
    }

    /// A line of `exec`.
    pub(super) fn exec_line(&mut self, line: &Value) {
        if line.get("item").is_some() {
            self.updates.push(line.clone());
            self.codex_item(&line["item"]);
        }
    }

    /// A frame of an app-server: what is told, and what is read.
    pub(super) fn app_frame(&mut self, frame: &Value, thread: &Value) {
        let params = &frame["params"];
        if params["threadId"] == *thread {
            match frame["method"].as_str() {
                Some("item/agentMessage/delta") => {
                    let more = params["delta"].as_str().unwrap_or_default();
                    self.said(Speaker::Agent, &params["itemId"], |text| {
                        text.push_str(more)
                    });
                }
                Some("item/started" | "item/completed") => {
                    self.updates.push(params["item"].clone());
                    self.codex_item(&params["item"]);
                }
                _ => {}
            }
        }
        let read = &frame["result"]["thread"];
        if read["id"] == *thread {
            for turn in blocks(&read["turns"]) {
                self.updates.push(turn.clone());
                for item in blocks(&turn["items"]) {
                    self.codex_item(item);
                }
            }
        }
    }

    fn codex_item(&mut self, item: &Value) {
        let kind = item["type"].as_str().unwrap_or_default();
        match kind {
            "agent_message" | "agentMessage" => self.spoken(Speaker::Agent, item, &item["text"]),
            "reasoning" => {
                let summary: String = blocks(&item["summary"]).filter_map(Value::as_str).collect();
                let text = item["text"].as_str().map_or(summary, str::to_owned);
                self.spoken(Speaker::Thought, item, &json!(text));
            }
            "userMessage" => {
                let parts = blocks(&item["content"]).filter_map(|part| part["text"].as_str());
                let text: String = parts.collect();
                self.spoken(Speaker::User, item, &json!(text));
            }
            "command_execution" | "commandExecution" | "mcp_tool_call" | "mcpToolCall"
            | "file_change" | "fileChange" => {
                let status = match item["status"].as_str() {
                    Some("in_progress" | "inProgress") => "pending",
                    Some("declined") => "failed",
                    Some(status) => status,
                    None => "pending",
                };
                self.tool(&json!({"toolCallId": item["id"], "title": item["command"],
                    "status": status}));
            }
            _ => {}
        }
    }

    fn spoken(&mut self, by: Speaker, item: &Value, whole: &Value) {
        let whole = whole.as_str().unwrap_or_default().to_owned();
        self.said(by, &item["id"], |text| {
            if !whole.is_empty() {
                *text = whole;
            }
        });
    }
}

fn blocks(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
#[path = "sdk_talk_tests.rs"]
mod tests;

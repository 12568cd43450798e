//! A client's picture of a session, put together from what it was told: by the rules of each version,
//! and in a form that the two have in common.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub(super) fn decoded(data: &Value) -> Vec<u8> {
    STANDARD.decode(data.as_str().unwrap()).unwrap()
}

/// What a client of version 2 knows: entities by kind and id, in the order in which they came.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Picture {
    order: Vec<(String, String)>,
    entities: HashMap<(String, String), Value>,
}

impl Picture {
    /// Takes in an update of version 2.
    pub(super) fn take(&mut self, update: &Value) {
        let kind = update["sessionUpdate"].as_str().unwrap();
        match kind {
            "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" => {
                let message = self.entity(kind, &update["messageId"]);
                let text = message["text"].as_str().unwrap_or_default().to_owned();
                let more = update["content"]["text"].as_str().unwrap_or_default();
                message["text"] = json!(text + more);
            }
            "tool_call_update" => {
                let call = self.entity("call", &update["toolCallId"]);
                patch(call, update, &["sessionUpdate", "toolCallId"]);
            }
            "tool_call_content_chunk" => {
                let call = self.entity("call", &update["toolCallId"]);
                let mut content = call["content"].as_array().cloned().unwrap_or_default();
                content.push(update["content"].clone());
                call["content"] = json!(content);
            }
            "terminal_update" => {
                let terminal = self.entity("terminal", &update["terminalId"]);
                patch(terminal, update, &["sessionUpdate", "terminalId"]);
            }
            "terminal_output_chunk" => {
                let terminal = self.entity("terminal", &update["terminalId"]);
                let text = terminal["text"].as_str().unwrap_or_default().to_owned();
                let more = String::from_utf8(decoded(&update["data"])).unwrap();
                terminal["text"] = json!(text + &more);
            }
            "plan_update" => {
                let plan = &update["plan"];
                *self.entity("plan", &plan["planId"]) = plan["entries"].clone();
            }
            "session_info_update" => *self.entity("title", &json!("")) = update["title"].clone(),
            "usage_update" => *self.entity("usage", &json!("")) = update["used"].clone(),
            "state_update" | "replay_complete" | "notice" => {}
            other => panic!("{other}"),
        }
    }

    fn entity(&mut self, kind: &str, id: &Value) -> &mut Value {
        let key = (kind.to_owned(), id.as_str().unwrap().to_owned());
        if !self.entities.contains_key(&key) {
            self.order.push(key.clone());
        }
        self.entities.entry(key).or_insert_with(|| json!({}))
    }

    /// Leaves out what is only told live, or only later.
    pub(super) fn forget_marks(&mut self) {
        let is_mark = |id: &str| id.contains("-interrupted") || id.contains("-not_run");
        self.order.retain(|(_, id)| !is_mark(id));
        self.entities.retain(|(_, id), _| !is_mark(id));
        // Terminals are there while their calls run.
        self.order.retain(|(kind, _)| kind != "terminal");
        self.entities.retain(|(kind, _), _| kind != "terminal");
        // What is told once, at the end, comes in another place.
        self.order.retain(|(kind, _)| kind != "usage");
    }

    /// What was said and done, in order: the words, and each call with how it ended.
    pub(super) fn conversation(&self) -> Vec<(String, String)> {
        let shown = |key: &(String, String)| {
            let entity = &self.entities[key];
            let text = match key.0.as_str() {
                "call" => entity["title"].as_str().unwrap().to_owned() + " " + ended(entity),
                "terminal" | "title" | "usage" => return None,
                "plan" => entity[0]["content"].as_str().unwrap().to_owned(),
                _ => entity["text"].as_str().unwrap().to_owned(),
            };
            Some((key.0.clone(), text))
        };
        self.order.iter().filter_map(shown).collect()
    }
}

/// How a call ended, as far as both versions can say.
fn ended(call: &Value) -> &str {
    match call["status"].as_str().unwrap() {
        "cancelled" => "failed",
        other => other,
    }
}

/// Absent members stay, null clears, a value replaces.
fn patch(entity: &mut Value, update: &Value, but: &[&str]) {
    for (member, value) in update.as_object().unwrap() {
        match value {
            _ if but.contains(&member.as_str()) => {}
            Value::Null => drop(entity.as_object_mut().unwrap().remove(member)),
            value => entity[member] = value.clone(),
        }
    }
}

/// The same of updates of version 1.
pub(super) fn conversation_v1(updates: &[Value]) -> Vec<(String, String)> {
    let mut told: Vec<(String, String, String)> = Vec::new();
    for update in updates {
        let kind = update["sessionUpdate"].as_str().unwrap();
        let (kind, id, text) = match kind {
            "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" => {
                let text = update["content"]["text"].as_str().unwrap_or_default();
                let id = update["messageId"].as_str().unwrap_or_default();
                let mut same = told
                    .iter_mut()
                    .filter(|(of, known, _)| of == kind && known == id);
                if let Some(known) = same.next().filter(|_| !id.is_empty()) {
                    known.2.push_str(text);
                    continue;
                }
                (kind, id, text.to_owned())
            }
            "tool_call" => {
                let text = update["title"].as_str().unwrap().to_owned() + " " + ended(update);
                ("call", update["toolCallId"].as_str().unwrap(), text)
            }
            "plan" => {
                let text = update["entries"][0]["content"].as_str().unwrap().to_owned();
                if let Some(known) = told.iter_mut().find(|(of, ..)| of == "plan") {
                    known.2 = text;
                    continue;
                }
                ("plan", "plan", text)
            }
            _ => continue,
        };
        told.push((kind.to_owned(), id.to_owned(), text));
    }
    told.into_iter()
        .map(|(kind, _, text)| (kind, text))
        .collect()
}

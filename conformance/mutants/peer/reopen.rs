//! Finding a session again.

use std::path::Path;

use serde_json::{Value, json};

use crate::answer::{Agent, Fault, folder, invalid, refused};
use crate::fault::{die_on, on};
use crate::log::{Content, Log, Refusal};
use crate::session::Session;
use crate::tool::Tool;

impl Agent {
    pub(crate) fn reopen(&mut self, params: &Value) -> Result<(String, Content), Fault> {
        let id = params["sessionId"]
            .as_str()
            .ok_or_else(|| invalid("sessionId"))?;
        if on("load-checks-nothing") {
            let content = Log::peek(&self.folder, id).unwrap_or_default();
            return Ok((id.to_owned(), content));
        }
        let cwd = match folder(params) {
            Err(_) if on("load-takes-relative") => "/".to_owned(),
            cwd => cwd?,
        };
        let runs = self.sessions.get(id).is_some_and(Session::busy);
        if runs {
            die_on("load-running-kills");
        }
        if runs && !on("load-stops-turn") {
            // The turn goes on, and what it says next follows what is shown now.
            let content = Log::peek(&self.folder, id).unwrap_or_default();
            let unshown = on("load-running-empty");
            return Ok((
                id.to_owned(),
                if unshown { Content::default() } else { content },
            ));
        }
        if let Some(session) = self.sessions.remove(id) {
            session.close();
        }
        // An id is a name, never a path.
        let plain = id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let found = if plain && !id.is_empty() {
            Log::open(&self.folder, id)
        } else {
            Err(Refusal::Missing)
        };
        let (log, content) = match found {
            Err(Refusal::Missing) if on("load-makes-new") => {
                let log = Log::create(&self.folder, "made-up", &cwd);
                (
                    log.map_err(|refusal| refused(&refusal, id))?,
                    Content::default(),
                )
            }
            found => found.map_err(|refusal| refused(&refusal, id))?,
        };
        self.open(id, &cwd, log);
        Ok((id.to_owned(), content))
    }

    pub(crate) fn load(&mut self, params: &Value) -> Result<Value, Fault> {
        let (id, content) = self.reopen(params)?;
        self.show_past(&id, content.updates, content.lost, &params["cwd"]);
        Ok(if on("load-says-true") {
            json!(true)
        } else {
            json!({})
        })
    }

    /// Sends what stands in a log.
    pub(crate) fn show_past(&self, id: &str, mut updates: Vec<Value>, lost: usize, cwd: &Value) {
        let id = id.to_owned();
        if on("replay-empty") {
            updates.clear();
        }
        if on("replay-without-prompts") {
            updates.retain(|update| update["sessionUpdate"] != "user_message_chunk");
        }
        if on("replay-new-ids") {
            for update in &mut updates {
                for name in ["toolCallId", "messageId"] {
                    if let Some(id) = update.get_mut(name) {
                        *id = json!(format!("again-{}", id.as_str().unwrap_or_default()));
                    }
                }
            }
        }
        if on("replay-differs") {
            updates.push(json!({"sessionUpdate": "session_info_update",
                "title": std::process::id().to_string()}));
        }
        if !on("open-calls-left-open") && !on("cross-calls-open") {
            close_calls(&mut updates, cwd);
        }
        if lost > 0 && !on("damage-untold") {
            let text = format!("{} records of this session are damaged or missing.", lost);
            updates.push(
                json!({"sessionUpdate": "agent_message_chunk", "messageId": "damage",
                "content": {"type": "text", "text": text}}),
            );
        }
        if on("load-runs-tools") {
            let params = json!({"sessionId": id, "toolCall": {"toolCallId": "x", "title": "x"},
                "options": [{"optionId": "a", "name": "a", "kind": "allow_once"}]});
            self.wire.ask("session/request_permission", &params);
        }
        if on("replay-after-answer") {
            let wire = self.wire.clone();
            std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(30));
                for update in &updates {
                    wire.update(&id, update);
                }
            });
        } else {
            for update in &updates {
                self.wire.update(&id, update);
            }
        }
    }

    pub(crate) fn resume(&mut self, params: &Value) -> Result<Value, Fault> {
        if on("resume-not-done") {
            return Err(invalid("not today"));
        }
        let (id, content) = self.reopen(params)?;
        if on("resume-replays") {
            for update in &content.updates {
                self.wire.update(&id, update);
            }
        }
        Ok(json!({}))
    }
}

/// Closes the calls that a dead process left open: how they ended nobody knows.
fn close_calls(updates: &mut Vec<Value>, cwd: &Value) {
    let mut open: Vec<Value> = Vec::new();
    for update in &*updates {
        let id = &update["toolCallId"];
        match update["sessionUpdate"].as_str() {
            Some("tool_call") => open.push(update.clone()),
            Some("tool_call_update") => open.retain(|other| other["toolCallId"] != *id),
            _ => {}
        }
    }
    if on("load-runs-tools") {
        for call in &open {
            let command = call["title"].as_str().unwrap_or_default();
            let cwd = Path::new(cwd.as_str().unwrap_or("/"));
            let _ = Tool::start(command, cwd).map(Tool::finish);
        }
    }
    updates.extend(open.into_iter().map(|call| {
        json!({"sessionUpdate": "tool_call_update", "toolCallId": call["toolCallId"], "status": "failed",
            "content": [{"type": "content", "content": {"type": "text",
                "text": "interrupted; how it ended is not known"}}]})
    }));
}

//! What the program sends to Claude's face.

use std::path::Path;

use serde_json::{Value, json};

use super::{Face, Prompt};
use crate::fault::{die_on, on};
use crate::input::{Input, Line};
use crate::tool::Tool;

/// Reads stdin to its end; a code where a line ends the process.
pub(super) fn read(face: &Face) -> Option<u8> {
    let mut input = Input::mended();
    while let Some(line) = input.next() {
        let broken = match line {
            Line::Blank => {
                die_on("blank-kills");
                None
            }
            Line::Broken(_) => Some("a line is not JSON"),
            Line::Json(value) => face.line(&value),
        };
        if let (Some(why), false) = (broken, on("broken-lives")) {
            if !on("broken-unsaid") {
                eprintln!("{why}");
            }
            face.desk.change(|state| {
                state.own.interrupted = true;
                state.own.prompts.clear();
            });
            let settled = std::time::Duration::from_millis(1000);
            if !on("broken-leaves-prompt") {
                face.desk
                    .wait(settled, |state| (!state.own.running).then_some(()));
            }
            return Some(if on("broken-is-good") { 0 } else { 1 });
        }
    }
    None
}

impl Face {
    /// One JSON value; what is wrong with it, where that ends the process.
    fn line(&self, value: &Value) -> Option<&'static str> {
        if !value.is_object() {
            die_on("values-kill");
        }
        match value["type"].as_str() {
            Some("user") => {
                let message = &value["message"];
                if message["role"] != "user" && !on("any-role-taken") {
                    return Some("a user line without a user's message");
                }
                self.prompted(value);
            }
            Some("control_request") => {
                let id = value["request_id"].as_str().unwrap_or_default();
                if !value["request"].is_object() {
                    return Some("a control request without its request");
                }
                self.requested(id, &value["request"]);
            }
            Some("control_response") => {
                let response = &value["response"];
                let id = response["request_id"].as_str().unwrap_or_default();
                if !self.desk.lock().own.questions.contains(id) {
                    die_on("stray-answers-kill");
                }
                if !self.desk.lock().asked.contains_key(id) {
                    let command = &response["response"]["updatedInput"]["command"];
                    if let (Some(command), true) = (command.as_str(), on("late-answer-counts")) {
                        let _ = Tool::start(command, Path::new(&self.cwd)).map(Tool::finish);
                    }
                }
                self.desk.answered(id, response);
            }
            Some("control_cancel_request") => die_on("stray-cancels-kill"),
            Some("keep_alive") => die_on("keep-alive-kills"),
            Some(_) => die_on("unknown-kills"),
            None => die_on("untyped-kills"),
        }
        None
    }

    fn prompted(&self, value: &Value) {
        let content = &value["message"]["content"];
        let blocks = content.as_array().into_iter().flatten();
        let text = match content.as_str() {
            Some(text) => text.to_owned(),
            None if on("blocks-refused") => {
                return self.tell_result(super::frame::error(
                    "error_during_execution",
                    &["blocks".to_owned()],
                ));
            }
            None => blocks.filter_map(|block| block["text"].as_str()).collect(),
        };
        if text.len() > 1_000_000 {
            die_on("long-kills");
        }
        if text.contains('\u{fffd}') {
            die_on("surrogates-kill");
        }
        let uuid = value["uuid"].as_str().map(str::to_owned);
        self.desk.change(|state| {
            let own = &mut state.own;
            let busy = own.running && !own.is_over || !own.prompts.is_empty();
            if on("busy-dropped") && busy {
                return;
            }
            if on("new-prompt-replaces") && busy {
                own.interrupted = own.running;
                own.prompts.clear();
            }
            own.prompts.push_back(Prompt { text, uuid });
        });
    }

    fn requested(&self, id: &str, request: &Value) {
        if on("busy-unanswered") {
            self.desk
                .wait(super::EVER, |state| (!state.own.running).then_some(()));
        }
        let subtype = request["subtype"].as_str().unwrap_or_default();
        if on("controls-untold") || on(&format!("{subtype}-unanswered")) {
            return;
        }
        let answer = match subtype {
            "initialize" => self.initialize(request),
            "interrupt" => Ok(self.interrupt()),
            "set_permission_mode" => self.set_mode(&request["mode"]),
            "set_model" => Ok(json!({"model": "peer"})),
            "mcp_status" => Ok(json!({"mcpServers": []})),
            _ if on("unknown-unanswered") => return,
            _ if on("unknown-is-success") => Ok(json!({})),
            _ => Err((
                format!("Unsupported control request subtype: {subtype}"),
                "unsupported_request",
            )),
        };
        let mut response = match answer {
            Ok(_) if on("answers-bare") => json!({"subtype": "success", "request_id": id}),
            Ok(answer) => json!({"subtype": "success", "request_id": id, "response": answer}),
            Err((error, code)) => {
                json!({"subtype": "error", "request_id": id, "error": error, "error_code": code})
            }
        };
        if on("error-uncoded") {
            response["error_code"] = Value::Null;
        }
        let frame = json!({"type": "control_response", "response": response});
        // Nothing goes on without the first one.
        let twice = on("controls-twice") && subtype != "initialize";
        self.wire.doubled(twice, || self.send(frame.clone()));
    }

    fn initialize(&self, request: &Value) -> Result<Value, (String, &'static str)> {
        let again = self.desk.change(|state| {
            let again = std::mem::replace(&mut state.own.greeted, true);
            if request["hooks"].is_object() {
                state.own.hooks = request["hooks"].clone();
            }
            let servers = request["sdkMcpServers"].as_array().into_iter().flatten();
            let servers = servers.filter_map(|name| name.as_str().map(str::to_owned));
            state.own.servers.extend(servers);
            again
        });
        if again && on("initialize-once") {
            return Err(("already".to_owned(), "already"));
        }
        Ok(json!({"commands": [], "models": [], "output_style": "default"}))
    }

    fn set_mode(&self, mode: &Value) -> Result<Value, (String, &'static str)> {
        let known = [
            "default",
            "acceptEdits",
            "plan",
            "bypassPermissions",
            "dontAsk",
            "auto",
        ];
        let name = mode.as_str().unwrap_or_default().to_owned();
        if !known.contains(&name.as_str()) && !on("any-mode-taken") {
            return Err((format!("no mode {name}"), "invalid_mode"));
        }
        if !on("mode-forgotten") {
            self.desk.change(|state| state.own.mode.clone_from(&name));
        }
        Ok(json!({"mode": name}))
    }

    fn interrupt(&self) -> Value {
        if on("interrupt-kills") {
            std::process::exit(70);
        }
        let queued = self.desk.change(|state| {
            let own = &mut state.own;
            let stops = !on("interrupt-ignored");
            // A prompt before which none waits is as good as running.
            let runs = own.running || !own.prompts.is_empty();
            own.interrupted |= stops && (runs || on("interrupt-remembered"));
            if on("interrupt-clears") {
                own.prompts.clear();
            }
            let queued = own.prompts.iter().filter_map(|prompt| prompt.uuid.clone());
            queued.collect::<Vec<String>>()
        });
        if on("interrupt-bare") {
            return json!({});
        }
        json!({"still_queued": queued})
    }
}

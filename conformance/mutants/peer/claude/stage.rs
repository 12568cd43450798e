//! A turn of Claude's face, as it is shown.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Face, frame};
use crate::fault::on;
use crate::native::uuid;
use crate::script::{Called, End, Leave, Stage};

/// The turn that runs.
pub(super) struct Turn<'a> {
    face: &'a Face,
    said: String,
    /// Whether a message is open.
    open: bool,
    greeted: bool,
}

impl<'a> Turn<'a> {
    pub(super) fn new(face: &'a Face) -> Self {
        Self {
            face,
            said: String::new(),
            open: false,
            greeted: false,
        }
    }

    /// What was said last.
    pub(super) fn text(&self) -> String {
        self.said.clone()
    }

    /// Calls the hooks of a point; whether one denied.
    pub(super) fn hook(&mut self, point: &str, more: &Value) -> bool {
        let hooks = self.face.desk.lock().own.hooks[point].clone();
        if on("hooks-uncalled") || on(&format!("hook-{point}-uncalled").to_lowercase()) {
            return false;
        }
        let mut denied = false;
        for matcher in hooks.as_array().into_iter().flatten() {
            for id in matcher["hookCallbackIds"].as_array().into_iter().flatten() {
                let mut input = json!({"session_id": self.face.session, "cwd": self.face.cwd,
                    "hook_event_name": point, "permission_mode": "default"});
                for (name, value) in more.as_object().into_iter().flatten() {
                    if !on("hook-input-bare") {
                        input[name] = value.clone();
                    }
                }
                let request = json!({"subtype": "hook_callback", "callback_id": id,
                    "input": input, "tool_use_id": uuid()});
                if on("hooks-twice") {
                    self.face.control(&request);
                }
                let answer = self.face.control(&request).unwrap_or_default();
                let decision = &answer["response"]["hookSpecificOutput"]["permissionDecision"];
                let empty = on("no-opinion-denies") && point == "PreToolUse";
                denied |= *decision == "deny" || empty;
            }
        }
        denied && !on("hook-denial-ignored")
    }

    fn event(&self, event: &Value) {
        if self.face.flags.partial != on("partial-inverted") {
            self.face.send(frame::event(event));
        }
    }

    /// What decides without the program.
    fn rule(&self) -> Option<bool> {
        let flags = &self.face.flags;
        let names = |rule: &str| rule.split(',').any(|name| name == "Bash");
        let mode = self.face.desk.lock().own.mode.clone();
        if names(&flags.denied) && !on("deny-rule-ignored") {
            return Some(false);
        }
        if names(&flags.allowed) && !on("allow-rule-ignored") {
            return Some(true);
        }
        match mode.as_str() {
            "bypassPermissions" if !on("bypass-asks") => Some(true),
            "plan" if !on("plan-asks") => Some(false),
            _ => None,
        }
    }

    fn denied(&self, id: &str, command: &str, why: &str) -> Leave {
        self.face.desk.change(|state| {
            state
                .own
                .denials
                .push(json!({"tool_name": "Bash", "tool_use_id": id,
                "tool_input": {"command": command}}));
        });
        Leave::No(why.to_owned())
    }

    fn asked(&self, id: &str, command: &str) -> Leave {
        self.face.told_state("requires_action");
        let mut request = json!({"subtype": "can_use_tool", "tool_name": "Bash",
            "tool_use_id": id, "input": {"command": command}});
        if on("question-bare") {
            request["input"] = json!({});
        }
        if on("asks-twice") {
            self.face.control(&request);
        }
        let answer = self.face.control(&request);
        self.face.told_state("running");
        let answer = match answer {
            Some(answer) => answer,
            None if self.face.desk.lock().own.interrupted => return Leave::Stop,
            None => return self.denied(id, command, "nobody answers any more"),
        };
        let said = &answer["response"];
        match said["behavior"].as_str() {
            Some("allow") => {
                let input = said["updatedInput"]["command"].as_str();
                if input.is_none() && on("bare-yes-denied") {
                    return self.denied(id, command, "no input");
                }
                let changed = input.filter(|_| !on("changed-ignored"));
                Leave::Yes(changed.unwrap_or(command).to_owned())
            }
            Some("deny") if said["interrupt"] == true && !on("stop-goes-on") => {
                self.face.desk.change(|state| state.own.interrupted = true);
                Leave::Stop
            }
            Some("perhaps") if on("anything-is-yes") => Leave::Yes(command.to_owned()),
            None if on("error-is-yes") => Leave::Yes(command.to_owned()),
            Some("deny") if on("no-ends-turn") => {
                self.face.desk.change(|state| state.own.interrupted = true);
                Leave::Stop
            }
            _ => self.denied(id, command, "not allowed"),
        }
    }
}

impl Stage for Turn<'_> {
    fn cwd(&self) -> &Path {
        Path::new(&self.face.cwd)
    }

    fn piece(&mut self, text: &str) {
        if !std::mem::replace(&mut self.open, true) {
            if on("whole-first") {
                self.face
                    .send(frame::assistant(&json!({"type": "text", "text": "early"})));
            }
            if !on("message-unbegun") {
                self.event(&json!({"type": "message_start", "message": {"id": "msg"}}));
            }
            if !on("block-unbegun") {
                self.event(&json!({"type": "content_block_start", "index": 0,
                    "content_block": {"type": "text", "text": ""}}));
            }
        }
        self.face.record(&json!({"piece": text}));
        if !on("deltas-unsaid") {
            self.event(&json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": text}}));
        }
    }

    fn said(&mut self, text: &str) {
        text.clone_into(&mut self.said);
        self.face.record(&json!({"said": text}));
        for frame in frame::blocks(text) {
            self.face.send(frame);
        }
        self.event(&json!({"type": "content_block_stop", "index": 0}));
        self.event(&json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
        if !on("message-unclosed") {
            self.event(&json!({"type": "message_stop"}));
        }
        self.open = false;
    }

    fn thought(&mut self, text: &str) {
        let mut block = json!({"type": "thinking", "thinking": text, "signature": ""});
        if on("thought-is-text") {
            block = json!({"type": "text", "text": text});
        }
        self.face.send(frame::assistant(&block));
    }

    fn call(&mut self, id: &str, command: &str) {
        self.face.record(&json!({"tool": command}));
        self.face.send(frame::assistant(
            &json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}),
        ));
    }

    fn leave(&mut self, id: &str, command: &str) -> Leave {
        let about = json!({"tool_name": "Bash", "tool_input": {"command": command},
            "tool_use_id": id});
        if !on("hooks-after-ask") && self.hook("PreToolUse", &about) {
            return self.denied(id, command, "a hook said no");
        }
        let leave = match self.rule() {
            Some(true) => Leave::Yes(command.to_owned()),
            Some(false) => self.denied(id, command, "a rule says no"),
            None if !self.face.flags.asks && on("nobody-is-yes") => Leave::Yes(command.to_owned()),
            None if !self.face.flags.asks && !on("asks-anyway") => {
                self.denied(id, command, "nobody can be asked")
            }
            None => self.asked(id, command),
        };
        if on("hooks-after-ask") {
            self.hook("PreToolUse", &about);
        }
        leave
    }

    fn called(&mut self, id: &str, command: &str, called: &Called) {
        let good = called.code.is_some() || on("denial-is-good");
        self.face.record(&json!({"output": called.output}));
        let id = if on("result-other-id") { "other" } else { id };
        let status = if good { "completed" } else { "failed" };
        self.face.record(&json!({"called": status}));
        self.face.send(frame::tool_result(id, &called.output, good));
        if called.code.is_some() {
            self.hook(
                "PostToolUse",
                &json!({"tool_name": "Bash",
                "tool_input": {"command": command}, "tool_response": called.output}),
            );
        }
    }

    /// `/mcp SERVER TOOL JSON`, `/compact`.
    fn other(&mut self, text: &str) -> End {
        if text == "/compact" {
            self.face
                .record(&json!({"summary": "what was said before"}));
            return End::Done;
        }
        let mut words = text.splitn(4, ' ').skip(1);
        let mut word = || words.next().unwrap_or_default().to_owned();
        let (server, tool, arguments) = (word(), word(), word());
        let input: Value = serde_json::from_str(&arguments).unwrap_or_default();
        let id = uuid();
        let name = if on("server-tool-unnamed") {
            tool.clone()
        } else {
            format!("mcp__{server}__{tool}")
        };
        self.face.send(frame::assistant(
            &json!({"type": "tool_use", "id": id, "name": name, "input": input}),
        ));
        let known = self.face.desk.lock().own.servers.contains(&server);
        if !known || on("servers-uncalled") {
            self.face
                .send(frame::tool_result(&id, "no such server", false));
            return End::Done;
        }
        let ask = |method: &str, params: Value| {
            let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            self.face
                .control(&json!({"subtype": "mcp_message", "server_name": server,
                "message": message}))
        };
        let first = !std::mem::replace(&mut self.greeted, true);
        if first && !on("handshake-missing") {
            ask(
                "initialize",
                json!({"protocolVersion": "2025-06-18", "capabilities": {}}),
            );
            ask("tools/list", json!({}));
        }
        let call = json!({"name": tool, "arguments": input});
        if on("server-tool-twice") {
            ask("tools/call", call.clone());
        }
        let answer = ask("tools/call", call).unwrap_or_default();
        let heard = answer["response"]["mcp_response"]["result"]["content"].to_string();
        let good = !on("answers-lost");
        self.face.send(frame::tool_result(&id, &heard, good));
        End::Done
    }

    fn pause(&mut self, time: Duration) -> bool {
        let stopped = |own: &super::Own| own.interrupted;
        let found = self
            .face
            .desk
            .wait(time, |state| stopped(&state.own).then_some(()));
        found.is_some()
    }
}

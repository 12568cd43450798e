//! Version 2 of the protocol, said with what version 1 says: the same turns, told in other updates.

use serde_json::{Value, json};

use crate::answer::{Agent, Fault, invalid};
use crate::fault::{die_on, on};
use crate::session::{Job, Shared};
use crate::turn::{Cancelled, Done, End, Turn, chunk};

/// The kind of record that keeps an idempotency key; no update is called so.
pub(crate) const KEY: &str = "_key";

/// The answer to `initialize`.
pub(crate) fn hello() -> Value {
    let mut result = json!({
        "protocolVersion": if on("v2-version-echoed") { 99 } else { 2 },
        "info": {
            "name": if on("v2-nameless") { "" } else { "reference-peer" },
            "version": env!("CARGO_PKG_VERSION"),
        },
        "capabilities": {"session": {"prompt": {}}},
        "authMethods": [],
    });
    if on("v2-markers-as-booleans") {
        result["capabilities"]["session"] = json!(true);
    }
    if on("v2-extra-member") {
        result["colour"] = json!("red");
    }
    result
}

/// The update of version 2 that says what one of version 1 says.
pub(crate) fn update(update: &Value) -> Value {
    let mut update = update.clone();
    match update["sessionUpdate"].as_str().unwrap_or_default() {
        "tool_call" if !on("v2-tool-call-kept") => {
            update["sessionUpdate"] = json!("tool_call_update");
            if !on("v2-cancel-unoffered") {
                update["capabilities"] = json!({"cancel": {}});
            }
        }
        "tool_call_update" => update["capabilities"] = Value::Null,
        "plan" if !on("v2-plan-kept") => {
            let entries = update["entries"].clone();
            update = json!({"sessionUpdate": "plan_update",
                "plan": {"type": "items", "planId": "plan", "entries": entries}});
        }
        "agent_message_chunk" if on("v2-chunks-without-id") => {
            update
                .as_object_mut()
                .map(|update| update.remove("messageId"));
        }
        _ => {}
    }
    update
}

impl Shared {
    /// Tells the state.
    pub(crate) fn state(&self, state: &str, more: &Value) {
        let mut update = json!({"sessionUpdate": "state_update", "state": state});
        for (name, value) in more.as_object().into_iter().flatten() {
            update[name] = value.clone();
        }
        self.wire.update(&self.id, &update);
    }

    /// A prompt becomes part of the conversation.
    pub(crate) fn inserted(&self, job: &Job, message: &str, prompt: &Value) {
        if !on("v2-never-running") {
            self.state("running", &json!({}));
        }
        if !on("v2-prompt-unshown") {
            self.show(prompt);
        }
        if let Some(key) = &job.key {
            if !on("v2-keys-forgotten") {
                self.record(&json!({"sessionUpdate": KEY, "key": key, "messageId": message}));
            }
            self.remember(key, message);
        }
        let mut result = json!({"messageId": message});
        if on("v2-message-unnamed") {
            result["messageId"] = json!("");
        }
        if on("v2-same-message-id") {
            result["messageId"] = json!("always");
        }
        if on("v2-extra-member-in-answer") {
            result["colour"] = json!("red");
        }
        self.wire.result(&job.id, &result);
    }

    /// What a tool printed, as a terminal of ours.
    pub(crate) fn terminal(&self, id: &str, command: &str, output: &str, code: i32) {
        let begun =
            json!({"sessionUpdate": "terminal_update", "terminalId": id, "command": command});
        let chunk = json!({"sessionUpdate": "terminal_output_chunk", "terminalId": id,
            "data": base64(output.as_bytes())});
        if on("v2-terminal-late") {
            self.show(&chunk);
        }
        self.show(&begun);
        if !on("v2-terminal-late") && !on("v2-terminal-empty") {
            self.show(&chunk);
        }
        if !on("v2-terminal-open") {
            self.show(
                &json!({"sessionUpdate": "terminal_update", "terminalId": id,
                "exitStatus": {"exitCode": code}}),
            );
        }
    }
}

impl Agent {
    /// Finds a session again, with its past where that is asked for.
    pub(crate) fn resume_second(&mut self, params: &Value) -> Result<Value, Fault> {
        let from = &params["replayFrom"];
        let replays = from["type"] == "start" || on("v2-replay-always");
        if !from.is_null() && !replays && !on("v2-replay-of-any-kind") {
            return Err(invalid("replayFrom"));
        }
        let (id, content) = self.reopen(params)?;
        if let Some(session) = self.sessions.get(&id) {
            for update in &content.updates {
                if update["sessionUpdate"] == KEY {
                    let text = |name: &str| update[name].as_str().unwrap_or_default().to_owned();
                    session.remember(&text("key"), &text("messageId"));
                }
            }
        }
        if replays {
            let mut updates = content.updates;
            updates.retain(|update| update["sessionUpdate"] != KEY);
            self.show_past(&id, updates, content.lost, &params["cwd"]);
            if !on("v2-replay-incomplete") {
                self.wire
                    .update(&id, &json!({"sessionUpdate": "replay_complete"}));
            }
            if on("v2-replay-complete-twice") {
                self.wire
                    .update(&id, &json!({"sessionUpdate": "replay_complete"}));
            }
            if on("v2-load-asks") {
                let params = json!({"sessionId": id, "title": "x",
                    "options": [{"optionId": "a", "name": "a", "kind": "allow_once"}]});
                self.wire.ask("session/request_permission", &params);
            }
        }
        if !on("v2-resume-without-state") {
            let idle = json!({"sessionUpdate": "state_update", "state": "idle"});
            self.wire.update(&id, &idle);
        }
        Ok(json!({"configOptions": [], "availableCommands": []}))
    }

    /// Cancels one call.
    pub(crate) fn cancel_call(&self, params: &Value) -> Result<Value, Fault> {
        let call = params["toolCallId"].as_str().unwrap_or_default();
        let session = params["sessionId"].as_str().unwrap_or_default();
        let found = self.sessions.get(session);
        let open = found.is_some_and(|session| session.stop_call(call));
        if (open || on("v2-any-call-cancelled")) && !on("v2-no-call-cancelled") {
            return Ok(json!({}));
        }
        Err(invalid("no such call is open"))
    }
}

impl Turn<'_> {
    /// A prompt of version 2 that was cancelled while it waited.
    pub(crate) fn never_inserted(&self) {
        self.session.done();
        if on("v2-waiting-inserted") {
            let text = chunk("user_message_chunk", &self.job.text, &self.message("user"));
            self.session.show(&text);
            let message = self.message("user");
            let result = json!({"messageId": message});
            return self.session.wire.result(&self.job.id, &result);
        }
        self.session.wire.error(&self.job.id, -32800, "cancelled");
    }

    /// The end of a turn in version 2, whose prompt was answered before.
    pub(crate) fn end_second(&self, end: Done<End>) {
        let more = match end {
            Ok(End::Stop(_)) if on("v2-stop-unsaid") => json!({}),
            Ok(End::Stop(_)) if on("v2-refusal-hidden") => json!({"stopReason": "end_turn"}),
            Ok(End::Stop(reason)) => json!({"stopReason": reason}),
            Ok(End::Failed(_)) if on("v2-failure-hidden") => json!({"stopReason": "end_turn"}),
            Ok(End::Failed(why)) => {
                json!({"stopReason": "error", "error": {"code": -32603, "message": why}})
            }
            Err(Cancelled) if on("v2-cancel-is-end") => json!({"stopReason": "end_turn"}),
            Err(Cancelled) => json!({"stopReason": "cancelled"}),
        };
        let failed = more["stopReason"] == "error";
        let wire = &self.session.wire;
        wire.doubled(on("v2-idle-twice"), || self.session.state("idle", &more));
        if on("v2-text-after-idle") {
            let late = chunk("agent_message_chunk", "late", &self.message("agent"));
            self.session.show(&late);
        }
        if failed {
            die_on("v2-failure-kills");
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for piece in bytes.chunks(3) {
        let byte = |at: usize| u32::from(piece.get(at).copied().unwrap_or(0));
        let all = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for place in 0..4 {
            let digit = usize::try_from((all >> (18 - 6 * place)) & 63).unwrap_or(0);
            text.push(if place <= piece.len() {
                char::from(DIGITS[digit])
            } else {
                '='
            });
        }
    }
    text
}

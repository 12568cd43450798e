//! The methods of the client.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::fault::{die_on, on};
use crate::log::{self, Log, Refusal};
use crate::native::uuid;
use crate::session::Session;
use crate::wire::Wire;

/// The agent's side of the connection.
pub(crate) struct Agent {
    pub(crate) wire: Wire,
    pub(crate) folder: PathBuf,
    pub(crate) client: Option<Value>,
    /// The client said nothing of itself.
    pub(crate) bare: bool,
    pub(crate) sessions: BTreeMap<String, Session>,
}

/// An error for the client.
pub(crate) struct Fault {
    pub(crate) code: i32,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

pub(crate) fn invalid(message: &str) -> Fault {
    Fault {
        code: if on("params-code-other") {
            -32603
        } else {
            -32602
        },
        message: message.to_owned(),
        data: None,
    }
}

impl Agent {
    pub(crate) fn new(wire: Wire) -> Self {
        let folder = std::env::var_os("PEER_STATE").map_or_else(std::env::temp_dir, PathBuf::from);
        Self {
            wire,
            folder,
            client: None,
            bare: false,
            sessions: BTreeMap::new(),
        }
    }

    /// Ends every session, as at the end of the input.
    pub(crate) fn close_all(&mut self) {
        for session in self.sessions.values() {
            session.cancel();
        }
        for session in std::mem::take(&mut self.sessions).into_values() {
            session.close();
        }
    }

    /// A notification.
    pub(crate) fn notified(&mut self, method: &str, params: &Value) {
        let session = params["sessionId"].as_str().unwrap_or_default();
        match method {
            "session/cancel" if on("cancel-hits-all") => {
                for session in self.sessions.values() {
                    session.cancel();
                }
            }
            "session/cancel" => match self.sessions.get(session) {
                Some(session) => {
                    if on("cancel-of-nothing-is-error") && !session.busy() {
                        self.wire.error(&Value::Null, -32600, "nothing runs");
                    }
                    session.cancel();
                }
                None if on("cancel-remembered") => {
                    for session in self.sessions.values() {
                        session.cancel();
                    }
                }
                None if on("cancel-of-nothing-is-error") => {
                    self.wire.error(&Value::Null, -32002, "no such session");
                }
                None => {}
            },
            "$/cancel_request" if on("cancel-request-ignored") => {}
            "$/cancel_request" => {
                if on("cancel-request-refused") {
                    self.wire.error(&Value::Null, -32601, "cannot cancel that");
                }
                die_on("cancel-request-kills");
                for session in self.sessions.values() {
                    session.cancel_one(&params["requestId"]);
                }
            }
            _ if on("notifications-answered") => {
                self.wire
                    .error(&Value::Null, -32601, "unknown notification");
            }
            _ => die_on("notifications-kill"),
        }
    }

    /// A request.
    pub(crate) fn asked(&mut self, id: &Value, method: &str, params: &Value) {
        let fault = match self.answer(id, method, params) {
            Ok(None) => return,
            Ok(Some(result)) => return self.wire.result(id, &result),
            Err(fault) => fault,
        };
        self.wire
            .error_with(id, fault.code, &fault.message, fault.data);
    }

    /// The result, or nothing when it comes later.
    fn answer(&mut self, id: &Value, method: &str, params: &Value) -> Result<Option<Value>, Fault> {
        if method == "initialize" {
            if on("mute") {
                return Ok(None);
            }
            return self.initialize(params).map(Some);
        }
        if self.client.is_none() && !on("early-accepted") {
            die_on("early-kills");
            return Err(Fault {
                code: -32600,
                message: "initialize first".to_owned(),
                data: None,
            });
        }
        let second = self.wire.second();
        match method {
            "session/new" => self.new_session(params),
            "session/load" if second && !on("v2-load-kept") => Err(not_found()),
            "session/set_mode" if second && on("v2-mode-kept") => Ok(Some(json!({}))),
            "session/resume" if second => self.resume_second(params).map(Some),
            "tool_call/cancel" if second => self.cancel_call(params).map(Some),
            "session/prompt" if second && key(params).is_err() && !on("v2-any-key") => {
                Err(invalid("idempotencyKey"))
            }
            "session/load" => self.load(params).map(Some),
            "session/resume" => self.resume(params).map(Some),
            "session/list" => self.list(params).map(Some),
            "session/close" => Ok(self.close(params)),
            "session/prompt" => self.prompt(id, params).map(|()| None),
            "session/set_mode" | "session/set_config_option" if on("modes-accepted") => {
                Ok(Some(json!({})))
            }
            _ if on("unknown-unanswered") => Ok(None),
            _ => {
                if method.starts_with("session/set") {
                    die_on("modes-kill");
                }
                Err(not_found())
            }
        }
    }

    fn new_session(&mut self, params: &Value) -> Result<Option<Value>, Fault> {
        let lenient = on("any-params-taken") && params.is_object();
        let cwd = match folder(params) {
            Ok(cwd) => cwd,
            Err(_) if lenient => "/tmp".to_owned(),
            Err(fault) => {
                die_on("bad-params-kill");
                return Err(fault);
            }
        };
        if !params["mcpServers"].is_array() && !lenient && !self.wire.second() {
            die_on("bad-params-kill");
            return Err(invalid("mcpServers must be an array"));
        }
        if on("bare-clients-refused") && self.bare {
            return Err(invalid("this client can do too little"));
        }
        let id = if on("same-id") {
            format!("session-{}", std::process::id())
        } else {
            uuid()
        };
        if on("update-before-new") {
            self.wire.update(
                &id,
                &json!({"sessionUpdate": "available_commands_update",
                "availableCommands": []}),
            );
        }
        if on("same-id") && self.sessions.contains_key(&id) {
            return Ok(Some(json!({"sessionId": id})));
        }
        if on("store-locked") && log::store_held(&self.folder) {
            return Err(refused(&Refusal::Held, &id));
        }
        let log = Log::create(&self.folder, &id, &cwd).map_err(|refusal| refused(&refusal, &id))?;
        self.open(&id, &cwd, log);
        if on("new-without-id") {
            return Ok(Some(json!({"sessionId": ""})));
        }
        Ok(Some(json!({"sessionId": id})))
    }

    pub(crate) fn open(&mut self, id: &str, cwd: &str, log: Log) {
        let client = self.client.clone().unwrap_or_default();
        let session = Session::start(id, cwd, log, self.wire.clone(), client);
        self.sessions.insert(id.to_owned(), session);
    }

    fn list(&self, params: &Value) -> Result<Value, Fault> {
        if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) && !on("cursor-ignored") {
            return Err(invalid("no such cursor"));
        }
        let wanted = params["cwd"].as_str();
        if wanted.is_some_and(|cwd| !Path::new(cwd).is_absolute()) && !on("list-takes-relative") {
            return Err(invalid("cwd must be absolute"));
        }
        let sessions: Vec<Value> = log::all(&self.folder)
            .into_iter()
            .filter(|id| !on("list-own-only") || self.sessions.contains_key(id))
            .filter_map(|id| {
                let cwd = Log::peek(&self.folder, &id)?.cwd;
                let shown = if on("list-relative") {
                    "somewhere"
                } else {
                    &cwd
                };
                (wanted.is_none_or(|wanted| wanted == cwd || on("filter-ignored")))
                    .then(|| json!({"sessionId": id, "cwd": shown}))
            })
            .filter(|_| !on("list-empty"))
            .filter(|_| wanted.is_none() || !on("filter-finds-nothing"))
            .collect();
        if on("list-null") && sessions.is_empty() {
            return Ok(json!({"sessions": null}));
        }
        if on("list-bare") {
            return Ok(json!(sessions));
        }
        Ok(json!({"sessions": sessions}))
    }

    fn close(&mut self, params: &Value) -> Option<Value> {
        if on("v2-close-of-nothing-fails") && self.wire.second() {
            let id = params["sessionId"].as_str().unwrap_or_default();
            self.sessions.get(id)?;
        }
        let id = params["sessionId"].as_str().unwrap_or_default();
        match self.sessions.remove(id) {
            Some(session) if on("close-keeps") => {
                self.sessions.insert(id.to_owned(), session);
            }
            Some(session) => session.close(),
            None if on("close-twice-unanswered") => return None,
            None => {}
        }
        if on("close-talks-on") {
            self.wire.update(
                id,
                &json!({"sessionUpdate": "session_info_update", "title": "x"}),
            );
            let wire = self.wire.clone();
            let id = id.to_owned();
            std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(20));
                wire.update(
                    &id,
                    &json!({"sessionUpdate": "session_info_update", "title": "y"}),
                );
            });
        }
        Some(if on("close-says-true") {
            json!(true)
        } else {
            json!({})
        })
    }

    fn prompt(&mut self, request: &Value, params: &Value) -> Result<(), Fault> {
        let id = params["sessionId"].as_str();
        let blocks = params["prompt"].as_array();
        let (Some(id), Some(blocks)) = (id, blocks) else {
            die_on("bad-prompts-kill");
            return Err(invalid("sessionId and prompt"));
        };
        let lenient = on("any-blocks-taken");
        for block in blocks {
            let sound = match block["type"].as_str() {
                Some("text") => block["text"].is_string(),
                Some("resource_link") => block["uri"].is_string() && !on("links-refused"),
                Some("resource") => block["resource"].is_object() && !on("resources-refused"),
                _ => false,
            };
            if !sound && !lenient {
                die_on("bad-prompts-kill");
                return Err(invalid("a block is not one that was offered"));
            }
        }
        if params.get("_meta").is_some() && on("meta-refused") {
            return Err(invalid("_meta"));
        }
        if blocks.is_empty() {
            die_on("empty-prompt-kills");
        }
        if blocks.is_empty() && on("empty-prompt-unanswered") {
            return Ok(());
        }
        let Some(session) = self.sessions.get(id) else {
            die_on("unknown-session-kills");
            if on("unknown-session-accepted") {
                self.wire
                    .result(request, &json!({"stopReason": "end_turn"}));
                return Ok(());
            }
            return Err(refused(&Refusal::Missing, id));
        };
        let text: String = blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect();
        if text.contains('\u{fffd}') {
            die_on("surrogates-kill");
        }
        if on("new-turn-cancels-others") {
            for (_, other) in self.sessions.iter().filter(|(other, _)| *other != id) {
                other.cancel();
            }
        }
        if on("surrogates-unanswered") && text.contains('\u{fffd}') {
            return Ok(());
        }
        let other = self.sessions.iter().find(|(other, _)| *other != id);
        if let (true, Some((_, other))) = (on("other-session-gets-it"), other) {
            other.prompt(request.clone(), text, None);
            return Ok(());
        }
        let key = key(params).ok().flatten();
        if let Some(message) = key.as_ref().and_then(|key| session.known(key)) {
            self.wire.result(request, &json!({"messageId": message}));
            return Ok(());
        }
        session.prompt(request.clone(), text, key);
        Ok(())
    }
}

fn not_found() -> Fault {
    Fault {
        code: if on("unknown-code-other") {
            -32603
        } else {
            -32601
        },
        message: "no such method".to_owned(),
        data: None,
    }
}

/// The idempotency key of a prompt; one that is no text of the right length is an error.
fn key(params: &Value) -> Result<Option<String>, ()> {
    match &params["idempotencyKey"] {
        Value::Null => Ok(None),
        Value::String(key) if (1..=255).contains(&key.chars().count()) => Ok(Some(key.clone())),
        _ => Err(()),
    }
}

/// The folder of a session.
pub(crate) fn folder(params: &Value) -> Result<String, Fault> {
    match params["cwd"].as_str() {
        Some(cwd) if Path::new(cwd).is_absolute() => Ok(cwd.to_owned()),
        _ => Err(invalid("cwd must be an absolute path")),
    }
}

pub(crate) fn refused(refusal: &Refusal, id: &str) -> Fault {
    let (code, message) = match refusal {
        Refusal::Missing if on("missing-code-other") => (-32603, "no such session"),
        Refusal::Missing => (-32002, "no such session"),
        Refusal::Held if on("busy-as-missing") => (-32002, "no such session"),
        Refusal::Held => (4001, "another process has this session"),
        Refusal::Broken => (4002, "the session cannot be read"),
    };
    Fault {
        code,
        message: message.to_owned(),
        data: (!on("error-names-nothing")).then(|| json!({"sessionId": id})),
    }
}

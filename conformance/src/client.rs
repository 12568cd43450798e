//! The client that a target talks to: what it answers to the target's own requests.

mod sdk;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::case::{Elicitation, Permission};
use crate::process::Pen;
use crate::tongue::Tongue;

/// Answers requests of a target by itself, as the case says.
#[derive(Debug)]
pub(crate) struct Client {
    tongue: Tongue,
    cwd: PathBuf,
    capabilities: Value,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    permission: Permission,
    elicitation: Elicitation,
    terminals: BTreeMap<String, String>,
}

impl Client {
    /// A client with these capabilities whose files are below `cwd`.
    pub(crate) fn new(tongue: Tongue, cwd: &Path, capabilities: Value) -> Self {
        Self {
            tongue,
            cwd: cwd.to_path_buf(),
            capabilities,
            state: Mutex::new(State {
                permission: Permission::Allow,
                elicitation: Elicitation::Accept,
                terminals: BTreeMap::new(),
            }),
        }
    }

    /// What permission questions are answered from now on.
    pub(crate) fn set_permission(&self, permission: Permission) {
        self.state().permission = permission;
    }

    /// What elicitations are answered from now on.
    pub(crate) fn set_elicitation(&self, elicitation: Elicitation) {
        self.state().elicitation = elicitation;
    }

    /// Answers a frame if it is a request.
    pub(crate) fn take(&self, frame: &Value, pen: &Pen) {
        if frame["type"] == "request" {
            if let Some(outcome) = self.native(&frame["kind"], &frame["payload"]) {
                pen.frame(&json!({"v": 1, "type": "answer", "request": frame["id"],
                    "digest": frame["digest"], "outcome": outcome}));
            }
            return;
        }
        if frame["type"] == "control_request" {
            if let Some(answer) = self.control(frame) {
                pen.frame(&answer);
            }
            return;
        }
        let (Some(id), Some(method)) = (frame.get("id"), frame["method"].as_str()) else {
            return;
        };
        let Some(outcome) = self.outcome(method, &frame["params"]) else {
            return;
        };
        let mut answer = json!({"jsonrpc": "2.0", "id": id});
        match outcome {
            Ok(result) => answer["result"] = result,
            Err(code) => answer["error"] = json!({"code": code, "message": "refused"}),
        }
        pen.frame(&answer);
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` for a question that stays open.
    fn outcome(&self, method: &str, params: &Value) -> Option<Result<Value, i32>> {
        if self.tongue == Tongue::AppServer {
            return self.approval(method, params);
        }
        let offers = |pointer: &str| self.capabilities.pointer(pointer) == Some(&json!(true));
        match method {
            "session/request_permission" => self.permission(&params["options"]).map(Ok),
            "fs/read_text_file" if offers("/fs/readTextFile") => Some(self.read(params)),
            "fs/write_text_file" if offers("/fs/writeTextFile") => Some(self.write(params)),
            _ if method.starts_with("terminal/") && offers("/terminal") => {
                Some(self.terminal(method, params))
            }
            "elicitation/create" if self.capabilities.pointer("/elicitation/form").is_some() => {
                self.elicitation(params).map(Ok)
            }
            _ => Some(Err(-32601)),
        }
    }

    /// The outcome of a question of the native protocol.
    fn native(&self, kind: &Value, payload: &Value) -> Option<Value> {
        if kind == "elicitation" {
            return Some(match self.state().elicitation {
                Elicitation::Accept => {
                    json!({"type": "accepted", "content": {"answer": "forty-two"}})
                }
                Elicitation::Decline => json!({"type": "declined"}),
                Elicitation::Never => return None,
            });
        }
        if kind != "permission" {
            return None;
        }
        let option = |kind: &str| {
            let option = payload["options"]
                .as_array()?
                .iter()
                .find(|option| option["kind"] == kind)?;
            Some(json!({"type": "selected", "option": option["id"]}))
        };
        match self.state().permission {
            Permission::Allow => option("allow_once"),
            Permission::Reject => option("reject_once"),
            Permission::Always => option("allow_always"),
            Permission::Cancelled => Some(json!({"type": "cancelled"})),
            Permission::NotOffered => Some(json!({"type": "selected", "option": "never-offered"})),
            Permission::Malformed => Some(json!({"type": "perhaps"})),
            Permission::Never => None,
        }
    }

    fn permission(&self, options: &Value) -> Option<Value> {
        let chosen = |kind: &str| {
            let option = options
                .as_array()?
                .iter()
                .find(|option| option["kind"] == kind)?;
            Some(json!({"outcome": {"outcome": "selected", "optionId": option["optionId"]}}))
        };
        let cancelled = || Some(json!({"outcome": {"outcome": "cancelled"}}));
        match self.state().permission {
            Permission::Allow => chosen("allow_once").or_else(|| chosen("allow_always")),
            Permission::Reject => chosen("reject_once").or_else(cancelled),
            Permission::Always => chosen("allow_always").or_else(|| chosen("allow_once")),
            Permission::Cancelled => cancelled(),
            Permission::NotOffered => {
                Some(json!({"outcome": {"outcome": "selected", "optionId": "never-offered"}}))
            }
            Permission::Malformed => Some(json!({"outcome": "perhaps"})),
            Permission::Never => None,
        }
    }

    fn elicitation(&self, params: &Value) -> Option<Value> {
        let first = params["requestedSchema"]["properties"]
            .as_object()
            .and_then(|properties| properties.keys().next());
        match self.state().elicitation {
            Elicitation::Accept => {
                let content = first.map_or(json!({}), |name| json!({name: "forty-two"}));
                Some(json!({"action": "accept", "content": content}))
            }
            Elicitation::Decline => Some(json!({"action": "decline"})),
            Elicitation::Never => None,
        }
    }

    /// A path of the target, if it is one of the case's.
    fn path(&self, params: &Value) -> Result<PathBuf, i32> {
        let path = PathBuf::from(params["path"].as_str().ok_or(-32602)?);
        let inside =
            path.starts_with(&self.cwd) && path.components().all(|part| part.as_os_str() != "..");
        if inside { Ok(path) } else { Err(-32602) }
    }

    fn read(&self, params: &Value) -> Result<Value, i32> {
        let text = std::fs::read_to_string(self.path(params)?).map_err(|_| -32002)?;
        // Marked, so that a case sees which way the text came.
        Ok(json!({"content": format!("from the client: {text}")}))
    }

    fn write(&self, params: &Value) -> Result<Value, i32> {
        let content = params["content"].as_str().ok_or(-32602)?;
        std::fs::write(self.path(params)?, content).map_err(|_| -32603)?;
        Ok(json!({}))
    }

    /// A terminal that runs nothing: it has exited, and says what it was asked to run.
    fn terminal(&self, method: &str, params: &Value) -> Result<Value, i32> {
        let terminals = &mut self.state().terminals;
        if method == "terminal/create" {
            let id = format!("terminal-{}", terminals.len() + 1);
            terminals.insert(id.clone(), params["command"].to_string());
            return Ok(json!({"terminalId": id}));
        }
        let id = params["terminalId"].as_str().unwrap_or_default();
        let command = terminals.get(id).ok_or(-32002)?;
        match method {
            "terminal/output" => Ok(json!({
                "output": format!("the client's terminal was given {command}\n"),
                "truncated": false,
                "exitStatus": {"exitCode": 0}
            })),
            "terminal/wait_for_exit" => Ok(json!({"exitCode": 0})),
            "terminal/kill" | "terminal/release" => Ok(json!({})),
            _ => Err(-32601),
        }
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;

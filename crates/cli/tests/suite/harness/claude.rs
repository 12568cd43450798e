//! A running `sessiond-claude` and the program that started it.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Home, PATIENCE, Server};

/// The flags of a program that is asked for permission, as the SDKs write them.
pub(crate) const PROGRAM: [&str; 7] = [
    "--output-format",
    "stream-json",
    "--input-format",
    "stream-json",
    "--verbose",
    "--permission-prompt-tool",
    "stdio",
];

/// The face, and what it said.
pub(crate) struct Claude {
    pub(crate) server: Server,
    asked: u32,
}

impl Claude {
    /// One that has answered `initialize`.
    #[track_caller]
    pub(crate) fn start(home: &Home, more: &[&str]) -> Claude {
        Claude::with(home, more, json!({}))
    }

    /// The same, with members of `initialize` beside.
    #[track_caller]
    pub(crate) fn with(home: &Home, more: &[&str], members: Value) -> Claude {
        let mut claude = Claude::spawn(home.claude(&[&PROGRAM, more].concat()));
        let answer = claude.control("initialize", members);
        assert_eq!(answer["subtype"], "success", "{answer}");
        claude
    }

    /// One that was told nothing yet.
    pub(crate) fn spawn(command: Command) -> Claude {
        let server = Server::spawn(command);
        Claude { server, asked: 0 }
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.server.say(&user(text));
    }

    /// Sends a prompt and waits for its result.
    #[track_caller]
    pub(crate) fn turn(&mut self, text: &str) -> Value {
        self.prompt(text);
        self.result()
    }

    #[track_caller]
    pub(crate) fn result(&mut self) -> Value {
        self.frame("result")
    }

    /// Waits for a frame of this type.
    #[track_caller]
    pub(crate) fn frame(&mut self, kind: &str) -> Value {
        self.server.until(kind, |frame| frame["type"] == kind)
    }

    /// Waits for a control request of this subtype.
    #[track_caller]
    pub(crate) fn asked(&mut self, subtype: &str) -> Value {
        self.server.until(subtype, |frame| {
            frame["type"] == "control_request" && frame["request"]["subtype"] == subtype
        })
    }

    /// Answers a control request.
    pub(crate) fn answer(&mut self, request: &Value, response: Value) {
        let response = json!({ "subtype": "success", "request_id": request["request_id"],
            "response": response });
        self.server
            .say(&json!({ "type": "control_response", "response": response }));
    }

    /// Sends a control request and gives its id.
    pub(crate) fn ask(&mut self, subtype: &str, members: Value) -> String {
        self.asked += 1;
        let id = format!("r{}", self.asked);
        let mut request = json!({ "subtype": subtype });
        let members = members.as_object().unwrap().clone();
        request.as_object_mut().unwrap().extend(members);
        self.server
            .say(&json!({ "type": "control_request", "request_id": id, "request": request }));
        id
    }

    /// Sends a control request and waits for the response.
    #[track_caller]
    pub(crate) fn control(&mut self, subtype: &str, members: Value) -> Value {
        let id = self.ask(subtype, members);
        let frame = self.server.until("a response", |frame| {
            frame["type"] == "control_response" && frame["response"]["request_id"] == *id
        });
        frame["response"].clone()
    }

    /// Closes the input, reads to the end, and gives the exit code with all that was said. Each line
    /// is a frame that the SDKs can read (claude.md 4).
    #[track_caller]
    pub(crate) fn end(&mut self) -> (Option<i32>, Vec<Value>) {
        self.server.close_stdin();
        self.ended(PATIENCE)
    }

    /// The same without closing the input.
    #[track_caller]
    pub(crate) fn ended(&mut self, within: Duration) -> (Option<i32>, Vec<Value>) {
        let frames = self.server.read_to_end().to_vec();
        frames.iter().for_each(readable);
        (self.server.exit(within).code(), frames)
    }
}

/// A prompt as the Python SDK sends it.
pub(crate) fn user(text: &str) -> Value {
    json!({ "type": "user", "message": { "role": "user", "content": text },
        "parent_tool_use_id": null, "session_id": "default" })
}

/// What a frame must have, so that no SDK stumbles over it.
#[track_caller]
fn readable(frame: &Value) {
    let has = |members: &[&str]| members.iter().all(|member| frame.get(member).is_some());
    let kind = frame["type"]
        .as_str()
        .unwrap_or_else(|| panic!("no type: {frame}"));
    let sound = match kind {
        "control_request" => has(&["request_id", "request"]),
        "control_response" => frame["response"]["request_id"].is_string(),
        "control_cancel_request" => has(&["request_id"]),
        "system" => has(&["subtype", "session_id", "uuid"]),
        "assistant" => {
            has(&["session_id", "uuid"])
                && frame["message"]["content"].is_array()
                && frame["message"]["model"].is_string()
        }
        "user" => has(&["session_id", "uuid", "message"]),
        "conversation_reset" => has(&["session_id", "uuid", "new_conversation_id"]),
        "command_lifecycle" => has(&["session_id", "uuid", "command_uuid", "state"]),
        "transcript_mirror" => has(&["filePath", "entries"]),
        "stream_event" => has(&["session_id", "uuid", "event"]),
        "result" => {
            let told = match frame["subtype"].as_str() {
                Some("success") => frame["result"].is_string(),
                _ => frame["errors"].is_array() && frame["is_error"] == true,
            };
            told && has(&[
                "subtype",
                "duration_ms",
                "duration_api_ms",
                "is_error",
                "num_turns",
                "session_id",
                "uuid",
            ])
        }
        _ => false,
    };
    assert!(sound, "{frame}");
}

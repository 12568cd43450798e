//! What the clients of Claude and Codex answer: can this be run, what does the hook say, what does the
//! program's own server hold.

use serde_json::{Value, json};

use super::Client;
use crate::case::{Elicitation, Permission};

/// The one server that a case may give to Claude's face.
const TOOLS: &str = r#"[{"name": "echo", "description": "Says it back",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}]"#;

impl Client {
    /// The answer to a control request of the target.
    pub(super) fn control(&self, frame: &Value) -> Option<Value> {
        let request = &frame["request"];
        let answer = match request["subtype"].as_str() {
            Some("can_use_tool") => self.can_use(&request["input"])?,
            Some("hook_callback") => Ok(self.hook(&request["input"])),
            Some("mcp_message") => Ok(json!({"mcp_response": served(&request["message"])})),
            _ => Err("Unsupported control request"),
        };
        let id = &frame["request_id"];
        let response = match answer {
            Ok(response) => json!({"subtype": "success", "request_id": id, "response": response}),
            Err(error) => json!({"subtype": "error", "request_id": id, "error": error}),
        };
        Some(json!({"type": "control_response", "response": response}))
    }

    /// Whether a tool may be used; `None` is silence.
    fn can_use(&self, input: &Value) -> Option<Result<Value, &'static str>> {
        Some(Ok(match self.state().permission {
            Permission::Allow | Permission::Always => {
                json!({"behavior": "allow", "updatedInput": input})
            }
            Permission::Reject => json!({"behavior": "deny", "message": "no, thank you"}),
            Permission::Cancelled => {
                json!({"behavior": "deny", "message": "stop", "interrupt": true})
            }
            Permission::NotOffered => json!({"behavior": "perhaps"}),
            Permission::Malformed => return Some(Err("the callback failed")),
            Permission::Never => return None,
        }))
    }

    /// What a hook says: nothing, unless the answer to questions is no.
    fn hook(&self, input: &Value) -> Value {
        let before = input["hook_event_name"] == "PreToolUse";
        if before && self.state().permission == Permission::Reject {
            return json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
                "permissionDecision": "deny", "permissionDecisionReason": "not here"}});
        }
        json!({})
    }

    /// The result of a request of an app-server; `None` is silence.
    pub(super) fn approval(&self, method: &str, params: &Value) -> Option<Result<Value, i32>> {
        if method == "item/tool/requestUserInput" {
            return self.user_input(&params["questions"]).map(Ok);
        }
        if !method.ends_with("requestApproval") {
            return Some(Err(-32601));
        }
        Some(Ok(match self.state().permission {
            Permission::Allow => json!({"decision": "accept"}),
            Permission::Always => json!({"decision": "acceptForSession"}),
            Permission::Reject => json!({"decision": "decline"}),
            Permission::Cancelled => json!({"decision": "cancel"}),
            Permission::NotOffered => json!({"decision": "perhaps"}),
            Permission::Malformed => json!({}),
            Permission::Never => return None,
        }))
    }

    fn user_input(&self, questions: &Value) -> Option<Value> {
        let said = match self.state().elicitation {
            Elicitation::Accept => json!({"answers": ["forty-two"]}),
            Elicitation::Decline => json!({"answers": []}),
            Elicitation::Never => return None,
        };
        let mut answers = json!({});
        for id in questions.as_array().into_iter().flatten() {
            if let Some(id) = id["id"].as_str() {
                answers[id] = said.clone();
            }
        }
        Some(json!({"answers": answers}))
    }
}

/// What the program's server answers.
fn served(message: &Value) -> Value {
    let result = match message["method"].as_str() {
        Some("initialize") => json!({"protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "suite", "version": "1"}}),
        Some("tools/list") => {
            let tools: Value = serde_json::from_str(TOOLS).unwrap_or_default();
            json!({"tools": tools})
        }
        Some("tools/call") => {
            let text = &message["params"]["arguments"]["text"];
            let text = format!("the program heard {}", text.as_str().unwrap_or_default());
            json!({"content": [{"type": "text", "text": text}]})
        }
        _ => json!({}),
    };
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result})
}

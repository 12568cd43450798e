//! What the CLI asks, and what it is answered.

use serde_json::{Map, Value, json};
use sessiond_protocol::{
    Outcome, Permission, PermissionKind, PermissionOption, RequestBody, ToolCall,
};

use super::link::Link;
use super::servers;
use crate::control::{self, Refused, text};
use crate::{elicited, user_question};

/// The id under which our hook before tools is registered.
const BEFORE_TOOL: &str = "before_tool";

/// How long the CLI waits for that hook, in seconds: a client that has a say may ask a person.
const HOOK_SECONDS: u64 = 24 * 60 * 60;

/// The choices of a permission question. What is allowed for good is remembered by the session, as
/// wide as it was asked; the CLI's own suggestions are wider, and would outlive it.
const OPTIONS: [(PermissionKind, &str); 3] = [
    (PermissionKind::AllowOnce, "Allow"),
    (PermissionKind::AllowAlways, "Always allow"),
    (PermissionKind::RejectOnce, "Reject"),
];

/// Why a question that nobody decided is a no.
const UNDECIDED: &str = "The user did not allow this call.";

/// Why a call that asks the user does not run where nobody answered.
const UNANSWERED: &str = "The user did not answer.";

/// A question of the CLI.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Question {
    /// Its hook before a tool: may the call begin, and with which input?
    BeforeTool(Call),
    /// May this call run?
    Permission(Call),
    /// A server of the CLI's asks the user.
    Elicitation(RequestBody),
    /// A message to a server of the client.
    Mcp {
        /// The server.
        server: String,
        /// JSON-RPC.
        message: Value,
    },
    /// Something that is not served here.
    Unknown(String),
}

/// The call that a question is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Value,
}

/// The hooks that `initialize` registers. If ours cannot be asked no tool runs.
pub(super) fn hooks() -> Value {
    json!({ "PreToolUse": [
        { "hookCallbackIds": [BEFORE_TOOL], "timeout": HOOK_SECONDS, "onFailure": "block" },
    ] })
}

/// Reads a control request; one that lacks what it needs is as good as unknown.
pub(super) fn read(request: &Map<String, Value>) -> Question {
    let subtype = text(request, "subtype").unwrap_or_default();
    let question = match &*subtype {
        "can_use_tool" => call(request, "input").map(Question::Permission),
        "elicitation" => elicited::question(request).map(Question::Elicitation),
        "hook_callback" => hook(request).map(Question::BeforeTool),
        "mcp_message" => text(request, "server_name").and_then(|server| {
            let message = request.get("message")?.clone();
            Some(Question::Mcp { server, message })
        }),
        _ => None,
    };
    question.unwrap_or(Question::Unknown(subtype))
}

fn call(object: &Map<String, Value>, input: &str) -> Option<Call> {
    Some(Call {
        id: text(object, "tool_use_id")?,
        name: text(object, "tool_name")?,
        input: object.get(input)?.clone(),
    })
}

fn hook(request: &Map<String, Value>) -> Option<Call> {
    let is_ours = text(request, "callback_id").as_deref() == Some(BEFORE_TOOL);
    let input = request.get("input").filter(|_| is_ours)?;
    call(input.as_object()?, "tool_input")
}

/// Answers what was asked while no turn runs: there is nobody to ask.
pub(super) fn outside(link: &Link, id: &str, request: &Map<String, Value>) {
    let why = "No turn of the session runs.";
    match read(request) {
        Question::BeforeTool(_) => respond(link, id, denied_hook(why)),
        Question::Permission(_) => respond(link, id, deny(why)),
        Question::Elicitation(_) => respond(link, id, elicited::answer(Outcome::Declined)),
        Question::Mcp { message, .. } => {
            let answer = servers::local(&message);
            respond(
                link,
                id,
                answer.unwrap_or_else(|| servers::failure(&message, why)),
            );
        }
        Question::Unknown(subtype) => refuse(link, id, &subtype),
    }
}

/// Answers a request.
pub(super) fn respond(link: &Link, id: &str, answer: Value) {
    link.send(&control::success(id, Some(answer)));
}

/// Refuses a request that is not served here.
pub(super) fn refuse(link: &Link, id: &str, subtype: &str) {
    link.send(&control::failure(id, &Refused::unsupported(subtype)));
}

/// The question whether a call may run.
pub(super) fn permission(call: &ToolCall) -> RequestBody {
    let option = |(kind, name): &(PermissionKind, &str)| PermissionOption {
        id: kind.id().to_owned(),
        name: (*name).to_owned(),
        kind: *kind,
    };
    RequestBody::Permission(Permission {
        title: call.title.clone(),
        tool: call.name.clone(),
        pattern: pattern(&call.input),
        options: OPTIONS.iter().map(option).collect(),
    })
}

/// What a call asks the user, where it is the tool for that.
pub(super) fn form(call: &Call) -> Option<RequestBody> {
    let asked = (call.name == user_question::TOOL).then(|| user_question::form(&call.input));
    let (message, schema) = asked.flatten()?;
    Some(RequestBody::Elicitation { message, schema })
}

/// What exactly a call would touch, as grants name it; all of its input where that is not known: a
/// grant is never wider than what was asked.
fn pattern(input: &Value) -> String {
    let text = |name| input.get(name).and_then(Value::as_str);
    let said = ["command", "file_path", "notebook_path", "url"]
        .into_iter()
        .find_map(text);
    said.map_or_else(|| input.to_string(), str::to_owned)
}

/// What came of a permission question.
#[derive(Debug, PartialEq)]
pub(super) enum Decision {
    /// The call runs, with this input.
    Allow(Value),
    /// It does not, for this reason.
    Deny(String),
}

/// Whatever is no clear yes is a no.
pub(super) fn decision(outcome: Outcome, input: Value) -> Decision {
    let allows = |option: &str| {
        let chosen = OPTIONS.iter().find(|(kind, _)| kind.id() == option);
        chosen.is_some_and(|(kind, _)| kind.allows())
    };
    match outcome {
        Outcome::Selected { option } if allows(&option) => Decision::Allow(input),
        Outcome::Changed { input } => Decision::Allow(input),
        Outcome::Denied { reason } => Decision::Deny(reason),
        _ => Decision::Deny(UNDECIDED.to_owned()),
    }
}

/// What came of the questions of a call: they are answered in its input, or it does not run.
pub(super) fn told(outcome: Outcome, input: &Value) -> Decision {
    match outcome {
        Outcome::Accepted { content } => Decision::Allow(user_question::answered(input, &content)),
        _ => Decision::Deny(UNANSWERED.to_owned()),
    }
}

impl Decision {
    /// As the CLI is told.
    pub(super) fn answer(&self) -> Value {
        match self {
            Decision::Allow(input) => json!({ "behavior": "allow", "updatedInput": input }),
            Decision::Deny(reason) => deny(reason),
        }
    }
}

/// A no to a permission question.
pub(super) fn deny(reason: &str) -> Value {
    json!({ "behavior": "deny", "message": reason })
}

/// A no of the hook before a tool.
pub(super) fn denied_hook(reason: &str) -> Value {
    json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
    } })
}

/// Another input, from the hook before a tool.
pub(super) fn changed_hook(input: &Value) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "updatedInput": input } })
}

#[cfg(test)]
mod tests;

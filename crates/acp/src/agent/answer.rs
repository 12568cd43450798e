//! What came of a question, as the agent is told.

use serde_json::{Value, json};
use sessiond_protocol::{
    Outcome, Permission, PermissionKind, PermissionOption, RequestBody, TerminalOp,
};
use sessiond_wire::rpc::{ErrorObject, INTERNAL_ERROR, METHOD_NOT_FOUND, REQUEST_CANCELLED, error};

use super::local;

/// Whether the turn that a question belongs to is being cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Runs,
    Cancelled,
}

/// The answer to a request of the agent.
///
/// # Errors
/// The error object to answer with.
pub(super) async fn answer(
    body: &RequestBody,
    outcome: Outcome,
    turn: Turn,
) -> Result<Value, ErrorObject> {
    match (body, outcome) {
        (RequestBody::Permission(asked), outcome) => Ok(decision(asked, outcome, turn)),
        (RequestBody::Elicitation { .. } | RequestBody::ElicitationUrl { .. }, outcome) => {
            Ok(elicited(outcome))
        }
        (_, Outcome::Cancelled) => Err(error(REQUEST_CANCELLED, "Cancelled")),
        (_, Outcome::Failed { message }) => Err(error(INTERNAL_ERROR, message)),
        (RequestBody::FsRead { path, line, limit }, Outcome::Unanswered) => {
            let text = local::read(path, (*line, *limit)).await;
            text.map(|text| json!({ "content": text }))
        }
        (RequestBody::FsWrite { path, content }, Outcome::Unanswered) => {
            local::write(path, content).await.map(|()| json!({}))
        }
        (RequestBody::FsRead { .. }, Outcome::Text { text }) => Ok(json!({ "content": text })),
        (RequestBody::Terminal(op), outcome) => terminal(op, outcome),
        (RequestBody::Extension { .. } | RequestBody::Mcp { .. }, Outcome::Result { result }) => {
            Ok(result)
        }
        (RequestBody::Extension { .. }, Outcome::Unanswered) => {
            Err(error(METHOD_NOT_FOUND, "Method not found"))
        }
        (_, Outcome::Done) => Ok(json!({})),
        _ => Err(error(INTERNAL_ERROR, "The client gave no answer to this")),
    }
}

/// A question that nobody decided rejects this one call; only a turn that is being cancelled answers
/// so (acp.md 5.16).
fn decision(asked: &Permission, outcome: Outcome, turn: Turn) -> Value {
    let rejects = |option: &&PermissionOption| option.kind == PermissionKind::RejectOnce;
    let option = match (outcome, turn) {
        (Outcome::Selected { option }, Turn::Runs) => Some(option),
        (_, Turn::Runs) => asked
            .options
            .iter()
            .find(rejects)
            .map(|option| option.id.clone()),
        (_, Turn::Cancelled) => None,
    };
    match option {
        Some(option) => json!({ "outcome": { "outcome": "selected", "optionId": option } }),
        None => cancelled(),
    }
}

/// What is answered to a question about a call of a turn that is cancelled.
pub(super) fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

/// Rejects a question about a call that may not run.
pub(super) fn rejection(options: &[PermissionOption]) -> Value {
    let asked = Permission {
        title: String::new(),
        tool: String::new(),
        pattern: String::new(),
        options: options.to_vec(),
    };
    decision(&asked, Outcome::Cancelled, Turn::Runs)
}

fn terminal(op: &TerminalOp, outcome: Outcome) -> Result<Value, ErrorObject> {
    match (op, outcome) {
        (TerminalOp::Create { .. }, Outcome::Terminal { terminal }) => {
            Ok(json!({ "terminalId": terminal }))
        }
        (
            TerminalOp::Output { .. },
            Outcome::Output {
                output,
                truncated,
                exit,
            },
        ) => {
            let mut said = json!({ "output": output, "truncated": truncated });
            if let (Some(exit), Some(said)) = (exit, said.as_object_mut()) {
                let status = json!({ "exitCode": exit.code, "signal": exit.signal });
                said.insert("exitStatus".to_owned(), status);
            }
            Ok(said)
        }
        (TerminalOp::Wait { .. }, Outcome::Output { exit, .. }) => {
            let exit = exit.unwrap_or_default();
            Ok(json!({ "exitCode": exit.code, "signal": exit.signal }))
        }
        (TerminalOp::Kill { .. } | TerminalOp::Release { .. }, Outcome::Done) => Ok(json!({})),
        _ => Err(error(
            INTERNAL_ERROR,
            "The client that controls the session has no terminals",
        )),
    }
}

fn elicited(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Accepted { content } => json!({ "action": "accept", "content": content }),
        Outcome::Declined => json!({ "action": "decline" }),
        _ => json!({ "action": "cancel" }),
    }
}

#[cfg(test)]
mod tests;

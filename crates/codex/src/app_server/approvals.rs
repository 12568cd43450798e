//! Questions of the agent, as requests to the client, and what its answers mean (codex.md B8).

use serde_json::{Map, Value, json};
use sessiond_protocol::{
    Answer, ClientFrame, Op, Outcome, Permission, PermissionKind, Queued, RequestBody,
    RequestFrame, RequestId, SessionId, TurnId,
};
use sessiond_wire::rpc::RawId;

use super::face::Face;
use super::policy::Decision;
use super::time::now_ms;
use crate::call::Shape;
use crate::sandbox::option;

/// A question that the client has.
#[derive(Debug)]
pub(super) struct Asked {
    request: RequestFrame,
}

/// What a client answered about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Accept,
    AcceptForSession,
    Decline,
    /// Decline, and stop the turn.
    Cancel,
}

impl Face {
    /// The agent asks. The sandbox decides what it holds; the client is asked about the rest where
    /// it wants to be.
    pub(super) fn ask(&mut self, request: RequestFrame) {
        let session = request.session;
        let Some(thread) = self.threads.get(&session) else {
            return self.reply(&request, Outcome::Unanswered);
        };
        let running = thread.running.as_ref();
        let call = request
            .item
            .and_then(|item| running.and_then(|running| running.calls.get(&item)));
        match &request.body {
            RequestBody::Permission(permission) => match thread.policy.decide(call) {
                Decision::Allow => {
                    let outcome = chosen(permission, Said::Accept);
                    self.reply(&request, outcome);
                }
                Decision::Decline => {
                    let outcome = chosen(permission, Said::Decline);
                    self.reply(&request, outcome);
                }
                Decision::Ask => {
                    let shape = call.map(Shape::of);
                    let (method, params) = approval(&request, permission, shape);
                    self.put(request, method, &params);
                }
            },
            RequestBody::Elicitation { message, schema } => {
                let params = user_input(&request, message, schema);
                self.put(request, "item/tool/requestUserInput", &params);
            }
            _ => self.reply(&request, Outcome::Unanswered),
        }
    }

    /// Asks the client. Its thread says that it waits, before.
    fn put(&mut self, request: RequestFrame, method: &str, params: &Value) {
        self.waits(&request, 1);
        self.tell_status(request.session);
        let id = self.client.ask(method, params);
        self.requests.insert(request.id, id);
        self.asked.insert(id, Asked { request });
    }

    /// One more question waits, or one less.
    fn waits(&mut self, request: &RequestFrame, by: isize) {
        let Some(running) = self.running(request.session) else {
            return;
        };
        let count = match request.body {
            RequestBody::Permission(_) => &mut running.approvals,
            _ => &mut running.inputs,
        };
        *count = count.saturating_add_signed(by);
    }

    /// The client answers a request of ours. A late answer, or one to nothing, changes nothing.
    pub(super) fn answered(&mut self, id: &RawId, result: Option<Value>) {
        let asked = id
            .number()
            .and_then(|id| Some((id, self.asked.remove(&id)?)));
        let Some((id, Asked { request })) = asked else {
            tracing::info!("an answer of the client is to nothing that is open");
            return;
        };
        self.requests.remove(&request.id);
        self.resolved(&request, id);
        let result = result.unwrap_or_default();
        match &request.body {
            RequestBody::Permission(permission) => {
                let said = decision(&result);
                let outcome = chosen(permission, said);
                self.reply(&request, outcome);
                if said == Said::Cancel {
                    self.stop(request.session, request.turn);
                }
            }
            RequestBody::Elicitation { schema, .. } => {
                let content = content(&result, schema);
                let outcome = content.map_or(Outcome::Declined, |content| Outcome::Accepted {
                    content: content.into(),
                });
                self.reply(&request, outcome);
            }
            _ => self.reply(&request, Outcome::Unanswered),
        }
    }

    /// The question is settled without the client.
    pub(super) fn withdraw(&mut self, request: RequestId) {
        let id = self.requests.remove(&request);
        let asked = id.and_then(|id| Some((id, self.asked.remove(&id)?)));
        if let Some((id, Asked { request })) = asked {
            self.resolved(&request, id);
        }
    }

    fn resolved(&mut self, request: &RequestFrame, id: i64) {
        let session = request.session;
        let params = json!({ "threadId": session, "requestId": id });
        self.tell(session, "serverRequest/resolved", &params);
        self.waits(request, -1);
        self.tell_status(session);
    }

    fn reply(&mut self, request: &RequestFrame, outcome: Outcome) {
        self.send(ClientFrame::Answer(Answer {
            request: request.id,
            digest: request.digest.clone(),
            outcome,
        }));
    }

    /// Stops a turn; what comes of it is told by its end.
    fn stop(&mut self, session: SessionId, turn: TurnId) {
        let op = Op::TurnInterrupt {
            turn: Some(turn),
            queued: Queued::Keep,
        };
        if self.submit(Some(session), op, |_, _| {}).is_err() {
            tracing::error!("an interrupt could not be submitted");
        }
    }
}

/// The request about a call.
fn approval(
    request: &RequestFrame,
    permission: &Permission,
    shape: Option<Shape>,
) -> (&'static str, Value) {
    let item = request.item.map(|item| item.to_string());
    let item = item.unwrap_or_else(|| request.id.to_string());
    let mut params = json!({
        "threadId": request.session, "turnId": request.turn, "itemId": item,
        "startedAtMs": now_ms(), "reason": permission.title,
    });
    match shape {
        Some(Shape::Change(_)) => ("item/fileChange/requestApproval", params),
        shape => {
            let (command, cwd) = match shape {
                Some(Shape::Command { command, cwd }) => (command, cwd),
                _ => (permission.pattern.clone(), None),
            };
            params["command"] = json!(command);
            params["cwd"] = json!(cwd);
            params["commandActions"] = json!([{ "type": "unknown", "command": command }]);
            let decisions = ["accept", "acceptForSession", "decline", "cancel"];
            params["availableDecisions"] = json!(decisions);
            ("item/commandExecution/requestApproval", params)
        }
    }
}

/// What an answer says. One that says nothing that is known lets nothing run.
fn decision(result: &Value) -> Said {
    match result.get("decision").and_then(Value::as_str) {
        Some("accept") => Said::Accept,
        Some("acceptForSession") => Said::AcceptForSession,
        Some("cancel") => Said::Cancel,
        _ => Said::Decline,
    }
}

/// The option that says so; the narrower one where the wider is not offered.
fn chosen(permission: &Permission, said: Said) -> Outcome {
    let kinds: &[PermissionKind] = match said {
        Said::Accept => &[PermissionKind::AllowOnce],
        Said::AcceptForSession => &[PermissionKind::AllowAlways, PermissionKind::AllowOnce],
        Said::Decline | Said::Cancel => &[PermissionKind::RejectOnce],
    };
    let option = kinds.iter().find_map(|kind| option(permission, *kind));
    option.map_or(Outcome::Cancelled, |option| Outcome::Selected { option })
}

/// The request for what the user is asked: a question for each property of the answer's schema.
fn user_input(request: &RequestFrame, message: &str, schema: &Value) -> Value {
    let item = request.item.map(|item| item.to_string());
    let questions: Vec<Value> = properties(schema)
        .map(|(id, property)| {
            let text = |name: &str| property.get(name).and_then(Value::as_str);
            let choices = property.get("enum").and_then(Value::as_array);
            let option = |label: &Value| json!({ "label": label, "description": "" });
            let options = choices.map(|choices| choices.iter().map(option).collect::<Vec<_>>());
            json!({
                "id": id, "header": text("title").unwrap_or(id), "question":
                    text("description").map_or_else(|| message.to_owned(), |more| format!("{message}\n{more}")),
                "isOther": options.is_none(), "isSecret": false, "options": options,
            })
        })
        .collect();
    json!({
        "threadId": request.session, "turnId": request.turn,
        "itemId": item.unwrap_or_else(|| request.id.to_string()),
        "questions": questions, "isBlocking": true,
    })
}

fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    properties.map(|(id, property)| (id.as_str(), property))
}

/// The answers in the shape that was asked for; none where nothing was answered.
fn content(result: &Value, schema: &Value) -> Option<Map<String, Value>> {
    let answers = result.get("answers")?.as_object()?;
    let mut content = Map::new();
    for (id, property) in properties(schema) {
        let given = answers
            .get(id)
            .and_then(|answer| answer.get("answers")?.as_array());
        let given = given.into_iter().flatten().filter_map(Value::as_str);
        if let Some(value) = typed(given.collect(), property) {
            content.insert(id.to_owned(), value);
        }
    }
    (!content.is_empty()).then_some(content)
}

/// Answers, which are texts, as a value of the asked type.
fn typed(given: Vec<&str>, property: &Value) -> Option<Value> {
    let first = given.first()?;
    Some(match property.get("type").and_then(Value::as_str) {
        Some("array") => json!(given),
        Some("boolean") => json!(matches!(*first, "true" | "yes" | "Yes" | "True")),
        Some("integer" | "number") => serde_json::from_str(first).unwrap_or_else(|_| json!(first)),
        _ => json!(first),
    })
}

#[cfg(test)]
mod tests;

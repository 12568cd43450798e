//! What Codex asks its client: what it is on the waist, and what is answered.

use serde_json::{Map, Value, json};
use sessiond_protocol::{
    Outcome, Permission, PermissionKind, PermissionOption, RequestBody, ToolCall,
};
use sessiond_wire::rpc::{ErrorObject, INVALID_PARAMS, METHOD_NOT_FOUND, error};

/// A request of Codex that can be asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    /// The item that it is about, by Codex's id.
    pub(super) item: String,
    /// What it asks for, where no item says it.
    pub(super) about: String,
    /// The server whose tool it is about, where no item is named.
    pub(super) server: Option<String>,
    /// Why, in its own words.
    pub(super) reason: Option<String>,
    /// The question.
    pub(super) question: Question,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Question {
    /// May this happen? The choices, each with the answer that it is.
    Permission(Vec<(PermissionOption, Value)>),
    /// Something of the user: the form, and the ids of the questions.
    Input(RequestBody, Vec<String>),
    /// Something of the user, for a server.
    Elicitation(RequestBody),
}

/// How the turn stands that a question belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Runs,
    Cancelled,
}

/// Reads a request.
///
/// # Errors
/// The error object to answer with where it cannot be asked.
pub(super) fn read(method: &str, params: &Value) -> Result<Asked, ErrorObject> {
    let text = |member: &str| params[member].as_str().map(str::to_owned);
    let malformed = || error(INVALID_PARAMS, "Invalid params");
    let (about, question) = match method {
        "item/commandExecution/requestApproval" => {
            let about = text("command").or_else(|| host(params));
            (about, Question::Permission(decisions(params)))
        }
        "item/fileChange/requestApproval" => {
            (text("grantRoot"), Question::Permission(decisions(params)))
        }
        "item/permissions/requestApproval" => {
            let asked = params.get("permissions").ok_or_else(malformed)?;
            (Some(asked.to_string()), Question::Permission(grants(asked)))
        }
        "item/tool/requestUserInput" => {
            let (body, ids) = input(params).ok_or_else(malformed)?;
            (None, Question::Input(body, ids))
        }
        "mcpServer/elicitation/request" if is_about_a_call(params) => {
            (text("message"), Question::Permission(calls_of_a_server()))
        }
        "mcpServer/elicitation/request" => {
            let body = elicitation(params).ok_or_else(malformed)?;
            (None, Question::Elicitation(body))
        }
        _ => return Err(error(METHOD_NOT_FOUND, "Method not found")),
    };
    let asks_user = matches!(question, Question::Elicitation(_));
    Ok(Asked {
        server: text("serverName").filter(|_| !asks_user),
        item: text("itemId").unwrap_or_default(),
        about: about.unwrap_or_default(),
        reason: text("reason").filter(|reason| !reason.is_empty()),
        question,
    })
}

impl Asked {
    /// The question on the waist; `call` is the call that it is about, where that is known.
    pub(super) fn body(&self, call: Option<&ToolCall>) -> RequestBody {
        let options = match &self.question {
            Question::Permission(options) => options,
            Question::Input(body, _) | Question::Elicitation(body) => return body.clone(),
        };
        let what = call.map_or(self.about.as_str(), |call| call.title.as_str());
        let title = match &self.reason {
            Some(reason) if what.is_empty() => reason.clone(),
            Some(reason) => format!("{what}: {reason}"),
            None => what.to_owned(),
        };
        let pattern = match self.about.as_str() {
            "" => what.to_owned(),
            about => about.to_owned(),
        };
        RequestBody::Permission(Permission {
            title,
            tool: call.map_or_else(|| "permissions".to_owned(), |call| call.name.clone()),
            pattern,
            options: options.iter().map(|(option, _)| option.clone()).collect(),
        })
    }

    /// What Codex is answered.
    pub(super) fn answer(&self, outcome: &Outcome, turn: Turn) -> Value {
        match &self.question {
            Question::Permission(options) => decided(options, outcome, turn),
            Question::Input(_, ids) => answers(ids, outcome),
            Question::Elicitation(_) => match outcome {
                Outcome::Accepted { content } => {
                    json!({ "action": "accept", "content": content })
                }
                Outcome::Declined => json!({ "action": "decline", "content": null }),
                _ => json!({ "action": "cancel", "content": null }),
            },
        }
    }

    /// What is answered where nobody can be asked.
    pub(super) fn unasked(&self) -> Value {
        self.answer(&Outcome::Cancelled, Turn::Runs)
    }
}

/// Whether an answer stops the turn, as Codex's user can.
pub(super) fn stops(answer: &Value) -> bool {
    answer["decision"] == "cancel"
}

fn option(id: &str, name: &str, kind: PermissionKind) -> PermissionOption {
    PermissionOption {
        id: id.to_owned(),
        name: name.to_owned(),
        kind,
    }
}

/// The decisions about a command or a change of files. Codex takes a refusal also where it does not
/// list one (codex.md B8).
fn decisions(params: &Value) -> Vec<(PermissionOption, Value)> {
    let listed = params["availableDecisions"].as_array().cloned();
    let mut listed = listed.unwrap_or_else(|| vec![json!("accept"), json!("acceptForSession")]);
    for refusal in ["decline", "cancel"] {
        listed.retain(|decision| decision != refusal);
        listed.push(json!(refusal));
    }
    listed.into_iter().filter_map(decision).collect()
}

fn decision(answer: Value) -> Option<(PermissionOption, Value)> {
    use PermissionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    let name = match &answer {
        Value::String(name) => name.as_str(),
        Value::Object(named) => named.keys().next()?.as_str(),
        _ => return None,
    };
    let amendment = &answer[name];
    let option = match name {
        "accept" => option(name, "Allow", AllowOnce),
        "acceptForSession" => option(name, "Allow for this session", AllowAlways),
        "acceptWithExecpolicyAmendment" => {
            let words = amendment["execpolicy_amendment"].as_array()?;
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            let label = format!("Always allow commands that begin with: {}", words.join(" "));
            option(name, &label, AllowAlways)
        }
        "applyNetworkPolicyAmendment" => {
            let amendment = &amendment["network_policy_amendment"];
            let host = amendment["host"].as_str()?;
            match amendment["action"].as_str()? {
                "allow" => option(
                    &format!("allow {host}"),
                    &format!("Always allow {host}"),
                    AllowAlways,
                ),
                _ => option(
                    &format!("deny {host}"),
                    &format!("Never allow {host}"),
                    RejectAlways,
                ),
            }
        }
        "decline" => option(name, "Reject", RejectOnce),
        "cancel" => option(name, "Reject and stop", RejectOnce),
        // One that is unknown here cannot be offered in words.
        _ => return None,
    };
    let answer = json!({ "decision": answer });
    Some((option, answer))
}

/// The answers to a request for more permissions: all of them, for a while, or none.
fn grants(asked: &Value) -> Vec<(PermissionOption, Value)> {
    let granted = |scope: &str| json!({ "permissions": asked, "scope": scope });
    let refused = json!({ "permissions": {}, "scope": "turn" });
    vec![
        (
            option("turn", "Allow for this turn", PermissionKind::AllowOnce),
            granted("turn"),
        ),
        (
            option(
                "session",
                "Allow for this session",
                PermissionKind::AllowAlways,
            ),
            granted("session"),
        ),
        (
            option("decline", "Reject", PermissionKind::RejectOnce),
            refused,
        ),
    ]
}

/// Whether what looks like a question of a server's is Codex's own: may a tool of it run?
fn is_about_a_call(params: &Value) -> bool {
    params["_meta"]["codex_approval_kind"] == "mcp_tool_call"
}

/// The answers to that.
fn calls_of_a_server() -> Vec<(PermissionOption, Value)> {
    let accepted = json!({ "action": "accept", "content": {} });
    let refused = json!({ "action": "decline", "content": null });
    vec![
        (
            option("accept", "Allow", PermissionKind::AllowOnce),
            accepted.clone(),
        ),
        (
            option(
                "session",
                "Allow for this session",
                PermissionKind::AllowAlways,
            ),
            accepted,
        ),
        (
            option("decline", "Reject", PermissionKind::RejectOnce),
            refused,
        ),
    ]
}

/// A question that nobody decided rejects this one thing; a turn that is being cancelled stops.
fn decided(options: &[(PermissionOption, Value)], outcome: &Outcome, turn: Turn) -> Value {
    let of = |id: &str| options.iter().find(|(option, _)| option.id == id);
    let chosen = match (outcome, turn) {
        (Outcome::Selected { option }, Turn::Runs) => of(option),
        (_, Turn::Runs) => of("decline"),
        (_, Turn::Cancelled) => of("cancel").or_else(|| of("decline")),
    };
    let refused = || json!({ "decision": "decline" });
    // What was not offered is a no, in the form that this question has.
    let chosen = chosen.or_else(|| of("decline"));
    chosen.map_or_else(refused, |(_, answer)| answer.clone())
}

fn host(params: &Value) -> Option<String> {
    params["networkApprovalContext"]["host"]
        .as_str()
        .map(str::to_owned)
}

/// The form for what Codex asks its user, a property a question.
fn input(params: &Value) -> Option<(RequestBody, Vec<String>)> {
    let questions = params["questions"].as_array()?;
    let (mut properties, mut ids, mut said) = (Map::new(), Vec::new(), Vec::new());
    for question in questions {
        let text = |member: &str| question[member].as_str();
        let (id, asked) = (text("id")?, text("question")?);
        let listed = question["options"].as_array().into_iter().flatten();
        let labels: Vec<&Value> = listed.map(|option| &option["label"]).collect();
        let mut property = json!({
            "type": "string", "title": text("header").unwrap_or(id), "description": asked,
        });
        // Another answer is as good where Codex says so.
        if !labels.is_empty() && question["isOther"] != true {
            property["enum"] = json!(labels);
        } else if !labels.is_empty() {
            let labels: Vec<&str> = labels.into_iter().filter_map(Value::as_str).collect();
            property["description"] = json!(format!("{asked} ({}, …)", labels.join(", ")));
        }
        properties.insert(id.to_owned(), property);
        ids.push(id.to_owned());
        said.push(asked);
    }
    let schema = json!({ "type": "object", "properties": properties, "required": ids });
    let message = said.join("\n");
    Some((RequestBody::Elicitation { message, schema }, ids))
}

fn answers(ids: &[String], outcome: &Outcome) -> Value {
    let mut answers = Map::new();
    if let Outcome::Accepted { content } = outcome {
        for id in ids {
            let given: Vec<String> = match &content[id] {
                Value::Null => continue,
                Value::String(text) => vec![text.clone()],
                Value::Array(list) => list
                    .iter()
                    .map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned))
                    .collect(),
                other => vec![other.to_string()],
            };
            answers.insert(id.clone(), json!({ "answers": given }));
        }
    }
    json!({ "answers": answers })
}

fn elicitation(params: &Value) -> Option<RequestBody> {
    let text = |member: &str| params[member].as_str().map(str::to_owned);
    let message = text("message")?;
    match text("mode").as_deref() {
        Some("url") => Some(RequestBody::ElicitationUrl {
            message,
            url: text("url")?,
            elicitation: text("elicitationId")?,
        }),
        Some("form") | None => Some(RequestBody::Elicitation {
            message,
            schema: params.get("requestedSchema")?.clone(),
        }),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests;

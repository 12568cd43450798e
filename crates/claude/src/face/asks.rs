//! What the agent asks through the face: permissions and calls of servers that live in the program.

use serde_json::{Map, Value, json};
use sessiond_protocol::{
    Outcome, Permission, PermissionKind, RequestBody, RequestFrame, RequestId, WireError,
};
use uuid::Uuid;

use super::arguments::Asked as Whom;
use super::open::{Asked, Question};
use super::outside::Outside;
use super::rules::Verdict;
use super::serve::{Face, Input};
use super::tools::Shown;
use super::turn::Stopped;
use crate::control;
use crate::likeness::back;

/// How a question for permission was answered.
#[derive(Debug, Clone, PartialEq)]
enum Decision {
    /// It may run; with this input, where the program gave one.
    Allow(Option<Value>),
    /// It may not, for this reason; and the turn is to stop.
    Deny { reason: String, stop: bool },
}

impl Face {
    /// Takes up what the agent asks.
    pub(super) async fn asked(&mut self, request: RequestFrame) -> Result<(), WireError> {
        match &request.body {
            RequestBody::Permission(_) => self.ask_permission(request).await,
            RequestBody::Elicitation { .. } | RequestBody::ElicitationUrl { .. } => {
                self.ask_user(request).await
            }
            RequestBody::Mcp { .. } => self.ask_server(request).await,
            RequestBody::Hook(_) => self.ask_hooks(request).await,
            // Nothing else was said to be answered.
            _ => self.engine.answer(&request, Outcome::Unanswered).await,
        }
    }

    /// Rules and mode first, then whoever is asked; nobody is a no.
    async fn ask_permission(&mut self, request: RequestFrame) -> Result<(), WireError> {
        let shown = self.shown(&request);
        let opinion = request.item.and_then(|item| self.opinions.remove(&item));
        let verdict = match opinion {
            _ if self.rules.deny_call(&shown) => Verdict::Deny,
            Some(opinion) => opinion,
            None => self.rules.verdict(self.mode, &shown),
        };
        let question = Question { request, shown };
        match verdict {
            Verdict::Allow => self.settle(question, Decision::Allow(None)).await,
            Verdict::Deny => {
                let reason = format!(
                    "{} is not allowed by its rules and mode",
                    question.shown.name
                );
                self.refuse(question, reason).await
            }
            Verdict::Ask => match self.options.arguments.asked.clone() {
                Some(Whom::Tool { server, tool }) if self.servers.is_given(&server) => {
                    self.ask_outside((&server, &tool), question).await
                }
                _ if self.input == Input::Ended => {
                    let reason = "nobody can be asked: the input has ended".to_owned();
                    self.refuse(question, reason).await
                }
                Some(Whom::Program) => {
                    self.ask_program(question);
                    Ok(())
                }
                Some(Whom::Tool { server, tool }) if self.servers.is_known(&server) => {
                    self.ask_tool((&server, &tool), question);
                    Ok(())
                }
                Some(Whom::Tool { server, .. }) => {
                    let reason = format!("the server {server}, which decides, is not configured");
                    self.refuse(question, reason).await
                }
                None => {
                    let reason =
                        "nobody can be asked: --permission-prompt-tool names no one".to_owned();
                    self.refuse(question, reason).await
                }
            },
        }
    }

    fn ask_program(&mut self, question: Question) {
        let Question { request, shown } = &question;
        let mut asked = json!({
            "subtype": "can_use_tool",
            "tool_name": shown.name,
            "display_name": shown.name,
            "input": shown.input,
            "tool_use_id": shown.id,
            "permission_suggestions": suggestions(request, shown),
        });
        if let (RequestBody::Permission(permission), Some(asked)) =
            (&request.body, asked.as_object_mut())
        {
            asked.insert("description".to_owned(), permission.title.clone().into());
        }
        let (of, shown) = (request.id, shown.clone());
        self.out.state("requires_action");
        let id = self.asks.open(Asked::Permission(question));
        self.out.control(control::request(&id, asked));
        self.permission_hooks(of, &shown);
    }

    /// Asks a tool outside of the program: whether that still has something to say does not count.
    async fn ask_outside(
        &mut self,
        tool: (&str, &str),
        question: Question,
    ) -> Result<(), WireError> {
        let id = Uuid::now_v7().to_string();
        let (servers, cwd) = (&self.servers, &self.options.cwd);
        let outside = self
            .outside
            .get_or_insert_with(|| Outside::new(servers.given().to_vec(), cwd.as_ref()));
        let arguments = asked_of_tool(&question.shown);
        match outside.ask(&id, tool, arguments) {
            Ok(waits) => {
                self.out.state("requires_action");
                let asked = Asked::PermissionOutside {
                    question,
                    _waits: waits,
                };
                self.asks.open.insert(id, asked);
                Ok(())
            }
            Err(reason) => self.refuse(question, reason).await,
        }
    }

    fn ask_tool(&mut self, (server, tool): (&str, &str), question: Question) {
        let arguments = asked_of_tool(&question.shown);
        let params = json!({ "name": tool, "arguments": arguments });
        let asked = Asked::PermissionTool(question);
        self.ask_mcp(server, ("tools/call", &params), asked);
    }

    /// The program has answered a question for permission.
    pub(super) async fn permission_answered(
        &mut self,
        question: Question,
        answer: Result<Value, String>,
    ) -> Result<(), WireError> {
        self.take_back(question.request.id);
        self.out.state("running");
        let answer = answer.map_err(|error| format!("asking for permission failed: {error}"));
        self.take_rules(answer.as_ref().ok());
        let decision = decision(answer, &question.shown);
        self.settle(question, decision).await
    }

    /// A tool of a server was asked for permission: its text is the answer.
    pub(super) async fn tool_answered(
        &mut self,
        question: Question,
        answer: Result<Value, String>,
    ) -> Result<(), WireError> {
        let text = answer.and_then(|answer| {
            let text = answer.pointer("/mcp_response/result/content/0/text");
            let text = text
                .and_then(Value::as_str)
                .ok_or("its answer has no text")?;
            serde_json::from_str(text).map_err(|_| "its answer is not JSON".to_owned())
        });
        self.permission_answered(question, text).await
    }

    /// A hook was asked beside the program whether a tool may run; it may decide.
    pub(super) async fn permission_hook_answered(
        &mut self,
        request: RequestId,
        answer: Result<Value, String>,
    ) -> Result<(), WireError> {
        let decision = answer.ok();
        let decision = decision
            .as_ref()
            .and_then(|answer| answer.pointer("/hookSpecificOutput/decision"));
        let Some(decision) = decision.filter(|decision| decision.get("behavior").is_some()) else {
            return Ok(());
        };
        let ids = self.asks.open.iter().find_map(|(id, asked)| match asked {
            Asked::Permission(question) if question.request.id == request => Some(id.clone()),
            _ => None,
        });
        let Some(Asked::Permission(question)) = ids.as_ref().and_then(|id| self.asks.take(id))
        else {
            return Ok(());
        };
        ids.iter()
            .for_each(|id| self.out.control(control::cancel(id)));
        self.permission_answered(question, Ok(decision.clone()))
            .await
    }

    /// Takes up the rules and the mode that an answer brings for the rest of the session.
    fn take_rules(&mut self, answer: Option<&Value>) {
        let updates = answer.and_then(|answer| answer.get("updatedPermissions")?.as_array());
        for update in updates.into_iter().flatten() {
            let member = |name: &str| update.get(name).and_then(Value::as_str);
            match member("type") {
                Some("addRules") => {
                    let rules = update.get("rules").and_then(Value::as_array);
                    for rule in rules.into_iter().flatten().filter_map(rule_text) {
                        match member("behavior") {
                            Some("allow") => self.rules.allow(&rule),
                            Some("deny") => self.rules.deny(&rule),
                            _ => {}
                        }
                    }
                }
                Some("setMode") => {
                    if let Some(mode) = member("mode").and_then(|mode| mode.parse().ok()) {
                        self.mode = mode;
                        self.tell_mode();
                    }
                }
                _ => {}
            }
        }
    }

    /// Answers a question that nobody was asked with no, and says so.
    async fn refuse(&mut self, question: Question, reason: String) -> Result<(), WireError> {
        let members = json!({ "tool_name": question.shown.name,
            "tool_use_id": question.shown.id, "message": reason });
        self.out.system("permission_denied", members);
        let stop = false;
        self.settle(question, Decision::Deny { reason, stop }).await
    }

    /// Gives the engine the answer. An input that is as it was shown is none of its own.
    async fn settle(&mut self, question: Question, decision: Decision) -> Result<(), WireError> {
        let Question { request, shown } = question;
        let (outcome, stop) = match decision {
            Decision::Allow(input) => {
                let input = input.filter(|input| *input != shown.input);
                (self.allowance(&request, input), false)
            }
            Decision::Deny { reason, stop } => {
                if let Some(turn) = &mut self.turn {
                    turn.denied(&shown);
                }
                (Outcome::Denied { reason }, stop)
            }
        };
        self.engine.answer(&request, outcome).await?;
        if stop {
            self.stop_turn(Stopped::Interrupted).await?;
        }
        Ok(())
    }

    fn allowance(&self, request: &RequestFrame, input: Option<Value>) -> Outcome {
        let call = request.item.and_then(|item| self.turn.as_ref()?.call(item));
        match (input, call, &request.body) {
            (Some(changed), Some((call, _)), _) => Outcome::Changed {
                input: back(call, &changed),
            },
            (None, _, RequestBody::Permission(permission)) => allowed(permission),
            // There is no call whose input could be another one.
            _ => Outcome::Cancelled,
        }
    }

    /// The call that a question is about, as the program knows it; what is asked, where it is about
    /// none.
    pub(super) fn shown(&mut self, request: &RequestFrame) -> Shown {
        if let (Some(turn), Some(item)) = (&mut self.turn, request.item) {
            turn.tell_call(&self.out, item);
            if let Some((_, shown)) = turn.call(item) {
                return shown.clone();
            }
        }
        let (name, input) = match &request.body {
            RequestBody::Permission(asked) => {
                (asked.tool.clone(), json!({ "pattern": asked.pattern }))
            }
            _ => ("Tool".to_owned(), json!({})),
        };
        let id = request.id.to_string();
        Shown { id, name, input }
    }

    /// Takes back whatever was asked for a request of the engine.
    pub(super) fn take_back(&mut self, request: RequestId) {
        for id in self.asks.take_of(request) {
            self.out.control(control::cancel(&id));
        }
        self.asks.runs.remove(&request);
    }

    /// Nobody answers any more: what is open gets its definite no, at once (claude.md 0.5).
    pub(super) async fn fail_closed(&mut self) -> Result<(), WireError> {
        for (_, asked) in self.asks.take_all() {
            let closed = || Err("the program's input has ended".to_owned());
            self.answered_by(asked, closed()).await?;
        }
        for request in self.servers.give_up() {
            let message = "the program's input has ended".to_owned();
            self.engine
                .answer(&request, Outcome::Failed { message })
                .await?;
        }
        Ok(())
    }

    /// Takes up an answer to what was asked.
    pub(super) async fn answered_by(
        &mut self,
        asked: Asked,
        answer: Result<Value, String>,
    ) -> Result<(), WireError> {
        match asked {
            Asked::Permission(question) => self.permission_answered(question, answer).await,
            Asked::PermissionTool(question) | Asked::PermissionOutside { question, .. } => {
                self.tool_answered(question, answer).await
            }
            Asked::Elicitation(request) => self.user_answered(&request, answer).await,
            Asked::UserQuestion(question) => self.question_answered(question, answer).await,
            Asked::PermissionHook(request) => self.permission_hook_answered(request, answer).await,
            Asked::Hook(request) => self.hook_answered(request, answer).await,
            Asked::Mcp(request) => self.server_answered(&request, answer).await,
            Asked::Greeting(server) => self.greeted(&server, answer).await,
            Asked::Listing(server) => self.listed(&server, answer).await,
            Asked::Told => Ok(()),
        }
    }
}

/// What a tool that decides is given.
fn asked_of_tool(shown: &Shown) -> Map<String, Value> {
    let Shown { id, name, input } = shown;
    let members = [
        ("tool_name", Value::from(name.as_str())),
        ("input", input.clone()),
        ("tool_use_id", Value::from(id.as_str())),
    ];
    members
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// What an answer means. Nothing but a clear yes allows.
fn decision(answer: Result<Value, String>, shown: &Shown) -> Decision {
    let deny = |reason: String| Decision::Deny {
        reason,
        stop: false,
    };
    let answer = match answer {
        Ok(answer) => answer,
        Err(reason) => return deny(reason),
    };
    let text = |name: &str| answer.get(name).and_then(Value::as_str);
    match text("behavior") {
        Some("allow") => {
            let input = answer.get("updatedInput").filter(|input| input.is_object());
            Decision::Allow(input.cloned())
        }
        Some("deny") => Decision::Deny {
            reason: text("message")
                .filter(|message| !message.is_empty())
                .map_or_else(|| format!("{} was not allowed", shown.name), str::to_owned),
            stop: answer.get("interrupt") == Some(&Value::Bool(true)),
        },
        _ => deny("the answer to the permission question is malformed".to_owned()),
    }
}

/// The most modest yes on offer.
fn allowed(permission: &Permission) -> Outcome {
    let kinds = [PermissionKind::AllowOnce, PermissionKind::AllowAlways];
    let mut options = kinds.iter().filter_map(|kind| {
        let mut options = permission.options.iter();
        options.find(|option| option.kind == *kind)
    });
    options
        .next()
        .map_or(Outcome::Cancelled, |option| Outcome::Selected {
            option: option.id.clone(),
        })
}

/// The rule that a program may add to be asked no more.
fn suggestions(request: &RequestFrame, shown: &Shown) -> Value {
    let content = match shown.name.as_str() {
        "Bash" => shown.input.get("command").cloned(),
        _ => None,
    };
    let mut rule = json!({ "toolName": shown.name });
    if let (Some(content), Some(rule)) = (content, rule.as_object_mut()) {
        rule.insert("ruleContent".to_owned(), content);
    }
    let is_permission = matches!(request.body, RequestBody::Permission(_));
    let suggestion = json!({ "type": "addRules", "rules": [rule], "behavior": "allow",
        "destination": "session" });
    Value::Array(is_permission.then_some(suggestion).into_iter().collect())
}

/// A rule of an answer as the command line would have it.
fn rule_text(rule: &Value) -> Option<String> {
    let tool = rule.get("toolName")?.as_str()?;
    Some(match rule.get("ruleContent").and_then(Value::as_str) {
        Some(content) if !content.is_empty() => format!("{tool}({content})"),
        _ => tool.to_owned(),
    })
}

//! Hooks of the program: which it registered, what they are asked, what their answers mean.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Value, json};
use sessiond_protocol::{
    Content, Hook, ItemId, Outcome, RequestBody, RequestFrame, RequestId, ToolStatus, WireError,
};
use uuid::Uuid;

use super::open::Asked;
use super::rules::Verdict;
use super::serve::{Face, Input};
use super::tools::{self, Shown};
use super::turn::Stopped;
use crate::control;
use crate::likeness::back;

/// The hooks that a program registered, by event.
#[derive(Debug, Default)]
pub(super) struct Hooks {
    events: BTreeMap<String, Vec<Matcher>>,
}

/// Callbacks, and the tools that they are for.
#[derive(Debug)]
struct Matcher {
    /// None: for all.
    tools: Option<Regex>,
    callbacks: Vec<String>,
}

impl Hooks {
    /// Reads what `initialize` registers; nothing where that is null.
    pub(super) fn read(hooks: Option<&Value>) -> Self {
        let events = hooks.and_then(Value::as_object).into_iter().flatten();
        let matchers = |list: &Value| {
            let list = list.as_array().into_iter().flatten();
            list.filter_map(Matcher::read).collect::<Vec<_>>()
        };
        let events = events.map(|(event, list)| (event.clone(), matchers(list)));
        Self {
            events: events.filter(|(_, list)| !list.is_empty()).collect(),
        }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The callbacks of an event, about a tool where it is about one.
    fn of(&self, event: &str, tool: Option<&str>) -> Vec<String> {
        let matches = |matcher: &&Matcher| match (&matcher.tools, tool) {
            (Some(pattern), Some(tool)) => pattern.is_match(tool),
            _ => true,
        };
        let matchers = self.events.get(event).into_iter().flatten();
        let callbacks = matchers.filter(matches).flat_map(|it| &it.callbacks);
        callbacks.cloned().collect()
    }
}

impl Matcher {
    fn read(value: &Value) -> Option<Self> {
        let callbacks = value.get("hookCallbackIds")?.as_array()?;
        let callbacks = callbacks
            .iter()
            .filter_map(|id| id.as_str().map(str::to_owned));
        let tools = match value.get("matcher").and_then(Value::as_str) {
            None | Some("" | "*") => None,
            // One that is no pattern is for nothing else than a tool of exactly this name.
            Some(pattern) => Some(
                Regex::new(&format!("^(?:{pattern})$"))
                    .or_else(|_| Regex::new(&format!("^{}$", regex::escape(pattern))))
                    .ok()?,
            ),
        };
        Some(Self {
            tools,
            callbacks: callbacks.collect(),
        })
    }
}

/// Hooks of one point of a turn that run, together.
#[derive(Debug)]
pub(super) struct Run {
    request: RequestFrame,
    event: &'static str,
    shown: Option<Shown>,
    waiting: usize,
    answers: Vec<Result<Value, String>>,
}

impl Face {
    /// A point of a turn where the program may have a say: rules that deny come first, then its
    /// hooks.
    pub(super) async fn ask_hooks(&mut self, request: RequestFrame) -> Result<(), WireError> {
        let RequestBody::Hook(hook) = &request.body else {
            return Ok(());
        };
        let shown = self.hooked_call(&request, hook);
        let denied = |shown: &Shown| self.rules.deny_call(shown);
        if matches!(hook, Hook::BeforeTool { .. }) && shown.as_ref().is_some_and(denied) {
            return self.deny_by_rule(&request, shown).await;
        }
        let event = match hook {
            Hook::Prompt { .. } => "UserPromptSubmit",
            Hook::BeforeTool { .. } => "PreToolUse",
            Hook::AfterTool { call } if call.status == ToolStatus::Completed => "PostToolUse",
            Hook::AfterTool { .. } => "PostToolUseFailure",
            Hook::Stop { .. } => "Stop",
        };
        if let Some(problem) = self.stop_problem(hook) {
            return self
                .engine
                .answer(&request, Outcome::Denied { reason: problem })
                .await;
        }
        let callbacks = self
            .hooks
            .of(event, shown.as_ref().map(|shown| &*shown.name));
        if callbacks.is_empty() {
            return self.engine.answer(&request, Outcome::Passed).await;
        }
        if self.input == Input::Ended {
            let outcome = unreachable(hook);
            if let (Outcome::Denied { .. }, Some(turn), Some(shown)) =
                (&outcome, &mut self.turn, &shown)
            {
                turn.denied(shown);
            }
            return self.engine.answer(&request, outcome).await;
        }
        let input = self.hook_input(hook, event, shown.as_ref());
        let about = shown.as_ref().map(|shown| shown.id.clone());
        let run = Run {
            event,
            shown,
            waiting: callbacks.len(),
            answers: Vec::new(),
            request: request.clone(),
        };
        self.asks.runs.insert(request.id, run);
        for callback in callbacks {
            self.call_hook(
                Asked::Hook(request.id),
                (&callback, about.as_deref()),
                &input,
            );
        }
        self.tell_hook("hook_started", event, json!({}));
        Ok(())
    }

    /// The hooks that are asked beside the program whether a tool may run.
    pub(super) fn permission_hooks(&mut self, request: RequestId, shown: &Shown) {
        let event = "PermissionRequest";
        let callbacks = self.hooks.of(event, Some(&shown.name));
        if callbacks.is_empty() {
            return;
        }
        let mut input = self.common_input(event);
        input.insert("tool_name".to_owned(), shown.name.clone().into());
        input.insert("tool_input".to_owned(), shown.input.clone());
        let input = Value::Object(input);
        for callback in callbacks {
            let asked = Asked::PermissionHook(request);
            self.call_hook(asked, (&callback, Some(&shown.id)), &input);
        }
    }

    fn call_hook(&mut self, asked: Asked, (callback, about): (&str, Option<&str>), input: &Value) {
        let id = self.asks.open(asked);
        let about = about.map_or_else(|| Uuid::now_v7().to_string(), str::to_owned);
        let asked = json!({ "subtype": "hook_callback", "callback_id": callback,
            "input": input, "tool_use_id": about });
        self.out.control(control::request(&id, asked));
    }

    /// A hook has answered; the last one of a run decides.
    pub(super) async fn hook_answered(
        &mut self,
        request: RequestId,
        answer: Result<Value, String>,
    ) -> Result<(), WireError> {
        let Some(run) = self.asks.runs.get_mut(&request) else {
            return Ok(());
        };
        run.answers.push(answer);
        run.waiting = run.waiting.saturating_sub(1);
        if run.waiting > 0 {
            return Ok(());
        }
        let Some(run) = self.asks.runs.remove(&request) else {
            return Ok(());
        };
        self.tell_hook("hook_response", run.event, json!({ "outcome": "success" }));
        let word = Word::of(&run);
        if let (Some(opinion), Some(item)) = (word.opinion, run.request.item) {
            self.opinions.insert(item, opinion);
        }
        let stop = word.stop.clone();
        let outcome = self.outcome(&run, word);
        self.engine.answer(&run.request, outcome).await?;
        match stop {
            Some(reason) => self.stop_turn(Stopped::Hook(reason)).await,
            None => Ok(()),
        }
    }

    /// What the answers of a run mean for the engine.
    fn outcome(&mut self, run: &Run, word: Word) -> Outcome {
        let RequestBody::Hook(hook) = &run.request.body else {
            return Outcome::Passed;
        };
        match (hook, word.denied, word.input) {
            (Hook::BeforeTool { .. }, Some(reason), _) => {
                if let (Some(turn), Some(shown)) = (&mut self.turn, &run.shown) {
                    turn.denied(shown);
                }
                Outcome::Denied { reason }
            }
            (Hook::BeforeTool { call }, None, Some(changed)) => Outcome::Changed {
                input: back(call, &changed),
            },
            (Hook::Prompt { .. }, Some(reason), _) => {
                if let Some(turn) = &mut self.turn {
                    turn.stop(Stopped::Hook(reason.clone()));
                }
                Outcome::Denied { reason }
            }
            (Hook::Prompt { input }, None, _) if !word.context.is_empty() => {
                let mut content = input.clone();
                content.extend(word.context.into_iter().map(Content::text));
                serde_json::to_value(content)
                    .map_or(Outcome::Passed, |input| Outcome::Changed { input })
            }
            (Hook::AfterTool { .. }, denied, _) => {
                let words: Vec<String> = denied.into_iter().chain(word.context).collect();
                match words.is_empty() {
                    true => Outcome::Passed,
                    false => Outcome::Denied {
                        reason: words.join("\n"),
                    },
                }
            }
            (Hook::Stop { .. }, Some(reason), _) if word.stop.is_none() => {
                Outcome::Denied { reason }
            }
            _ => Outcome::Passed,
        }
    }

    /// The call that a hook is about, as the program knows it.
    fn hooked_call(&mut self, request: &RequestFrame, hook: &Hook) -> Option<Shown> {
        let (Hook::BeforeTool { call } | Hook::AfterTool { call }) = hook else {
            return None;
        };
        let item = request
            .item
            .unwrap_or_else(|| ItemId::new(request.id.uuid()));
        let turn = self.turn.as_mut()?;
        turn.tell_call(&self.out, item);
        let known = turn.call(item).map(|(_, shown)| shown.clone());
        known
            .or_else(|| self.ended.get(&item).cloned())
            .or_else(|| Some(tools::shown(item, call, true)))
    }

    async fn deny_by_rule(
        &mut self,
        request: &RequestFrame,
        shown: Option<Shown>,
    ) -> Result<(), WireError> {
        let Some(shown) = shown else { return Ok(()) };
        if let Some(turn) = &mut self.turn {
            turn.denied(&shown);
        }
        let reason = format!("{} is not allowed by a rule", shown.name);
        let members = json!({ "tool_name": shown.name, "tool_use_id": shown.id,
            "message": reason });
        self.out.system("permission_denied", members);
        self.engine
            .answer(request, Outcome::Denied { reason })
            .await
    }

    fn common_input(&self, event: &str) -> Map<String, Value> {
        let mut input = Map::new();
        let mut put = |name: &str, value: Value| input.insert(name.to_owned(), value);
        put("session_id", self.out.session.to_string().into());
        put("transcript_path", self.transcript().into());
        put("cwd", self.options.cwd.clone().into());
        put("permission_mode", self.mode.name().into());
        put("hook_event_name", event.into());
        if let Some(turn) = &self.turn {
            put("prompt_id", turn.id.to_string().into());
        }
        input
    }

    fn hook_input(&self, hook: &Hook, event: &str, shown: Option<&Shown>) -> Value {
        let mut input = self.common_input(event);
        let mut put = |name: &str, value: Value| input.insert(name.to_owned(), value);
        if let Some(shown) = shown {
            put("tool_name", shown.name.clone().into());
            put("tool_input", shown.input.clone());
            put("tool_use_id", shown.id.clone().into());
        }
        match hook {
            Hook::Prompt { input: said } => {
                let texts: Vec<&str> = said.iter().filter_map(Content::as_text).collect();
                put("prompt", texts.join("\n").into());
            }
            Hook::AfterTool { call } => {
                let name = shown.map_or("", |shown| &shown.name);
                let outcome = tools::outcome(name, call);
                match event {
                    "PostToolUse" => put("tool_response", outcome.result),
                    _ => put("error", outcome.text.into()),
                };
            }
            Hook::Stop { continued, .. } => {
                put("stop_hook_active", (*continued > 0).into());
                let said = self.turn.as_ref().map(|turn| turn.said.clone());
                put("last_assistant_message", said.unwrap_or_default().into());
            }
            Hook::BeforeTool { .. } => {}
        }
        Value::Object(input)
    }

    /// Shows a hook, where that is wanted.
    fn tell_hook(&self, subtype: &str, event: &str, mut members: Value) {
        if !self.options.arguments.hook_events {
            return;
        }
        if let Some(members) = members.as_object_mut() {
            members.insert("hook_event".to_owned(), event.into());
            members.insert("hook_name".to_owned(), event.into());
            members.insert("hook_id".to_owned(), Uuid::now_v7().to_string().into());
        }
        self.out.system(subtype, members);
    }
}

/// What hooks that cannot be asked any more mean: nothing runs that they might have forbidden.
fn unreachable(hook: &Hook) -> Outcome {
    let reason = "a hook of the program cannot be asked: its input has ended".to_owned();
    match hook {
        Hook::Prompt { .. } | Hook::BeforeTool { .. } => Outcome::Denied { reason },
        Hook::AfterTool { .. } | Hook::Stop { .. } => Outcome::Passed,
    }
}

/// What the answers of a run say, together.
#[derive(Debug, Default, PartialEq)]
struct Word {
    /// It shall not be, for this reason.
    denied: Option<String>,
    /// It shall be with this input.
    input: Option<Value>,
    /// More for the agent to know.
    context: Vec<String>,
    /// What a question for permission is answered with later.
    opinion: Option<Verdict>,
    /// The turn shall end, for this reason.
    stop: Option<String>,
}

impl Word {
    fn of(run: &Run) -> Self {
        let mut word = Word::default();
        for answer in &run.answers {
            match answer {
                Ok(answer) => word.take(answer),
                // A hook that failed forbids what it might have forbidden.
                Err(error) if matches!(run.event, "PreToolUse" | "UserPromptSubmit") => {
                    word.denied = Some(format!("a hook failed: {error}"));
                }
                Err(_) => {}
            }
        }
        word
    }

    fn take(&mut self, answer: &Value) {
        let text = |name: &str| {
            answer
                .pointer(name)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let specific = |name: &str| text(&format!("/hookSpecificOutput/{name}"));
        let reason = || {
            let said = specific("permissionDecisionReason").or_else(|| text("/reason"));
            said.unwrap_or_else(|| "a hook said no".to_owned())
        };
        let decision = specific("permissionDecision").or_else(|| text("/decision"));
        match decision.as_deref() {
            Some("deny" | "block") => self.denied = Some(reason()),
            Some("ask") => self.opinion = Some(Verdict::Ask),
            Some("allow" | "approve") if self.opinion.is_none() => {
                self.opinion = Some(Verdict::Allow);
            }
            _ => {}
        }
        let input = answer.pointer("/hookSpecificOutput/updatedInput");
        if let Some(input) = input.filter(|input| input.is_object()) {
            self.input = Some(input.clone());
        }
        self.context.extend(specific("additionalContext"));
        if answer.get("continue") == Some(&Value::Bool(false)) {
            let reason = text("/stopReason").unwrap_or_else(|| "a hook ended the turn".to_owned());
            self.stop = Some(reason);
        }
    }
}

#[cfg(test)]
mod tests;

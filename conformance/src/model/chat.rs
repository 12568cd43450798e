//! OpenAI Chat Completions.

use serde_json::{Value, json};

use super::ask::{Ask, Delivery, tokens, written};
use super::plan::{Answer, Part};
use super::reply::{Events, Kind, Reply};
use super::tool::{Form, Offer};

/// What a request asks.
pub(crate) fn ask(body: &Value, size: usize) -> Ask {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let mut prompt = String::new();
    let (mut rounds, mut results) = (0, Vec::new());
    for message in messages {
        match message["role"].as_str().unwrap_or_default() {
            "user" => {
                let said = written(texts(&message["content"]));
                if !said.is_empty() {
                    (prompt, rounds, results) = (said, 0, Vec::new());
                }
            }
            "assistant" if message["tool_calls"].is_array() => {
                rounds += 1;
                results = Vec::new();
            }
            "tool" => results.push(texts(&message["content"]).concat()),
            _ => {}
        }
    }
    let tools = body["tools"].as_array().map_or(&[][..], Vec::as_slice);
    let offer = |tool: &Value| {
        let name = tool["function"]["name"].as_str()?.to_owned();
        let form = Form::Json;
        Some(Offer { name, form })
    };
    Ask {
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        prompt,
        rounds,
        results,
        tools: tools.iter().filter_map(offer).collect(),
        size,
        delivery: Delivery::of(body),
    }
}

fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => Vec::new(),
    }
}

/// The reply to a request; `body` says whether a stream ends with its usage.
pub(crate) fn reply(number: u64, body: &Value, ask: &Ask, answer: &Answer) -> Reply {
    let stop = if answer.calls() { "tool_calls" } else { "stop" };
    let (input, output) = (tokens(ask.size), answer.tokens());
    let usage = json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
    });
    let envelope = |object: &str, choices: Value, usage: &Value| {
        json!({
            "id": format!("chatcmpl_{number}"),
            "object": object,
            "created": 0,
            "model": ask.model,
            "choices": choices,
            "usage": usage,
        })
    };
    if ask.delivery == Delivery::Whole {
        let message = message(number, answer);
        let choices = json!([{"index": 0, "message": message, "finish_reason": stop}]);
        return Reply::whole(200, &envelope("chat.completion", choices, &usage));
    }
    let mut events = Events::default();
    let mut chunk = |kind, delta: Value, stop: Option<&str>| {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": stop}]);
        let chunk = envelope("chat.completion.chunk", choices, &Value::Null);
        events.data(kind, chunk);
    };
    let begun = json!({"role": "assistant", "content": ""});
    chunk(Kind::Frame, begun, None);
    let mut calls = 0;
    for part in &answer.parts {
        match part {
            Part::Thought(text) => chunk(Kind::Delta, json!({"reasoning_content": text}), None),
            Part::Text(pieces) => {
                for piece in pieces {
                    chunk(Kind::Delta, json!({"content": piece}), None);
                }
            }
            Part::Call(call) => {
                let mut whole = tool_call(number, calls, &call.name, &call.input);
                whole["index"] = calls.into();
                calls += 1;
                chunk(Kind::Delta, json!({"tool_calls": [whole]}), None);
            }
        }
    }
    chunk(Kind::Frame, json!({}), Some(stop));
    if body["stream_options"]["include_usage"] == true {
        let last = envelope("chat.completion.chunk", json!([]), &usage);
        events.data(Kind::Frame, last);
    }
    events.data(Kind::Frame, "[DONE]");
    Reply::stream(events, answer.pace, answer.ending)
}

fn message(number: u64, answer: &Answer) -> Value {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for part in &answer.parts {
        match part {
            // Only streams have a member for it.
            Part::Thought(_) => {}
            Part::Text(pieces) => text.push_str(&pieces.concat()),
            Part::Call(call) => {
                calls.push(tool_call(number, calls.len(), &call.name, &call.input));
            }
        }
    }
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn tool_call(number: u64, index: usize, name: &str, input: &Value) -> Value {
    json!({
        "id": format!("call_{number}_{index}"),
        "type": "function",
        "function": {"name": name, "arguments": input.to_string()},
    })
}

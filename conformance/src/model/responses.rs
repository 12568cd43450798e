//! OpenAI Responses.

use serde_json::{Value, json};

use super::ask::{Ask, Delivery, tokens, written};
use super::plan::{Answer, Part};
use super::reply::{Events, Kind, Reply};
use super::tool::{Call, Form, Offer};

/// What a request asks.
pub(crate) fn ask(body: &Value, size: usize) -> Ask {
    let said;
    let items = match &body["input"] {
        Value::Array(items) => items.as_slice(),
        Value::String(text) => {
            said = [json!({"role": "user", "content": text})];
            &said
        }
        _ => &[],
    };
    let mut prompt = String::new();
    let (mut rounds, mut results) = (0, Vec::new());
    let mut round = None;
    for item in items {
        let kind = item["type"].as_str().unwrap_or("message");
        if kind == "message" && item["role"] == "user" {
            let said = written(texts(&item["content"]));
            if !said.is_empty() {
                (prompt, rounds, results) = (said, 0, Vec::new());
                round = None;
            }
        } else if kind.ends_with("_call_output") {
            // Calls and outputs may alternate although they were parallel; the id names the reply.
            let id = item["call_id"].as_str().unwrap_or_default();
            let of = id.rsplit_once('_').map_or(id, |(reply, _)| reply);
            if round != Some(of) {
                rounds += 1;
                results = Vec::new();
                round = Some(of);
            }
            results.push(texts(&item["output"]).concat());
        }
    }
    let tools = body["tools"].as_array().map_or(&[][..], Vec::as_slice);
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

fn offer(tool: &Value) -> Option<Offer> {
    let name = tool["name"].as_str()?.to_owned();
    let form = if tool["type"] == "custom" {
        Form::Text
    } else {
        Form::Json
    };
    Some(Offer { name, form })
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

/// The reply to a request.
pub(crate) fn reply(number: u64, ask: &Ask, answer: &Answer) -> Reply {
    let items: Vec<_> = answer
        .parts
        .iter()
        .enumerate()
        .map(|(index, part)| item(number, index, part, &ask.tools))
        .collect();
    let response = |status: &str, output: &[Value], usage: Value| {
        json!({
            "id": format!("resp_{number}"),
            "object": "response",
            "created_at": 0,
            "status": status,
            "model": ask.model,
            "output": output,
            "error": null,
            "usage": usage,
        })
    };
    let (input, output) = (tokens(ask.size), answer.tokens());
    let usage = json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + output,
    });
    let completed = response("completed", &items, usage);
    if ask.delivery == Delivery::Whole {
        return Reply::whole(200, &completed);
    }
    let mut stream = Stream::default();
    let begun = response("in_progress", &[], Value::Null);
    for name in ["response.created", "response.in_progress"] {
        stream.event(Kind::Frame, name, json!({"response": begun}));
    }
    for (index, (part, item)) in answer.parts.iter().zip(&items).enumerate() {
        stream.item(index, part, item);
    }
    let last = json!({"response": completed});
    stream.event(Kind::Frame, "response.completed", last);
    Reply::stream(stream.events, answer.pace, answer.ending)
}

fn item(number: u64, index: usize, part: &Part, tools: &[Offer]) -> Value {
    match part {
        Part::Thought(text) => json!({
            "type": "reasoning",
            "id": format!("rs_{number}_{index}"),
            "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": "c2NyaXB0ZWQ=",
        }),
        Part::Text(pieces) => json!({
            "type": "message",
            "id": format!("msg_{number}_{index}"),
            "status": "completed",
            "role": "assistant",
            "content": [output_text(&pieces.concat())],
        }),
        Part::Call(Call { name, input }) => {
            let custom = tools
                .iter()
                .any(|tool| tool.name == *name && tool.form == Form::Text);
            let call_id = format!("call_{number}_{index}");
            if custom {
                let text = input
                    .as_str()
                    .map_or_else(|| input.to_string(), str::to_owned);
                let id = format!("ctc_{number}_{index}");
                json!({"type": "custom_tool_call", "id": id, "status": "completed",
                    "call_id": call_id, "name": name, "input": text})
            } else {
                let id = format!("fc_{number}_{index}");
                json!({"type": "function_call", "id": id, "status": "completed",
                    "call_id": call_id, "name": name, "arguments": input.to_string()})
            }
        }
    }
}

fn output_text(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

/// The events of a response, numbered.
#[derive(Default)]
struct Stream {
    events: Events,
    sequence: u64,
}

impl Stream {
    fn event(&mut self, kind: Kind, name: &str, mut data: Value) {
        data["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        self.events.typed(kind, name, data);
    }

    fn item(&mut self, index: usize, part: &Part, item: &Value) {
        let added = json!({"output_index": index, "item": begun(item)});
        self.event(Kind::Frame, "response.output_item.added", added);
        let id = &item["id"];
        match part {
            Part::Thought(text) => {
                let at = || json!({"item_id": id, "output_index": index, "summary_index": 0});
                let summary = |text: &str| json!({"type": "summary_text", "text": text});
                let name = "response.reasoning_summary_part.added";
                self.event(Kind::Frame, name, with(at(), "part", summary("")));
                let name = "response.reasoning_summary_text.delta";
                self.event(Kind::Delta, name, with(at(), "delta", json!(text)));
                let name = "response.reasoning_summary_text.done";
                self.event(Kind::Frame, name, with(at(), "text", json!(text)));
                let name = "response.reasoning_summary_part.done";
                self.event(Kind::Frame, name, with(at(), "part", summary(text)));
            }
            Part::Text(pieces) => {
                let at = || json!({"item_id": id, "output_index": index, "content_index": 0});
                let name = "response.content_part.added";
                self.event(Kind::Frame, name, with(at(), "part", output_text("")));
                for piece in pieces {
                    let name = "response.output_text.delta";
                    self.event(Kind::Delta, name, with(at(), "delta", json!(piece)));
                }
                let text = pieces.concat();
                let name = "response.output_text.done";
                self.event(Kind::Frame, name, with(at(), "text", json!(text)));
                let name = "response.content_part.done";
                self.event(Kind::Frame, name, with(at(), "part", output_text(&text)));
            }
            Part::Call(_) => {
                let at = || json!({"item_id": id, "output_index": index});
                let (name, member) = if item["type"] == "function_call" {
                    ("response.function_call_arguments", "arguments")
                } else {
                    ("response.custom_tool_call_input", "input")
                };
                let input = || item[member].clone();
                let delta = with(at(), "delta", input());
                self.event(Kind::Delta, &format!("{name}.delta"), delta);
                let done = with(at(), member, input());
                self.event(Kind::Frame, &format!("{name}.done"), done);
            }
        }
        let done = json!({"output_index": index, "item": item});
        self.event(Kind::Frame, "response.output_item.done", done);
    }
}

fn with(mut at: Value, member: &str, value: Value) -> Value {
    at[member] = value;
    at
}

/// An item as it is before its deltas.
fn begun(item: &Value) -> Value {
    let mut item = item.clone();
    for (member, empty) in [
        ("summary", json!([])),
        ("content", json!([])),
        ("arguments", json!("")),
        ("input", json!("")),
        ("status", json!("in_progress")),
    ] {
        if let Some(value) = item.get_mut(member) {
            *value = empty;
        }
    }
    item
}

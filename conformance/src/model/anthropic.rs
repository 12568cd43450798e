//! Anthropic Messages.

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
    for message in messages.iter().filter(|message| message["role"] == "user") {
        let blocks = blocks(&message["content"]);
        let returned: Vec<_> = blocks
            .iter()
            .filter(|block| block["type"] == "tool_result")
            .map(|block| text(&block["content"]))
            .collect();
        let said = written(blocks.iter().filter_map(|block| block["text"].as_str()));
        // A prompt after a cancelled call comes in one message with what became of the call.
        if !returned.is_empty() && said.is_empty() {
            rounds += 1;
            results = returned;
        } else if !said.is_empty() {
            (prompt, rounds, results) = (said, 0, Vec::new());
        }
    }
    let tools = body["tools"].as_array().map_or(&[][..], Vec::as_slice);
    let offer = |tool: &Value| {
        let name = tool["name"].as_str()?.to_owned();
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

/// A string stands for one text block.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

fn text(content: &Value) -> String {
    let texts: Vec<_> = blocks(content)
        .iter()
        .filter_map(|block| block["text"].as_str().map(str::to_owned))
        .collect();
    texts.join("\n")
}

/// The reply to a request.
pub(crate) fn reply(number: u64, ask: &Ask, answer: &Answer) -> Reply {
    let stop = if answer.calls() {
        "tool_use"
    } else {
        "end_turn"
    };
    let usage = |output: usize| {
        json!({
            "input_tokens": tokens(ask.size),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": output,
        })
    };
    let message = |content: Vec<Value>, stop: Option<&str>, output: usize| {
        json!({
            "id": format!("msg_{number}"),
            "type": "message",
            "role": "assistant",
            "model": ask.model,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": null,
            "usage": usage(output),
        })
    };
    let indexed = || answer.parts.iter().enumerate();
    if ask.delivery == Delivery::Whole {
        let content = indexed().map(|(index, part)| block(number, index, part));
        let whole = message(content.collect(), Some(stop), answer.tokens());
        return Reply::whole(200, &whole);
    }
    let mut events = Events::default();
    let start = json!({"message": message(Vec::new(), None, 0)});
    events.typed(Kind::Frame, "message_start", start);
    for (index, part) in indexed() {
        let begun = begun(block(number, index, part));
        let begun = json!({"index": index, "content_block": begun});
        events.typed(Kind::Frame, "content_block_start", begun);
        for delta in deltas(part) {
            let delta = json!({"index": index, "delta": delta});
            events.typed(Kind::Delta, "content_block_delta", delta);
        }
        events.typed(Kind::Frame, "content_block_stop", json!({"index": index}));
    }
    let last = json!({
        "delta": {"stop_reason": stop, "stop_sequence": null},
        "usage": {"output_tokens": answer.tokens()},
    });
    events.typed(Kind::Frame, "message_delta", last);
    events.typed(Kind::Frame, "message_stop", json!({}));
    Reply::stream(events, answer.pace, answer.ending)
}

fn block(number: u64, index: usize, part: &Part) -> Value {
    match part {
        Part::Thought(text) => {
            json!({"type": "thinking", "thinking": text, "signature": SIGNATURE})
        }
        Part::Text(pieces) => json!({"type": "text", "text": pieces.concat()}),
        Part::Call(call) => json!({
            "type": "tool_use",
            "id": format!("toolu_{number}_{index}"),
            "name": call.name,
            "input": call.input,
        }),
    }
}

/// Base64 of nothing in particular: clients hand it back and do not read it.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

/// A block as it is before its deltas.
fn begun(mut block: Value) -> Value {
    for (member, empty) in [
        ("thinking", json!("")),
        ("signature", json!("")),
        ("text", json!("")),
        ("input", json!({})),
    ] {
        if let Some(value) = block.get_mut(member) {
            *value = empty;
        }
    }
    block
}

fn deltas(part: &Part) -> Vec<Value> {
    match part {
        Part::Thought(text) => vec![
            json!({"type": "thinking_delta", "thinking": text}),
            json!({"type": "signature_delta", "signature": SIGNATURE}),
        ],
        Part::Text(pieces) => {
            let delta = |piece| json!({"type": "text_delta", "text": piece});
            pieces.iter().map(delta).collect()
        }
        Part::Call(call) => {
            let input = call.input.to_string();
            vec![json!({"type": "input_json_delta", "partial_json": input})]
        }
    }
}

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;

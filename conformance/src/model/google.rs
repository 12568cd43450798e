//! Google generateContent.

use serde_json::{Value, json};

use super::ask::{Ask, Delivery, tokens, written};
use super::plan::{Answer, Part};
use super::reply::{Events, Kind, Reply};
use super::tool::{Form, Offer};

/// What a request asks; the path names the model and how the reply goes out.
pub(crate) fn ask(body: &Value, size: usize, model: &str, delivery: Delivery) -> Ask {
    let contents = body["contents"].as_array().map_or(&[][..], Vec::as_slice);
    let mut prompt = String::new();
    let (mut rounds, mut results) = (0, Vec::new());
    for content in contents.iter().filter(|content| content["role"] != "model") {
        let parts = content["parts"].as_array().map_or(&[][..], Vec::as_slice);
        let returned: Vec<_> = parts
            .iter()
            .filter(|part| part["functionResponse"].is_object())
            .map(|part| output(&part["functionResponse"]["response"]))
            .collect();
        if !returned.is_empty() {
            rounds += 1;
            results = returned;
            continue;
        }
        let said = written(parts.iter().filter_map(|part| part["text"].as_str()));
        if !said.is_empty() {
            (prompt, rounds, results) = (said, 0, Vec::new());
        }
    }
    let groups = body["tools"].as_array().map_or(&[][..], Vec::as_slice);
    let offer = |tool: &Value| {
        let name = tool["name"].as_str()?.to_owned();
        let form = Form::Json;
        Some(Offer { name, form })
    };
    let declared = |group: &Value| group["functionDeclarations"].as_array().cloned();
    let tools = groups.iter().filter_map(declared).flatten();
    Ask {
        model: model.to_owned(),
        prompt,
        rounds,
        results,
        tools: tools.filter_map(|tool| offer(&tool)).collect(),
        size,
        delivery,
    }
}

/// The members `output` and `error` are the usual ones; anything else is shown as it is.
fn output(response: &Value) -> String {
    ["output", "error"]
        .iter()
        .find_map(|member| response[member].as_str())
        .map_or_else(|| response.to_string(), str::to_owned)
}

/// The reply to a request.
pub(crate) fn reply(number: u64, ask: &Ask, answer: &Answer) -> Reply {
    let (input, output) = (tokens(ask.size), answer.tokens());
    let chunk = |parts: Vec<Value>, stop: Option<&str>| {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if let Some(stop) = stop {
            candidate["finishReason"] = stop.into();
        }
        json!({
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": input,
                "candidatesTokenCount": output,
                "totalTokenCount": input + output,
            },
            "modelVersion": ask.model,
            "responseId": format!("response_{number}"),
        })
    };
    let parts: Vec<_> = answer
        .parts
        .iter()
        .enumerate()
        .flat_map(|(index, part)| parts(number, index, part))
        .collect();
    if ask.delivery == Delivery::Whole {
        return Reply::whole(200, &chunk(parts, Some("STOP")));
    }
    let mut events = Events::default();
    for part in parts {
        events.data(Kind::Delta, chunk(vec![part], None));
    }
    let last = chunk(vec![json!({"text": ""})], Some("STOP"));
    events.data(Kind::Frame, last);
    Reply::stream(events, answer.pace, answer.ending)
}

fn parts(number: u64, index: usize, part: &Part) -> Vec<Value> {
    match part {
        Part::Thought(text) => vec![json!({"text": text, "thought": true})],
        Part::Text(pieces) => pieces.iter().map(|piece| json!({"text": piece})).collect(),
        Part::Call(call) => {
            let id = format!("call_{number}_{index}");
            vec![json!({"functionCall": {"id": id, "name": call.name, "args": call.input}})]
        }
    }
}

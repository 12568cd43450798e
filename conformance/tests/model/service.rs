//! The four services as their clients write and read them.

use serde_json::{Value, json};

/// A tool call that was heard.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) input: Value,
}

/// A reply as a client puts it together.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) thought: String,
    pub(crate) said: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) stop: String,
}

/// How a client of one service writes and reads.
pub(crate) struct Service {
    pub(crate) name: &'static str,
    /// A user message.
    pub(crate) user: fn(&str) -> Value,
    /// A user message of several texts.
    pub(crate) texts: fn(&[&str]) -> Value,
    /// The messages that answer these calls, the calls themselves included.
    pub(crate) results: fn(&[Call], &str) -> Vec<Value>,
    /// Path and body with these messages and a tool `Bash`.
    pub(crate) request: fn(&[Value], bool) -> (&'static str, Value),
    pub(crate) stream: fn(&str) -> Heard,
    pub(crate) whole: fn(&Value) -> Heard,
    pub(crate) stop: &'static str,
    pub(crate) stop_for_calls: &'static str,
    pub(crate) error_kind: &'static str,
    pub(crate) errors: &'static [(u16, &'static str)],
}

pub(crate) const ALL: [Service; 4] = [
    Service {
        name: "anthropic",
        user: |text| json!({"role": "user", "content": [{"type": "text", "text": text}]}),
        texts: |texts| {
            let block = |text: &&str| json!({"type": "text", "text": text});
            let content: Vec<_> = texts.iter().map(block).collect();
            json!({"role": "user", "content": content})
        },
        results: |calls, text| {
            let result = |call: &Call| {
                json!({"type": "tool_result", "tool_use_id": call.id,
                    "content": [{"type": "text", "text": text}]})
            };
            let content: Vec<_> = calls.iter().map(result).collect();
            vec![json!({"role": "user", "content": content})]
        },
        request: |messages, stream| {
            let tools = json!([{"name": "Bash", "input_schema": {}}]);
            let body =
                json!({"model": "m", "messages": messages, "tools": tools, "stream": stream});
            ("/v1/messages?beta=true", body)
        },
        stream: anthropic,
        whole: |message| {
            let mut heard = Heard::default();
            for block in message["content"].as_array().unwrap() {
                anthropic_block(&mut heard, block);
            }
            heard.stop = text(&message["stop_reason"]);
            heard
        },
        stop: "end_turn",
        stop_for_calls: "tool_use",
        error_kind: "/error/type",
        errors: &[
            (400, "invalid_request_error"),
            (401, "authentication_error"),
            (429, "rate_limit_error"),
            (500, "api_error"),
            (529, "overloaded_error"),
        ],
    },
    Service {
        name: "responses",
        user: |text| {
            json!({"type": "message", "role": "user",
                "content": [{"type": "input_text", "text": text}]})
        },
        texts: |texts| {
            let part = |text: &&str| json!({"type": "input_text", "text": text});
            let content: Vec<_> = texts.iter().map(part).collect();
            json!({"type": "message", "role": "user", "content": content})
        },
        results: |calls, text| {
            let call = |call: &Call| json!({"type": "function_call", "call_id": call.id});
            let output = |call: &Call| json!({"type": "function_call_output", "call_id": call.id, "output": text});
            calls
                .iter()
                .map(call)
                .chain(calls.iter().map(output))
                .collect()
        },
        request: |items, stream| {
            let tools = json!([{"type": "function", "name": "Bash"}]);
            let body = json!({"model": "m", "input": items, "tools": tools, "stream": stream});
            ("/v1/responses", body)
        },
        stream: responses,
        whole: responses_whole,
        stop: "completed",
        stop_for_calls: "completed",
        error_kind: "/error/type",
        errors: &[(400, "invalid_request_error"), (500, "server_error")],
    },
    Service {
        name: "chat",
        user: |text| json!({"role": "user", "content": text}),
        texts: |texts| {
            let part = |text: &&str| json!({"type": "text", "text": text});
            let content: Vec<_> = texts.iter().map(part).collect();
            json!({"role": "user", "content": content})
        },
        results: |calls, text| {
            let call = |call: &Call| json!({"id": call.id, "type": "function"});
            let asked: Vec<_> = calls.iter().map(call).collect();
            let result =
                |call: &Call| json!({"role": "tool", "tool_call_id": call.id, "content": text});
            let asked = json!({"role": "assistant", "tool_calls": asked});
            std::iter::once(asked)
                .chain(calls.iter().map(result))
                .collect()
        },
        request: |messages, stream| {
            let tools = json!([{"type": "function", "function": {"name": "Bash"}}]);
            let body = json!({"model": "m", "messages": messages, "tools": tools, "stream": stream,
                "stream_options": {"include_usage": true}});
            ("/v1/chat/completions", body)
        },
        stream: chat,
        whole: |completion| {
            let choice = &completion["choices"][0];
            let mut heard = Heard {
                said: text(&choice["message"]["content"]),
                stop: text(&choice["finish_reason"]),
                ..Heard::default()
            };
            for call in choice["message"]["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
            {
                heard.calls.push(chat_call(call));
            }
            heard
        },
        stop: "stop",
        stop_for_calls: "tool_calls",
        error_kind: "/error/type",
        errors: &[(404, "invalid_request_error"), (503, "server_error")],
    },
    Service {
        name: "google",
        user: |text| json!({"role": "user", "parts": [{"text": text}]}),
        texts: |texts| {
            let parts: Vec<_> = texts.iter().map(|text| json!({"text": text})).collect();
            json!({"role": "user", "parts": parts})
        },
        results: |calls, text| {
            let part = |call: &Call| {
                let response = json!({"output": text});
                json!({"functionResponse": {"name": call.name, "response": response}})
            };
            let parts: Vec<_> = calls.iter().map(part).collect();
            vec![json!({"role": "user", "parts": parts})]
        },
        request: |contents, stream| {
            let tools = json!([{"functionDeclarations": [{"name": "Bash"}]}]);
            let path = if stream {
                "/v1beta/models/m:streamGenerateContent?alt=sse"
            } else {
                "/v1beta/models/m:generateContent"
            };
            (path, json!({"contents": contents, "tools": tools}))
        },
        stream: |text| {
            let mut heard = Heard::default();
            for (_, chunk) in events(text) {
                google(&mut heard, &chunk);
            }
            heard
        },
        whole: |chunk| {
            let mut heard = Heard::default();
            google(&mut heard, chunk);
            heard
        },
        stop: "STOP",
        stop_for_calls: "STOP",
        error_kind: "/error/status",
        errors: &[
            (400, "INVALID_ARGUMENT"),
            (429, "RESOURCE_EXHAUSTED"),
            (500, "INTERNAL"),
        ],
    },
];

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Name (empty without one) and data of each event; `[DONE]` is the string it is.
fn events(stream: &str) -> Vec<(String, Value)> {
    let event = |event: &str| {
        let (mut name, mut data) = (String::new(), Value::Null);
        for line in event.lines() {
            match line.split_once(": ").unwrap() {
                ("event", text) => name = text.to_owned(),
                ("data", "[DONE]") => data = json!("[DONE]"),
                ("data", text) => data = serde_json::from_str(text).unwrap(),
                other => panic!("{other:?}"),
            }
        }
        (name, data)
    };
    stream.split_terminator("\n\n").map(event).collect()
}

/// The blocks as the deltas make them; the order of the protocol is checked on the way.
fn anthropic(stream: &str) -> Heard {
    let mut heard = Heard::default();
    let (mut open, mut input): (Option<Value>, String) = (None, String::new());
    for (name, data) in events(stream) {
        assert_eq!(data["type"], name);
        let delta = &data["delta"];
        match name.as_str() {
            "message_start" => assert_eq!(data["message"]["role"], "assistant"),
            "content_block_start" => {
                assert!(open.replace(data["content_block"].clone()).is_none());
                input.clear();
            }
            "content_block_delta" => {
                let block = open.as_mut().unwrap();
                for member in ["text", "thinking", "signature"] {
                    if let Some(more) = delta[member].as_str() {
                        let so_far = text(&block[member]);
                        block[member] = json!(so_far + more);
                    }
                }
                input += delta["partial_json"].as_str().unwrap_or_default();
            }
            "content_block_stop" => {
                let mut block = open.take().unwrap();
                if block["type"] == "tool_use" {
                    block["input"] = serde_json::from_str(&input).unwrap();
                }
                anthropic_block(&mut heard, &block);
            }
            "message_delta" => heard.stop = text(&delta["stop_reason"]),
            "message_stop" => assert!(open.is_none()),
            other => panic!("{other}"),
        }
    }
    // A stream that was cut left a block open.
    if let Some(block) = open {
        anthropic_block(&mut heard, &block);
    }
    heard
}

fn anthropic_block(heard: &mut Heard, block: &Value) {
    match block["type"].as_str().unwrap() {
        "text" => heard.said += block["text"].as_str().unwrap(),
        "thinking" => {
            assert!(!text(&block["signature"]).is_empty());
            heard.thought += block["thinking"].as_str().unwrap();
        }
        "tool_use" => heard.calls.push(Call {
            id: text(&block["id"]),
            name: text(&block["name"]),
            input: block["input"].clone(),
        }),
        other => panic!("{other}"),
    }
}

fn responses(stream: &str) -> Heard {
    let (mut deltas, mut arguments) = (String::new(), String::new());
    let mut completed = None;
    for (index, (name, data)) in events(stream).into_iter().enumerate() {
        assert_eq!(
            (&data["type"], &data["sequence_number"]),
            (&json!(name), &json!(index))
        );
        match name.as_str() {
            "response.output_text.delta" => deltas += data["delta"].as_str().unwrap(),
            "response.function_call_arguments.delta" => {
                arguments += data["delta"].as_str().unwrap();
            }
            "response.completed" => completed = Some(data["response"].clone()),
            _ => {}
        }
    }
    let Some(completed) = completed else {
        let said = deltas;
        return Heard {
            said,
            ..Heard::default()
        };
    };
    let heard = responses_whole(&completed);
    let inputs: String = heard
        .calls
        .iter()
        .map(|call| call.input.to_string())
        .collect();
    assert_eq!((deltas, arguments), (heard.said.clone(), inputs));
    heard
}

fn responses_whole(response: &Value) -> Heard {
    let mut heard = Heard::default();
    for item in response["output"].as_array().unwrap() {
        match item["type"].as_str().unwrap() {
            "message" => heard.said += item["content"][0]["text"].as_str().unwrap(),
            "reasoning" => heard.thought += item["summary"][0]["text"].as_str().unwrap(),
            "function_call" => heard.calls.push(Call {
                id: text(&item["call_id"]),
                name: text(&item["name"]),
                input: serde_json::from_str(item["arguments"].as_str().unwrap()).unwrap(),
            }),
            other => panic!("{other}"),
        }
    }
    heard.stop = text(&response["status"]);
    heard
}

fn chat(stream: &str) -> Heard {
    let mut heard = Heard::default();
    let mut usage = Value::Null;
    let events = events(stream);
    let whole = events.last().is_some_and(|(_, data)| data == "[DONE]");
    for (_, chunk) in events {
        usage = chunk["usage"].clone();
        let choice = &chunk["choices"][0];
        heard.said += choice["delta"]["content"].as_str().unwrap_or_default();
        heard.thought += choice["delta"]["reasoning_content"]
            .as_str()
            .unwrap_or_default();
        for call in choice["delta"]["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
        {
            assert_eq!(call["index"], heard.calls.len());
            heard.calls.push(chat_call(call));
        }
        if let Some(stop) = choice["finish_reason"].as_str() {
            heard.stop = stop.to_owned();
        }
        assert!(usage.is_null() || chunk["choices"] == json!([]), "{chunk}");
    }
    assert_eq!(whole, !heard.stop.is_empty(), "{usage}");
    heard
}

fn chat_call(call: &Value) -> Call {
    let function = &call["function"];
    Call {
        id: text(&call["id"]),
        name: text(&function["name"]),
        input: serde_json::from_str(function["arguments"].as_str().unwrap()).unwrap(),
    }
}

fn google(heard: &mut Heard, chunk: &Value) {
    let candidate = &chunk["candidates"][0];
    for part in candidate["content"]["parts"].as_array().unwrap() {
        if let Some(call) = part.get("functionCall") {
            heard.calls.push(Call {
                id: text(&call["id"]),
                name: text(&call["name"]),
                input: call["args"].clone(),
            });
        } else if part["thought"] == true {
            heard.thought += part["text"].as_str().unwrap();
        } else {
            heard.said += part["text"].as_str().unwrap();
        }
    }
    if let Some(stop) = candidate["finishReason"].as_str() {
        heard.stop = stop.to_owned();
    }
}

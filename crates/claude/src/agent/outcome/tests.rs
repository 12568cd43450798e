//! Results of the CLI, read.

use serde_json::{Map, Value, json};
use sessiond_protocol::{Stop, Usage};
use uuid::Uuid;

use super::{context, is_of, report};

fn result(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(result) => result,
        _ => panic!("an object"),
    }
}

/// ADAPT-4: a turn went as its result says, and an error that came with success is one.
#[test]
fn each_result_is_the_end_that_it_says() {
    let usage = json!({ "input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 1 });
    let cases = [
        (
            json!({ "subtype": "success", "stop_reason": "end_turn" }),
            Ok(Stop::EndTurn),
        ),
        (
            json!({ "subtype": "success", "stop_reason": "max_tokens" }),
            Ok(Stop::MaxTokens),
        ),
        (
            json!({ "subtype": "success", "stop_reason": "refusal" }),
            Ok(Stop::Refusal),
        ),
        (
            json!({ "subtype": "error_max_turns", "is_error": true }),
            Ok(Stop::MaxRequests),
        ),
        (
            json!({ "subtype": "success", "is_error": true, "result": "API Error: 500" }),
            Err("c: API Error: 500"),
        ),
        (
            json!({ "subtype": "error_during_execution", "errors": ["one", "two"] }),
            Err("c: one; two"),
        ),
        (
            json!({ "subtype": "error_of_later" }),
            Err("c: error_of_later"),
        ),
        (json!({}), Err("c: it failed")),
    ];
    for (mut value, expected) in cases {
        value["usage"] = usage.clone();
        let told = value.to_string();
        let got = report("c", &result(value), Usage::default());
        match (got, expected) {
            (Ok(got), Ok(stop)) => {
                assert_eq!(got.stop, stop, "{told}");
                let usage = got.usage.unwrap();
                assert_eq!(
                    (usage.input, usage.output, usage.cached_read),
                    (3, 2, Some(1))
                );
            }
            (Err(got), Err(message)) => assert_eq!(got.message, message, "{told}"),
            (got, _) => panic!("{told}: {got:?}"),
        }
    }
}

/// ADAPT-8: a result of a turn that the CLI began by itself ends none of ours.
#[test]
fn a_result_of_another_prompt_is_passed_over() {
    let ours = Uuid::from_u128(7);
    for (value, is_ours) in [
        (json!({}), true),
        (json!({ "user_message_uuid": ours }), true),
        (
            json!({ "user_message_uuids": [Uuid::from_u128(1), ours] }),
            true,
        ),
        (json!({ "user_message_uuid": Uuid::from_u128(1) }), false),
        (json!({ "user_message_uuids": [] }), false),
    ] {
        assert_eq!(is_of(&result(value.clone()), ours), is_ours, "{value}");
    }
}

/// ADAPT-4: the size of the context is that of the largest model in use; without one nothing is told.
#[test]
fn context_and_cost_are_told_where_the_result_has_them() {
    let told = json!({ "total_cost_usd": 0.5,
        "modelUsage": { "a": { "contextWindow": 200 }, "b": { "contextWindow": 1000 } } });
    let usage = context(&result(told), 40).unwrap();
    assert_eq!((usage.used, usage.size), (40, 1000));
    assert!(usage.cost.is_some());
    assert_eq!(context(&result(json!({ "modelUsage": {} })), 40), None);
}

//! How a turn of the CLI went, by its `result`.

use serde_json::{Map, Value};
use sessiond_engine::{AgentError, TurnReport};
use sessiond_protocol::{Cost, Stop, Usage};
use uuid::Uuid;

use crate::control::text;

/// Whether a result is that of this prompt: the CLI also tells results of turns that it began by
/// itself. One that names no prompt is.
pub(super) fn is_of(result: &Map<String, Value>, prompt: Uuid) -> bool {
    let prompt = prompt.to_string();
    let one = result.get("user_message_uuid").and_then(Value::as_str);
    let all = result.get("user_message_uuids").and_then(Value::as_array);
    match (one, all) {
        (None, None) => true,
        (Some(one), None) => one == prompt,
        (one, Some(all)) => one == Some(&prompt) || all.iter().any(|uuid| *uuid == prompt),
    }
}

/// Context and cost as a result tells them; none where it tells no size of the context.
pub(super) fn context(result: &Map<String, Value>, used: u64) -> Option<Usage> {
    let models = result.get("modelUsage").and_then(Value::as_object)?;
    let sizes = models
        .values()
        .filter_map(|of| of.get("contextWindow")?.as_u64());
    let cost = result.get("total_cost_usd").and_then(Value::as_f64);
    Some(Usage {
        used,
        size: sizes.max()?,
        cost: "USD".parse().ok().and_then(|usd| Cost::of(cost?, usd)),
        ..Usage::default()
    })
}

/// The end of a turn that was stopped.
pub(super) fn stopped(result: &Map<String, Value>, stands: Usage) -> TurnReport {
    TurnReport {
        stop: Stop::EndTurn,
        usage: usage(result, stands),
    }
}

/// The end of a turn that came to its own end.
///
/// # Errors
/// [`AgentError`]: failed, with what the CLI says of it.
pub(super) fn report(
    agent: &str,
    result: &Map<String, Value>,
    stands: Usage,
) -> Result<TurnReport, AgentError> {
    let is_error = result.get("is_error").and_then(Value::as_bool) == Some(true);
    let stop = match (text(result, "subtype").as_deref(), is_error) {
        (Some("success"), false) => match text(result, "stop_reason").as_deref() {
            Some("max_tokens") => Stop::MaxTokens,
            Some("refusal") => Stop::Refusal,
            _ => Stop::EndTurn,
        },
        (Some("error_max_turns"), _) => Stop::MaxRequests,
        _ => return Err(AgentError::failed(format!("{agent}: {}", why(result)))),
    };
    Ok(TurnReport {
        stop,
        usage: usage(result, stands),
    })
}

/// What a result says of its failure.
fn why(result: &Map<String, Value>) -> String {
    let errors = result.get("errors").and_then(Value::as_array);
    let errors = errors.into_iter().flatten().filter_map(Value::as_str);
    let errors: Vec<&str> = errors.collect();
    match (&errors[..], text(result, "result")) {
        ([], Some(text)) if !text.is_empty() => text,
        ([], _) => text(result, "subtype").unwrap_or_else(|| "it failed".to_owned()),
        (errors, _) => errors.join("; "),
    }
}

fn usage(result: &Map<String, Value>, stands: Usage) -> Option<Usage> {
    let usage = result.get("usage")?;
    let tokens = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    Some(Usage {
        input: tokens("/input_tokens")?,
        output: tokens("/output_tokens")?,
        thought: tokens("/output_tokens_details/thinking_tokens"),
        cached_read: tokens("/cache_read_input_tokens"),
        cached_write: tokens("/cache_creation_input_tokens"),
        ..stands
    })
}

#[cfg(test)]
mod tests;

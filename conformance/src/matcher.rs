//! Does a JSON value fit a pattern.
//!
//! A pattern is JSON: an object fits one that has at least its members, an array one of the same
//! length, anything else itself. An object with one member that begins with `$` is an operator.

use serde_json::{Map, Value};

/// Whether `value` fits; `None` stands for a member that is not there.
pub(crate) fn fits(pattern: &Value, value: Option<&Value>) -> bool {
    if let Some((operator, operand)) = operator(pattern) {
        return operate(operator, operand, value);
    }
    let Some(value) = value else { return false };
    match (pattern, value) {
        (Value::Object(pattern), Value::Object(value)) => pattern
            .iter()
            .all(|(key, pattern)| fits(pattern, value.get(key))),
        (Value::Array(pattern), Value::Array(value)) => {
            pattern.len() == value.len()
                && pattern
                    .iter()
                    .zip(value)
                    .all(|(pattern, value)| fits(pattern, Some(value)))
        }
        (Value::Number(pattern), Value::Number(value)) => {
            pattern == value || pattern.as_f64() == value.as_f64()
        }
        _ => pattern == value,
    }
}

/// The operators a pattern may use.
pub(crate) const OPERATORS: [&str; 10] = [
    "$exists",
    "$type",
    "$in",
    "$not",
    "$contains",
    "$some",
    "$from",
    "$nonempty",
    "$all",
    "$starts",
];

fn operator(pattern: &Value) -> Option<(&str, &Value)> {
    let object = pattern.as_object()?;
    let (key, operand) = object.iter().next()?;
    (object.len() == 1 && key.starts_with('$')).then_some((key.as_str(), operand))
}

fn operate(operator: &str, operand: &Value, value: Option<&Value>) -> bool {
    match operator {
        "$exists" => Some(value.is_some()) == operand.as_bool(),
        "$type" => value.map(type_of) == operand.as_str(),
        "$in" => any_of(operand, |pattern| fits(pattern, value)),
        "$all" => operand
            .as_array()
            .is_some_and(|patterns| patterns.iter().all(|pattern| fits(pattern, value))),
        "$not" => !fits(operand, value),
        "$contains" => match (value, operand) {
            (Some(Value::String(text)), Value::String(part)) => text.contains(part.as_str()),
            _ => false,
        },
        "$starts" => match (value, operand) {
            (Some(Value::String(text)), Value::String(part)) => text.starts_with(part.as_str()),
            _ => false,
        },
        "$some" => value
            .and_then(Value::as_array)
            .is_some_and(|values| values.iter().any(|value| fits(operand, Some(value)))),
        "$from" => value
            .and_then(Value::as_f64)
            .zip(operand.as_f64())
            .is_some_and(|(value, least)| value >= least),
        "$nonempty" => {
            let full = match value {
                Some(Value::String(text)) => !text.is_empty(),
                Some(Value::Array(values)) => !values.is_empty(),
                Some(Value::Object(members)) => !members.is_empty(),
                _ => false,
            };
            Some(full) == operand.as_bool()
        }
        _ => false,
    }
}

fn any_of(operand: &Value, mut test: impl FnMut(&Value) -> bool) -> bool {
    operand
        .as_array()
        .is_some_and(|values| values.iter().any(&mut test))
}

/// The type of a value; an integer is one of either spelling.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The operators in a pattern that are none: a spelling mistake would otherwise never fit.
pub(crate) fn unknown_operators(pattern: &Value) -> Vec<String> {
    match pattern {
        Value::Object(members) => unknown_in(members),
        Value::Array(values) => values.iter().flat_map(unknown_operators).collect(),
        _ => Vec::new(),
    }
}

fn unknown_in(members: &Map<String, Value>) -> Vec<String> {
    members
        .iter()
        .flat_map(|(key, value)| {
            let mut unknown = unknown_operators(value);
            if key.starts_with('$') && (members.len() > 1 || !OPERATORS.contains(&key.as_str())) {
                unknown.push(key.clone());
            }
            unknown
        })
        .collect()
}

#[cfg(test)]
#[path = "matcher_tests.rs"]
mod tests;

//! Frames of the face, read as the schema reads them.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The value as the schema reads it. The schema forgives much, so what it read must also write all
/// that stands there, but for members at their default.
pub(crate) fn reads_as<T: DeserializeOwned + Serialize>(value: &Value) {
    let read: T = serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{e}: {value}"));
    let written = serde_json::to_value(read).unwrap();
    assert!(covers(&written, value), "read as {written}\nbut is {value}");
}

fn covers(written: &Value, value: &Value) -> bool {
    match (written, value) {
        (Value::Object(written), Value::Object(value)) => value.iter().all(|(key, value)| {
            let is_default = (key == "kind" && value == "other")
                || (key == "status" && value == "pending")
                || (key == "env" && value == &json!([]));
            written
                .get(key)
                .map_or(is_default, |written| covers(written, value))
        }),
        (Value::Array(written), Value::Array(value)) => {
            written.len() == value.len() && written.iter().zip(value).all(|(a, b)| covers(a, b))
        }
        (written, value) => written == value,
    }
}

//! The variables of a case.

use std::collections::BTreeMap;

use serde_json::Value;

/// Names with values.
#[derive(Debug, Default, Clone)]
pub(crate) struct Variables {
    values: BTreeMap<String, Value>,
}

impl Variables {
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    pub(crate) fn knows(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    pub(crate) fn extend(&mut self, values: &BTreeMap<String, Value>) {
        for (name, value) in values {
            self.set(name, value.clone());
        }
    }

    /// The value with every variable in it replaced. A name that is not known stays as written:
    /// it then fits nothing.
    pub(crate) fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let whole = text
                    .strip_prefix('$')
                    .and_then(|name| self.values.get(name));
                match whole {
                    // A variant's object may hold further variables; a text stands for itself.
                    Some(value @ (Value::Array(_) | Value::Object(_))) => self.fill(value),
                    Some(value) => value.clone(),
                    None => Value::String(self.text(text)),
                }
            }
            Value::Array(values) => values.iter().map(|value| self.fill(value)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| (key.clone(), self.fill(value)))
                .collect(),
            _ => value.clone(),
        }
    }

    /// The text with every `${name}` replaced; strings without their quotes.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            let Some(end) = rest.find('}') else { break };
            match self.values.get(&rest[2..end]) {
                Some(Value::String(value)) => filled.push_str(value),
                Some(value) => filled.push_str(&value.to_string()),
                None => filled.push_str(&rest[..=end]),
            }
            rest = &rest[end + 1..];
        }
        filled + rest
    }
}

#[cfg(test)]
#[path = "scope_tests.rs"]
mod tests;

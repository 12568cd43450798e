//! An answer of a given shape: the agent is told the JSON Schema, its answer is checked before the
//! turn ends, and it gets a few more tries.

use jsonschema::Validator;
use serde_json::Value;

/// How often an answer that does not fit is sent back.
const TRIES: u32 = 5;

/// The shape of an answer.
#[derive(Debug)]
pub(super) struct Schema {
    text: String,
    validator: Validator,
}

impl Schema {
    /// Takes up a schema.
    ///
    /// # Errors
    /// That it is none.
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        let validator = jsonschema::validator_for(schema);
        Ok(Self {
            text: schema.to_string(),
            validator: validator
                .map_err(|_| "the JSON Schema of the answer is not one".to_owned())?,
        })
    }

    /// What the agent is told.
    pub(super) fn instructions(&self) -> String {
        format!(
            "Your last message is read by a program. It is one JSON value and nothing else, valid under this JSON Schema: {}",
            self.text
        )
    }

    /// The value that a text is.
    ///
    /// # Errors
    /// What is wrong with it, for the agent.
    pub(super) fn read(&self, text: &str) -> Result<Value, String> {
        let text = unfenced(text);
        let value: Value =
            serde_json::from_str(text).map_err(|_| "Your answer is not JSON.".to_owned())?;
        match self.validator.validate(&value) {
            Ok(()) => Ok(value),
            Err(error) => Err(format!("Your answer does not fit its JSON Schema: {error}")),
        }
    }

    /// What the agent is told of an answer that does not fit, while it has a try left.
    pub(super) fn problem(&self, text: &str, tried: u32) -> Option<String> {
        (tried < TRIES).then(|| self.read(text).err())?
    }
}

/// A text without the fence that Markdown puts around code.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside = text
        .strip_prefix("```")
        .and_then(|it| it.strip_suffix("```"));
    inside.map_or(text, |inside| {
        let (language, rest) = inside.split_once('\n').unwrap_or(("", inside));
        match language.chars().all(char::is_alphanumeric) {
            true => rest.trim(),
            false => inside.trim(),
        }
    })
}

#[cfg(test)]
mod tests;

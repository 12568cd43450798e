//! A conversation as a case expects it, whichever protocols it was told in.

use serde_json::{Value, json};

use super::talk::{Item, Talk};
use super::{Held, Judge, short};
use crate::check::Speaker;
use crate::matcher::fits;

impl Judge<'_> {
    /// What is told in the window, each thing as it must be.
    pub(super) fn told_in(&self, window: &[String; 2], pattern: &Value) -> Held {
        let told = self.talk(window, None)?.told();
        match fits(&self.played.variables.fill(pattern), Some(&told)) {
            true => self.complete(),
            false => Err(self.missing(format!("this is told: {}", short(&told)))),
        }
    }
}

impl Talk {
    /// Who said what, and how calls ended; not what was only thought.
    pub(super) fn told(&self) -> Value {
        let mut told: Vec<Value> = Vec::new();
        for item in &self.items {
            match item {
                Item::Said {
                    by: Speaker::Thought,
                    ..
                } => {}
                Item::Said { by, text, .. } => {
                    let by = match by {
                        Speaker::User => "user",
                        _ => "agent",
                    };
                    match told.last_mut() {
                        Some(last) if last["by"] == by => {
                            let before = last["text"].as_str().unwrap_or_default();
                            last["text"] = json!(format!("{before}{text}"));
                        }
                        _ => told.push(json!({"by": by, "text": text})),
                    }
                }
                Item::Tool { fields, .. } => told.push(json!({"tool": fields["status"]})),
            }
        }
        told.into()
    }
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;

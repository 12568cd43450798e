//! What was printed: by the calls of a window, wherever the protocol lets it stand (in the content of
//! the call, or in a terminal that this names), and by a target's own command.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::talk::{Item, Talk};
use super::{Held, Judge, broken};
use crate::matcher::fits;

impl Judge<'_> {
    /// What `terminal` holds fits; without one, what the calls of the window show.
    pub(super) fn output(
        &self,
        window: &[String; 2],
        terminal: Option<&Value>,
        pattern: &Value,
    ) -> Held {
        let talk = self.talk(window, None)?;
        let screens = Screens::of(&talk);
        let text = match terminal {
            Some(id) => screens.text(&self.played.variables.fill(id)),
            None => screens.shown(&talk),
        };
        let pattern = self.played.variables.fill(pattern);
        if fits(&pattern, Some(&Value::String(text.clone()))) {
            return self.complete();
        }
        let text: String = text.chars().take(200).collect();
        Err(self.missing(format!("what was printed is {text:?}")))
    }

    /// What the client saw of the agent's text in a window stands in a recorded file.
    pub(super) fn printed(&self, file: &str, window: &[String; 2], older: u64) -> Held {
        let text = self.file(file)?.unwrap_or_default();
        let window = self.window(Some(window))?;
        let entries = &self.played.recording.entries;
        let window = window.earlier(entries, std::time::Duration::from_millis(older));
        let session = self.played.variables.fill(&Value::from("$session"));
        match self.talk_in(window, &session).not_in(&text) {
            Some(lost) => Err(broken(format!("the client had seen {lost:?}"))),
            None => self.complete(),
        }
    }
}

/// The bytes of each terminal: an output of an update is in place of all before it, a chunk follows.
#[derive(Default)]
struct Screens(BTreeMap<String, Vec<u8>>);

impl Screens {
    fn of(talk: &Talk) -> Self {
        let mut screens = Self::default();
        for update in &talk.updates {
            let id = update["terminalId"].as_str().unwrap_or_default().to_owned();
            match update["sessionUpdate"].as_str() {
                Some("terminal_update") => match update.get("output") {
                    None => {}
                    Some(output) => {
                        screens.0.insert(id, bytes(&output["data"]));
                    }
                },
                Some("terminal_output_chunk") => {
                    let more = bytes(&update["data"]);
                    screens.0.entry(id).or_default().extend(more);
                }
                _ => {}
            }
        }
        screens
    }

    fn text(&self, id: &Value) -> String {
        let found = id.as_str().and_then(|id| self.0.get(id));
        String::from_utf8_lossy(found.map_or(&[][..], Vec::as_slice)).into_owned()
    }

    /// All texts and terminals in the contents of calls.
    fn shown(&self, talk: &Talk) -> String {
        let contents = talk.items.iter().filter_map(|item| match item {
            Item::Tool { fields, .. } => fields["content"].as_array(),
            Item::Said { .. } => None,
        });
        contents
            .flatten()
            .map(|content| match content["content"]["text"].as_str() {
                Some(text) => text.to_owned(),
                None => self.text(&content["terminalId"]),
            })
            .collect()
    }
}

/// Bytes in base64; what is none holds nothing.
fn bytes(data: &Value) -> Vec<u8> {
    let data = data.as_str().unwrap_or_default();
    STANDARD.decode(data).unwrap_or_default()
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;

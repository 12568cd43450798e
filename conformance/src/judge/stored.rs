//! Whether what was announced is there.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Held, Judge};
use crate::check::{Place, Speaker};

impl Judge<'_> {
    /// Every turn whose answer fits `well` stands, with its text, in what is there afterwards.
    pub(super) fn stored(
        &self,
        turns: &BTreeMap<String, String>,
        well: &Value,
        place: &Place,
    ) -> Held {
        let there = match place {
            Place::Window(window) => self.talk(window, None)?.text(Speaker::Agent),
            Place::File(file) => self.file(file)?.unwrap_or_default(),
        };
        for (label, text) in turns {
            let announced =
                !self.refused(label) && self.answer(label, Some(well), None, None).is_ok();
            if announced && !there.contains(text) {
                let why = format!("{label} was answered as ended well, and {text:?} is not there");
                return Err(self.missing(why));
            }
        }
        self.complete()
    }

    /// Whether the request whose turn this is was refused: what ends afterwards is another turn.
    fn refused(&self, turn: &str) -> bool {
        let refusal = json!({"error": {}});
        let asked = turn.strip_suffix(".end");
        asked.is_some_and(|asked| self.answer(asked, Some(&refusal), None, None).is_ok())
    }
}

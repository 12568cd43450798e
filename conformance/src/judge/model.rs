//! What the model was shown: what a runtime believes the conversation to be.

use serde_json::Value;

use super::{Finding, Held, Judge, broken};
use crate::check::Speaker;
use crate::recording::What;

impl Judge<'_> {
    /// The last request of the window holds the text so often.
    pub(super) fn shown(
        &self,
        window: &[String; 2],
        text: &str,
        least: usize,
        most: usize,
    ) -> Held {
        let asked = self.conversation(window)?;
        let text = self.played.variables.text(text);
        let found = asked.matches(text.as_str()).count();
        if (least..=most).contains(&found) {
            self.complete()
        } else {
            let why = format!("the model was shown {text:?} {found} times");
            Err(self.missing(why))
        }
    }

    /// Each text stands as often in what a load showed as in what the model was shown after it, and each call in
    /// both or in neither.
    pub(super) fn agrees(
        &self,
        load: &[String; 2],
        model: &[String; 2],
        texts: &[String],
        calls: &[String],
    ) -> Held {
        let talk = self.talk(load, None)?;
        let view = talk.text(Speaker::User) + &talk.text(Speaker::Agent);
        let asked = self.conversation(model)?;
        for text in texts {
            let text = self.played.variables.text(text);
            let count = |whole: &str| whole.matches(text.as_str()).count();
            let (seen, shown) = (count(&view), count(asked));
            if seen != shown {
                return Err(broken(format!(
                    "{text:?} stands {seen} times in the replay, and the model was shown it {shown} times"
                )));
            }
        }
        for call in calls {
            // The prompt that asked for it holds it as well.
            let prompted = talk.text(Speaker::User).contains(call.as_str());
            let seen = talk.calls().contains(call.as_str());
            let shown = asked.matches(call.as_str()).count() > usize::from(prompted);
            if seen != shown {
                let say = |is: bool| if is { "has" } else { "lacks" };
                return Err(broken(format!(
                    "the replay {} the call with {call:?}, and what the model was shown {} it",
                    say(seen),
                    say(shown)
                )));
            }
        }
        self.complete()
    }

    /// The last request of the window that is one of the conversation: what agents ask beside it offers no tools.
    fn conversation(&self, window: &[String; 2]) -> Result<&str, Finding> {
        let entries = &self.played.recording.entries;
        let asked = || {
            entries
                .iter()
                .enumerate()
                .filter_map(|(index, entry)| match &entry.what {
                    What::ModelAsked(text) => Some((index, text.as_str())),
                    _ => None,
                })
        };
        if asked().next().is_none() {
            return Err(Finding::Skipped("the target asks no model".to_owned()));
        }
        let window = self.window(Some(window))?;
        let within: Vec<&str> = asked()
            .filter(|(index, _)| window.holds(*index))
            .map(|(_, text)| text)
            .collect();
        let offers = |text: &&&str| {
            let body = text.split_once(' ').map_or("", |(_, body)| body);
            serde_json::from_str::<Value>(body).is_ok_and(|body| body["tools"].as_u64() > Some(0))
        };
        let last = within.iter().rev().find(offers).or(within.last());
        last.copied()
            .ok_or_else(|| self.missing("the model was not asked".to_owned()))
    }
}

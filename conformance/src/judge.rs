//! Decides checks from a recording, and from nothing else.

mod conversation;
mod lines;
mod model;
mod native;
mod output;
mod process;
mod sdk;
mod sdk_talk;
mod stored;
mod synced;
mod talk;
mod transcript;
mod window;

use serde_json::Value;

use crate::check::{Ask, Check, Likeness};
use crate::driver::{End, Played};
use crate::matcher::fits;
use crate::recording::What;
use crate::schema::Schemas;
use talk::Talk;
pub(crate) use transcript::Transcript;
use window::Window;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finding {
    Holds,
    /// It does not, and what was seen instead.
    Broken(String),
    /// The case did not get far enough to say.
    Unreached(String),
    Skipped(String),
}

impl Finding {
    /// The worse of two findings of one check, from repetitions or from several cases.
    pub(crate) fn worse(self, other: Self) -> Self {
        let rank = |finding: &Self| match finding {
            Self::Skipped(_) => 0,
            Self::Holds => 1,
            Self::Unreached(_) => 2,
            Self::Broken(_) => 3,
        };
        if rank(&other) > rank(&self) {
            other
        } else {
            self
        }
    }
}

/// Decides one check.
pub(crate) fn judge(check: &Check, played: &Played, schemas: &Schemas) -> Finding {
    if let End::Skipped(why) = &played.end {
        return Finding::Skipped(why.clone());
    }
    let judge = Judge { played, schemas };
    match judge.ask(&check.ask) {
        Ok(()) => Finding::Holds,
        Err(finding) => finding,
    }
}

/// A check holds, or how it does not.
type Held = Result<(), Finding>;

pub(crate) struct Judge<'a> {
    played: &'a Played,
    schemas: &'a Schemas,
}

fn broken(why: impl Into<String>) -> Finding {
    Finding::Broken(why.into())
}

impl<'a> Judge<'a> {
    fn ask(&self, ask: &Ask) -> Held {
        match ask {
            Ask::Answer {
                to,
                fits: pattern,
                within,
                since,
            } => self.answer(to, pattern.as_ref(), *within, since.as_deref()),
            Ask::Some {
                frame,
                window,
                process,
                least,
                most,
            } => {
                let found = self.frames(frame, window.as_ref(), process.as_deref())?;
                let least = least.unwrap_or(usize::from(most.is_none()));
                if found.len() < least {
                    return Err(self.missing(format!(
                        "{} frames like {frame}, at least {least} were due",
                        found.len()
                    )));
                }
                match (found.get(most.unwrap_or(usize::MAX)), most) {
                    (Some(frame), Some(most)) => Err(broken(format!(
                        "{} frames, at most {most} were due: {}",
                        found.len(),
                        short(frame)
                    ))),
                    (_, Some(_)) => self.complete(),
                    _ => Ok(()),
                }
            }
            Ask::None {
                frame,
                window,
                process,
            } => match self
                .frames(frame, window.as_ref(), process.as_deref())?
                .first()
            {
                Some(frame) => Err(broken(format!("this came: {}", short(frame)))),
                None => self.complete(),
            },
            Ask::Every {
                frame,
                fits: pattern,
                window,
                least,
            } => {
                let pattern = self.played.variables.fill(pattern);
                let found = self.frames(frame, window.as_ref(), None)?;
                if let Some(frame) = found.iter().find(|frame| !fits(&pattern, Some(frame))) {
                    return Err(broken(format!("{} is not {pattern}", short(frame))));
                }
                if found.len() < *least {
                    let why = format!("{} frames like {frame}, not {least}", found.len());
                    return Err(self.missing(why));
                }
                self.complete()
            }
            Ask::Distinct { frame, at, least } => self.distinct(frame, at, *least),
            Ask::Order {
                first,
                then,
                window,
            } => self.order(first, then, window.as_ref()),
            Ask::Text {
                window,
                session,
                kind,
                fits: pattern,
            } => {
                let text = self.talk(window, session.as_ref())?.text(*kind);
                let pattern = self.played.variables.fill(pattern);
                if fits(&pattern, Some(&Value::String(text.clone()))) {
                    self.complete()
                } else {
                    let text = text.chars().take(200).collect::<String>();
                    Err(self.missing(format!("the text was {text:?}")))
                }
            }
            Ask::Same {
                windows,
                session,
                by,
            } => self.same(windows, session.as_ref(), *by),
            Ask::Conversation {
                window,
                fits: pattern,
            } => self.told_in(window, pattern),
            Ask::Covered {
                windows,
                session,
                older,
            } => self.covered(windows, session.as_ref(), *older),
            Ask::Cursors { window, after, to } => self.cursors(window, after, to.as_ref()),
            Ask::Exit {
                process,
                codes,
                after,
            } => self.exit(process, codes, after.as_ref()),
            Ask::File {
                file,
                fits: pattern,
            } => {
                let text = self.file(file)?;
                let value = text.clone().map_or(Value::Null, Value::String);
                let pattern = self.played.variables.fill(pattern);
                if fits(&pattern, Some(&value)) {
                    Ok(())
                } else {
                    Err(broken(format!("the file holds {}", short(&value))))
                }
            }
            Ask::Stored { turns, well, there } => self.stored(turns, well, there),
            Ask::Stderr {
                process,
                fits: pattern,
            } => {
                let said = self.stderr(process);
                let pattern = self.played.variables.fill(pattern);
                if fits(&pattern, Some(&Value::String(said.clone()))) {
                    Ok(())
                } else {
                    Err(self.missing(format!(
                        "stderr says {:?}",
                        said.chars().take(200).collect::<String>()
                    )))
                }
            }
            Ask::Printed {
                file,
                window,
                older,
            } => self.printed(file, window, *older),
            Ask::FileLines { file, least, most } => {
                let lines = self.file(file)?.unwrap_or_default().lines().count();
                if (*least..=*most).contains(&lines) {
                    Ok(())
                } else {
                    Err(broken(format!("the file has {lines} lines")))
                }
            }
            Ask::NoDescendants { named } => self.no_descendants(named.as_deref()),
            Ask::ToolsClosed { window } => match self.talk(window, None)?.open_tool() {
                Some(tool) => Err(broken(format!("open: {tool}"))),
                None => self.complete(),
            },
            Ask::Output {
                window,
                terminal,
                fits: pattern,
            } => self.output(window, terminal.as_ref(), pattern),
            Ask::Shown {
                window,
                text,
                least,
                most,
            } => self.shown(window, text, *least, most.unwrap_or(usize::MAX)),
            Ask::Agrees {
                load,
                model,
                texts,
                calls,
            } => self.agrees(load, model, texts, calls),
            Ask::Tells { window, words } => self.tells(window, words),
            Ask::Done {} => self.complete(),
            Ask::Lines { are } => self.lines(*are),
            Ask::Transcript { file, are } => self.transcript(file, *are),
            Ask::Told {
                file,
                texts,
                only,
                least,
            } => self.told(file, texts, *only, *least),
            Ask::SameTold { files, said } => self.same_told(files, said.as_deref()),
            Ask::Untouched { file, of } => self.untouched(file, of),
            Ask::Synced {
                mark,
                after,
                before,
            } => self.synced(mark, after, before),
        }
    }

    /// A case that stopped early says nothing about what does not come.
    fn complete(&self) -> Held {
        match &self.played.end {
            End::Stopped(why) => Err(Finding::Unreached(why.clone())),
            _ => Ok(()),
        }
    }

    /// Something did not come: broken where the case came to its end, else out of reach.
    fn missing(&self, why: String) -> Finding {
        match &self.played.end {
            End::Stopped(stop) => Finding::Broken(format!("{why}; {stop}")),
            _ => Finding::Broken(why),
        }
    }

    fn frames(
        &self,
        pattern: &Value,
        window: Option<&[String; 2]>,
        process: Option<&str>,
    ) -> Result<Vec<&'a Value>, Finding> {
        let pattern = self.played.variables.fill(pattern);
        let window = self.window(window)?;
        let of = process.map(|name| self.played.names.get(name).cloned().unwrap_or_default());
        Ok(self
            .played
            .recording
            .frames()
            .filter(|(index, process, _)| {
                window.holds(*index) && of.as_ref().is_none_or(|of| of.contains(process))
            })
            .filter(|(_, _, frame)| fits(&pattern, Some(frame)))
            .map(|(_, _, frame)| frame)
            .collect())
    }

    fn window(&self, points: Option<&[String; 2]>) -> Result<Window, Finding> {
        match points {
            None => Ok(Window::all()),
            Some(points) => {
                Window::between(self.played, points).map_err(|point| self.unreached(&point))
            }
        }
    }

    fn unreached(&self, point: &str) -> Finding {
        let why = match &self.played.end {
            End::Stopped(why) => why.clone(),
            _ => "it was not reached".to_owned(),
        };
        Finding::Unreached(format!("{point}: {why}"))
    }

    fn talk(&self, window: &[String; 2], session: Option<&Value>) -> Result<Talk, Finding> {
        let session = match session {
            Some(session) => self.played.variables.fill(session),
            None => self.played.variables.fill(&Value::from("$session")),
        };
        let window = self.window(Some(window))?;
        Ok(self.talk_in(window, &session))
    }

    fn talk_in(&self, window: Window, session: &Value) -> Talk {
        let usual = self.schemas.tongue;
        let spoken = |process| self.played.tongues.get(process).copied().unwrap_or(usual);
        Talk::of(&self.played.recording, window, session, spoken)
    }

    fn answer(
        &self,
        to: &str,
        pattern: Option<&Value>,
        within: Option<u64>,
        since: Option<&str>,
    ) -> Held {
        let Some(asked) = self.played.labels.get(to) else {
            return Err(self.unreached(to));
        };
        let entries = &self.played.recording.entries;
        let answers: Vec<usize> = self
            .played
            .recording
            .frames()
            .filter(|(index, _, _)| {
                crate::driver::answer_in(asked, *index, &entries[*index]).is_some()
            })
            .map(|(index, _, _)| index)
            .collect();
        let Some(first) = answers.first() else {
            return Err(self.missing(format!("{to} was not answered")));
        };
        if answers.len() > 1 && !asked.awaited.repeats() {
            return Err(broken(format!("{to} was answered {} times", answers.len())));
        }
        let frame = entries[*first].frame().unwrap_or(&Value::Null);
        if let Some(pattern) = pattern {
            let pattern = self.played.variables.fill(pattern);
            if !fits(&pattern, Some(frame)) {
                return Err(broken(format!("the answer was {}", short(frame))));
            }
        }
        let begun = since.and_then(|name| window::point(self.played, name));
        let begun = begun.map_or(Ok(asked.at), usize::try_from).unwrap_or(0);
        let took = entries[*first].at.saturating_sub(entries[begun].at);
        match within {
            Some(most) if took.as_millis() > u128::from(most) => {
                Err(broken(format!("it took {} ms", took.as_millis())))
            }
            _ => Ok(()),
        }
    }

    fn distinct(&self, frame: &Value, at: &str, least: usize) -> Held {
        let found = self.frames(frame, None, None)?;
        let mut values: Vec<&Value> = Vec::new();
        for frame in found {
            let Some(value) = frame.pointer(at) else {
                continue;
            };
            if values.contains(&value) {
                return Err(broken(format!("{value} stands twice")));
            }
            values.push(value);
        }
        if values.len() < least {
            return Err(self.missing(format!("{} values, not {least}", values.len())));
        }
        Ok(())
    }

    fn order(&self, first: &Value, then: &Value, window: Option<&[String; 2]>) -> Held {
        let window = self.window(window)?;
        let position = |pattern: &Value| {
            let pattern = self.played.variables.fill(pattern);
            self.played
                .recording
                .frames()
                .find(|(index, _, frame)| window.holds(*index) && fits(&pattern, Some(frame)))
                .map(|(index, _, _)| index)
        };
        match (position(first), position(then)) {
            (Some(first), Some(then)) if first < then => Ok(()),
            (Some(_), Some(_)) => Err(broken(format!("{then} came first"))),
            (None, _) => Err(self.missing(format!("{first} did not come"))),
            (_, None) => Err(self.missing(format!("{then} did not come"))),
        }
    }

    fn same(&self, windows: &[[String; 2]; 2], session: Option<&Value>, by: Likeness) -> Held {
        let [one, two] = windows;
        let (one, two) = (self.talk(one, session)?, self.talk(two, session)?);
        match one.difference(&two, by) {
            Some(difference) => Err(broken(difference)),
            None => self.complete(),
        }
    }

    fn covered(&self, windows: &[[String; 2]; 2], session: Option<&Value>, older: u64) -> Held {
        let [seen, later] = windows;
        let window = self.window(Some(seen))?;
        let entries = &self.played.recording.entries;
        let window = window.earlier(entries, std::time::Duration::from_millis(older));
        let session = session.cloned().unwrap_or_else(|| Value::from("$session"));
        let session = self.played.variables.fill(&session);
        let seen = self.talk_in(window, &session);
        match seen.uncovered(&self.talk(later, Some(&session))?) {
            Some(lost) => Err(self.missing(format!("the client had seen {lost:?}"))),
            None => self.complete(),
        }
    }

    fn file(&self, label: &str) -> Result<Option<String>, Finding> {
        self.played
            .recording
            .entries
            .iter()
            .rev()
            .find_map(|entry| match &entry.what {
                What::File(name, text) if name == label => Some(text.clone()),
                _ => None,
            })
            .ok_or_else(|| self.unreached(label))
    }

    fn tells(&self, window: &[String; 2], words: &[String]) -> Held {
        let window = self.window(Some(window))?;
        let told = self.played.recording.lines().any(|(index, _, line)| {
            let text = String::from_utf8_lossy(&line.bytes).to_lowercase();
            window.holds(index) && words.iter().any(|word| text.contains(word.as_str()))
        });
        if told {
            self.complete()
        } else {
            Err(self.missing(format!("no frame has a word of {words:?}")))
        }
    }
}

/// A frame as it stands in a message.
pub(crate) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(300) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
#[path = "judge/tests.rs"]
mod tests;

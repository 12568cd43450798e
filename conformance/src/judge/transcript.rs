//! Judges transcripts: files in which Claude and Codex keep conversations.

mod claude;
mod codex;
mod told;

use serde_json::Value;

use super::{Finding, Held, Judge, broken};
use crate::check::{Speaker, TranscriptRule};
use crate::recording::What;
use crate::step::ShapeName;

/// How many things a rule was about, all of which keep it; or what does not.
type Looked = Result<usize, String>;

/// A transcript, line by line.
pub(crate) struct Transcript {
    shape: ShapeName,
    /// Those that are objects.
    lines: Vec<Line>,
    /// What is wrong with the first line that is none.
    bad: Option<String>,
    ended: bool,
}

/// An entry and its place.
struct Line {
    /// From 1.
    number: usize,
    entry: Value,
}

impl Line {
    fn text(&self, member: &str) -> Option<&str> {
        self.entry[member].as_str()
    }

    /// A flaw of this line.
    fn flaw<T>(&self, what: impl std::fmt::Display) -> Result<T, String> {
        Err(format!("line {}: {what}", self.number))
    }
}

impl Transcript {
    /// Reads one. Its shape is that of its first entry.
    pub(crate) fn read(text: &str) -> Self {
        let (mut lines, mut bad) = (Vec::new(), None);
        for (at, line) in text.split('\n').enumerate() {
            let number = at + 1;
            match serde_json::from_str::<Value>(line) {
                Ok(entry) if entry.is_object() => lines.push(Line { number, entry }),
                // What follows the last LF.
                _ if line.is_empty() && text.split('\n').nth(number).is_none() => {}
                Ok(_) => _ = bad.get_or_insert(format!("line {number} is no object")),
                Err(error) => _ = bad.get_or_insert(format!("line {number} is no JSON: {error}")),
            }
        }
        let codex = |line: &Line| line.entry["payload"].is_object();
        let shape = match lines.first() {
            Some(first) if codex(first) => ShapeName::Codex,
            _ => ShapeName::Claude,
        };
        Self {
            shape,
            lines,
            bad,
            ended: text.is_empty() || text.ends_with('\n'),
        }
    }

    /// The shape of a file, where it has an entry of one.
    pub(crate) fn shape_of(text: &str) -> Option<ShapeName> {
        let read = Self::read(text);
        let known = |line: &Line| match read.shape {
            ShapeName::Claude => line.text("type").is_some() && line.entry.get("message").is_some(),
            ShapeName::Codex => line.text("type").is_some(),
        };
        read.lines.iter().any(known).then_some(read.shape)
    }

    /// Whether it keeps a rule; `name` is what its file is called.
    fn keeps(&self, rule: TranscriptRule, name: Option<&str>) -> Looked {
        match (rule, self.shape) {
            (TranscriptRule::Lines, _) => self.sound(),
            (TranscriptRule::Ended, _) if self.ended => Ok(1),
            (TranscriptRule::Ended, _) => Err("the last line has no end".to_owned()),
            (_, ShapeName::Claude) => claude::keeps(self, rule, name),
            (_, ShapeName::Codex) => codex::keeps(self, rule, name),
        }
    }

    fn sound(&self) -> Looked {
        if let Some(bad) = &self.bad {
            return Err(bad.clone());
        }
        for line in &self.lines {
            if line.text("type").is_none() {
                return line.flaw("it has no type");
            }
            if self.shape == ShapeName::Codex && !line.entry["payload"].is_object() {
                return line.flaw("it has no payload");
            }
        }
        if self.lines.is_empty() {
            return Err("it holds nothing".to_owned());
        }
        Ok(self.lines.len())
    }
}

impl Judge<'_> {
    /// A rule over every file that was recorded under a name.
    pub(super) fn transcript(&self, file: &str, rule: TranscriptRule) -> Held {
        let name = format!("${file}.name");
        let filled = self.played.variables.fill(&Value::from(name.as_str()));
        let name = filled.as_str().filter(|filled| *filled != name);
        let mut looked = 0;
        for text in self.files(file)? {
            looked += Transcript::read(text).keeps(rule, name).map_err(broken)?;
        }
        if looked == 0 && self.given() {
            return Err(Finding::Skipped("the file has none of this".to_owned()));
        }
        self.complete()
    }

    /// Texts in the conversations of every file that was recorded under a name.
    pub(super) fn told(
        &self,
        file: &str,
        texts: &[String],
        only: Option<Speaker>,
        least: usize,
    ) -> Held {
        if self.given() {
            let why = "what was said in it is not known";
            return Err(Finding::Skipped(why.to_owned()));
        }
        let files = self.files(file)?;
        for text in &files {
            let told = told::of(&Transcript::read(text));
            let texts = texts.iter().map(|text| self.played.variables.text(text));
            if let Some(lost) = told::missing(&told, &texts.collect::<Vec<_>>(), only) {
                return Err(broken(format!("{lost} in {}", told::shown(&told))));
            }
        }
        if files.len() < least {
            return Err(self.missing(format!("{} files, not {least}", files.len())));
        }
        self.complete()
    }

    /// Two files with one conversation.
    pub(super) fn same_told(&self, files: &[String; 2], said: Option<&str>) -> Held {
        let [one, two] = files;
        let told = |file: &String| {
            let text = self.file(file)?.unwrap_or_default();
            Ok(told::of(&Transcript::read(&text)))
        };
        let (mut one, mut two) = (told(one)?, told(two)?);
        let said = match said {
            Some(said) => self.file(said)?.unwrap_or_default(),
            None => String::new(),
        };
        if said.contains("name") {
            told::unname(&mut one);
            told::unname(&mut two);
        }
        match told::difference(&one, &two) {
            Some(difference) => Err(broken(difference)),
            None => self.complete(),
        }
    }

    /// The whole lines of a file at the beginning of another.
    pub(super) fn untouched(&self, file: &str, of: &str) -> Held {
        let (made, was) = (self.file(file)?, self.file(of)?);
        let (made, was) = (made.unwrap_or_default(), was.unwrap_or_default());
        let whole = was.rfind('\n').map_or("", |end| &was[..=end]);
        let other = whole
            .split_inclusive('\n')
            .zip(made.split_inclusive('\n').chain(std::iter::repeat("")))
            .position(|(was, made)| was != made);
        match other {
            Some(at) => Err(broken(format!("line {} is another", at + 1))),
            None => self.complete(),
        }
    }

    /// Whether one file is judged in place of a program.
    fn given(&self) -> bool {
        self.played.variables.fill(&Value::from("$given")) == Value::Bool(true)
    }

    /// Everything that was recorded under a name.
    fn files(&self, label: &str) -> Result<Vec<&str>, Finding> {
        let entries = self.played.recording.entries.iter();
        let found = entries.filter_map(|entry| match &entry.what {
            What::File(name, Some(text)) if name == label => Some(text.as_str()),
            _ => None,
        });
        let found: Vec<&str> = found.collect();
        if found.is_empty() {
            return Err(self.unreached(label));
        }
        Ok(found)
    }
}

/// Whether a time is UTC with milliseconds, so that two can be compared as texts.
fn is_time(text: &str) -> bool {
    let pattern = "dddd-dd-ddTdd:dd:dd.dddZ";
    text.len() == pattern.len()
        && text.chars().zip(pattern.chars()).all(|(c, p)| match p {
            'd' => c.is_ascii_digit(),
            p => c == p,
        })
}

/// The id at the end of a file's name, if it has the form of one.
fn id_in(name: &str) -> Option<&str> {
    let stem = name.strip_suffix(".jsonl")?;
    let stem = stem.split_once('_').map_or(stem, |(first, _)| first);
    let id = stem.get(stem.len().checked_sub(36)?..)?;
    let shaped = id.chars().enumerate().all(|(at, c)| match at {
        8 | 13 | 18 | 23 => c == '-',
        _ => c.is_ascii_hexdigit(),
    });
    shaped.then_some(id)
}

#[cfg(test)]
#[path = "transcript/tests.rs"]
mod tests;

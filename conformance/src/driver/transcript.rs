//! Transcripts that a target writes, or makes of others.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Did, Driver, Halt};
use crate::case::StateNeed;
use crate::error::Error;
use crate::recording::What;
use crate::step::{Convert, ShapeName, Take, Written};
use crate::target::Given;

/// As long as all cuts of one transcript may take: a hundred and more runs of a command.
const CUTS: Duration = Duration::from_secs(180);

impl Driver<'_> {
    /// Why the target has no transcript that the case is about.
    pub(super) fn writes_not(&self) -> Option<String> {
        let known = |shape| self.target.shapes.contains_key(&shape);
        let lacks = match self.case.state {
            StateNeed::Claude => {
                (!known(ShapeName::Claude)).then_some("where transcripts of Claude's shape are")
            }
            StateNeed::Codex => {
                (!known(ShapeName::Codex)).then_some("where rollouts of Codex's shape are")
            }
            StateNeed::Convert => self
                .target
                .convert
                .is_empty()
                .then_some("how one transcript is made of another"),
            StateNeed::Nothing | StateNeed::Files | StateNeed::Export => None,
        };
        lacks.map(|what| format!("the target's profile does not say {what}"))
    }

    /// The file that is judged is the one that the case would have had written.
    pub(super) fn given(&mut self, given: &Given) -> Did {
        let bytes = std::fs::read(&given.path)
            .map_err(|error| Error::io(given.path.display().to_string(), error))?;
        self.named_file("written", &given.path);
        self.keep("written", &bytes)
    }

    /// Records the transcript that the target has of a session.
    pub(super) fn written(&mut self, written: &Written) -> Did {
        let session = self.variables.fill(&written.session);
        let session = session.as_str().unwrap_or_default().to_owned();
        let Some(writes) = self.target.shapes.get(&written.shape) else {
            let why = format!("the target writes no {}", written.shape.name());
            return Err(Halt::Skip(why));
        };
        let mut bytes = Vec::new();
        if !writes.run.is_empty() {
            let argv = self.target.filled(&writes.run, &[("{session}", &session)]);
            bytes = self.command("writing the transcript", &argv)?.out;
        }
        if let Some(path) = &writes.path {
            let found = self.lies(path, &session)?;
            bytes = std::fs::read(&found)
                .map_err(|error| Error::io(found.display().to_string(), error))?;
            self.named_file(&written.label, &found);
        }
        self.keep(&written.label, &bytes)
    }

    /// Has a transcript taken in.
    pub(super) fn take(&mut self, take: &Take) -> Did {
        let file = self.path(&take.file)?;
        let words = self.target.shapes.get(&take.shape).map(|shape| &shape.take);
        let Some(words) = words.filter(|words| !words.is_empty()) else {
            let why = "the target's profile does not say how a transcript is taken in";
            return Err(Halt::Skip(why.to_owned()));
        };
        let fields = [
            ("{file}", &*file.to_string_lossy()),
            ("{session}", &take.session),
        ];
        let argv = self.target.filled(words, &fields);
        self.command("taking it in", &argv).map(|_| ())
    }

    /// Has a transcript made of another.
    pub(super) fn convert(&mut self, convert: &Convert) -> Did {
        let file = self.path(&convert.file)?;
        self.converted(&file, convert)
    }

    /// Has one made of each beginning of a transcript that ends within its last line.
    pub(super) fn convert_cuts(&mut self, convert: &Convert) -> Did {
        self.until = Instant::now() + CUTS;
        let file = self.path(&convert.file)?;
        let whole =
            std::fs::read(&file).map_err(|error| Error::io(file.display().to_string(), error))?;
        let body = whole.strip_suffix(b"\n").unwrap_or(&whole);
        let last = body.iter().rposition(|byte| *byte == b'\n');
        let cut = self.place.root.join("cut.jsonl");
        for end in last.map_or(0, |at| at + 1)..whole.len() {
            std::fs::write(&cut, &whole[..end])
                .map_err(|error| Error::io(cut.display().to_string(), error))?;
            self.converted(&cut, convert)?;
        }
        Ok(())
    }

    fn converted(&mut self, file: &Path, convert: &Convert) -> Did {
        let file = file.to_string_lossy();
        let fields = [("{file}", &*file), ("{shape}", convert.to.name())];
        let argv = self.target.filled(&self.target.convert, &fields);
        let said = self.command("the conversion", &argv)?;
        self.keep(&format!("{}.said", convert.label), said.err.as_bytes())?;
        self.keep(&convert.label, &said.out)
    }

    /// Where a file lies that a profile names.
    fn lies(&self, path: &str, session: &str) -> Result<PathBuf, Halt> {
        let filled = self.place.fill(path, "").replace("{session}", session);
        let below = Path::new(&filled).strip_prefix(&self.place.root);
        let below = below.map_err(|_| {
            let why = format!("{filled} is not below {{home}}, {{state_dir}} or {{cwd}}");
            Halt::Fault(Error::Usage(why))
        })?;
        let found = super::damage::find(&self.place.root, &below.to_string_lossy());
        let missing = || Halt::Stop(format!("no transcript {filled}"));
        found.last().cloned().ok_or_else(missing)
    }

    /// Remembers what a transcript is called: readers find it by that.
    fn named_file(&mut self, label: &str, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.variables.set(&format!("{label}.name"), json!(name));
    }

    /// Records a file, and lays it where later steps find it.
    fn keep(&self, label: &str, bytes: &[u8]) -> Did {
        let text = String::from_utf8_lossy(bytes).into_owned();
        self.recorder
            .add(0, What::File(label.to_owned(), Some(text)));
        let path = self.place.root.join(format!("{label}.jsonl"));
        std::fs::write(&path, bytes)
            .map_err(|error| Error::io(path.display().to_string(), error).into())
    }
}

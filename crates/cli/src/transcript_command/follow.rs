//! A transcript that is being written, as it grows.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use sessiond_claude::transcript;
use sessiond_codex::rollout::{self, Rollout};
use sessiond_protocol::{Telling, Told};
use sessiond_wire::foreign::{Grown, Identity};

use super::opening::{self, Library};
use crate::args::Follow;
use crate::conversation::Shown;
use crate::failure::Failure;
use crate::output::{print, print_json, say};
use crate::setup::block_on;
use crate::signals::Signals;

/// Bytes that show which program writes the file.
const HEAD: u64 = 1 << 20;

/// Between two looks at the file.
const POLL: Duration = Duration::from_millis(200);

/// What follows a file, by the program that writes it.
enum Tail {
    Claude(transcript::Tail),
    Codex(rollout::Tail, Library),
}

impl Tail {
    /// Of a file, which need not hold anything yet.
    fn of(path: &Path) -> Self {
        let name = path.file_name().and_then(|name| name.to_str());
        let is_named = name.and_then(rollout::thread_of).is_some();
        let head = opening::head(path, HEAD).unwrap_or_default();
        match is_named || rollout::is_rollout(&head) {
            true => Tail::Codex(rollout::Tail::default(), Library::around(path)),
            false => Tail::Claude(transcript::Tail::default()),
        }
    }

    fn look(&mut self, path: &Path, file: &File, identity: Identity) -> io::Result<Vec<Grown>> {
        match self {
            Tail::Claude(tail) => tail.look(file, identity),
            Tail::Codex(tail, library) => tail.look(file, identity, || {
                Rollout::read(opening::open(path)?, |wanted| library.find(wanted))
            }),
        }
    }
}

/// Prints until somebody says to stop.
pub(super) fn run(follow: &Follow) -> Result<(), Failure> {
    block_on(async {
        let mut signals = Signals::listen()?;
        let mut tail = Tail::of(&follow.file);
        // A file that is being replaced is away for a moment; one that never was is a mistake.
        let mut was_there = false;
        loop {
            match File::open(&follow.file) {
                Ok(file) => {
                    was_there = true;
                    let metadata = file.metadata().map_err(Failure::os("look up the file"))?;
                    let identity = Identity {
                        file: (metadata.dev(), metadata.ino()),
                        bytes: metadata.len(),
                    };
                    let grown = tail.look(&follow.file, &file, identity);
                    let grown = grown.map_err(Failure::os("read the transcript"))?;
                    grown.iter().try_for_each(|grown| show(grown, follow))?;
                }
                Err(error) if was_there && error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(unreadable(&follow.file, &error)),
            }
            tokio::select! {
                () = signals.caught() => return Ok(()),
                () = tokio::time::sleep(POLL) => {}
            }
        }
    })
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let path = path.display();
    Failure::Usage(format!("{path} cannot be read: {error}"))
}

fn show(grown: &Grown, follow: &Follow) -> Result<(), Failure> {
    match grown {
        Grown::Told(told) if follow.format.json => print_json(&line(told)),
        Grown::Told(told) => print(&Shown(&told.what).to_string()),
        Grown::Anew if follow.format.json => print_json(&json!({ "type": "anew" })),
        Grown::Anew => {
            say("the conversation goes on from elsewhere; all of it follows");
            Ok(())
        }
    }
}

fn line(told: &Told) -> serde_json::Value {
    let (id, at) = (told.id, told.at.as_deref());
    match &told.what {
        Telling::Item(item) => json!({ "type": "item", "id": id, "at": at, "item": item }),
        Telling::Summary(text) => json!({ "type": "summary", "id": id, "at": at, "text": text }),
        Telling::Notice {
            severity,
            title,
            description,
        } => json!({
            "type": "notice",
            "at": at,
            "severity": severity,
            "title": title,
            "description": description,
        }),
    }
}

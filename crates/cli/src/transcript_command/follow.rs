//! A transcript that is being written, as it grows.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use sessiond_claude::transcript::Tail;
use sessiond_protocol::{Telling, Told};
use sessiond_wire::foreign::{Grown, Identity};

use crate::args::Follow;
use crate::conversation::Shown;
use crate::failure::Failure;
use crate::output::{print, print_json, say};
use crate::setup::block_on;
use crate::signals::Signals;

/// Between two looks at the file.
const POLL: Duration = Duration::from_millis(200);

/// Prints until somebody says to stop.
pub(super) fn run(follow: &Follow) -> Result<(), Failure> {
    block_on(async {
        let mut signals = Signals::listen()?;
        let mut tail = Tail::default();
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
                    let grown = tail.look(&file, identity);
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

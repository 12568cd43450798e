//! Runs commands of a target beside what it speaks: what prints a session, what writes it down.

use std::sync::Arc;

use super::{Did, Driver, Halt};
use crate::client::Client;
use crate::error::Error;
use crate::process::{Launch, Process};
use crate::recording::{Ending, Recorder, What};
use crate::step::Export;

/// As long as a command may take: it opens a store and reads a session.
const SLOWEST: std::time::Duration = std::time::Duration::from_secs(20);

/// What a command said.
pub(super) struct Said {
    /// On stdout.
    pub(super) out: Vec<u8>,
    /// On stderr.
    pub(super) err: String,
}

impl Driver<'_> {
    /// Records what is printed of a session, as a file.
    pub(super) fn export(&mut self, export: &Export) -> Did {
        let session = self.variables.fill(&export.session);
        let argv = self.target.export_of(session.as_str().unwrap_or_default());
        let said = self.command("the export", &argv)?;
        let text = String::from_utf8_lossy(&said.out).into_owned();
        self.recorder
            .add(0, What::File(export.label.clone(), Some(text)));
        Ok(())
    }

    /// Runs a command until it ends well. Its lines are no frames, so they have a recording of their own.
    pub(super) fn command(&self, what: &str, argv: &[String]) -> Result<Said, Halt> {
        let recorder = Arc::new(Recorder::new());
        let socket = self.place.root.join("x");
        let launch = Launch {
            argv,
            env: &self.environment,
            cwd: &self.place.cwd(),
            file_bytes: None,
            watch: None,
            disk: self.place.disk.as_ref(),
            socket: &socket,
        };
        let client = Arc::new(Client::new(
            self.tongue,
            &self.place.cwd(),
            serde_json::json!({}),
        ));
        let process = Process::start(&launch, &recorder, 0, client)
            .map_err(|error| Error::io("guard", error))?;
        process.close();
        let code = recorder.wait(
            self.within(None, SLOWEST),
            usize::MAX,
            |_, _| None,
            |recording| recording.gone(0),
        );
        drop(process);
        let err = said(&recorder);
        if code != Some(0) {
            let err: String = err.chars().take(300).collect();
            return Err(Halt::Stop(format!("{what} ended with {code:?}: {err}")));
        }
        let mut out = Vec::new();
        for (_, _, line) in recorder.look().lines() {
            out.extend_from_slice(&line.bytes);
            if line.ending == Ending::Lf {
                out.push(b'\n');
            }
        }
        Ok(Said { out, err })
    }
}

/// What a command said on stderr.
fn said(recorder: &Recorder) -> String {
    let recording = recorder.look();
    let said = recording
        .entries
        .iter()
        .filter_map(|entry| match &entry.what {
            What::Stderr(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        });
    said.collect()
}

//! Runs the command of a target that prints a session.

use std::sync::Arc;

use super::{Did, Driver, Halt};
use crate::client::Client;
use crate::error::Error;
use crate::process::{Launch, Process};
use crate::recording::{Recorder, What};
use crate::step::Export;

/// As long as a command may take: it opens a store and reads a session.
const SLOWEST: std::time::Duration = std::time::Duration::from_secs(20);

impl Driver<'_> {
    /// Records what is printed of a session, as a file. The command's own lines are no frames, so they
    /// have a recording of their own.
    pub(super) fn export(&mut self, export: &Export) -> Did {
        let session = self.variables.fill(&export.session);
        let argv = self.target.export_of(session.as_str().unwrap_or_default());
        let recorder = Arc::new(Recorder::new());
        let socket = self.place.root.join("x");
        let launch = Launch {
            argv: &argv,
            env: &self.environment,
            cwd: &self.place.cwd(),
            file_bytes: None,
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
        if code != Some(0) {
            let said = said(&recorder);
            return Err(Halt::Stop(format!(
                "the export ended with {code:?}: {said}"
            )));
        }
        let text: String = recorder
            .look()
            .lines()
            .map(|(_, _, line)| String::from_utf8_lossy(&line.bytes).into_owned() + "\n")
            .collect();
        self.recorder
            .add(0, What::File(export.label.clone(), Some(text)));
        Ok(())
    }
}

/// The beginning of what a command said on stderr.
fn said(recorder: &Recorder) -> String {
    let recording = recorder.look();
    let said = recording
        .entries
        .iter()
        .find_map(|entry| match &entry.what {
            What::Stderr(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        });
    said.unwrap_or_default().chars().take(300).collect()
}

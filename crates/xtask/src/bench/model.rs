//! The scripted model server beside a real program that is measured.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::environment::Environment;
use crate::error::{Error, Result};

/// A model server; it ends when this is dropped.
pub(super) struct Model {
    child: Child,
    /// Where it is reached.
    pub(super) url: String,
}

impl Model {
    /// Starts it, and waits until it says where it is.
    ///
    /// # Errors
    ///
    /// When it cannot be started, or says something else.
    pub(super) fn start(environment: &Environment, program: &Path) -> Result<Self> {
        let starting = || Error::io("starting the model server");
        let mut command = environment.command(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut model = Self {
            child: command.spawn().map_err(starting())?,
            url: String::new(),
        };
        let mut line = String::new();
        if let Some(stdout) = model.child.stdout.take() {
            BufReader::new(stdout)
                .read_line(&mut line)
                .map_err(starting())?;
        }
        let said: Value =
            serde_json::from_str(&line).map_err(|error| Error::content(program, error))?;
        said["url"]
            .as_str()
            .unwrap_or_default()
            .clone_into(&mut model.url);
        Ok(model)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // It has ended, or ends by this; either is well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

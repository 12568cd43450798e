//! Plain output of commands that speak no protocol.

use std::io::{self, ErrorKind, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Prints to stdout. A reader that has left (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Os {
            step: "write to stdout",
            source: error,
        }),
        _ => Ok(()),
    }
}

/// Prints a value as one line of JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print(&format!("{}\n", json(value)?))
}

/// Says something to the person, or program, that has stdout for something else.
pub(crate) fn note(text: &str) {
    let _nobody_reads = writeln!(io::stderr(), "{text}");
}

/// A value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::Os {
        step: "write JSON",
        source: error.into(),
    })
}

/// Says something short to the person at the terminal (WIRE-12). A stderr that is gone must not
/// end us, as it would through `eprintln!`.
pub(crate) fn say(text: &str) {
    let _nobody_reads = writeln!(io::stderr(), "sessiond: {text}");
}

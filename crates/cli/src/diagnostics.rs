//! Diagnostics: to a file when asked, never to stdout, and nothing else on stderr than what
//! commands say themselves (WIRE-12, SEC-1).

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::filter::LevelFilter;

use crate::failure::Failure;

/// Starts writing diagnostics to `file`. Without a file there is no subscriber and a trace point
/// costs next to nothing.
pub(crate) fn start(file: Option<&Path>, verbose: u8) -> Result<(), Failure> {
    let Some(path) = file else { return Ok(()) };
    let mut options = OpenOptions::new();
    let file = options
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| {
            Failure::Usage(format!(
                "--log-file {} cannot be opened: {error}",
                path.display()
            ))
        })?;
    let level = match verbose {
        0 => LevelFilter::INFO,
        1 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_writer(Mutex::new(file))
        .finish();
    // Only a second call could fail, and it would change nothing.
    let _first_one_stays = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}

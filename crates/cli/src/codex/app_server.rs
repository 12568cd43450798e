//! `sessiond-codex app-server`: Codex's app-server on stdio.

use std::path::Path;

use sessiond_codex::app_server::{Options, serve_until};
use sessiond_codex::{PICTURE_BYTES, Settings, picture};
use sessiond_protocol::Content;
use sessiond_wire::stdio;

use super::exec::read;
use crate::access::{self, on_disconnect};
use crate::args::Hosting;
use crate::channel::{self, Channel, OUTPUT_DEADLINE};
use crate::failure::Failure;
use crate::setup::{Setup, block_on};
use crate::signals::Signals;

/// Serves until the client goes or a signal says to end. Both are a good end, exit 0: what runs is
/// interrupted, and recorded as such, within the two seconds that the SDK waits.
pub(super) fn run(setup: &Setup, hosting: Hosting, settings: Settings) -> Result<(), Failure> {
    // Before anything else runs that could print (WIRE-10).
    let io = stdio::install()?;
    let agent = setup.default_agent()?;
    let cwd = setup.cwd()?;
    block_on(async {
        let mut signals = Signals::listen()?;
        let Channel {
            lines,
            queue,
            outgoing,
        } = channel::open(io)?;
        let home = setup.home(hosting);
        let (waist, local) = access::open(setup, home, "codex-app-server").await?;
        let options = Options {
            agent,
            home: absolute(setup.store()),
            cwd,
            on_disconnect: on_disconnect(home),
            accept: setup.accept(),
            settings,
            picture: Some(local_picture),
        };
        let served = serve_until(lines, queue, waist, options, signals.caught())
            .await
            .map_err(|error| Failure::Found(error.to_string()));
        // Leases are freed before stdout is closed: a client that starts the next process when it
        // sees the end finds its threads free.
        local.end().await;
        outgoing.end(OUTPUT_DEADLINE).await;
        served
    })
}

fn absolute(path: &Path) -> String {
    let absolute = std::path::absolute(path);
    absolute
        .unwrap_or_else(|_| path.to_owned())
        .display()
        .to_string()
}

/// A picture of the user's disk.
fn local_picture(path: &str) -> Option<Content> {
    let bytes = read(Path::new(path), PICTURE_BYTES as u64).ok()?;
    picture(&bytes)
}

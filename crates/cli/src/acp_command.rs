//! `sessiond acp`: the ACP face on stdin and stdout, the engine in this process or in the host.

use sessiond_acp::{Options, Versions, serve_until};
use sessiond_wire::stdio;

use crate::access::{self, on_disconnect};
use crate::args::{Acp, AcpVersion};
use crate::channel::{self, Channel, OUTPUT_DEADLINE};
use crate::failure::Failure;
use crate::setup::{Setup, block_on};
use crate::signals::Signals;

/// Serves until the client goes or a signal says to end. Both are a good end: exit 0.
pub(crate) fn run(setup: &Setup, acp: Acp) -> Result<(), Failure> {
    // Before anything else runs that could print (WIRE-10).
    let io = stdio::install()?;
    let agent = setup.default_agent()?;
    block_on(async {
        let mut signals = Signals::listen()?;
        let Channel {
            lines,
            queue,
            outgoing,
        } = channel::open(io)?;
        let home = setup.home(acp.hosting);
        let (waist, local) = access::open(setup, home, "acp").await?;
        let store = Some(setup.store().display().to_string());
        let served = serve_until(
            lines,
            queue,
            waist,
            Options {
                agent: Some(agent),
                store,
                on_disconnect: on_disconnect(home),
                versions: versions(acp.version),
                accept: setup.accept(),
            },
            signals.caught(),
        )
        .await
        .map_err(|error| Failure::Found(error.to_string()));
        // Leases are freed before stdout is closed: a client that starts the next process when it
        // sees the end finds the session free.
        local.end().await;
        outgoing.end(OUTPUT_DEADLINE).await;
        served
    })
}

fn versions(version: AcpVersion) -> Versions {
    match version {
        AcpVersion::V1 => Versions::V1,
        AcpVersion::V2 => Versions::V2,
        AcpVersion::Auto => Versions::Auto,
    }
}

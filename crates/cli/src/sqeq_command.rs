//! `sessiond sqeq`: the native protocol on stdin and stdout, the engine in this process or in the host.

use sessiond_protocol::{OnDisconnect, ServerFrame};
use sessiond_sqeq::{FaceError, Served, serve};
use sessiond_wire::stdio;

use crate::access::{self, Local};
use crate::args::Hosting;
use crate::channel::{self, Channel, OUTPUT_DEADLINE};
use crate::failure::Failure;
use crate::setup::{Setup, block_on};
use crate::signals::Signals;

/// Serves until the client goes or a signal says to end. Both are a good end, exit 0; a client that
/// does not speak the protocol is exit 65.
pub(crate) fn run(setup: &Setup, hosting: Hosting) -> Result<(), Failure> {
    // Before anything else runs that could print (WIRE-10).
    let io = stdio::install()?;
    block_on(async {
        let mut signals = Signals::listen()?;
        let Channel {
            lines,
            queue,
            outgoing,
        } = channel::open(io)?;
        let home = setup.home(hosting);
        let (waist, local) = access::open(setup, home, "sqeq").await?;
        let face = serve(lines, queue.clone(), waist);
        let served = tokio::select! {
            served = face => Some(served),
            () = signals.caught() => None,
            () = local.asked_to_end() => None,
        };
        if let Some(Ok(served)) = served {
            finish(served, &local, &mut signals).await;
        }
        // Leases are freed before the client sees the end: it finds its sessions free.
        local.end().await;
        let result = served.map_or(Ok(()), |served| served.map(drop).map_err(failure));
        if result.is_ok() {
            queue.push(ServerFrame::Bye {});
        }
        outgoing.end(OUTPUT_DEADLINE).await;
        result
    })
}

/// Lets the turns run to their ends that the client wanted to, unless a signal says to end.
async fn finish(served: Served, local: &Local, signals: &mut Signals) {
    if let Some(engine) = local.engine()
        && served.wish != OnDisconnect::Cancel
    {
        tokio::select! {
            () = engine.idle() => {}
            () = signals.caught() => {}
        }
    }
}

fn failure(error: FaceError) -> Failure {
    match error {
        FaceError::Fatal(error) => Failure::Engine(error),
        gone @ FaceError::EngineGone => Failure::Found(gone.to_string()),
    }
}

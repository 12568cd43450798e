//! `sessiond host`: the process that owns sessions which outlive their clients.

use std::net::SocketAddr;
use std::time::Duration;

use sessiond_host::{Host, IDLE, Secret, Web, raise_file_limit};

use crate::access::{lend, place};
use crate::args::HostArgs;
use crate::failure::Failure;
use crate::output::say;
use crate::setup::{Setup, drain};
use crate::signals::Signals;

/// How long what still runs may take when the host ends. What is cut off then is shown as such.
const WORK_LIMIT: Duration = Duration::from_secs(30);

/// Serves until a signal or a client says to end, or nobody was there for long enough. All are a
/// good end.
pub(crate) fn run(setup: &Setup, args: &HostArgs) -> Result<(), Failure> {
    // What ends the terminal, or the session of the process that started it, does not end a host.
    // Who leads a process group already is in a session of its own, or was started by a shell.
    let _led_before = rustix::process::setsid();
    let files = raise_file_limit();
    tracing::info!(files, "a host begins");
    let idle = args.idle.map_or(IDLE, Duration::from_secs);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Failure::os("start the runtime"))?;
    let result = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        let engine = setup.engine("host")?;
        let place = place(setup)?;
        let host = Host::open(&place, engine.clone())?;
        lend(&engine, &place.host());
        let _web = match args.listen {
            Some(address) => Some(listen(setup, address, &host).await?),
            None => None,
        };
        host.serve(signals.caught(), idle).await;
        // Nobody new, and nobody stays; what runs ends as its clients wished, unless that takes long
        // or somebody insists.
        drop(host);
        tokio::select! {
            () = engine.idle() => {}
            () = tokio::time::sleep(WORK_LIMIT) => {}
            () = signals.caught() => {}
        }
        drain(&engine).await;
        Ok(())
    });
    runtime.shutdown_background();
    result
}

/// Opens the WebSocket, and says where it is.
async fn listen(setup: &Setup, address: SocketAddr, host: &Host) -> Result<Web, Failure> {
    let path = setup.store().join("keys").join("attach");
    let secret = Secret::at(&path).map_err(Failure::os("read the secret of the store"))?;
    let origins = setup.config().origins().to_vec();
    let web = host.listen(address, (secret, origins)).await;
    let web = web.map_err(Failure::os("listen for WebSockets"))?;
    say(&format!("listening on ws://{}", web.address()));
    Ok(web)
}

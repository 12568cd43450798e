//! `sessiond __mcp`: a server of a session's client, on stdin and stdout of an agent.

use sessiond_host::relay;
use sessiond_mcp::endpoint::{Server, serve};
use sessiond_wire::socket::connect;
use sessiond_wire::stdio;

use crate::args::McpServer;
use crate::channel::{self, Channel, OUTPUT_DEADLINE};
use crate::failure::Failure;
use crate::output::say;
use crate::setup::block_on;
use crate::signals::Signals;

/// Serves until the agent goes or a signal says to end. Both are a good end: exit 0.
pub(crate) fn run(server: &McpServer) -> Result<(), Failure> {
    // Before anything else runs that could print (WIRE-10).
    let io = stdio::install()?;
    block_on(async {
        let mut signals = Signals::listen()?;
        let Channel {
            lines,
            queue,
            outgoing,
        } = channel::open(io)?;
        let waist = match connect(&server.socket).await {
            Ok(stream) => Some(relay(stream)),
            Err(error) => {
                say(&format!("the session cannot be reached: {error}"));
                None
            }
        };
        let of = Server {
            session: server.session,
            name: server.server.clone(),
        };
        tokio::select! {
            () = serve(lines, queue, waist, of) => {}
            () = signals.caught() => {}
        }
        outgoing.end(OUTPUT_DEADLINE).await;
        Ok(())
    })
}

//! Drives `sessiond acp` by the Rust SDK, unmodified: `acp-rs v1` or `acp-rs v2`.
//!
//! Environment: SESSIOND_BIN, SESSIOND_HOME; the working directory must be empty. A line a check,
//! then `N passed, N failed`.

mod checks;
mod ledger;
mod v1;
mod v2;
mod wire;

use std::process::ExitCode;
use std::time::Duration;

use checks::Checks;

/// The whole story takes seconds; a hang shall be a failed check.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut checks = Checks::default();
    let version = std::env::args().nth(1).unwrap_or_default();
    let story = async {
        match version.as_str() {
            "v1" => v1::story(&mut checks).await,
            "v2" => v2::story(&mut checks).await,
            other => Err(agent_client_protocol::Error::invalid_params().data(other)),
        }
    };
    let ended = tokio::time::timeout(PATIENCE, story).await;
    // Whatever ends the story early is one failed check.
    checks.that(
        "the scenario runs to its end",
        matches!(ended, Ok(Ok(()))),
        &ended,
    );
    checks.close()
}

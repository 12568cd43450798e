//! A command in a terminal of the client. The terminal is the client's; its text is ours to keep.

use sessiond_protocol::{Outcome, RequestBody, TerminalOp, ToolContent};

use super::{End, Ran};
use crate::call::Call;
use crate::error::ToolError;

/// Follows a command that runs in `terminal`, and gives the terminal back on every path.
pub(super) async fn follow(call: &mut Call<'_>, terminal: String) -> Result<Ran, ToolError> {
    call.running(vec![ToolContent::Terminal {
        terminal: terminal.clone(),
    }])
    .await?;
    let waited = wait(call, &terminal).await;
    if !matches!(waited, Ok(End::Exited(_))) {
        // Best effort: a client that cannot kill it is asked for its output all the same.
        ask(
            call,
            TerminalOp::Kill {
                terminal: terminal.clone(),
            },
        )
        .await?;
    }
    let output = ask(
        call,
        TerminalOp::Output {
            terminal: terminal.clone(),
        },
    )
    .await?;
    ask(call, TerminalOp::Release { terminal }).await?;
    let end = waited?;
    match (output, end) {
        (
            Outcome::Output {
                output, truncated, ..
            },
            end,
        ) => Ok(Ran {
            output,
            truncated,
            end,
        }),
        // A client that is gone takes its terminals along; the call was stopped all the same.
        (_, End::Stopped) => Ok(Ran {
            output: String::new(),
            truncated: true,
            end: End::Stopped,
        }),
        (other, End::Exited(_)) => Err(call.without(other)),
    }
}

async fn wait(call: &Call<'_>, terminal: &str) -> Result<End, ToolError> {
    let waiting = ask(
        call,
        TerminalOp::Wait {
            terminal: terminal.to_owned(),
        },
    );
    tokio::select! {
        biased;
        () = call.stopped() => Ok(End::Stopped),
        outcome = waiting => match outcome? {
            Outcome::Output { exit, .. } => Ok(End::Exited(exit.unwrap_or_default())),
            other => Err(call.without(other)),
        },
    }
}

async fn ask(call: &Call<'_>, op: TerminalOp) -> Result<Outcome, ToolError> {
    Ok(call.ask(RequestBody::Terminal(op)).await?)
}

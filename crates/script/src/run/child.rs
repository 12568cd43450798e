//! A command as a supervised child: nothing of it outlives its turn or this process.

use sessiond_protocol::Exit;
use sessiond_wire::process::{
    ErrorOutput, ExitStatus, Failure, FailureKind, GuardedCommand, Input, Output, Supervised,
    SupervisorExe,
};
use tokio::io::AsyncReadExt;

use super::{End, Ran};
use crate::call::Call;
use crate::error::ToolError;
use crate::output::{Decoder, Tail};

/// Bytes read at once: a page of output makes one delta, a flood of it few.
const READ_BYTES: usize = 8 << 10;

/// Runs `sh -c` on a command in a directory. Its output is shown as it comes, stderr in between.
pub(super) async fn run(
    call: &mut Call<'_>,
    supervisor: &SupervisorExe,
    (command, cwd): (&str, &str),
) -> Result<Ran, ToolError> {
    call.running(Vec::new()).await?;
    let mut child = Supervised::spawn(GuardedCommand {
        args: vec!["-c".into(), command.into()],
        cwd: Some(cwd.into()),
        stdin: Input::Null,
        stdout: Output::Piped,
        stderr: ErrorOutput::Merged,
        exe: supervisor.clone(),
        ..GuardedCommand::new("sh")
    })
    .map_err(|error| ToolError::NotStarted {
        reason: error.to_string(),
    })?;
    // Whatever becomes of this agent, its turn does not end before the command has (TASK-4).
    child.keep(call.hold());
    let mut tail = Tail::default();
    let exit = tokio::select! {
        biased;
        () = call.stopped() => None,
        exit = to_the_end(call, &mut child, &mut tail) => Some(exit?),
    };
    let end = match exit {
        Some(status) => End::Exited(exited(status)?),
        None => {
            // Also where it could not be killed the call must end: the engine waits for it.
            if let ExitStatus::Failed(failure) = child.kill().await {
                return Err(failed(failure));
            }
            End::Stopped
        }
    };
    let (output, truncated) = tail.finish();
    Ok(Ran {
        output,
        truncated,
        end,
    })
}

/// Follows the child to its end. It is left in a state in which it can be killed wherever this
/// future is dropped.
async fn to_the_end(
    call: &Call<'_>,
    child: &mut Supervised,
    tail: &mut Tail,
) -> Result<ExitStatus, ToolError> {
    let mut decoder = Decoder::default();
    let mut buffer = vec![0; READ_BYTES];
    if let Some(mut stdout) = child.stdout.take() {
        // The pipe ends when nothing of the tree holds it any more; a broken one ends it too.
        while let Ok(length @ 1..) = stdout.read(&mut buffer).await {
            let bytes = buffer.get(..length).unwrap_or_default();
            show(call, tail, &decoder.push(bytes)).await?;
        }
    }
    show(call, tail, &decoder.finish()).await?;
    Ok(child.wait().await)
}

async fn show(call: &Call<'_>, tail: &mut Tail, text: &str) -> Result<(), ToolError> {
    if text.is_empty() {
        return Ok(());
    }
    // Kept before it is shown: what a client saw is in the result, also of a stopped command.
    tail.push(text);
    Ok(call.output(text).await?)
}

fn exited(status: ExitStatus) -> Result<Exit, ToolError> {
    match status {
        ExitStatus::Code(code) => Ok(Exit {
            code: Some(code),
            signal: None,
        }),
        ExitStatus::Signal(number) => Ok(Exit {
            code: None,
            signal: Some(signal(number)),
        }),
        ExitStatus::Failed(failure) => Err(failed(failure)),
    }
}

fn failed(failure: Failure) -> ToolError {
    let reason = failure.to_string();
    match failure.kind {
        FailureKind::ProgramNotFound
        | FailureKind::NotPermitted
        | FailureKind::BadCwd
        | FailureKind::NotStarted => ToolError::NotStarted { reason },
        FailureKind::Unkillable | FailureKind::GuardLost => ToolError::Lost { reason },
    }
}

/// The name of a signal whose number is the same on all systems.
fn signal(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return format!("signal {number}"),
    };
    name.to_owned()
}

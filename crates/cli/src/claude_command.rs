//! `sessiond-claude`: a program on an agent SDK starts it in place of the Claude CLI. Its command
//! line is that one's; what is sessiond's own comes from the environment.

use std::path::PathBuf;

use clap::Parser;
use sessiond_claude::face::{Arguments, Ended, Options, Signal, States, serve};
use sessiond_claude::message::SPOKEN;
use sessiond_wire::stdio;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::access::{self, Home, Local};
use crate::args::Surroundings;
use crate::channel::{self, Channel};
use crate::diagnostics;
use crate::failure::Failure;
use crate::output::{print, say};
use crate::setup::{Setup, block_on};

/// Set by the SDKs that read the state of the session from its frames.
const READS_STATE: &str = "CLAUDE_CODE_SDK_READS_SESSION_STATE";

/// Signals that may wait for the face. It takes each at once; more say the same.
const SIGNALS: usize = 4;

/// How long what is queued may take to be written at the end: the last frame is the result, and the
/// SDKs wait seconds for it.
const OUTPUT_DEADLINE: std::time::Duration = std::time::Duration::from_secs(2);

/// Runs the command that this process was started with and gives its exit code.
///
/// The caller must end the process with it at once: a thread that waits for stdin may be left.
pub fn run() -> i32 {
    let words: Result<Vec<String>, _> = std::env::args_os()
        .skip(1)
        .map(|word| word.into_string())
        .collect();
    let Ok(words) = words else {
        say("the command line is not UTF-8");
        return 1;
    };
    let arguments = match Arguments::read(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            say(&format!("Error: {error}"));
            return 1;
        }
    };
    let ended = match arguments.version {
        true => version(),
        false => serve_program(arguments),
    };
    ended.unwrap_or_else(|failure| {
        tracing::error!(code = failure.code(), "the command failed");
        say(&failure.to_string());
        failure.exit_code()
    })
}

fn version() -> Result<i32, Failure> {
    let own = env!("CARGO_PKG_VERSION");
    print(&format!("{SPOKEN} (sessiond {own})\n"))?;
    Ok(0)
}

fn serve_program(arguments: Arguments) -> Result<i32, Failure> {
    let surroundings = Surroundings::try_parse_from(["sessiond-claude"])
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let common = &surroundings.common;
    diagnostics::start(common.log_file(), common.verbose)?;
    // Before anything else runs that could print (WIRE-10).
    let io = stdio::install()?;
    let setup = Setup::load(common)?;
    let options = Options {
        agent: setup.default_agent()?,
        cwd: setup.cwd()?,
        store: setup.store().to_owned(),
        transcripts: transcripts(),
        accept: setup.accept(),
        states: states(),
        note: say,
        arguments,
    };
    block_on(async {
        let signals = listen()?;
        let Channel {
            lines,
            queue,
            outgoing,
        } = channel::open_mending(io)?;
        let home = match options.arguments.unstored {
            true => Home::Memory,
            false => setup.home(surroundings.hosting),
        };
        let (waist, local) = access::open(&setup, home, "claude").await?;
        let ended = serve(lines, queue, waist, signals, options).await;
        finish(&ended, &local).await;
        // Leases are freed before stdout is closed: a program that starts the next process when it
        // sees the end finds the session free.
        local.end().await;
        outgoing.end(OUTPUT_DEADLINE).await;
        Ok(ended.exit)
    })
}

/// Lets turns run to their ends whose program has stopped reading, unless a signal says to end.
async fn finish(ended: &Ended, local: &Local) {
    let Ok(mut signals) = listen() else { return };
    if let Some(engine) = local.engine().filter(|_| ended.is_abandoned) {
        tokio::select! {
            () = engine.idle() => {}
            _ = signals.recv() => {}
        }
    }
}

/// Where the original would keep its transcripts; the SDKs take only mirrors of files below it.
fn transcripts() -> PathBuf {
    let named = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".claude"));
    named.map(PathBuf::from).or_else(home).unwrap_or_default()
}

fn states() -> States {
    match std::env::var_os(READS_STATE) {
        Some(value) if value != "0" && !value.is_empty() => States::Told,
        _ => States::Untold,
    }
}

/// Listens for SIGINT and SIGTERM. From here on neither ends the process by itself.
fn listen() -> Result<mpsc::Receiver<Signal>, Failure> {
    let (sender, receiver) = mpsc::channel(SIGNALS);
    let kinds = [
        (SignalKind::interrupt(), Signal::Interrupt),
        (SignalKind::terminate(), Signal::Terminate),
    ];
    for (kind, meaning) in kinds {
        let mut caught = signal(kind).map_err(Failure::os("listen for signals"))?;
        let sender = sender.clone();
        tokio::spawn(async move {
            while caught.recv().await.is_some() {
                // A full channel says it already.
                let _said = sender.try_send(meaning);
            }
        });
    }
    Ok(receiver)
}

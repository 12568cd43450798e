//! The roles this binary plays as a child of its own cases.

use std::ffi::OsString;
use std::io::Write;
use std::process::Command;
use std::time::Duration;

use sessiond_wire::process::{GuardedCommand, Output, Supervised};
use sessiond_wire::queue::OutQueue;
use sessiond_wire::rpc::RpcFrame;
use sessiond_wire::stdio::{GuardError, install, spawn_writer};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::runner::block_on;

/// First argument of a child that plays a role; the role and a shell script follow.
pub(crate) const COMMAND: &str = "probe";

/// Runs the script as a tool and copies its output, as a server without a protocol.
pub(crate) const SERVE: &str = "serve";

/// As [`SERVE`], after the binary's own file has been removed.
pub(crate) const UPGRADED: &str = "upgraded";

/// Installs the stdout guard, pollutes stdout in every way, and runs the script as a tool whose
/// lines become frames.
pub(crate) const PURE: &str = "pure";

/// A shell command under a guard, its output piped. The guard is this binary.
pub(crate) fn tool(script: &str) -> GuardedCommand {
    let mut command = GuardedCommand::new("sh");
    command.args = vec!["-c".into(), script.into()];
    command.stdout = Output::Piped;
    command
}

pub(crate) fn main(mut args: impl Iterator<Item = OsString>) -> i32 {
    let role = args.next().unwrap();
    let script = args.next().unwrap().into_string().unwrap();
    if role == UPGRADED {
        std::fs::remove_file(std::env::current_exe().unwrap()).unwrap();
    }
    if role == SERVE || role == UPGRADED {
        block_on(async {
            let mut tool = Supervised::spawn(tool(&script)).unwrap();
            let mut lines = BufReader::new(tool.stdout.take().unwrap()).lines();
            while let Some(line) = lines.next_line().await.unwrap() {
                println!("{line}");
            }
            tool.wait().await;
        });
    } else {
        pure(&script);
    }
    0
}

fn pure(script: &str) {
    let io = install().unwrap();
    assert!(matches!(install(), Err(GuardError::AlreadyInstalled)));
    block_on(async {
        let queue = OutQueue::new();
        let writer = spawn_writer(io.output, queue.clone()).unwrap();
        queue.push(RpcFrame::from_text("first".into()));
        writer.flush().await;
        println!("GARBAGE of a library");
        let child = Command::new("sh")
            .arg("-c")
            .arg("cat; echo GARBAGE of a child")
            .status();
        assert!(child.unwrap().success(), "and its stdin ends at once");
        let mut command = tool(script);
        command
            .env
            .push(("SERVER".into(), std::process::id().to_string().into()));
        let mut tool = Supervised::spawn(command).unwrap();
        let mut lines = BufReader::new(tool.stdout.take().unwrap()).lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            queue.push(RpcFrame::from_text(line));
        }
        tool.wait().await;
        print!("GARBAGE without an end");
        std::io::stdout().flush().unwrap();
        queue.push(RpcFrame::from_text("last".into()));
        writer.shutdown(Duration::from_secs(20)).await;
        io.diverted.finish();
        io.diverted.finish();
    });
}

//! What the operating system offers.

use rustix::process::geteuid;
use rustix::system::uname;
use sessiond_protocol::VERSION;
use sessiond_wire::process::{ExitStatus, GuardedCommand, Supervised};

use super::finding::Finding;
use crate::failure::Failure;
use crate::setup::block_on;

/// All findings about the system.
pub(super) fn findings() -> Vec<Finding> {
    vec![isolation(), guard(), versions()]
}

/// WIRE-10: what the stdout guard can promise here.
fn isolation() -> Finding {
    let topic = "stdout";
    if !cfg!(target_os = "linux") {
        return Finding::good(topic, "kept apart from the prints of tools");
    }
    if geteuid().is_root() {
        return Finding::warning(
            topic,
            "kept apart, but as root a tool can open this program's descriptors through \
             /proc/PID/fd; nothing prevents that: run as a plain user",
        );
    }
    Finding::good(
        topic,
        "kept apart; tools cannot open this program's descriptors",
    )
}

/// Runs `true` as every tool is run.
fn guard() -> Finding {
    let ended = block_on(async {
        let mut child = Supervised::spawn(GuardedCommand::new("true"))
            .map_err(|error| Failure::Found(error.to_string()))?;
        Ok(child.wait().await)
    });
    match ended {
        Ok(ExitStatus::Code(0)) if cfg!(target_os = "linux") => Finding::good(
            "tools",
            "run under a guard; nothing they start outlives the server",
        ),
        Ok(ExitStatus::Code(0)) => Finding::warning(
            "tools",
            "run in a process group; what leaves it may outlive the server on this system",
        ),
        Ok(other) => Finding::bad("tools", format!("the guard did not run `true`: {other:?}")),
        Err(error) => Finding::bad("tools", error.to_string()),
    }
}

fn versions() -> Finding {
    let system = uname();
    let (name, release) = (
        system.sysname().to_string_lossy(),
        system.release().to_string_lossy(),
    );
    Finding::good(
        "versions",
        format!("ACP 1, waist {VERSION}, {name} {release}"),
    )
}

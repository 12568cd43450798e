//! Who holds a lease: the record that a busy answer shows.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fs::system_text;

/// A process that may hold a lease. Pid and start time together name a process of one boot of one
/// host; what the record says is information, the lock alone decides (LOG-7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// Start of the process in clock ticks after boot; 0 where unknown.
    pub start_time: u64,
    /// Name of the host.
    pub host: String,
    /// Id of this boot of the host; empty where unknown.
    pub boot_id: String,
    /// Socket on which the owner takes other clients, if it listens.
    pub endpoint: Option<String>,
}

impl Owner {
    /// This process, without an endpoint.
    #[must_use]
    pub fn current() -> Self {
        let boot_id = system_text("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Self {
            pid: std::process::id(),
            start_time: system_text("/proc/self/stat")
                .ok()
                .and_then(start_time)
                .unwrap_or(0),
            host: rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned(),
            boot_id: boot_id.trim().to_owned(),
            endpoint: None,
        }
    }

    /// The same process, reachable at `endpoint`.
    #[must_use]
    pub fn at_endpoint(self, endpoint: impl Into<String>) -> Self {
        Self {
            endpoint: Some(endpoint.into()),
            ..self
        }
    }
}

/// Field 22 of proc(5) stat. The second field is the command in parentheses and may hold blanks
/// and parentheses itself, so counting starts after its last one.
fn start_time(stat: String) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// What a holder is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HolderState {
    /// It goes on using the session.
    Open,
    /// It will free the session within moments: a claim waits for it.
    Closing,
}

/// The owner of a held lease, as its record in the store says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    #[serde(flatten)]
    pub owner: Owner,
    /// What it is about to do.
    pub state: HolderState,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.owner.pid, self.owner.host)
    }
}

//! Faces of a host, and who holds a session.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{Home, Native, PATIENCE, alive, eventually};

/// A native face whose sessions live in the host.
pub(crate) fn face(home: &Home) -> Native {
    Native::greeted(home.command(&["sqeq", "--host"]))
}

/// Which process holds a session.
pub(crate) fn holder(home: &Home, session: &str) -> u32 {
    let path = home.store().join("open").join(session);
    let record: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    u32::try_from(record["pid"].as_u64().unwrap()).unwrap()
}

/// Kills a process that is no child of ours, and waits until it is gone.
pub(crate) fn kill(pid: u32) {
    let process = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(process, Signal::KILL).unwrap();
    eventually("the process is gone", PATIENCE, || {
        (!alive(pid)).then_some(())
    });
}

/// A turn with a text as its prompt.
pub(crate) fn start(text: &str) -> Value {
    json!({"type": "turn.start", "input": [{"type": "text", "text": text}]})
}

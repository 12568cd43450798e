//! How lines are written.

use serde_json::Value;

use crate::fault::on;
use crate::wire::Wire;

/// Writes a frame.
pub(super) fn write(wire: &Wire, frame: &Value) {
    let mut line = frame.to_string();
    line.push('\n');
    if on("empty-lines") {
        line.push('\n');
    }
    let ends = line.contains("turn.completed") || line.contains("turn/completed");
    if on("log-line") && ends {
        wire.raw(b"INFO turn over\n");
    }
    if on("bytes-raw") && ends {
        wire.raw(b"{\"method\":\"warning\",\"params\":{\"x\":\"\xff\"}}\n");
    }
    if on("no-newline") && ends {
        line.truncate(line.trim_end().len());
    }
    wire.raw(line.as_bytes());
}

//! Lines of an ACP agent, judged (WIRE-14).

use sessiond_wire::Line;
use sessiond_wire::program::{self, Judged, judge_rpc};
use sessiond_wire::rpc::{Inbound, parse};

/// What comes from an agent.
pub(super) type Incoming = program::Incoming<Inbound>;

/// What a line is.
pub(super) fn judge(line: Line) -> Judged<Inbound> {
    // Noise is not about JSON-RPC; the rest of a message is.
    judge_rpc(line, parse, |text| text.contains("\"jsonrpc\""))
}

#[cfg(test)]
mod tests;

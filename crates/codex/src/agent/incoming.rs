//! Lines of Codex, judged (WIRE-14).

use sessiond_wire::Line;
use sessiond_wire::program::{self, Judged, judge_rpc};
use sessiond_wire::rpc::{Inbound, parse_unversioned};

/// What comes from Codex, in the order in which it wrote it.
pub(super) type Incoming = program::Incoming<Inbound>;

/// Members that only a message has: a line with one of them that cannot be read was cut.
const MEMBERS: [&str; 3] = ["\"method\":", "\"result\":", "\"error\":"];

/// What a line of Codex is. Codex leaves `jsonrpc` out (codex.md B1).
pub(super) fn judge(line: Line) -> Judged<Inbound> {
    judge_rpc(line, parse_unversioned, |text| {
        MEMBERS.iter().any(|member| text.contains(member))
    })
}

#[cfg(test)]
mod tests;

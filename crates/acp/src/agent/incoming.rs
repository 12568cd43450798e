//! Lines of an ACP agent, judged (WIRE-14).

use sessiond_wire::program::{self, Judged};
use sessiond_wire::rpc::{Inbound, PARSE_ERROR, parse};
use sessiond_wire::{BadLine, Line};

/// What comes from an agent.
pub(super) type Incoming = program::Incoming<Inbound>;

/// What a line is.
pub(super) fn judge(line: Line) -> Judged<Inbound> {
    let text = match line {
        Line::Text(text) => text,
        Line::Bad(BadLine::NotUtf8) => return Judged::Bad,
        Line::Bad(BadLine::TooLong { .. }) => return Judged::Broken,
    };
    match parse(&text) {
        Inbound::Invalid { error, .. } if error.code() == PARSE_ERROR => {
            // Noise is not about JSON-RPC; the rest of a message is.
            if text.contains("\"jsonrpc\"") {
                Judged::Broken
            } else {
                Judged::Bad
            }
        }
        Inbound::Invalid { .. } | Inbound::Ignore => Judged::Bad,
        message => Judged::Message(message),
    }
}

#[cfg(test)]
mod tests;

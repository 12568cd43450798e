//! A client's frame on its way to another process.

use sessiond_protocol::{ClientFrame, encode};
use sessiond_wire::Coalesce;
use sessiond_wire::queue::NOMINAL_WEIGHT;
use sessiond_wire::stdio::Encode;

/// A frame as its line, so that the queue it waits in knows what it weighs.
#[derive(Debug)]
pub(crate) struct Outbound(String);

impl Outbound {
    /// The frame's line; none for what has no JSON form, which no frame that was read from JSON or
    /// made by a face is.
    pub(crate) fn of(frame: &ClientFrame) -> Option<Self> {
        match encode(frame) {
            Ok(line) => Some(Self(line)),
            Err(error) => {
                tracing::error!(code = ?error.code, "a frame could not be written");
                None
            }
        }
    }
}

impl Coalesce for Outbound {
    fn absorb(&mut self, next: Self) -> Result<(), Self> {
        Err(next)
    }

    fn weight(&self) -> usize {
        NOMINAL_WEIGHT + self.0.len()
    }
}

impl Encode for Outbound {
    fn encode(&self, line: &mut Vec<u8>) {
        line.extend_from_slice(self.0.as_bytes());
    }
}

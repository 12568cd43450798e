//! A client's frame on its way to another process.

use sessiond_protocol::{ClientFrame, encode};
use sessiond_wire::Coalesce;
use sessiond_wire::stdio::Encode;

/// A frame that is written as its line.
#[derive(Debug)]
pub(crate) struct Outbound(pub(crate) ClientFrame);

impl Coalesce for Outbound {
    fn absorb(&mut self, next: Self) -> Result<(), Self> {
        Err(next)
    }
}

impl Encode for Outbound {
    fn encode(&self, line: &mut Vec<u8>) {
        match encode(&self.0) {
            Ok(text) => line.extend_from_slice(text.as_bytes()),
            // What was read from JSON, or made by a face, has a JSON form.
            Err(error) => tracing::error!(code = ?error.code, "a frame could not be written"),
        }
    }
}

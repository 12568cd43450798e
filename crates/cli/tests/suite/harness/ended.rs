//! Programs that no test leaves behind.

use std::process::Child;

/// A program that ends with the test, whatever becomes of that.
pub(crate) struct Ended(pub(crate) Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

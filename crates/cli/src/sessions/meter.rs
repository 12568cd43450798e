//! Progress of long work, for the person at the terminal.

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::time::{Duration, Instant};

/// Faster than this no eye follows.
const EVERY: Duration = Duration::from_millis(100);

/// Counts the bytes that pass, and shows them where stderr is a terminal.
#[derive(Debug)]
pub(super) struct Meter<T> {
    inner: T,
    verb: &'static str,
    bytes: u64,
    shown: Option<Instant>,
}

impl<T> Meter<T> {
    /// A meter that shows `verb` and the bytes.
    pub(super) fn new(inner: T, verb: &'static str) -> Self {
        let shown = io::stderr().is_terminal().then(Instant::now);
        Self {
            inner,
            verb,
            bytes: 0,
            shown,
        }
    }

    fn count(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        if let Some(shown) = self.shown.filter(|shown| shown.elapsed() >= EVERY) {
            let (verb, mib) = (self.verb, self.bytes >> 20);
            let _nobody_reads = write!(io::stderr(), "\r{verb} {mib} MiB ");
            self.shown = Some(shown + shown.elapsed());
        }
    }

    /// Ends the line, and gives back what was metered.
    pub(super) fn finish(self) -> T {
        if self.shown.is_some() {
            let _nobody_reads = write!(io::stderr(), "\r\x1b[K");
        }
        self.inner
    }
}

impl<T: Write> Write for Meter<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.count(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: BufRead> Read for Meter<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.count(read);
        Ok(read)
    }
}

impl<T: BufRead> BufRead for Meter<T> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.inner.consume(bytes);
        self.count(bytes);
    }
}

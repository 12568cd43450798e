//! Progress of long work, for the person at the terminal.

use std::io::{self, BufRead, IsTerminal, Read, Stderr, Write};
use std::time::{Duration, Instant};

/// Faster than this no eye follows.
const EVERY: Duration = Duration::from_millis(100);

/// A line at the terminal that is written over and over, and gone at the end.
#[derive(Debug)]
struct Line<W: Write> {
    /// None where nobody watches.
    out: Option<W>,
    every: Duration,
    shown: Instant,
    is_there: bool,
}

impl Line<Stderr> {
    /// On stderr, where that is a terminal.
    fn on_terminal() -> Self {
        let out = io::stderr();
        Self::new(out.is_terminal().then_some(out), EVERY)
    }
}

impl<W: Write> Line<W> {
    /// Nothing is shown before `every` has passed: what is done by then needs no line.
    fn new(out: Option<W>, every: Duration) -> Self {
        let (shown, is_there) = (Instant::now(), false);
        Self {
            out,
            every,
            shown,
            is_there,
        }
    }

    fn show(&mut self, text: impl FnOnce() -> String) {
        let Some(out) = &mut self.out else { return };
        if self.shown.elapsed() >= self.every {
            let _nobody_reads = write!(out, "\r\x1b[K{}", text());
            (self.shown, self.is_there) = (Instant::now(), true);
        }
    }

    fn clear(&mut self) {
        if let Some(out) = self.out.as_mut().filter(|_| self.is_there) {
            let _nobody_reads = write!(out, "\r\x1b[K");
            self.is_there = false;
        }
    }
}

impl<W: Write> Drop for Line<W> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Counts the bytes that pass, and shows them.
#[derive(Debug)]
pub(super) struct Meter<T> {
    inner: T,
    verb: &'static str,
    bytes: u64,
    line: Line<Stderr>,
}

impl<T> Meter<T> {
    /// A meter that shows `verb` and the bytes.
    pub(super) fn new(inner: T, verb: &'static str) -> Self {
        Self {
            inner,
            verb,
            bytes: 0,
            line: Line::on_terminal(),
        }
    }

    fn count(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        let (verb, mib) = (self.verb, self.bytes >> 20);
        self.line.show(|| format!("{verb} {mib} MiB"));
    }

    /// Clears the line, and gives back what was metered.
    pub(super) fn finish(self) -> T {
        self.inner
    }
}

/// Shows how much of something is done.
#[derive(Debug)]
pub(super) struct Counter<W: Write = Stderr> {
    verb: &'static str,
    line: Line<W>,
}

impl Counter {
    /// A counter that shows `verb` and the numbers.
    pub(super) fn new(verb: &'static str) -> Self {
        let line = Line::on_terminal();
        Self { verb, line }
    }
}

impl<W: Write> Counter<W> {
    /// So many sessions of all are done.
    pub(super) fn sessions(&mut self, done: usize, total: usize) {
        let verb = self.verb;
        self.line
            .show(|| format!("{verb} {done} of {total} sessions"));
    }

    /// So many segments of all are done.
    pub(super) fn segments(&mut self, done: usize, total: usize) {
        let verb = self.verb;
        self.line
            .show(|| format!("{verb} {done} of {total} segments"));
    }

    /// So many records are done; nobody knows yet of how many.
    pub(super) fn records(&mut self, done: u64) {
        let verb = self.verb;
        self.line.show(|| format!("{verb} {done} records"));
    }

    /// Makes room for something that stays.
    pub(super) fn clear(&mut self) {
        self.line.clear();
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

#[cfg(test)]
mod tests;

//! Standard input and output as a face uses them: lines in, frames out.

use std::fs::File;
use std::time::Duration;

use sessiond_wire::stdio::{self, DivertedCounter, Encode, ProtocolIo, Writer};
use sessiond_wire::{Coalesce, DEFAULT_LINE_LIMIT, Line, LineReader, OutQueue};
use tokio::sync::mpsc;

use crate::failure::Failure;

/// How long what is still queued for a program may take to be written once it has gone: it mostly
/// is gone with both ends, and the whole exit must take less than two seconds (WIRE-13).
pub(crate) const OUTPUT_DEADLINE: Duration = Duration::from_millis(250);

/// Both ways to a client.
pub(crate) struct Channel<T> {
    /// What the client sends.
    pub(crate) lines: mpsc::Receiver<Line>,
    /// What it is sent.
    pub(crate) queue: OutQueue<T>,
    /// The end of that.
    pub(crate) outgoing: Outgoing<T>,
}

/// The way out, and what must be told at its end.
pub(crate) struct Outgoing<T> {
    writer: Writer<T>,
    diverted: DivertedCounter,
}

impl<T: Coalesce> Outgoing<T> {
    /// Writes what is queued, for at most `deadline`, and says what would have polluted it.
    pub(crate) async fn end(self, deadline: Duration) {
        self.writer.shutdown(deadline).await;
        self.diverted.finish();
    }
}

/// Starts the threads that read the client's lines and write what the queue gets.
pub(crate) fn open<T>(io: ProtocolIo) -> Result<Channel<T>, Failure>
where
    T: Coalesce + Encode + Send + 'static,
{
    open_by(io, |reader| reader)
}

/// The same, with U+FFFD in place of bytes that are not UTF-8.
pub(crate) fn open_mending<T>(io: ProtocolIo) -> Result<Channel<T>, Failure>
where
    T: Coalesce + Encode + Send + 'static,
{
    open_by(io, LineReader::mending)
}

fn open_by<T>(
    io: ProtocolIo,
    manner: fn(LineReader<File>) -> LineReader<File>,
) -> Result<Channel<T>, Failure>
where
    T: Coalesce + Encode + Send + 'static,
{
    let reader = manner(LineReader::new(io.input, DEFAULT_LINE_LIMIT));
    let lines = stdio::spawn_reader(reader).map_err(Failure::os("start a thread"))?;
    let queue = OutQueue::patient();
    let writer =
        stdio::spawn_writer(io.output, queue.clone()).map_err(Failure::os("start a thread"))?;
    let diverted = io.diverted;
    Ok(Channel {
        lines,
        queue,
        outgoing: Outgoing { writer, diverted },
    })
}

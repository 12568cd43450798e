//! The thread that reads the protocol's input.

use std::io::{self, Read};

use tokio::sync::mpsc;

use crate::lines::{Line, LineReader};

/// Lines read ahead of their consumer. Few, because each may be as long as the limit: at most
/// this many, one in hand and one being read are in memory at a time (WIRE-4). When it is full
/// the thread waits, and the client's writes with it.
pub const READ_AHEAD: usize = 4;

/// Reads lines on a thread of its own, because a blocking read of stdin
/// can not be cancelled. The end of the channel is the end of the input (WIRE-13); an input that
/// fails has ended. The thread ends with its input, or at the first line after the receiver is
/// dropped.
///
/// # Errors
/// When the thread could not be started.
pub fn spawn_reader(
    mut reader: LineReader<impl Read + Send + 'static>,
) -> io::Result<mpsc::Receiver<Line>> {
    let (lines, receiver) = mpsc::channel(READ_AHEAD);
    std::thread::Builder::new()
        .name("wire-reader".into())
        .spawn(move || {
            loop {
                match reader.next_line() {
                    Ok(Some(line)) => {
                        if lines.blocking_send(line).is_err() {
                            break;
                        }
                    }
                    Ok(None) => break,
                    Err(error) => {
                        tracing::warn!(kind = ?error.kind(), "input failed");
                        break;
                    }
                }
            }
        })?;
    Ok(receiver)
}

#[cfg(test)]
mod tests;

//! WIRE-4, WIRE-13: what the reader thread delivers, how far it runs ahead, and how it ends.

use std::io::Write;
use std::sync::mpsc::{self as std_mpsc, RecvTimeoutError};
use std::time::Duration;

use super::*;
use crate::lines::BadLine;

/// Longest a step may take before the test fails: liveness only.
const LIVENESS: Duration = Duration::from_secs(20);

#[tokio::test]
async fn lines_arrive_in_order_and_the_channel_ends_with_the_input() {
    let (input, mut client) = io::pipe().unwrap();
    let mut lines = spawn_reader(LineReader::new(input, 8)).unwrap();
    client.write_all(b"one\n123456789\ntwo").unwrap();
    drop(client);
    let mut received = Vec::new();
    while let Some(line) = lines.recv().await {
        received.push(line);
    }
    let text = |line: &str| Line::Text(line.into());
    let long = Line::Bad(BadLine::TooLong { bytes: 9 });
    assert_eq!(received, [text("one"), long, text("two")]);
}

/// An input without end that tells of each line read from it, and of its own drop.
struct Endless(std_mpsc::Sender<()>);

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.send(()).ok();
        // As long as the buffer, so that each read is one line.
        into.fill(b'x');
        if let Some(last) = into.last_mut() {
            *last = b'\n';
        }
        Ok(into.len())
    }
}

/// WIRE-4
#[tokio::test]
async fn the_thread_waits_for_its_consumer_and_ends_when_that_is_gone() {
    let (tell, reads) = std_mpsc::channel();
    let lines = spawn_reader(LineReader::new(Endless(tell), usize::MAX >> 1)).unwrap();
    // Those in the channel, and the one that waits to get in.
    for _ in 0..=READ_AHEAD {
        reads.recv_timeout(LIVENESS).unwrap();
    }
    drop(lines);
    let more = reads.recv_timeout(LIVENESS);
    assert_eq!(
        more,
        Err(RecvTimeoutError::Disconnected),
        "it has read no further"
    );
}

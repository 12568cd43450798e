//! WIRE-6, WIRE-13: what the writer thread writes, and how it ends.

use std::future::Future;
use std::io::Read;
use std::sync::mpsc;

use super::*;
use crate::queue::HIGH_WATER_FRAMES;

/// Longest a step may take before the test fails: liveness only.
const LIVENESS: Duration = Duration::from_secs(20);

#[derive(Debug)]
struct Word(&'static str);

impl Coalesce for Word {
    fn absorb(&mut self, next: Self) -> Result<(), Self> {
        Err(next)
    }
}

impl Encode for Word {
    fn encode(&self, line: &mut Vec<u8>) {
        line.extend_from_slice(self.0.as_bytes());
        line.push(b'\n');
    }
}

async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(LIVENESS, future)
        .await
        .expect("in time")
}

/// WIRE-6
#[tokio::test]
async fn frames_are_written_in_order_and_a_flush_waits_for_them() {
    let (mut client, output) = io::pipe().unwrap();
    let queue = OutQueue::new();
    let writer = spawn_writer(output, queue.clone()).unwrap();
    ["a", "b", "c"]
        .into_iter()
        .for_each(|word| queue.push(Word(word)));
    within(writer.flush()).await;
    let mut bytes = [0; 6];
    client.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"a\nb\nc\n");
    queue.push(Word("last"));
    within(writer.shutdown(LIVENESS)).await;
    let mut rest = String::new();
    client.read_to_string(&mut rest).unwrap();
    assert_eq!(
        rest, "last\n",
        "what waits is written, then the output is closed"
    );
}

/// WIRE-13
#[tokio::test]
async fn a_client_that_is_gone_closes_the_queue_and_frees_a_flush() {
    let (client, output) = io::pipe().unwrap();
    drop(client);
    let queue = OutQueue::new();
    let writer = spawn_writer(output, queue.clone()).unwrap();
    queue.push(Word("unread"));
    within(queue.closed()).await;
    within(writer.flush()).await;
    within(writer.shutdown(LIVENESS)).await;
}

/// Says when it is written to, and then blocks until its far side is dropped.
struct Stuck {
    entered: mpsc::Sender<()>,
    released: mpsc::Receiver<()>,
}

impl Write for Stuck {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        self.entered.send(()).ok();
        self.released.recv().ok();
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// WIRE-6, WIRE-13
#[tokio::test]
async fn a_client_that_does_not_read_makes_producers_wait_but_not_the_shutdown() {
    let (entered, was_entered) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let queue = OutQueue::new();
    let writer = spawn_writer(Stuck { entered, released }, queue.clone()).unwrap();
    queue.push(Word("stuck"));
    was_entered.recv_timeout(LIVENESS).unwrap();
    (0..HIGH_WATER_FRAMES).for_each(|_| queue.push(Word("waits")));
    assert!(queue.is_full());
    within(writer.shutdown(Duration::from_millis(1))).await;
    assert!(queue.is_closed());
    drop(release);
}

/// WIRE-6: much that waits is written in parts, all of it and in its order.
#[tokio::test]
async fn more_than_one_write_is_what_was_queued() {
    const WORD: &str = "0123456789abcdef";
    let frames = 3 * WRITE_BYTES / (WORD.len() + 1);
    let (mut client, output) = io::pipe().unwrap();
    let queue = OutQueue::new();
    (0..frames).for_each(|_| queue.push(Word(WORD)));
    queue.push(Word("last"));
    let reading = std::thread::spawn(move || {
        let mut all = String::new();
        client.read_to_string(&mut all).unwrap();
        all
    });
    let writer = spawn_writer(output, queue.clone()).unwrap();
    within(writer.shutdown(LIVENESS)).await;
    let all = reading.join().unwrap();
    assert_eq!(all, format!("{WORD}\n").repeat(frames) + "last\n");
}

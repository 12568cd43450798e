//! WIRE-6: order, merging, the high-water mark, the end.

use std::future::Future;
use std::task::{Context, Poll, Waker};

use super::*;

/// A delta of some message, or a frame that must stand alone.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Frame {
    Text(u8, String),
    Alone(usize),
    Heavy,
}

impl Coalesce for Frame {
    fn absorb(&mut self, next: Self) -> Result<(), Self> {
        match (self, next) {
            (Self::Text(message, text), Self::Text(other, more)) if *message == other => {
                text.push_str(&more);
                Ok(())
            }
            (_, next) => Err(next),
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Text(_, text) => text.len(),
            Self::Alone(_) => 1,
            Self::Heavy => HIGH_WATER_BYTES,
        }
    }
}

fn drain(queue: &OutQueue<Frame>) -> Vec<Frame> {
    let mut frames = VecDeque::new();
    if !queue.lock().frames.is_empty() {
        assert!(queue.take_all(&mut frames));
        queue.settle(frames.len() as u64);
    }
    frames.into()
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn fill(queue: &OutQueue<Frame>, count: usize) {
    for number in 0..count {
        queue.push(Frame::Alone(number));
    }
}

/// WIRE-6
#[test]
fn adjacent_deltas_merge_only_once_the_reader_is_behind() {
    let text = |message, text: &str| Frame::Text(message, text.into());
    let cases: &[(&str, usize, Vec<Frame>, Vec<Frame>)] = &[
        (
            "a reader that keeps up sees each delta",
            COALESCE_FROM - 2,
            vec![text(1, "a"), text(1, "b")],
            vec![text(1, "a"), text(1, "b")],
        ),
        (
            "behind, deltas of one message are one",
            COALESCE_FROM - 1,
            vec![text(1, "a"), text(1, "b"), text(1, "c")],
            vec![text(1, "abc")],
        ),
        (
            "deltas of two messages stay apart",
            COALESCE_FROM,
            vec![text(1, "a"), text(2, "b"), text(1, "c")],
            vec![text(1, "a"), text(2, "b"), text(1, "c")],
        ),
        (
            "nothing merges over a frame between",
            COALESCE_FROM,
            vec![text(1, "a"), Frame::Alone(7), text(1, "b"), text(1, "c")],
            vec![text(1, "a"), Frame::Alone(7), text(1, "bc")],
        ),
    ];
    for (name, waiting, pushed, expected) in cases {
        let queue = OutQueue::new();
        fill(&queue, *waiting);
        pushed.iter().for_each(|frame| queue.push(frame.clone()));
        assert_eq!(&drain(&queue)[*waiting..], &expected[..], "{name}");
        assert_eq!(queue.lock().weight, 0, "{name}: weight is accounted for");
    }
}

/// WIRE-6
#[test]
fn nothing_is_dropped_or_reordered_beyond_the_high_water_mark() {
    let queue = OutQueue::new();
    fill(&queue, 2 * HIGH_WATER_FRAMES);
    let numbers: Vec<_> = (0..2 * HIGH_WATER_FRAMES).map(Frame::Alone).collect();
    assert_eq!(drain(&queue), numbers);
}

/// WIRE-4, WIRE-6
#[test]
fn bulk_producers_wait_at_the_high_water_mark() {
    let by_count: fn(&OutQueue<Frame>) = |queue| fill(queue, HIGH_WATER_FRAMES);
    let by_weight: fn(&OutQueue<Frame>) = |queue| queue.push(Frame::Heavy);
    for (name, fill) in [("by count", by_count), ("by weight", by_weight)] {
        let release: [fn(&OutQueue<Frame>); 3] = [
            |queue| drop(drain(queue)),
            |queue| assert!(poll(pin!(queue.recv())).is_ready()),
            OutQueue::close,
        ];
        for release in release {
            let queue = OutQueue::new();
            assert!(poll(pin!(queue.ready())).is_ready(), "{name}: empty");
            fill(&queue);
            assert!(queue.is_full(), "{name}");
            let mut ready = pin!(queue.ready());
            assert!(poll(ready.as_mut()).is_pending(), "{name}: full");
            release(&queue);
            assert!(poll(ready.as_mut()).is_ready(), "{name}: room again");
        }
    }
}

/// WIRE-6: as fast as a producer is, what it sends arrives as it was sent while the reader reads.
#[tokio::test(start_paused = true)]
async fn a_patient_queue_merges_nothing_for_a_reader_that_reads() {
    let queue = OutQueue::patient();
    let producer = queue.clone();
    let total = 10 * HIGH_WATER_FRAMES;
    let task = tokio::spawn(async move {
        for number in 0..total {
            producer.ready().await;
            producer.push(Frame::Text(1, format!("{number} ")));
        }
        producer.close();
    });
    let mut frames = Vec::new();
    // Kept from its processor every now and then, but never for as long as the patience.
    while queue.recv_many(&mut frames, 3 * PATIENT_FRAMES / 2).await > 0 {
        tokio::time::sleep(PATIENCE / 2).await;
    }
    task.await.unwrap();
    assert_eq!(frames.len(), total);
}

/// WIRE-6: a reader that stands still is not waited for: text merges, and nothing is lost of it.
#[tokio::test(start_paused = true)]
async fn a_patient_queue_merges_at_its_bound_when_the_reader_stands_still() {
    let queue = OutQueue::patient();
    let begun = tokio::time::Instant::now();
    let mut text = String::new();
    for number in 0..10 * HIGH_WATER_FRAMES {
        queue.ready().await;
        queue.push(Frame::Text(1, format!("{number} ")));
        text.push_str(&format!("{number} "));
    }
    assert_eq!(begun.elapsed().as_millis(), PATIENCE.as_millis());
    let frames = drain(&queue);
    assert_eq!(frames.len(), PATIENT_COALESCE_FROM);
    let texts = frames.iter().map(|frame| match frame {
        Frame::Text(_, text) => text.as_str(),
        _ => "",
    });
    assert_eq!(texts.collect::<String>(), text);
}

/// WIRE-4, WIRE-6: what does not merge is bounded all the same.
#[tokio::test(start_paused = true)]
async fn a_patient_queue_is_full_at_its_bound_however_long_it_takes() {
    let queue = OutQueue::patient();
    let mut pushed = 0;
    while tokio::time::timeout(10 * PATIENCE, queue.ready())
        .await
        .is_ok()
    {
        queue.push(Frame::Alone(pushed));
        pushed += 1;
    }
    assert_eq!(pushed, HIGH_WATER_FRAMES);
    assert!(queue.is_at_bound());
    let mut below = pin!(queue.below_bound());
    assert!(poll(below.as_mut()).is_pending());
    assert!(poll(pin!(queue.recv())).is_ready());
    assert!(poll(below.as_mut()).is_ready(), "room for one");
    assert!(!queue.is_full());
}

/// The consumer of a batch finds all of it.
#[tokio::test]
async fn a_batch_wakes_its_reader_once() {
    let queue = OutQueue::new();
    let mut frames = Vec::new();
    {
        let mut received = pin!(queue.recv_many(&mut frames, 10));
        let woken = std::sync::Arc::new(Woken::default());
        let waker = Waker::from(woken.clone());
        let mut context = Context::from_waker(&waker);
        assert!(received.as_mut().poll(&mut context).is_pending());
        let outer = queue.batch();
        let inner = queue.batch();
        fill(&queue, 3);
        drop(inner);
        assert!(!woken.is_woken(), "the outer batch is not over");
        drop(outer);
        assert!(woken.is_woken());
        assert!(received.as_mut().poll(&mut context).is_ready());
    }
    assert_eq!(frames.len(), 3);
    drop(queue.batch());
    let mut frames = Vec::new();
    assert!(poll(pin!(queue.recv_many(&mut frames, 10))).is_pending());
}

#[derive(Default)]
struct Woken(std::sync::atomic::AtomicBool);

impl Woken {
    fn is_woken(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
}

impl std::task::Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn a_closed_queue_hands_out_what_waits_and_takes_no_more() {
    let queue = OutQueue::new();
    queue.push(Frame::Alone(1));
    let mut closed = pin!(queue.closed());
    assert!(poll(closed.as_mut()).is_pending());
    queue.close();
    assert!(poll(closed.as_mut()).is_ready());
    assert!(queue.is_closed());
    queue.push(Frame::Alone(2));
    assert_eq!(poll(pin!(queue.recv())), Poll::Ready(Some(Frame::Alone(1))));
    assert_eq!(poll(pin!(queue.recv())), Poll::Ready(None));
    assert!(!queue.take_all(&mut VecDeque::new()));
}

#[test]
fn an_abandoned_queue_forgets_what_waits_and_frees_those_that_wait_for_it() {
    let queue = OutQueue::new();
    fill(&queue, HIGH_WATER_FRAMES);
    let mut flushed = pin!(queue.flushed());
    assert!(poll(flushed.as_mut()).is_pending());
    queue.abandon();
    assert!(poll(flushed.as_mut()).is_ready());
    assert_eq!(poll(pin!(queue.recv())), Poll::Ready(None));
}

#[test]
fn a_flush_waits_for_what_was_queued_before_it_and_for_no_more() {
    let queue = OutQueue::new();
    fill(&queue, 3);
    let mut flushed = pin!(queue.flushed());
    assert!(poll(flushed.as_mut()).is_pending());
    queue.push(Frame::Alone(4));
    let mut taken = VecDeque::new();
    assert!(queue.take_all(&mut taken));
    queue.settle(2);
    assert!(poll(flushed.as_mut()).is_pending(), "taken is not written");
    queue.settle(1);
    assert!(poll(flushed.as_mut()).is_ready());
    assert!(
        poll(pin!(queue.flushed())).is_pending(),
        "the fourth is not written"
    );
}

#[test]
fn a_flush_counts_what_a_task_has_received() {
    let queue = OutQueue::new();
    fill(&queue, 2);
    let mut flushed = pin!(queue.flushed());
    assert!(poll(pin!(queue.recv())).is_ready());
    assert!(poll(flushed.as_mut()).is_pending());
    assert!(poll(pin!(queue.recv())).is_ready());
    assert!(poll(flushed.as_mut()).is_ready());
}

#[tokio::test]
async fn a_waiting_task_gets_frames_from_other_threads_in_order() {
    let queue = OutQueue::new();
    let producer = queue.clone();
    let thread = std::thread::spawn(move || {
        for number in 0..1_000 {
            producer.push(Frame::Alone(number));
        }
        producer.close();
    });
    let mut frames = Vec::new();
    while queue.recv_many(&mut frames, 7).await > 0 {}
    thread.join().unwrap();
    assert_eq!(frames, (0..1_000).map(Frame::Alone).collect::<Vec<_>>());
}

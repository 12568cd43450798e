//! Answers that are awaited side by side.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Futures of one kind, of which the next to be done is wanted. Few at a time.
pub(super) struct Pending<'a, T> {
    open: Vec<Pin<Box<dyn Future<Output = T> + Send + 'a>>>,
}

impl<'a, T> Pending<'a, T> {
    pub(super) fn new() -> Self {
        Self { open: Vec::new() }
    }

    pub(super) fn push(&mut self, future: impl Future<Output = T> + Send + 'a) {
        self.open.push(Box::pin(future));
    }

    /// The next that is done; waits while there is none. A wait that is dropped loses nothing.
    pub(super) async fn next(&mut self) -> T {
        poll_fn(|context| {
            for at in 0..self.open.len() {
                let Some(future) = self.open.get_mut(at) else {
                    break;
                };
                if let Poll::Ready(done) = future.as_mut().poll(context) {
                    drop(self.open.swap_remove(at));
                    return Poll::Ready(done);
                }
            }
            Poll::Pending
        })
        .await
    }
}

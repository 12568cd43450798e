//! Answers that are awaited side by side.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Futures of one kind, of which the next to be done is wanted. Few at a time.
pub struct Pending<'a, T> {
    open: Vec<Pin<Box<dyn Future<Output = T> + Send + 'a>>>,
}

impl<T> fmt::Debug for Pending<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pending").field(&self.open.len()).finish()
    }
}

impl<T> Default for Pending<'_, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, T> Pending<'a, T> {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self { open: Vec::new() }
    }

    /// Adds one; it runs only while [`next`](Self::next) is awaited.
    pub fn push(&mut self, future: impl Future<Output = T> + Send + 'a) {
        self.open.push(Box::pin(future));
    }

    /// The next that is done; waits while there is none. A wait that is dropped loses nothing.
    pub async fn next(&mut self) -> T {
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

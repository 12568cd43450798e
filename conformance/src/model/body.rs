//! The body of a reply: its pieces in time, and the cut.

use std::collections::VecDeque;
use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame};
use tokio::time::{Sleep, sleep};

use super::plan::Ending;
use super::reply::{Kind, Piece, Reply};

/// Sends the pieces of a [`Reply`], one at a time, with the pause that was asked for after each
/// delta.
#[derive(Debug)]
pub(crate) struct Paced {
    pieces: VecDeque<Piece>,
    pace: Duration,
    pause: Option<Pin<Box<Sleep>>>,
    ending: Ending,
}

/// The script broke the stream off; hyper then closes the connection without the last chunk.
#[derive(Debug, thiserror::Error)]
#[error("cut by the script")]
pub(crate) struct Cut;

impl Paced {
    /// The body of a reply.
    pub(crate) fn of(reply: Reply) -> Self {
        Self {
            pieces: reply.pieces,
            pace: reply.pace,
            pause: (!reply.hold.is_zero()).then(|| Box::pin(sleep(reply.hold))),
            ending: reply.ending,
        }
    }
}

impl Body for Paced {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        let this = self.get_mut();
        if let Some(pause) = &mut this.pause {
            ready!(pause.as_mut().poll(context));
            this.pause = None;
        }
        Poll::Ready(match this.pieces.pop_front() {
            Some(piece) => {
                let waits = piece.kind == Kind::Delta || this.ending == Ending::Cut;
                let pause = if this.ending == Ending::Cut {
                    // The cut shall not overtake what was said before it.
                    this.pace.max(BEFORE_CUT)
                } else {
                    this.pace
                };
                if waits && !pause.is_zero() {
                    this.pause = Some(Box::pin(sleep(pause)));
                }
                Some(Ok(Frame::data(Bytes::from(piece.text))))
            }
            None if this.ending == Ending::Cut => Some(Err(Cut)),
            None => None,
        })
    }
}

/// Time for the pieces before a cut to leave: an error closes the connection at once, and what
/// hyper had not flushed by then would be lost.
const BEFORE_CUT: Duration = Duration::from_millis(20);

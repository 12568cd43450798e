//! Notes on their way to the database: a thread of their own, so that nobody waits for them.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::index::Shared;
use crate::note::Note;

/// Notes that may wait. One is made a turn; a disk that is behind by more has better things to do,
/// and the next list reads what was dropped.
pub(crate) const QUEUE: usize = 64;

/// What the thread is told.
#[derive(Debug)]
pub(crate) enum Message {
    /// A turn ended.
    Note(Note),
    /// Say when all before this is done.
    Flush(SyncSender<()>),
}

/// Starts the thread. It ends when the sender is gone. Where none can be had, every send fails.
pub(crate) fn start(shared: Arc<Shared>) -> SyncSender<Message> {
    let (sender, inbox) = sync_channel(QUEUE);
    let thread = thread::Builder::new().name("index".to_owned());
    if let Err(error) = thread.spawn(move || run(&shared, &inbox)) {
        tracing::debug!(%error, "no thread for the index; lists read the logs");
    }
    sender
}

fn run(shared: &Shared, inbox: &Receiver<Message>) {
    while let Ok(first) = inbox.recv() {
        let (mut notes, mut flushed) = (Vec::new(), Vec::new());
        for message in std::iter::once(first).chain(inbox.try_iter().take(QUEUE)) {
            match message {
                Message::Note(note) => notes.push(note),
                Message::Flush(done) => flushed.push(done),
            }
        }
        shared.record(notes);
        if !flushed.is_empty() {
            shared.let_go();
        }
        for done in flushed {
            // Who stopped waiting need not hear of it.
            let _gone = done.try_send(());
        }
    }
}

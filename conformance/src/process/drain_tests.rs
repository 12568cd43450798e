use std::io::{Read as _, Write as _, pipe};
use std::sync::Arc;
use std::sync::mpsc::channel;

use super::Drain;

/// What was read but not recorded yet counts as unread.
#[test]
fn a_drain_waits_for_what_its_reader_has_in_hand() {
    let (mut reader, mut writer) = pipe().expect("a pipe");
    let drain = Arc::new(Drain::of(&reader).expect("a drain"));
    assert!(drain.wait(), "nothing was written");
    let (taken, was_taken) = channel();
    let (go_on, may_go_on) = channel::<()>();
    let reading = Arc::clone(&drain);
    let thread = std::thread::spawn(move || {
        let working = reading.work();
        let mut bytes = [0; 8];
        let count = reader.read(&mut bytes).expect("read");
        taken.send(count).expect("told");
        let _ = may_go_on.recv();
        drop(working);
    });
    writer.write_all(b"a line").expect("written");
    assert_eq!(was_taken.recv().expect("taken"), 6);
    let (done, is_done) = channel();
    let waiting = Arc::clone(&drain);
    let waiter = std::thread::spawn(move || done.send(waiting.wait()));
    assert!(is_done.try_recv().is_err(), "it is still in hand");
    drop(go_on);
    assert!(is_done.recv().expect("waited"), "it was recorded");
    thread.join().expect("read");
    let _ = waiter.join();
}

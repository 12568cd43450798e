use std::io::{Read as _, Write as _, pipe};
use std::sync::mpsc::channel;
use std::time::Duration;

use super::Drain;

/// How long it is looked whether something does not happen.
const WHILE: Duration = Duration::from_millis(50);

#[test]
fn what_was_read_and_not_recorded_counts_as_unread() {
    let (mut reader, mut writer) = pipe().expect("a pipe");
    let drain = Drain::of(&reader).expect("a drain");
    assert!(drain.wait(), "nothing was written");
    writer.write_all(b"a line").expect("written");
    assert!(!drain.within(WHILE), "it is in the pipe");
    let (taken, was_taken) = channel();
    let (go_on, may_go_on) = channel::<()>();
    let reading = drain.clone();
    let thread = std::thread::spawn(move || {
        let working = reading.work();
        let count = reader.read(&mut [0; 8]).expect("read");
        taken.send(count).expect("told");
        let _ = may_go_on.recv();
        drop(working);
    });
    assert_eq!(was_taken.recv().expect("taken"), 6);
    assert!(!drain.within(WHILE), "it is in the reader's hand");
    drop(go_on);
    assert!(drain.wait(), "it is recorded");
    thread.join().expect("read");
}

#[test]
fn a_process_that_is_not_watched_is_waited_for_by_nobody() {
    let drain = Drain::default();
    let _working = drain.work();
    assert!(drain.wait());
}

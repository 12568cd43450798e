use std::time::Duration;

use super::{Counter, Line};

const CLEAR: &str = "\r\u{1b}[K";

fn counted(
    every: Duration,
    is_watched: Option<()>,
    work: impl Fn(&mut Counter<&mut Vec<u8>>),
) -> String {
    let mut out = Vec::new();
    let line = Line::new(is_watched.map(|()| &mut out), every);
    let mut counter = Counter {
        verb: "looked at",
        line,
    };
    work(&mut counter);
    drop(counter);
    String::from_utf8(out).unwrap()
}

#[test]
fn the_line_is_written_over_and_gone_at_the_end() {
    let shown = counted(Duration::ZERO, Some(()), |counter| {
        counter.sessions(1, 12);
        counter.records(7);
    });
    let expected = format!("{CLEAR}looked at 1 of 12 sessions{CLEAR}looked at 7 records{CLEAR}");
    assert_eq!(shown, expected);
}

#[test]
fn what_stays_is_printed_where_the_line_was() {
    let shown = counted(Duration::ZERO, Some(()), |counter| {
        counter.sessions(1, 2);
        counter.clear();
        counter.clear();
    });
    assert_eq!(shown, format!("{CLEAR}looked at 1 of 2 sessions{CLEAR}"));
}

#[test]
fn quick_work_and_work_that_nobody_watches_shows_nothing() {
    let work = |counter: &mut Counter<&mut Vec<u8>>| {
        for done in 0..1000 {
            counter.sessions(done, 1000);
        }
    };
    let hour = Duration::from_secs(3600);
    assert_eq!(counted(hour, Some(()), work), "");
    assert_eq!(counted(Duration::ZERO, None, work), "");
}

use super::*;

#[test]
fn output_is_shown_at_once_and_then_at_most_once_an_interval() {
    let start = Instant::now();
    let half = TAIL_INTERVAL / 2;
    let mut tail = Tail::default();
    assert_eq!((tail.due(start), tail.show(start)), (None, None));
    tail.push(0, "a");
    assert_eq!(tail.show(start), Some("a"));
    tail.push(1, "b");
    assert_eq!(tail.due(start + half), Some(start + TAIL_INTERVAL));
    assert_eq!(tail.show(start + half), None);
    tail.push(2, "c");
    assert_eq!(tail.show(start + TAIL_INTERVAL), Some("abc"));
    assert_eq!(tail.due(start + 9 * TAIL_INTERVAL), None);
}

/// WIRE-4
#[test]
fn only_the_end_of_long_output_is_kept_and_shown() {
    let now = Instant::now();
    let mut tail = Tail::default();
    let mut offset = 0;
    for _ in 0..10_000 {
        tail.push(offset, "漢字");
        offset += 6;
        assert!(tail.text.len() <= 2 * TAIL_BYTES);
    }
    let shown = tail.show(now).unwrap();
    assert!(shown.len() <= TAIL_BYTES && shown.len() > TAIL_BYTES - 3);
    assert!(shown.chars().all(|char| "漢字".contains(char)));
}

/// WIRE-9
#[test]
fn output_that_comes_twice_is_shown_once() {
    let now = Instant::now();
    let mut tail = Tail::default();
    tail.push(0, "abc");
    tail.push(0, "abc");
    tail.push(1, "bcde");
    assert_eq!(tail.show(now), Some("abcde"));
}

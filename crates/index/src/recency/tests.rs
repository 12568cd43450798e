use jiff::Timestamp;

use sessiond_protocol::Recency;

use super::When;

const NOW: &str = "2026-06-01T12:00:00Z";

/// LOG-14: each row is a time in a log, and what it is sorted by.
#[test]
fn times_sort_by_the_log_and_never_lie_in_the_future() {
    let now: Timestamp = NOW.parse().unwrap();
    let at = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
    let table = [
        (
            "2026-06-01T11:59:59.999Z",
            "2026-06-01T11:59:59.999Z",
            Recency::Logged,
        ),
        (NOW, NOW, Recency::Logged),
        ("2026-06-01T12:00:00.001Z", NOW, Recency::Clamped),
        ("9999-01-01T00:00:00Z", NOW, Recency::Clamped),
        // Written elsewhere: it is the instant that counts, not its spelling.
        (
            "2026-06-01T13:00:00+02:00",
            "2026-06-01T11:00:00Z",
            Recency::Logged,
        ),
    ];
    for (logged, sorted_by, recency) in table {
        let when = When::of(logged, now);
        assert_eq!(
            (when.millis, when.recency),
            (at(sorted_by), recency),
            "{logged}"
        );
    }
    assert_eq!(
        When::of("9999-01-01T00:00:00Z", now).text,
        "2026-06-01T12:00:00.000Z"
    );
}

#[test]
fn what_is_no_time_sorts_last_and_stays_as_it_is() {
    let when = When::of("yesterday", NOW.parse().unwrap());
    assert_eq!(when.text, "yesterday");
    assert!(when.millis < When::of("0001-01-01T00:00:00Z", NOW.parse().unwrap()).millis);
}

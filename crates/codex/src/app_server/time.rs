//! Times as Codex tells them: seconds and milliseconds of the Unix epoch.

use jiff::Timestamp;

/// Now, in milliseconds.
pub(super) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// A time of a record (RFC 3339), in milliseconds.
pub(super) fn ms(at: &str) -> Option<i64> {
    at.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// Milliseconds as whole seconds.
pub(super) fn seconds(ms: i64) -> i64 {
    ms.div_euclid(1000)
}

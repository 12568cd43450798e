//! When a session was last used, by the times its log gives (LOG-14).

use jiff::Timestamp;
use sessiond_protocol::Recency;

/// A time to sort by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct When {
    /// Milliseconds since 1970; the earliest there is where the log gives no time.
    pub(crate) millis: i64,
    /// RFC 3339.
    pub(crate) text: String,
    pub(crate) recency: Recency,
}

impl When {
    /// The time `text`, but not later than `now`.
    pub(crate) fn of(text: &str, now: Timestamp) -> Self {
        let logged: Result<Timestamp, _> = text.parse();
        match logged {
            Ok(logged) if logged > now => Self {
                millis: now.as_millisecond(),
                text: format!("{now:.3}"),
                recency: Recency::Clamped,
            },
            Ok(logged) => Self::logged(logged.as_millisecond(), text),
            Err(_) => Self::logged(Timestamp::MIN.as_millisecond(), text),
        }
    }

    fn logged(millis: i64, text: &str) -> Self {
        let (text, recency) = (text.to_owned(), Recency::Logged);
        Self {
            millis,
            text,
            recency,
        }
    }
}

#[cfg(test)]
mod tests;

//! How names and times are written for other programs.

/// Whether a text can be the name of a tool or the id of a call, of at most so many bytes.
#[must_use]
pub fn is_name(text: &str, most: usize) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    (1..=most).contains(&text.len()) && text.bytes().all(fits)
}

/// A name of letters, digits, `-` and `_` alone, of at most so many.
#[must_use]
pub fn plain_name(name: &str, most: usize) -> String {
    let letter = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => c,
        _ => '_',
    };
    let name: String = name.chars().map(letter).take(most).collect();
    match name.is_empty() {
        true => "unknown".to_owned(),
        false => name,
    }
}

/// A time, RFC 3339, with milliseconds.
#[must_use]
pub fn millis(at: &str) -> String {
    let Some(clock) = at.strip_suffix('Z') else {
        return at.to_owned();
    };
    let (seconds, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let fraction: String = fraction.chars().chain("000".chars()).take(3).collect();
    format!("{seconds}.{fraction}Z")
}

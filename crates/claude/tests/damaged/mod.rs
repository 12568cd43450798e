//! Foreign files that were cut, or whose bytes are no longer what was written.

use serde_json::Value;

/// Whether the last line of a file was not written to its end, as a number of findings.
pub(crate) fn torn_tails(cut: &[u8]) -> u64 {
    let start = cut.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let last = &cut[start..];
    let is_torn = serde_json::from_slice::<Value>(last).is_err();
    u64::from(is_torn && !last.is_empty())
}

/// Reads a file two hundred times, with other damage each time.
pub(crate) fn scrambled(whole: &[u8], mut read: impl FnMut(&[u8])) {
    // A generator of its own, so that what failed once fails again.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    for _ in 0..200 {
        let mut text = whole.to_vec();
        for _ in 0..1 + next(6) {
            let (at, length) = (next(text.len()), next(40));
            let end = (at + length).min(text.len());
            match next(4) {
                0 => text[at] = b"\n\0{}[]\",:\\x\xff"[next(12)],
                1 => drop(text.drain(at..end)),
                2 => {
                    let piece = text[at..end].to_vec();
                    let to = next(text.len());
                    text.splice(to..to, piece);
                }
                _ => text.truncate(at.max(1)),
            }
        }
        read(&text);
    }
}

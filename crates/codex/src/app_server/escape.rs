//! Long texts as JSON: what needs no escape is found in stretches, and copied in one go.

use std::io::Write as _;

/// Bytes that are looked at together: the compiler makes a few instructions of it.
const STRETCH: usize = 64;

/// Appends `text` as it stands between the quotes of a JSON string, in the form that the rest of an
/// answer has.
pub(super) fn escape(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len());
    let (mut plain, mut at) = (0, 0);
    for stretch in bytes.chunks(STRETCH) {
        let next = at + stretch.len();
        if !is_plain(stretch) {
            out.extend_from_slice(bytes.get(plain..at).unwrap_or_default());
            stretch.iter().for_each(|byte| escape_byte(out, *byte));
            plain = next;
        }
        at = next;
    }
    out.extend_from_slice(bytes.get(plain..).unwrap_or_default());
}

/// Whether nothing of it needs an escape.
fn is_plain(stretch: &[u8]) -> bool {
    // Without a branch: a loop that stops early is not made into wide instructions.
    stretch.iter().fold(true, |plain, byte| {
        plain & (*byte >= b' ') & (*byte != b'"') & (*byte != b'\\')
    })
}

fn escape_byte(out: &mut Vec<u8>, byte: u8) {
    let letter = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        0x08 => b'b',
        0x0c => b'f',
        0..b' ' => {
            // Writing to a vector cannot fail.
            let _ = write!(out, "\\u{byte:04x}");
            return;
        }
        _ => return out.push(byte),
    };
    out.extend_from_slice(&[b'\\', letter]);
}

#[cfg(test)]
mod tests;

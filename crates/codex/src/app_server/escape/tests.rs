use super::{STRETCH, escape};

fn escaped(text: &str) -> String {
    let mut out = b"\"".to_vec();
    escape(&mut out, text);
    out.push(b'"');
    String::from_utf8(out).unwrap()
}

/// WIRE-1: wherever a character stands in a text, it is written as serde_json writes it.
#[test]
fn a_text_is_escaped_as_everywhere_else() {
    let characters = (0..0x80_u8)
        .map(char::from)
        .chain(['é', '€', '\u{2028}', '😀']);
    for character in characters {
        for before in [0, 1, STRETCH - 1, STRETCH, 2 * STRETCH + 5] {
            for behind in [0, 3, STRETCH] {
                let text = format!("{}{character}{}", "é".repeat(before), "x".repeat(behind));
                assert_eq!(escaped(&text), serde_json::to_string(&text).unwrap());
            }
        }
    }
}

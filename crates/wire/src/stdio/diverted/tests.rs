//! What the counter counts.

use super::*;

/// WIRE-10
#[test]
fn diverted_text_is_counted_at_line_boundaries_and_partial_text_at_the_flush() {
    let cases: &[(&str, &[&str], (u64, u64))] = &[
        ("nothing", &[], (0, 0)),
        ("a line", &["garbage\n"], (8, 1)),
        ("a line in two pieces", &["gar", "bage\n"], (8, 1)),
        ("two lines", &["a\nb\n"], (4, 2)),
        ("partial text", &["garbage"], (7, 1)),
        ("a line and partial text", &["a\nb"], (3, 2)),
    ];
    for (name, pieces, expected) in cases {
        let (read, mut write) = io::pipe().unwrap();
        let counter = spawn(read.into()).unwrap();
        pieces
            .iter()
            .for_each(|piece| write.write_all(piece.as_bytes()).unwrap());
        assert_eq!((counter.bytes(), counter.lines()), *expected, "{name}");
    }
}

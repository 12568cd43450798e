use super::*;

fn pieces(line: &str) -> Vec<Piece> {
    // An entry here is `<…>`.
    salvage(line.as_bytes(), &[b"<"], |bytes| {
        let end = bytes.iter().position(|b| *b == b'>')?;
        bytes.starts_with(b"<").then_some(end + 1)
    })
}

#[test]
fn a_line_is_cut_into_entries_and_what_is_none() {
    let table = [
        ("", vec![]),
        ("<a>", vec![Piece::Entry(0..3)]),
        ("<a>\0 <b>", vec![Piece::Entry(0..3), Piece::Entry(5..8)]),
        ("xy<b>", vec![Piece::Bad(0..2), Piece::Entry(2..5)]),
        ("<a>xy", vec![Piece::Entry(0..3), Piece::Bad(3..5)]),
        ("<a", vec![Piece::Bad(0..2)]),
    ];
    for (line, expected) in table {
        assert_eq!(pieces(line), expected, "{line}");
    }
}

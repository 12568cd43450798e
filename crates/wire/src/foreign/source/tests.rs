use super::*;

fn lines(text: &[u8]) -> Vec<(u64, u64, Vec<u8>, bool)> {
    let mut lines = Lines::from(text, 0, 0);
    let mut all = Vec::new();
    while let Some(line) = lines.next().unwrap() {
        let bytes = line.bytes.to_vec();
        all.push((line.number, line.offset, bytes, line.is_ended));
    }
    all
}

#[test]
fn lines_know_their_number_and_place_and_whether_they_end() {
    let all = lines(b"ab\n\nc");
    assert_eq!(
        all,
        [
            (1, 0, b"ab".to_vec(), true),
            (2, 3, b"".to_vec(), true),
            (3, 4, b"c".to_vec(), false),
        ]
    );
    assert_eq!(lines(b""), []);
    assert_eq!(lines(b"a\n"), [(1, 0, b"a".to_vec(), true)]);
}

#[test]
fn a_line_may_be_longer_than_what_is_read_at_once() {
    let long = vec![b'x'; WINDOW * 3 + 7];
    let text = [b"a\n", &*long, b"\nb\n"].concat();
    let all = lines(&text);
    assert_eq!(all.len(), 3);
    assert_eq!(all[1].2, long);
    assert_eq!(all[2], (3, 3 + long.len() as u64, b"b".to_vec(), true));
}

#[test]
fn a_window_moves_to_what_is_asked_for() {
    let text: Vec<u8> = (0..WINDOW * 3).map(|at| (at % 251) as u8).collect();
    let mut window = Window::new(&text);
    for (from, to) in [(0, 5), (3, WINDOW + 9), (1, 2), (WINDOW * 2, WINDOW * 3)] {
        let range = from as u64..to as u64;
        assert_eq!(window.get(range).unwrap(), &text[from..to]);
    }
    let past = (WINDOW * 3 - 1) as u64..(WINDOW * 3 + 9) as u64;
    assert_eq!(window.get(past).unwrap().len(), 1);
}

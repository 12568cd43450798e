use super::{Lines, TooLong};

/// CONF-1: the verdict is from the raw bytes, however they arrive.
#[test]
fn any_cut_of_the_bytes_gives_the_same_lines() {
    let stream = b"one\n\ntwo \xff\r\nthree";
    let expected: Vec<Vec<u8>> = vec![b"one".to_vec(), vec![], b"two \xff\r".to_vec()];
    for size in 1..=stream.len() {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for piece in stream.chunks(size) {
            found.extend(lines.take(piece).expect("short"));
        }
        assert_eq!(found, expected, "pieces of {size}");
        assert_eq!(lines.end(), Some(b"three".to_vec()));
    }
}

#[test]
fn a_line_without_end_is_refused_before_it_fills_the_memory() {
    let mut lines = Lines::default();
    let piece = vec![b'x'; 1024 * 1024];
    let taken = (0..100).take_while(|_| lines.take(&piece).is_ok()).count();
    assert_eq!(taken, 64);
    assert_eq!(lines.take(&piece), Err(TooLong));
}

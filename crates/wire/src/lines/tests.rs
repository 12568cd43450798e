//! WIRE-1, WIRE-4, WIRE-5 (invalid UTF-8): the lines found in a stream, whatever its chunks.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::ReadBuf;

use super::*;

/// A reader that hands out at most `step` bytes a read.
struct Chunks<'a> {
    rest: &'a [u8],
    step: usize,
}

impl Read for Chunks<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let size = self.step.min(into.len());
        self.rest.read(&mut into[..size])
    }
}

fn all(input: &[u8], step: usize, limit: usize) -> Vec<Line> {
    let mut reader = LineReader::new(Chunks { rest: input, step }, limit);
    let lines: Vec<_> = std::iter::from_fn(|| reader.next_line().unwrap()).collect();
    assert_eq!(all_async(input, step, limit), lines, "both readers agree");
    lines
}

impl AsyncRead for Chunks<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let size = self.step.min(into.remaining()).min(self.rest.len());
        let (now, later) = self.rest.split_at(size);
        into.put_slice(now);
        self.rest = later;
        Poll::Ready(Ok(()))
    }
}

fn all_async(input: &[u8], step: usize, limit: usize) -> Vec<Line> {
    let mut reader = AsyncLines::new(Chunks { rest: input, step }, limit);
    let mut lines = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(async {
        while let Some(line) = reader.next_line().await.unwrap() {
            lines.push(line);
        }
    });
    lines
}

fn text(line: &str) -> Line {
    Line::Text(line.into())
}

fn too_long(bytes: u64) -> Line {
    Line::Bad(BadLine::TooLong { bytes })
}

/// WIRE-1, WIRE-4, WIRE-5
#[test]
fn a_stream_is_split_into_lines_however_it_is_chunked() {
    let bad = || Line::Bad(BadLine::NotUtf8);
    let cases: &[(&str, &[u8], Vec<Line>)] = &[
        ("an empty stream has no line", b"", vec![]),
        ("LF ends a line", b"{}\n[]\n", vec![text("{}"), text("[]")]),
        (
            "CRLF ends a line",
            b"{}\r\n[]\r\n",
            vec![text("{}"), text("[]")],
        ),
        ("a CR inside a line stays", b"a\rb\n", vec![text("a\rb")]),
        (
            "blank lines are skipped",
            b"\n\r\n  \t\n{}\n\n",
            vec![text("{}")],
        ),
        (
            "a last line without LF is read",
            b"{}\n[]",
            vec![text("{}"), text("[]")],
        ),
        (
            "a BOM at the start of the stream is dropped",
            b"\xef\xbb\xbf5\n",
            vec![text("5")],
        ),
        (
            "only one BOM is dropped",
            b"\xef\xbb\xbf\xef\xbb\xbf{}\n",
            vec![text("\u{feff}{}")],
        ),
        (
            "a BOM before a brace is dropped",
            b"5\n\xef\xbb\xbf {}\n",
            vec![text("5"), text(" {}")],
        ),
        (
            "any other BOM stays",
            b"5\n\xef\xbb\xbf6\n",
            vec![text("5"), text("\u{feff}6")],
        ),
        (
            "a BOM alone is a blank line",
            b"\xef\xbb\xbf\n{}\n",
            vec![text("{}")],
        ),
        (
            "invalid UTF-8 costs its own line only",
            b"\xff\n{}\n",
            vec![bad(), text("{}")],
        ),
        (
            "characters are not torn",
            "é\u{1f600}\n".as_bytes(),
            vec![text("é\u{1f600}")],
        ),
        (
            "a line at the limit is read",
            b"12345678\n1\n",
            vec![text("12345678"), text("1")],
        ),
        (
            "the limit holds at the end of the stream",
            b"12345678",
            vec![text("12345678")],
        ),
        (
            "an overlong line is drained",
            b"123456789\n1\n",
            vec![too_long(9), text("1")],
        ),
        (
            "an overlong last line is counted",
            b"1234567890",
            vec![too_long(10)],
        ),
        (
            "two overlong lines are two",
            b"aaaaaaaaaa\nbbbbbbbbb\n",
            vec![too_long(10), too_long(9)],
        ),
    ];
    for (name, input, expected) in cases {
        for step in [1, 2, 3, 1024] {
            assert_eq!(&all(input, step, 8), expected, "{name} (step {step})");
        }
    }
}

/// WIRE-4
#[test]
fn an_overlong_line_is_never_held_in_memory() {
    let input = io::repeat(b'x').take(1 << 26).chain(&b"\nok\n"[..]);
    let mut reader = LineReader::new(input, 1024);
    assert_eq!(reader.next_line().unwrap(), Some(too_long(1 << 26)));
    assert_eq!(reader.next_line().unwrap(), Some(text("ok")));
    assert_eq!(reader.input.capacity(), READ_BUFFER);
}

/// WIRE-5: where the original mends what is not UTF-8, the line goes on with U+FFFD in its place.
#[test]
fn bytes_that_are_not_utf8_are_mended_where_that_is_asked_for() {
    let input = b"{\"x\":\"\xff\xfe\"}\n\xc3\xa9\n";
    let mut reader = LineReader::new(&input[..], 64).mending();
    let lines: Vec<_> = std::iter::from_fn(|| reader.next_line().unwrap()).collect();
    assert_eq!(
        lines,
        [text("{\"x\":\"\u{fffd}\u{fffd}\"}"), text("\u{e9}")]
    );
}

//! Logs that end too early.

use crate::images::{Image, disk_with, goes_on, image_of, line_starts, read, segments};
use crate::support::{numbered, texts};
use crate::tally::{Form, Tally};

/// Which record of a segment is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    First,
    Last,
}

/// Whether the segment that is cut ends the log or another one follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Segment {
    Last,
    Followed,
}

#[derive(Debug)]
struct Case<'a> {
    image: &'a Image,
    texts: &'a [&'a str],
    segment: Segment,
    place: Place,
}

/// Records of the segment that is cut.
const CUT: usize = 3;

impl Case<'_> {
    /// Cuts at every `step`-th byte of the record, its edges included.
    fn run(&self, step: usize, name: &str, tally: &mut Tally) {
        let index = usize::from(self.segment == Segment::Last);
        let (path, whole) = segments(self.image).swap_remove(index);
        let starts = line_starts(&whole);
        let line = if self.place == Place::First { 1 } else { CUT };
        let (start, end) = (starts[line], starts[line + 1]);
        let edges = [end - 2, end - 1, end];
        for length in (start..end).step_by(step).chain(edges) {
            let backend = disk_with(self.image, &path, &whole[..length]);
            let whole_lines = starts[1..].iter().filter(|s| **s <= length + 1).count() - 1;
            let outcome = read(&backend).and_then(|scan| match self.segment {
                Segment::Last => self.torn(&scan, whole_lines, starts.contains(&length)),
                Segment::Followed => self.missing(&scan, whole_lines, length == whole.len()),
            });
            let outcome = outcome.and_then(|()| goes_on(&backend, &read(&backend)?).map(drop));
            let case = format!("{name} {:?} {:?} cut to {length}", self.segment, self.place);
            tally.state(&case, outcome);
        }
    }

    /// The whole lines before the cut count, and nothing was damaged.
    fn torn(&self, scan: &sessiond_log::Scan, lines: usize, clean: bool) -> Result<(), String> {
        let kept = &self.texts[..CUT + lines];
        ensure!(
            texts(scan) == numbered(kept),
            "{} records, not {}",
            scan.records.len(),
            kept.len()
        );
        ensure!(scan.damage.is_empty(), "{:?}", scan.damage);
        ensure!(!clean || scan.torn.is_none(), "torn at the end of a line");
        Ok(())
    }

    /// What the header of the next segment vouches for is gone: damage, and the next one counts.
    fn missing(&self, scan: &sessiond_log::Scan, lines: usize, all: bool) -> Result<(), String> {
        let mut kept = numbered(self.texts);
        kept.drain(lines..CUT);
        ensure!(
            texts(scan) == kept,
            "{} records, not {}",
            scan.records.len(),
            kept.len()
        );
        ensure!(scan.damage.is_empty() == all, "{:?}", scan.damage);
        ensure!(scan.torn.is_none(), "torn, though another segment follows");
        Ok(())
    }
}

/// LOG-3, LOG-4: every offset of the first and the last record of a segment, for records that are
/// tiny, a page, and out of line.
#[test]
fn truncation() {
    let form = Form::asked();
    let mut tally = Tally::of("truncation");
    for (name, length, step) in [
        ("10 B", 10, 1),
        ("4 KiB", 4096, form.pick(11, 1)),
        ("300 KiB", 300 * 1024, form.pick(5, 1)),
    ] {
        let long: Vec<String> = ('a'..='f')
            .map(|letter| letter.to_string().repeat(length))
            .collect();
        let texts: Vec<&str> = long.iter().map(String::as_str).collect();
        let image = image_of(&[&[&texts[..CUT]], &[&texts[CUT..]]]);
        for segment in [Segment::Last, Segment::Followed] {
            for place in [Place::First, Place::Last] {
                let (image, texts) = (&image, texts.as_slice());
                let case = Case {
                    image,
                    texts,
                    segment,
                    place,
                };
                case.run(step, name, &mut tally);
            }
        }
    }
    tally.finish(form.pick(2_300, 18_000));
}

/// LOG-8: a blob that lost its end is damage at its record, wherever it was cut.
#[test]
fn truncated_blobs() {
    let form = Form::asked();
    let mut tally = Tally::of("truncated_blobs");
    let large = "x".repeat(300 * 1024);
    let image = image_of(&[&[&["one", &large, "three"]]]);
    let blobs = crate::support::session_dir().join("blobs");
    let (path, whole) = image.iter().find(|(p, _)| p.starts_with(&blobs)).unwrap();
    for length in (0..whole.len()).step_by(form.pick(1531, 307)) {
        let backend = disk_with(&image, path, &whole[..length]);
        let outcome = read(&backend).and_then(|scan| {
            let seqs: Vec<_> = scan.records.iter().map(|r| r.seq).collect();
            ensure!(seqs == [1, 3], "{seqs:?}");
            ensure!(scan.damage.len() == 1, "{:?}", scan.damage);
            goes_on(&backend, &scan).map(drop)
        });
        tally.state(&format!("blob cut to {length}"), outcome);
    }
    tally.finish(form.pick(200, 1_000));
}

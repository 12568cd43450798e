//! Logs with a bit that changed by itself.

use std::path::Path;

use sessiond_log::{INLINE_BYTES, Scan};

use crate::images::{Image, disk_with, goes_on, image_of, read, segments};
use crate::support::{session_dir, texts};
use crate::tally::{Form, Tally};

/// Whatever is shown was written, under its number, and what is not shown is reported.
fn is_honest(scan: &Scan, whole: &Scan) -> Result<(), String> {
    let written = texts(whole);
    let shown = texts(scan);
    ensure!(
        shown.iter().all(|t| written.contains(t)),
        "shows what nobody wrote"
    );
    ensure!(
        shown.len() + 1 >= written.len(),
        "{} of {}",
        shown.len(),
        written.len()
    );
    ensure!(!scan.damage.is_empty() || scan.torn.is_some(), "passed");
    ensure!(
        scan.torn.is_some() || scan.next_seq >= whole.next_seq,
        "seq {}",
        scan.next_seq
    );
    Ok(())
}

/// Flips each `step`-th bit of a file and counts what comes of it.
fn flip(image: &Image, path: &Path, step: usize, tally: &mut Tally) {
    let whole = read(&disk_with(image, Path::new(""), &[])).unwrap();
    let (_, bytes) = image.iter().find(|(p, _)| p == path).unwrap();
    for bit in (0..bytes.len() * 8).step_by(step) {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let backend = disk_with(image, path, &bytes);
        let outcome = read(&backend).and_then(|scan| {
            is_honest(&scan, &whole)?;
            goes_on(&backend, &scan).map(drop)
        });
        tally.state(&format!("{} bit {bit}", path.display()), outcome);
    }
}

/// LOG-3: every bit of small logs: one segment, two, and one with a record out of line.
#[test]
fn flipped_bits() {
    let form = Form::asked();
    let mut tally = Tally::of("flipped_bits");
    let large = "x".repeat(INLINE_BYTES);
    let logs: [&[&[&[&str]]]; 3] = [
        &[&[&["one"], &["two"], &["three"]]],
        &[&[&["one", "two"]], &[&["three"], &["four"]]],
        &[&[&["one", &large, "three"]]],
    ];
    for runs in logs {
        let image = image_of(runs);
        for (path, _) in segments(&image) {
            flip(&image, &path, form.pick(3, 1), &mut tally);
        }
    }
    tally.finish(form.pick(7_000, 21_000));
}

/// LOG-8: a blob is known by its content.
#[test]
fn flipped_bits_of_blobs() {
    let form = Form::asked();
    let mut tally = Tally::of("flipped_bits_of_blobs");
    let image = image_of(&[&[&["one", &"x".repeat(INLINE_BYTES), "three"]]]);
    let blobs = session_dir().join("blobs");
    let (path, _) = image.iter().find(|(p, _)| p.starts_with(&blobs)).unwrap();
    flip(&image, path, form.pick(1013, 101), &mut tally);
    tally.finish(form.pick(500, 5_000));
}

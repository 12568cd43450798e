//! A whole log of two segments, edited as the input says: what lies before the first edit of the
//! first segment is read as it was written.

#![no_main]

mod log;

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use sessiond_log::fs::{Fs as _, MemoryFs};

/// The two segments, as written.
fn written() -> &'static [Vec<u8>; 2] {
    static WRITTEN: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    WRITTEN.get_or_init(|| {
        let fs = MemoryFs::new();
        let store = log::store(&fs);
        log::append(&store, "one").unwrap();
        log::append(&store, "two").unwrap();
        let read = |number, seq| fs.read(&log::segment(number, seq), 0..u64::MAX).unwrap();
        [read(1, 1), read(2, 2)]
    })
}

fuzz_target!(|script: &[u8]| {
    let [mut first, mut second] = written().clone();
    let whole = first.len();
    let mut untouched = whole;
    for edit in script.chunks_exact(4) {
        let [kind, high, low, value] = [edit[0], edit[1], edit[2], edit[3]];
        let bytes = if kind & 0x80 == 0 {
            &mut first
        } else {
            &mut second
        };
        if bytes.is_empty() {
            continue;
        }
        let at = usize::from(u16::from_be_bytes([high, low])) % bytes.len();
        match kind % 4 {
            0 => bytes[at] ^= value,
            1 => bytes.truncate(at),
            2 => bytes.insert(at, value),
            _ => drop(bytes.drain(at..(at + usize::from(value)).min(bytes.len()))),
        }
        if kind & 0x80 == 0 {
            untouched = untouched.min(at);
        }
    }
    let fs = MemoryFs::new();
    fs.put(&log::segment(1, 1), first);
    fs.put(&log::segment(2, 2), second);
    let scan = log::check(&log::store(&fs));
    if untouched == whole {
        let first = scan.records.first().unwrap();
        assert_eq!((first.seq, &*first.data), (1, "{\"text\":\"one\"}"));
    }
});

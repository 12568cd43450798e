//! Arbitrary bytes as the segments of a log: two of them, parted by a byte 0xFE.

#![no_main]

mod log;

use libfuzzer_sys::fuzz_target;
use sessiond_log::fs::MemoryFs;

fuzz_target!(|bytes: &[u8]| {
    let fs = MemoryFs::new();
    let mut parts = bytes.splitn(2, |byte| *byte == 0xfe);
    for (number, part) in (1..).zip(parts.by_ref()) {
        fs.put(&log::segment(number, u64::from(number)), part.to_vec());
    }
    log::check(&log::store(&fs));
});

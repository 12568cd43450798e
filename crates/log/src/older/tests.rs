use super::{HEADER_BYTES, MEMBER_BYTES, pack, unpack};

/// Bytes in the first member.
const HEAD: usize = HEADER_BYTES as usize;

fn text(bytes: usize) -> Vec<u8> {
    let lines = (0..).flat_map(|n: u64| {
        format!("line {n} {:x}\n", n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).into_bytes()
    });
    lines.take(bytes).collect()
}

#[test]
fn what_was_packed_comes_out_again_whole_and_in_part() {
    for bytes in [
        0,
        1,
        HEAD,
        HEAD + 1,
        HEAD + MEMBER_BYTES,
        3 * MEMBER_BYTES + 7,
    ] {
        let text = text(bytes);
        let packed = pack(&text).unwrap();
        assert_eq!(
            packed,
            pack(&text).unwrap(),
            "the same bytes give the same file"
        );
        assert!(unpack(&packed, u64::MAX) == text, "{bytes}");
        for most in [0, 1, HEAD, MEMBER_BYTES, bytes / 2] {
            let most = most.min(bytes);
            assert!(
                unpack(&packed, most as u64) == text[..most],
                "{most} of {bytes}"
            );
        }
    }
}

/// LOG-4: what is not broken counts.
#[test]
fn a_broken_member_costs_itself_and_no_other() {
    let text = text(3 * MEMBER_BYTES);
    let (from, until) = (HEAD, HEAD + MEMBER_BYTES);
    let packed = pack(&text).unwrap();
    let range = pack(&text[..from]).unwrap().len()..pack(&text[..until]).unwrap().len();
    let without_second = [&text[..from], &text[until..]].concat();
    for at in range
        .clone()
        .step_by(997)
        .chain([range.start, range.end - 1, range.end - 5])
    {
        let mut broken = packed.clone();
        broken[at] ^= 4;
        assert!(unpack(&broken, u64::MAX) == without_second, "byte {at}");
    }
    let cut = &packed[..range.end - 3];
    assert!(unpack(cut, u64::MAX) == text[..from], "a cut end");
    assert!(unpack(b"no gzip at all", u64::MAX).is_empty());
}

#[test]
fn a_member_that_claims_more_than_any_of_ours_is_passed_over() {
    use std::io::Write as _;
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    bomb.write_all(&vec![0; 64 * MEMBER_BYTES]).unwrap();
    let mut packed = bomb.finish().unwrap();
    packed.extend(pack(b"after\n").unwrap());
    assert_eq!(unpack(&packed, u64::MAX), b"after\n");
}

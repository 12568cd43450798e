//! Broken logs: what still counts, what is reported, what the next append does.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use sessiond_log::fs::MemoryFs;
use sessiond_log::{DamageReason, INLINE_BYTES, Owner, Scan};
use support::{
    Backend, append, backends, lease, log_dir, numbered, run, session_dir, subject, texts,
    with_segment,
};

const THREE: [&str; 3] = ["one", "two", "three"];

fn three() -> Backend {
    let backend = Backend::memory(MemoryFs::new());
    run(&backend.store(), &[&["one"], &["two"], &["three"]]).unwrap();
    backend
}

/// Where each line of the only segment starts, and where the last ends.
fn starts(bytes: &[u8]) -> Vec<usize> {
    let ends = bytes
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'\n')
        .map(|(i, _)| i + 1);
    std::iter::once(0).chain(ends).collect()
}

fn read(backend: &Backend) -> Scan {
    backend.store().read(&subject()).unwrap()
}

/// Whether the texts that count are some of the three, each under its own number.
fn is_honest(scan: &Scan) -> bool {
    let all = numbered(&THREE);
    texts(scan).iter().all(|text| all.contains(text))
}

/// LOG-4
#[test]
fn a_log_cut_anywhere_keeps_its_whole_lines_and_goes_on_after_them() {
    let source = three();
    let whole = source.bytes(&source.segments()[0]);
    let starts = starts(&whole);
    for length in 0..=whole.len() {
        let backend = with_segment(&source, &whole[..length]);
        // A line that lacks nothing but its LF counts.
        let lines = starts
            .iter()
            .filter(|s| **s > 0 && **s <= length + 1)
            .count();
        let kept = lines.saturating_sub(1);
        let scan = read(&backend);
        assert_eq!(texts(&scan), numbered(&THREE[..kept]), "cut to {length}");
        assert!(scan.damage.is_empty(), "cut to {length}: {:?}", scan.damage);
        let sealed = starts.iter().any(|s| *s == length || *s == length + 1);
        assert_eq!(scan.torn.is_none(), sealed, "cut to {length}");

        run(&backend.store(), &[&["more"]]).unwrap();
        let mut expected = THREE[..kept].to_vec();
        expected.push("more");
        let scan = read(&backend);
        assert_eq!(
            texts(&scan),
            numbered(&expected),
            "cut to {length}, then appended"
        );
        assert!(scan.torn.is_none() && scan.damage.is_empty() && scan.stale.is_empty());
    }
}

/// LOG-4: sealed before the first append, not at load; copied aside and recorded.
#[test]
fn a_torn_tail_is_copied_aside_cut_and_recorded_with_the_first_append() {
    for backend in backends() {
        run(&backend.store(), &[&["one"], &["two"]]).unwrap();
        let segment = backend.segments().remove(0);
        let whole = backend.bytes(&segment);
        let torn = &whole[..whole.len() - 5];
        backend.overwrite(&segment, torn);
        let offset = starts(&whole)[2];
        let before = backend.tree(Path::new("sessions"));
        let held = lease(&backend.store()).unwrap();
        let scan = held.scan().unwrap();
        assert_eq!(scan.torn.unwrap().offset as usize, offset);
        let writer = held.writer().unwrap();
        assert_eq!(
            backend.tree(Path::new("sessions")),
            before,
            "a load changes nothing"
        );

        append(&writer, &["three"]).unwrap();
        assert_eq!(backend.bytes(&segment), whole[..offset]);
        let name = segment.file_name().unwrap().to_str().unwrap();
        let copy = format!("torn/{name}.{offset}");
        assert_eq!(backend.bytes(&session_dir().join(&copy)), torn[offset..]);
        let header = backend.bytes(&backend.segments()[1]);
        let header: serde_json::Value =
            serde_json::from_slice(header.split(|b| *b == b'\n').next().unwrap()).unwrap();
        let recorded = serde_json::json!({
            "segment": name, "offset": offset, "length": torn.len() - offset, "copy": copy,
        });
        assert_eq!(header["data"]["torn"], recorded);
        assert_eq!(texts(&read(&backend)), numbered(&["one", "three"]));
    }
}

/// LOG-3: all of it is noticed, and nothing is shown that was not written.
#[test]
fn every_flipped_bit_of_a_log_is_noticed() {
    let source = three();
    let whole = source.bytes(&source.segments()[0]);
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let backend = with_segment(&source, &bytes);
        let scan = read(&backend);
        assert!(
            !scan.damage.is_empty() || scan.torn.is_some(),
            "bit {bit} passed"
        );
        assert!(is_honest(&scan), "bit {bit}: {:?}", texts(&scan));
        assert!(
            scan.records.len() >= 2,
            "bit {bit} took more than its record"
        );
        // The number of a record that may have been acknowledged is not given again.
        if scan.torn.is_none() {
            assert!(scan.next_seq >= 4, "bit {bit}: {}", scan.next_seq);
        }
        run(&backend.store(), &[&["more"]]).unwrap();
        let after = read(&backend);
        assert_eq!(after.records.len(), scan.records.len() + 1, "bit {bit}");
        assert_eq!(
            after.damage, scan.damage,
            "bit {bit}: damage stays in place"
        );
        assert_eq!(
            after.records.last().unwrap().seq,
            scan.next_seq,
            "bit {bit}"
        );
    }
}

/// LOG-4
#[test]
fn damage_in_the_middle_is_located_and_the_records_after_it_count() {
    let source = three();
    let whole = source.bytes(&source.segments()[0]);
    let at = starts(&whole);
    let line = |n: usize| &whole[at[n]..at[n + 1]];
    let (nul, stub) = ([0; 512], &line(2)[..40]);
    let one_three = vec![(1, "one".to_owned()), (3, "three".to_owned())];
    let all = numbered(&THREE);
    let cut = [&line(2)[..40], b"\n"].concat();
    let cases = [
        (
            "a run of NULs over a line",
            vec![line(0), line(1), &nul, line(3)],
            one_three.clone(),
            (at[2], 512, 1, DamageReason::Checksum),
        ),
        (
            "a cut line with its LF",
            vec![line(0), line(1), &cut, line(3)],
            one_three.clone(),
            (at[2], 41, 1, DamageReason::Checksum),
        ),
        (
            "a stub that the next line joined",
            vec![line(0), line(1), stub, line(2), line(3)],
            all.clone(),
            (at[2], 40, 1, DamageReason::Checksum),
        ),
        (
            "a missing line",
            vec![line(0), line(1), line(3)],
            one_three,
            (at[2], 0, 1, DamageReason::Missing),
        ),
        (
            "a line twice",
            vec![line(0), line(1), line(1), line(2), line(3)],
            all.clone(),
            (at[2], line(1).len(), 1, DamageReason::Sequence),
        ),
        (
            "text from elsewhere",
            vec![line(0), line(1), b"hello\n", line(2), line(3)],
            all.clone(),
            (at[2], 6, 1, DamageReason::Checksum),
        ),
        (
            "no header",
            vec![line(1), line(2), line(3)],
            all,
            (0, 0, 0, DamageReason::Link),
        ),
    ];
    for (name, parts, expected, (offset, length, after_seq, reason)) in cases {
        let backend = with_segment(&source, &parts.concat());
        let scan = read(&backend);
        assert_eq!(texts(&scan), expected, "{name}");
        assert!(scan.torn.is_none(), "{name}");
        if name == "no header" {
            continue;
        }
        let [damage] = scan.damage.as_slice() else {
            panic!("{name}: {:?}", scan.damage)
        };
        let found = (
            damage.offset as usize,
            damage.length as usize,
            damage.after_seq,
        );
        assert_eq!(
            (found, damage.reason),
            ((offset, length, after_seq), reason),
            "{name}"
        );
    }
}

/// LOG-4: a last line that has its LF was whole once, so it is damage and its number is spent.
#[test]
fn a_last_line_with_its_end_is_damage_and_not_torn() {
    let source = three();
    let mut bytes = source.bytes(&source.segments()[0]);
    let length = bytes.len();
    bytes[length - 30] ^= 1;
    let backend = with_segment(&source, &bytes);
    let scan = read(&backend);
    assert_eq!((scan.damage.len(), scan.torn, scan.next_seq), (1, None, 4));
    run(&backend.store(), &[&["four"]]).unwrap();
    assert_eq!(
        backend.bytes(&backend.segments()[0]),
        bytes,
        "the bytes stay"
    );
    let after = read(&backend);
    assert_eq!(after.records.last().unwrap().seq, 4);
    assert_eq!(after.damage, scan.damage);
}

/// LOG-4
#[test]
fn zeros_to_the_end_are_a_torn_tail() {
    let source = three();
    let whole = source.bytes(&source.segments()[0]);
    let backend = with_segment(&source, &[whole.as_slice(), &[0; 4096]].concat());
    let scan = read(&backend);
    assert_eq!((texts(&scan), scan.damage.len()), (numbered(&THREE), 0));
    assert_eq!(scan.torn.unwrap().length, 4096);
    run(&backend.store(), &[&["four"]]).unwrap();
    assert_eq!(backend.bytes(&backend.segments()[0]), whole);
    let scan = read(&backend);
    assert_eq!(texts(&scan), numbered(&["one", "two", "three", "four"]));
    assert!(scan.damage.is_empty() && scan.torn.is_none());
}

/// LOG-7: a stale holder's bytes behind the point where the next epoch began.
#[test]
fn bytes_behind_the_end_that_the_next_header_names_do_not_count() {
    let backend = three();
    let segment = backend.segments().remove(0);
    let mut bytes = backend.bytes(&segment);
    let stale = starts(&bytes)[3];
    let late = bytes[stale..].to_vec();
    bytes.truncate(stale);
    backend.overwrite(&segment, &bytes);
    run(&backend.store(), &[&["mine"]]).unwrap();
    backend.overwrite(&segment, &[bytes, late].concat());
    let scan = read(&backend);
    assert_eq!(texts(&scan), numbered(&["one", "two", "mine"]));
    assert_eq!(
        (scan.damage.len(), scan.stale[0].offset as usize),
        (0, stale)
    );
}

/// LOG-3
#[test]
fn a_segment_that_lost_its_end_or_is_gone_is_noticed() {
    let backend = three();
    run(&backend.store(), &[&["four"]]).unwrap();
    let first = backend.segments().remove(0);
    let whole = backend.bytes(&first);
    backend.overwrite(&first, &whole[..starts(&whole)[2]]);
    let scan = read(&backend);
    let four = |scan: &Scan| scan.records.last().map(|r| r.seq);
    assert_eq!((scan.records.len(), four(&scan)), (2, Some(4)));
    assert_eq!(scan.damage[0].reason, DamageReason::Missing);
    assert_eq!(
        scan.damage[0].length as usize,
        whole.len() - starts(&whole)[2]
    );
    backend.fs.remove(&first).unwrap();
    let scan = read(&backend);
    assert_eq!((scan.records.len(), four(&scan)), (1, Some(4)));
    assert_eq!(scan.damage[0].reason, DamageReason::Missing);
}

/// LOG-3: without the header the numbers alone tell.
#[test]
fn a_segment_that_lost_its_first_lines_is_noticed() {
    let backend = three();
    let first = backend.segments().remove(0);
    let whole = backend.bytes(&first);
    backend.overwrite(&first, &whole[starts(&whole)[2]..]);
    let scan = read(&backend);
    assert_eq!(
        texts(&scan),
        [(2, "two".to_owned()), (3, "three".to_owned())]
    );
    assert_eq!(
        (scan.damage[0].reason, scan.damage[0].offset),
        (DamageReason::Missing, 0)
    );
}

/// LOG-7: a record with an older token in a segment of a newer one.
#[test]
fn a_record_of_another_epoch_than_its_segment_does_not_count() {
    let source = three();
    let mut bytes = source.bytes(&source.segments()[0]);
    let last = bytes[starts(&bytes)[3]..].to_vec();
    let last = String::from_utf8(last).unwrap();
    let prev = last
        .split("\"crc\":\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let body = format!(
        "{{\"v\":1,\"seq\":4,\"epoch\":0,\"prev\":\"{prev}\",\"at\":\"t\",\
         \"kind\":\"k\",\"data\":{{\"text\":\"stale\"}}"
    );
    let crc = crc32c::crc32c(body.as_bytes());
    bytes.extend_from_slice(format!("{body},\"crc\":\"{crc:08x}\"}}\n").as_bytes());
    let scan = read(&with_segment(&source, &bytes));
    assert_eq!(texts(&scan), numbered(&THREE));
    assert_eq!(
        (scan.damage[0].reason, scan.next_seq),
        (DamageReason::Epoch, 5)
    );
}

/// LOG-8: a blob that is gone, short or another is damage at its record.
#[test]
fn a_missing_or_wrong_blob_is_damage() {
    for change in [None, Some(&b""[..]), Some(&b"\"other\""[..])] {
        let backend = Backend::memory(MemoryFs::new());
        let large = "x".repeat(INLINE_BYTES);
        run(&backend.store(), &[&["one", &large, "three"]]).unwrap();
        let dir = session_dir().join("blobs");
        let blob = dir.join(&backend.fs.list(&dir).unwrap()[0]);
        match change {
            None => backend.fs.remove(&blob).unwrap(),
            Some(bytes) => backend.overwrite(&blob, bytes),
        }
        let scan = read(&backend);
        assert_eq!(
            texts(&scan),
            [(1, "one".to_owned()), (3, "three".to_owned())]
        );
        assert_eq!(
            (scan.damage[0].reason, scan.damage[0].after_seq),
            (DamageReason::Blob, 1)
        );
        assert_eq!(scan.next_seq, 4);
    }
}

/// LOG-11
#[test]
fn a_log_with_newer_records_is_read_and_not_appended_to() {
    let source = three();
    let mut bytes = source.bytes(&source.segments()[0]);
    let body = "{\"v\":2,\"seq\":4,\"epoch\":1,\"prev\":\"00000000\",\"at\":\"t\",\
                \"kind\":\"k\",\"data\":{\"text\":\"new\"},\"extra\":0";
    let line = format!(
        "{body},\"crc\":\"{:08x}\"}}\n",
        crc32c::crc32c(body.as_bytes())
    );
    // Its link is the newer writer's business: broken lines before it hide that.
    bytes.extend_from_slice(b"?\n");
    bytes.extend_from_slice(line.as_bytes());
    let backend = with_segment(&source, &bytes);
    let held = backend
        .store()
        .claim(&subject(), &Owner::current())
        .unwrap();
    let scan = held.scan().unwrap();
    assert_eq!(texts(&scan), numbered(&["one", "two", "three", "new"]));
    assert_eq!(scan.newer, Some(2));
    assert_eq!(held.writer().unwrap_err().code(), "too_new");
}

/// LOG-13, LOG-3
#[test]
fn a_segment_of_another_session_does_not_count() {
    let backend = three();
    let bytes = backend.bytes(&backend.segments()[0]);
    let other = "0199b0c5-7e51-7d3c-9f6e-2b1f0a4c8d11";
    let fs = MemoryFs::new();
    let path = log_dir().join("00000001-00000000000000000001.jsonl");
    fs.put(
        Path::new(&path.to_str().unwrap().replace(support::ID, other)),
        bytes,
    );
    let scan = Backend::memory(fs)
        .store()
        .read(&other.parse().unwrap())
        .unwrap();
    assert_eq!(
        (scan.records.len(), scan.damage[0].reason),
        (0, DamageReason::Envelope)
    );
}

use super::{Crc, Envelope, Fault, decode};

fn line(data: &str) -> Vec<u8> {
    let (prev, at, kind) = (
        Crc::parse(b"9f3c01aa").unwrap(),
        "2026-11-29T12:00:00Z",
        "item.ended",
    );
    let mut out = Vec::new();
    Envelope {
        seq: Some(42),
        epoch: 3,
        prev,
        at,
        kind,
        data,
    }
    .encode(&mut out);
    out
}

fn sealed(body: &str) -> String {
    format!("{body},\"crc\":\"{}\"}}", Crc::of(body.as_bytes()))
}

/// LOG-3
#[test]
fn a_line_has_the_members_of_the_contract_in_order_and_the_checksum_of_what_precedes_it() {
    let body = "{\"v\":1,\"seq\":42,\"epoch\":3,\"prev\":\"9f3c01aa\",\
                \"at\":\"2026-11-29T12:00:00Z\",\"kind\":\"item.ended\",\"data\":{\"a\":1}";
    assert_eq!(
        String::from_utf8(line("{\"a\":1}")).unwrap(),
        sealed(body) + "\n"
    );
}

/// The check value that the catalogue of CRC parameters gives for CRC-32C (Castagnoli).
#[test]
fn the_checksum_is_castagnoli() {
    assert_eq!(Crc::of(b"123456789").to_string(), "e3069283");
}

#[test]
fn a_line_reads_back_as_it_was_written() {
    for data in [
        "{}",
        "null",
        "\"\\u0000 \\\" ,\\\"crc\\\":\"",
        "[1.0, 1e999]",
    ] {
        let bytes = line(data);
        let read = decode(bytes.strip_suffix(b"\n").unwrap()).unwrap();
        assert_eq!((read.seq, read.epoch, read.data), (Some(42), 3, data));
        assert_eq!(
            (&*read.at, &*read.kind),
            ("2026-11-29T12:00:00Z", "item.ended")
        );
    }
}

#[test]
fn members_of_a_later_version_are_passed_over() {
    let body = r#"{"v":2,"n":[1],"kind":"kéy\"","seq":7,"at":"t","epoch":1,"prev":"00000000","data": {"x":1}"#;
    let text = sealed(body);
    let read = decode(text.as_bytes()).unwrap();
    assert_eq!((read.version, read.seq, &*read.kind), (2, Some(7), "kéy\""));
    assert_eq!(read.data, "{\"x\":1}");
    let unknown = sealed(r#"{"v":9,"other":true"#);
    assert_eq!(decode(unknown.as_bytes()).unwrap_err(), Fault::Newer(9));
    let none = sealed(r#"{"v":1,"other":true"#);
    assert_eq!(decode(none.as_bytes()).unwrap_err(), Fault::Envelope);
}

/// LOG-3
#[test]
fn every_flipped_bit_and_every_cut_of_a_line_is_noticed() {
    let whole = line("{\"text\":\"hello\"}");
    let whole = whole.strip_suffix(b"\n").unwrap();
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(decode(&bytes).is_err(), "bit {bit}");
    }
    for length in 0..whole.len() {
        assert!(decode(&whole[..length]).is_err(), "cut to {length}");
    }
}
